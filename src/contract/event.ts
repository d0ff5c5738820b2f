// What happened. A run is the list of these; state is their fold (orchestration/apply.ts), readers get them as they are written.
import type { Message, ToolCall } from "./message.ts"
import type { FinishReason, ModelFailure, Usage } from "./model.ts"
import type { Hints } from "./tool.ts"

export type StopReason = "final" | "max_turns" | "unknown_output" | "repeated_call" | "handoff_loop" | "budget" | "fatal_tool_error" | "model_unavailable" | "guardrail" | "aborted"

/** Why a run ended, in one line each; `hint` says what to do. `code` narrows the reason (`server_error`, `auth`, `tokens`…). */
export interface Stop {
  readonly reason: StopReason
  readonly code: string
  readonly message: string
  readonly hint: string
}

/** Points at which rules are asked. */
export type Point = "input" | "before_model" | "after_model" | "before_tool" | "after_tool" | "before_answer"

/** Limits of one run. null: none. `ms` counts working time, not waiting for people. */
export interface ResolvedLimits {
  readonly turns: number
  readonly tokens: number | null
  readonly cost: number | null
  readonly ms: number | null
  readonly messages: number | null
  readonly contextTokens: number
  readonly callsPerReply: number
  readonly callsAtOnce: number
}

/** New values of context variables, plain JSON; a key in `removed` is taken away. */
export interface ContextChanges {
  readonly set: { readonly [key: string]: unknown }
  readonly removed: readonly string[]
}

/** `unknown`: it may have happened. When `text` was cut for the model, the whole stands in `full`. `fatal` ends the run. */
export type Outcome =
  | { readonly type: "ok"; readonly text: string; readonly full?: string | undefined; readonly context: ContextChanges | null; readonly handoff: Handoff | null }
  | { readonly type: "failed"; readonly text: string; readonly retryable: boolean; readonly fatal?: string | undefined }
  | { readonly type: "unknown"; readonly text: string }
  /** The answer comes from outside: the call waits for it. */
  | { readonly type: "later"; readonly text: string }

export interface Handoff {
  readonly agent: string
  readonly reason: string
}

/** A model reply read into one of three states. An `unknown` one goes back to the model with `feedback`. */
export type Reading =
  | { readonly type: "action"; readonly text: string; readonly calls: readonly ToolCall[] }
  | { readonly type: "final"; readonly text: string }
  | { readonly type: "unknown"; readonly text: string; readonly feedback: string }

/** `ask`: a person must agree. `arguments` is exactly what will run, after parsing and repair. */
export type CheckVerdict =
  | { readonly type: "run" }
  | { readonly type: "refuse"; readonly outcome: Outcome }
  | { readonly type: "ask"; readonly question: string; readonly arguments: unknown; readonly expiresAt: number | null }

export type WaitingReason = "approval" | "unfinished" | "input" | "step"
export interface WaitingFor {
  readonly id: string
  readonly reason: WaitingReason
  readonly question: string
  /** What will run if a person agrees, after parsing and repair; null where nothing will. */
  readonly arguments: unknown
  /** Milliseconds since 1970 after which an approval counts as a rejection; null: never. */
  readonly expiresAt: number | null
}

export type AnswerGiven =
  | { readonly type: "approve"; readonly arguments: string | null }
  | { readonly type: "reject"; readonly reason: string }
  | { readonly type: "retry" }
  | { readonly type: "happened"; readonly outcome: Outcome }
  | { readonly type: "did_not_happen" }
  | { readonly type: "reply"; readonly text: string }
  | { readonly type: "step" }
  | { readonly type: "continue" }
  | { readonly type: "stop" }

export interface HistoryEdit {
  readonly at: number
  readonly remove: number
  readonly insert: readonly Message[]
}

/** Enters from outside, through the same append as the run's own events. */
export type OutsideEvent =
  | {
      readonly type: "run_start"
      readonly runId: string
      readonly agent: string
      readonly input: readonly Message[]
      readonly context: { readonly [key: string]: unknown }
      readonly limits: ResolvedLimits
      readonly guarded: readonly Point[]
      readonly models: { readonly [agent: string]: readonly string[] }
      readonly hash: string
      readonly step: boolean
      readonly thread?: string | undefined
    }
  | { readonly type: "run_resume"; readonly reopen: boolean; readonly limits: ResolvedLimits | null; readonly guarded: readonly Point[] }
  | { readonly type: "run_fork"; readonly runId: string; readonly from: { readonly runId: string; readonly seq: number } }
  | { readonly type: "run_abort"; readonly reason: string }
  | { readonly type: "answer_given"; readonly id: string; readonly answer: AnswerGiven }
  | { readonly type: "message_given"; readonly message: Message }
  /** Only in the log of a thread: its next run. */
  | { readonly type: "thread_run"; readonly runId: string }
  | { readonly type: "history_edit"; readonly by: string; readonly because: "limit" | "context_length" | "edit"; readonly edits: readonly HistoryEdit[] }

/** Written by `perform`. Every start has its end on every path. */
export type OwnEvent =
  | { readonly type: "guardrail_end"; readonly point: Point; readonly rule: string; readonly verdict: string; readonly reason: string }
  | {
      readonly type: "model_start"
      readonly turn: number
      readonly model: string
      readonly modelIndex: number
      readonly attempt: number
      readonly messages: number
      readonly disclaimer?: string | undefined
    }
  | {
      readonly type: "model_end"
      readonly reading: Reading
      readonly reasoning: string
      readonly finish: FinishReason
      readonly usage: Usage | null
      readonly estimatedTokens: number
      readonly notes: readonly string[]
      readonly raw?: string | undefined
    }
  | { readonly type: "model_fail"; readonly failure: ModelFailure; readonly notes: readonly string[] }
  | {
      readonly type: "tool_check"
      readonly callId: string
      readonly tool: string
      readonly key: string
      readonly hints: Hints
      readonly allowRepeats: boolean
      readonly retries: number
      readonly verdict: CheckVerdict
      readonly repairs: readonly string[]
    }
  | { readonly type: "tool_start"; readonly callId: string; readonly tool: string; readonly attempt: number; readonly idempotencyKey: string }
  | { readonly type: "tool_end"; readonly callId: string; readonly tool: string; readonly outcome: Outcome }
  | {
      readonly type: "turn_end"
      readonly turn: number
      readonly context: { readonly [key: string]: unknown }
      readonly removed: readonly string[]
      readonly handoff?: string | undefined
      readonly reason?: string | undefined
    }
  | { readonly type: "run_pause"; readonly waiting: readonly WaitingFor[] }
  | { readonly type: "run_end"; readonly stop: Stop; readonly answer: string; readonly fallback?: string | undefined }

/** For readers only: never stored, never folded. `text_reset` takes back the text of this turn. */
export type LiveEvent =
  | { readonly type: "text_delta"; readonly text: string }
  | { readonly type: "reasoning_delta"; readonly text: string }
  | { readonly type: "text_reset" }
  | { readonly type: "tool_progress"; readonly callId: string; readonly note: string }
  | { readonly type: "tool_log"; readonly callId: string; readonly note: string; readonly data?: object | undefined }
  | { readonly type: "deltas_lost"; readonly count: number }

export type FoldedEvent = OutsideEvent | OwnEvent
/** `seq` counts from 1 without gaps; `at` is milliseconds since 1970; `v` is the version of this format. */
export type StoredEvent = FoldedEvent & { readonly v: 1; readonly seq: number; readonly at: number }
/** What readers get. */
export type RunEvent = StoredEvent | LiveEvent
