// What a model is asked and what comes back. The Model port itself stands in ports.ts.
import type { Message, ToolCall } from "./message.ts"
import type { JsonSchema } from "./schema.ts"

export type ToolChoice = "auto" | "none" | "required" | { readonly tool: string }

export interface Settings {
  temperature?: number | undefined
  topP?: number | undefined
  /** Output tokens of one reply. */
  maxTokens?: number | undefined
  stop?: readonly string[] | undefined
  seed?: number | undefined
  reasoningEffort?: "minimal" | "low" | "medium" | "high" | undefined
  toolChoice?: ToolChoice | undefined
  /** What the runtime says to the model in the text protocol. "en" */
  language?: "en" | "zh" | undefined
}

/** A tool as a model sees it. */
export interface ToolSpec {
  readonly name: string
  readonly description: string
  readonly schema: JsonSchema
  readonly examples: readonly unknown[]
}

export interface ModelRequest {
  /** The agent's instructions. With `tools` they form the stable prefix that prompt caches live on. */
  readonly instructions: string
  /** What changes from turn to turn (context variables, summaries); stands after the instructions. May be empty. */
  readonly notes: string
  readonly messages: readonly Message[]
  readonly tools: readonly ToolSpec[]
  readonly settings: Settings
  /** The final answer must be JSON of this shape; null for free text. */
  readonly output: JsonSchema | null
  /** A grammar (GBNF) that the reply must follow. What cannot be constrained ignores it; every reply is read and checked as without. */
  readonly grammar?: string | undefined
  /** Somebody reads along: send deltas. */
  readonly stream: boolean
  readonly signal: AbortSignal
}

export type FinishReason = "stop" | "tool_calls" | "length" | "content_filter" | "unknown"

/** Tokens of one model call. `cost` in the currency of the price table, "unknown" where no price is known: never 0 by default. */
export interface Usage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedTokens: number
  readonly reasoningTokens: number
  readonly cost: number | "unknown"
}

export interface ModelReply {
  readonly text: string
  readonly reasoning: string
  /** Ids as the provider gave them; the runtime numbers calls itself. */
  readonly calls: readonly ToolCall[]
  readonly finish: FinishReason
  /** The tool of a call that the output limit cut off; it is not among `calls`. */
  readonly cutCall?: string | undefined
  /** Written in the text protocol: an answer must carry its label. */
  readonly labelled?: boolean | undefined
  /** null: the server did not say. */
  readonly usage: Usage | null
}

export type ModelErrorCode =
  | "rate_limit"
  | "quota"
  | "overloaded"
  | "server_error"
  | "timeout"
  | "model_loading"
  | "context_length"
  | "auth"
  | "not_found"
  | "invalid_request"
  | "request_too_large"
  | "content_filter"
  | "bad_response"
  | "empty_response"
  | "incomplete"
  | "network"
  | "bad_tool_call"

/** Why a model call failed. `retryable`: the same request may succeed later without changes. */
export interface ModelFailure {
  readonly code: ModelErrorCode
  readonly message: string
  readonly retryable: boolean
  /** Milliseconds the server asked us to wait; absent: our own back-off. */
  readonly waitMs?: number | undefined
  /** The setting to look at, where one is known. */
  readonly hint?: string | undefined
}

/** `reply` or `failure` comes last, exactly once. `reset` takes back all text and reasoning sent so far. */
export type ModelEvent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "reset" }
  | { readonly type: "note"; readonly note: string }
  | { readonly type: "reply"; readonly reply: ModelReply }
  | { readonly type: "failure"; readonly failure: ModelFailure }
