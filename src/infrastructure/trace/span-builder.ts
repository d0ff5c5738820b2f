// The tree of spans while it grows: what is open now, and how it is closed. Used by spans.ts and tool-spans.ts only.
import type { StoredEvent } from "../../contract/event.ts"
import type { Span, SpanFacts, SpanOf, SpanStatus, SpanType } from "./span.ts"

export type EventOf<Type extends StoredEvent["type"]> = Extract<StoredEvent, { type: Type }>
export type Open<Type extends SpanType> = { -readonly [Key in keyof SpanOf<Type>]: SpanOf<Type>[Key] } & { attributes: SpanFacts[Type]; children: Span[] }

/** The run as far as it has been read. */
export interface Builder {
  /** Time of the event before; a clock that was set back never makes it smaller. */
  last: number
  readonly run: Open<"run">
  agent: string
  turn: Open<"turn"> | null
  model: Open<"model"> | null
  readonly tools: Map<string, Open<"tool">>
  pause: Open<"pause"> | null
  /** The attempt before, when it failed and no other has begun. */
  failed: Open<"model"> | null
  readonly calls: Map<string, { name: string; arguments: string; repairs: readonly string[] }>
}

export function newSpan<Type extends SpanType>(type: Type, id: string, from: { name: string; at: number; attributes: SpanFacts[Type] }): Open<Type> {
  return { type, id, name: from.name, startMs: from.at, endMs: from.at, status: "unfinished", error: "", attributes: from.attributes, children: [] }
}

export function close(span: { endMs: number; status: SpanStatus; error: string }, at: number, outcome: { status: SpanStatus; error?: string }): void {
  span.endMs = at
  span.status = outcome.status
  span.error = outcome.error ?? ""
}

export function siblings(builder: Builder): Span[] {
  return (builder.turn ?? builder.run).children
}

/** Whatever still runs when something begins that comes after it has lost its end. */
export function closeCalls(builder: Builder, at: number): void {
  if (builder.model !== null) close(builder.model, at, { status: "unfinished" })
  for (const tool of builder.tools.values()) close(tool, at, { status: "unfinished" })
  builder.model = null
  builder.tools.clear()
}

export function endTurn(builder: Builder, at: number, status: SpanStatus | null): void {
  const turn = builder.turn
  if (turn === null) return
  const lastModel = turn.children.findLast((child) => child.type === "model")
  const derived = turn.children.some((child) => child.status === "unfinished") ? "unfinished" : (lastModel?.status ?? "ok")
  close(turn, at, { status: status ?? derived })
  builder.turn = null
}

export function startPause(builder: Builder, at: number, pause: { id: string; because: "waiting" | "ended"; waiting: EventOf<"run_pause">["waiting"] }): void {
  const { id, because, waiting } = pause
  builder.failed = null
  builder.pause = newSpan("pause", id, { name: because, at, attributes: { because, waiting, answers: [] } })
  siblings(builder).push(builder.pause)
}

export function endPause(builder: Builder, at: number, status: SpanStatus): void {
  if (builder.pause === null) return
  close(builder.pause, at, { status })
  builder.run.attributes.pausedMs += at - builder.pause.startMs
  builder.pause = null
  builder.last = at
}
