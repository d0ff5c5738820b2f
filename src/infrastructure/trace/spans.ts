// Folds the events of a run into its tree of spans: run > turn > model attempts, tool calls, waits, pauses, rules, edits.
// Called by everything that shows or exports a trace. Pure and in one pass. Where an end is missing the next start closes the span,
// never the clock: times that nobody recorded must not add up.
import type { StoredEvent } from "../../contract/event.ts"
import { textOf } from "../../contract/message.ts"
import type { Usage } from "../../contract/model.ts"
import type { SpanOf } from "./span.ts"
import type { Builder, EventOf, Open } from "./span-builder.ts"
import { close, closeCalls, endPause, endTurn, newSpan, siblings, startPause } from "./span-builder.ts"
import { addAnswer, checkTool, endTool, startTool } from "./tool-spans.ts"

const NO_USAGE: Usage & { unreported: number } = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0, cost: 0, unreported: 0 }
/** These may come in while a run waits, and do not end the waiting. */
const WHILE_WAITING: ReadonlySet<StoredEvent["type"]> = new Set(["answer_given", "run_abort", "run_fork", "message_given", "history_edit"])

/** The events of one run, from its first to its last so far, as a tree. */
export function buildSpans(events: readonly StoredEvent[]): SpanOf<"run"> {
  const first = events[0]?.at ?? 0
  const run = newSpan("run", "run-1", {
    name: "",
    at: first,
    attributes: { runId: "", agent: "", input: "", answer: "", stop: null, forkedFrom: null, turns: 0, modelCalls: 0, toolCalls: 0, usage: NO_USAGE, pausedMs: 0, disclaimer: "" },
  })
  const builder: Builder = { last: first, run, agent: "", turn: null, model: null, tools: new Map(), pause: null, failed: null, calls: new Map() }
  for (const event of events) {
    const at = Math.max(builder.last, event.at)
    if (endsPause(builder, event)) endPause(builder, at, "ok")
    add(builder, event, at)
    builder.last = at
  }
  // An end that nothing came after is not a pause.
  if (run.attributes.stop !== null) run.children = run.children.filter((child) => child !== builder.pause)
  else endPause(builder, builder.last, "unfinished")
  closeCalls(builder, builder.last)
  if (builder.turn !== null) endTurn(builder, builder.last, "unfinished")
  run.endMs = builder.last
  return run
}

function add(builder: Builder, event: StoredEvent, at: number): void {
  switch (event.type) {
    case "run_start":
      builder.run.name = builder.agent = event.agent
      Object.assign(builder.run.attributes, { runId: event.runId, agent: event.agent, input: lastInput(event.input) })
      break
    case "run_resume":
      resume(builder, event, at)
      break
    case "run_fork":
      Object.assign(builder.run.attributes, { runId: event.runId, forkedFrom: event.from.runId })
      break
    case "run_abort":
    case "message_given":
    case "thread_run":
      break
    case "answer_given":
      addAnswer(builder, event, at)
      break
    case "history_edit":
      addEdit(builder, event, at)
      break
    case "guardrail_end":
      addRule(builder, event, at)
      break
    case "model_start":
      startModel(builder, event, at)
      break
    case "model_end":
      endModel(builder, event, at)
      break
    case "model_fail":
      failModel(builder, event, at)
      break
    case "tool_check":
      checkTool(builder, event, at)
      break
    case "tool_start":
      startTool(builder, event, at)
      break
    case "tool_end":
      endTool(builder, event, at)
      break
    case "turn_end":
      closeCalls(builder, at)
      finishTurn(builder, event, at)
      break
    case "run_pause":
      closeCalls(builder, at)
      startPause(builder, at, { id: `pause-${event.seq}`, because: "waiting", waiting: event.waiting })
      break
    case "run_end":
      endRun(builder, event, at)
      break
    default:
      event satisfies never
  }
}

function endsPause(builder: Builder, event: StoredEvent): boolean {
  // A run that ended stays so when it is only delivered again.
  if (event.type === "run_resume" && builder.run.attributes.stop !== null) return event.reopen
  return !WHILE_WAITING.has(event.type)
}

function resume(builder: Builder, event: EventOf<"run_resume">, at: number): void {
  if (builder.run.attributes.stop !== null && !event.reopen) return
  closeCalls(builder, at)
  Object.assign(builder.run, { status: "unfinished", error: "" })
  Object.assign(builder.run.attributes, { stop: null, answer: "" })
}

