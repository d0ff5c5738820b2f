// What a span is: one stretch of a run with its place in the tree. spans.ts builds them; waterfall, studio and exporters read them.
// Only types. Texts are whole here: whoever shows them cuts them, and redacts them first (redact-events.ts).
import type { HistoryEdit, Outcome, Point, Reading, Stop, WaitingFor } from "../../contract/event.ts"
import type { FinishReason, ModelFailure, Usage } from "../../contract/model.ts"

/** `unfinished`: no end was recorded (the process died, or the run still goes on or waits). */
export type SpanStatus = "ok" | "failed" | "unfinished"

/** What is known about a span, by its type. */
export interface SpanFacts {
  run: {
    runId: string
    agent: string
    input: string
    answer: string
    stop: Stop | null
    forkedFrom: string | null
    turns: number
    modelCalls: number
    toolCalls: number
    /** Of all model calls; `unreported` counts those whose server did not say. */
    usage: Usage & { unreported: number }
    /** Milliseconds spent waiting for people, or between an end and its reopening. */
    pausedMs: number
    /** Said by a model that is not a language model; empty otherwise. */
    disclaimer: string
  }
  turn: { turn: number; agent: string; handoff: string | null; contextKeys: string[] }
  /** One attempt of a model call. */
  model: {
    model: string
    attempt: number
    /** 0: the agent's first model, otherwise a fallback. */
    modelIndex: number
    messages: number
    reading: Reading | null
    finish: FinishReason | null
    usage: Usage | null
    notes: readonly string[]
    failure: ModelFailure | null
  }
  /** One attempt of a tool call, or a call that was answered without running. */
  tool: { callId: string; tool: string; attempt: number; executed: boolean; arguments: string; repairs: readonly string[]; outcome: Outcome | null }
  /** Back-off before the next attempt of a model call. */
  wait: { code: string }
  /** The run waited for people, or had ended and was opened again. */
  pause: { because: "waiting" | "ended"; waiting: readonly WaitingFor[]; answers: string[] }
  rule: { point: Point; rule: string; verdict: string; reason: string }
  edit: { by: string; because: string; edits: readonly HistoryEdit[] }
}
export type SpanType = keyof SpanFacts

/**
 * Times in milliseconds since 1970. A parent covers its children; children that are not tool calls never overlap.
 * `id` is made of the type and the number of the event that opened it, so it can stand in a link.
 */
export interface SpanOf<Type extends SpanType> {
  readonly type: Type
  readonly id: string
  readonly name: string
  readonly startMs: number
  readonly endMs: number
  readonly status: SpanStatus
  /** What went wrong, in the words of the event; empty unless failed. */
  readonly error: string
  readonly attributes: Readonly<SpanFacts[Type]>
  readonly children: readonly Span[]
}
export type Span = { [Type in SpanType]: SpanOf<Type> }[SpanType]
