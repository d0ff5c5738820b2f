// An agent: instructions, tools, models, limits. `agent()` in capability/agent.ts makes one.
import type { Settings, ToolSpec } from "./model.ts"
import type { Model } from "./ports.ts"
import type { Schema } from "./schema.ts"
import type { Tool, ToolDefinition } from "./tool.ts"

/** Limits of a run; the defaults stand in docs/decisions. A limit can be tightened by the run, and raised by it too: it is the caller's bill. */
export interface Limits {
  /** Model replies. 10. */
  turns?: number | undefined
  /** Input and output tokens of all model calls together. */
  tokens?: number | undefined
  cost?: number | undefined
  /** Working time in milliseconds. */
  ms?: number | undefined
  /** Messages kept in history. */
  messages?: number | undefined
  /** Tokens of history sent to the model; the model's context window when known, else 100,000. */
  contextTokens?: number | undefined
  /** Calls of one reply that run; the rest are answered unexecuted. 128: no task needs more, and a model in a storm writes hundreds. */
  callsPerReply?: number | undefined
  /** Calls that run side by side. 64. */
  callsAtOnce?: number | undefined
}

export type Protocol = "native" | "text" | "auto"

/** How a run can end: which agent spoke last, and what it gives. */
export interface End<Name extends string = string, O = unknown> {
  readonly agent: Name
  readonly output: O
}

/** What a team needs to know of an agent that is put into it. */
export interface Member<in C, out O> {
  readonly name: string
  readonly definition: AgentDefinition
  readonly member?: { readonly context: (context: C) => void; readonly output: O }
}

/** C: context as agents see it, E: possible ends, I: context as callers pass it (before defaults). */
export interface Agent<in out C = object, out E extends End = End<string, string>, in out I = C> extends Member<C, E["output"]> {
  readonly types?: { readonly context: (context: C) => C; readonly end: E; readonly input: (input: I) => I }
}

/** An agent with everything settled, as the runtime uses it. */
export interface AgentDefinition {
  readonly name: string
  readonly instructions: (context: object) => string
  readonly context: Schema | null
  readonly models: readonly Model[]
  readonly settings: Settings
  readonly protocol: Protocol
  readonly tools: readonly ToolDefinition[]
  /** The tools as models see them; one array for all runs, so that adapters can keep its text. */
  readonly specs: readonly ToolSpec[]
  readonly output: Schema | null
  readonly limits: Limits
  /** Names of the agents it may hand over to, and what the others are told about it. */
  readonly handoffs: readonly string[]
  readonly handoffDescription: string
  readonly fallback: string | null
  /** Agents that can be reached from here, by name; itself included. */
  readonly members: () => ReadonlyMap<string, AgentDefinition>
}

// biome-ignore lint/suspicious/noExplicitAny: an agent of any context, kept in a registry
export type AnyAgent = Agent<any, End, any>

export interface AgentOptions<C, Name extends string, O> {
  /** A function sees the context variables; what it returns is sent after the stable prefix only if it changes. */
  instructions: string | ((context: Readonly<C>) => string)
  model?: Model | readonly Model[] | undefined
  settings?: Settings | undefined
  /** `native`: function calling. `text`: labelled text, for models that know no function calling. `auto` (default): text where the model or its server has none. */
  protocol?: Protocol | undefined
  tools?: readonly Tool<C, Name>[] | undefined
  output?: Schema<unknown, O> | undefined
  /** Agents of the team that it may hand over to. */
  handoffs?: readonly Name[] | undefined
  /** What this agent is for, told to the agents that may hand over to it. */
  handoffDescription?: string | undefined
  limits?: Limits | undefined
  /** What a user may be told when no answer could be had. Never takes the place of the answer. */
  fallback?: string | undefined
}

/** The ends a team's run can have: whichever agent spoke last, with its own output. */
export type Ends<O> = { [K in keyof O & string]: End<K, unknown extends O[K] ? string : O[K]> }[keyof O & string]