function startModel(builder: Builder, event: EventOf<"model_start">, at: number): void {
  closeCalls(builder, at)
  if (builder.turn?.attributes.turn !== event.turn) {
    endTurn(builder, at, null)
    builder.turn = newSpan("turn", `turn-${event.seq}`, { name: String(event.turn), at, attributes: { turn: event.turn, agent: builder.agent, handoff: null, contextKeys: [] } })
    builder.run.children.push(builder.turn)
    builder.run.attributes.turns++
  } else if (builder.failed !== null && at > builder.last) {
    const wait = newSpan("wait", `wait-${event.seq}`, { name: "", at: builder.last, attributes: { code: builder.failed.attributes.failure?.code ?? "" } })
    close(wait, at, { status: "ok" })
    siblings(builder).push(wait)
  }
  const { model, attempt, modelIndex, messages } = event
  const attributes = { model, attempt, modelIndex, messages, reading: null, finish: null, usage: null, notes: [], failure: null }
  builder.model = newSpan("model", `model-${event.seq}`, { name: model, at, attributes })
  builder.failed = null
  builder.run.attributes.modelCalls++
  builder.run.attributes.disclaimer = event.disclaimer ?? builder.run.attributes.disclaimer
  siblings(builder).push(builder.model)
}

function endModel(builder: Builder, event: EventOf<"model_end">, at: number): void {
  const { reading, finish, usage, notes } = event
  for (const call of reading.type === "action" ? reading.calls : []) builder.calls.set(call.id, { name: call.name, arguments: call.arguments, repairs: [] })
  builder.run.attributes.usage = sumOf(builder.run.attributes.usage, usage)
  if (builder.model === null) return
  Object.assign(builder.model.attributes, { reading, finish, usage, notes })
  close(builder.model, at, reading.type === "unknown" ? { status: "failed", error: reading.feedback } : { status: "ok" })
  builder.model = null
}

function failModel(builder: Builder, event: EventOf<"model_fail">, at: number): void {
  if (builder.model === null) return
  builder.model.attributes.failure = event.failure
  close(builder.model, at, { status: "failed", error: `${event.failure.code}: ${event.failure.message}` })
  builder.failed = builder.model
  builder.model = null
}

function addEdit(builder: Builder, event: EventOf<"history_edit">, at: number): void {
  const { by, because, edits } = event
  addStep(builder, { at, span: newSpan("edit", `edit-${event.seq}`, { name: by, at, attributes: { by, because, edits } }) })
}

function addRule(builder: Builder, event: EventOf<"guardrail_end">, at: number): void {
  const { point, rule, verdict, reason } = event
  const span = newSpan("rule", `rule-${event.seq}`, { name: rule, at, attributes: { point, rule, verdict, reason } })
  addStep(builder, { at, span })
  if (verdict === "stop") Object.assign(span, { status: "failed", error: reason })
}

/** Steps that only record their end lasted since the event before, unless something else was going on. */
function addStep(builder: Builder, step: { at: number; span: Open<"rule"> | Open<"edit"> }): void {
  const alone = builder.model === null && builder.tools.size === 0 && builder.pause === null
  step.span.startMs = alone ? builder.last : step.at
  close(step.span, step.at, { status: "ok" })
  siblings(builder).push(step.span)
}

function finishTurn(builder: Builder, event: EventOf<"turn_end">, at: number): void {
  if (builder.turn !== null) {
    builder.turn.attributes.handoff = event.handoff ?? null
    builder.turn.attributes.contextKeys = [...Object.keys(event.context), ...event.removed]
  }
  endTurn(builder, at, null)
  builder.agent = event.handoff ?? builder.agent
}

function endRun(builder: Builder, event: EventOf<"run_end">, at: number): void {
  closeCalls(builder, at)
  endTurn(builder, at, null)
  builder.failed = null
  const { stop, answer } = event
  Object.assign(builder.run.attributes, { stop, answer })
  close(builder.run, at, stop.reason === "final" ? { status: "ok" } : { status: "failed", error: stop.message })
  startPause(builder, at, { id: `pause-${event.seq}`, because: "ended", waiting: [] })
}

function sumOf(sum: Usage & { unreported: number }, usage: Usage | null): Usage & { unreported: number } {
  if (usage === null) return { ...sum, cost: "unknown", unreported: sum.unreported + 1 }
  return {
    inputTokens: sum.inputTokens + usage.inputTokens,
    outputTokens: sum.outputTokens + usage.outputTokens,
    cachedTokens: sum.cachedTokens + usage.cachedTokens,
    reasoningTokens: sum.reasoningTokens + usage.reasoningTokens,
    cost: sum.cost === "unknown" || usage.cost === "unknown" ? "unknown" : sum.cost + usage.cost,
    unreported: sum.unreported,
  }
}

function lastInput(input: EventOf<"run_start">["input"]): string {
  const message = input.findLast(({ role }) => role === "user")
  return message === undefined ? "" : textOf(message.content)
}
