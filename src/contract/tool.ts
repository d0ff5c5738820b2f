// Tools: what a team writes. `tool()` in capability/tools makes one; capability/tools/execute.ts runs it.
import type { JsonSchema, MaybePromise, Schema } from "./schema.ts"

/** Behaviour, with the field's names (MCP tool annotations) and two of ours: `privateData`, `untrusted`. Undeclared is the careful reading. */
export interface Hints {
  /** Changes nothing. */
  readonly readOnly?: boolean | undefined
  /** Calling twice with the same idempotency key is calling once. */
  readonly idempotent?: boolean | undefined
  readonly destructive?: boolean | undefined
  /** Talks to the world outside. */
  readonly openWorld?: boolean | undefined
  readonly privateData?: boolean | undefined
  /** Its results may hold text written by strangers. */
  readonly untrusted?: boolean | undefined
}

export type Changes<C> = keyof C extends never ? never : { readonly [K in keyof C]?: C[K] | undefined }

declare const effect: unique symbol
/** A result that does more than answer: made by `result`, `handoff` and `later` of the call, nothing else. */
export interface ToolEffect {
  readonly [effect]: true
}

/** What a tool gets beside its arguments. */
export interface ToolCallInfo<C, Target extends string = never> {
  readonly context: Readonly<C>
  readonly signal: AbortSignal
  readonly runId: string
  readonly callId: string
  /** The same for every attempt of this call, also after a crash. */
  readonly idempotencyKey: string
  progress(note: string): void
  log(note: string, data?: object): void
  /** An answer together with changes of the context variables; typed by the tool's own context schema. */
  result<V>(value: V, effects: { context: Changes<C> }): ToolEffect
  handoff(agent: Target, reason?: string): ToolEffect
  /** The answer comes from outside, minutes or days later: the run waits, and the model sees the answer as this call's result. */
  later(question: string): ToolEffect
}

/** `in C`: a tool that reads little of the context fits every agent whose context has that much. */
export interface Tool<in C = object, out Target extends string = never> extends ToolDefinition {
  readonly target?: Target
  readonly types?: (context: C) => void
}

/** A tool with everything settled, as the runtime uses it. */
export interface ToolDefinition {
  readonly name: string
  readonly description: string
  /** What the model is shown. */
  readonly schema: JsonSchema
  readonly input: Schema | null
  readonly output: Schema | null
  readonly hints: Hints
  readonly tags: readonly string[]
  readonly examples: readonly unknown[]
  readonly handoffs: readonly string[]
  readonly timeoutMs: number
  readonly retries: number
  readonly maxResultChars: number
  readonly allowRepeats: boolean
  /** Milliseconds after which an approval counts as a rejection; null: never. */
  readonly approvalExpiresMs: number | null
  readonly approval: (args: unknown, context: object) => MaybePromise<boolean>
  readonly execute: (args: unknown, call: ToolCallInfo<object, string>) => unknown
}
