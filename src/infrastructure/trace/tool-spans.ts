// The tool calls of a tree of spans: each attempt, and the calls that were answered without running. Called by spans.ts.
import type { AnswerGiven, Outcome } from "../../contract/event.ts"
import type { SpanStatus } from "./span.ts"
import type { Builder, EventOf } from "./span-builder.ts"
import { close, closeCalls, newSpan, siblings } from "./span-builder.ts"

export function checkTool(builder: Builder, event: EventOf<"tool_check">, at: number): void {
  const call = builder.calls.get(event.callId)
  builder.calls.set(event.callId, { name: event.tool, arguments: call?.arguments ?? "", repairs: event.repairs })
  if (event.verdict.type === "refuse") addUnexecuted(builder, { callId: event.callId, id: `tool-${event.seq}`, outcome: event.verdict.outcome }, at)
}

export function startTool(builder: Builder, event: EventOf<"tool_start">, at: number): void {
  if (builder.model !== null) closeCalls(builder, at)
  builder.failed = null
  const before = builder.tools.get(event.callId)
  if (before !== undefined) close(before, at, { status: "unfinished" })
  const { callId, tool, attempt } = event
  const call = builder.calls.get(callId)
  const attributes = { callId, tool, attempt, executed: true, arguments: call?.arguments ?? "", repairs: call?.repairs ?? [], outcome: null }
  const span = newSpan("tool", `tool-${event.seq}`, { name: tool, at, attributes })
  builder.tools.set(callId, span)
  builder.run.attributes.toolCalls++
  siblings(builder).push(span)
}

export function endTool(builder: Builder, event: EventOf<"tool_end">, at: number): void {
  const span = builder.tools.get(event.callId)
  if (span === undefined) return
  span.attributes.outcome = event.outcome
  close(span, at, resultOf(event.outcome))
  builder.tools.delete(event.callId)
}

/** A call that was answered by a rule, by a person, or because it could not run. */
function addUnexecuted(builder: Builder, call: { callId: string; id: string; outcome: Outcome }, at: number): void {
  const known = builder.calls.get(call.callId)
  const name = known?.name ?? ""
  const attributes = { callId: call.callId, tool: name, attempt: 0, executed: false, arguments: known?.arguments ?? "", repairs: known?.repairs ?? [], outcome: call.outcome }
  const span = newSpan("tool", call.id, { name, at, attributes })
  close(span, at, resultOf(call.outcome))
  siblings(builder).push(span)
}

function resultOf(outcome: Outcome): { status: SpanStatus; error: string } {
  switch (outcome.type) {
    case "ok":
      return { status: "ok", error: "" }
    case "later":
      return { status: "unfinished", error: "" }
    case "failed":
    case "unknown":
      return { status: "failed", error: outcome.text }
    default:
      return outcome satisfies never
  }
}

export function addAnswer(builder: Builder, event: EventOf<"answer_given">, at: number): void {
  const { answer, id } = event
  builder.pause?.attributes.answers.push(answerText(answer))
  const call = builder.calls.get(id)
  if (answer.type === "approve" && answer.arguments !== null && call !== undefined) builder.calls.set(id, { ...call, arguments: answer.arguments })
  const outcome = outcomeOf(answer)
  if (outcome !== null && call !== undefined) addUnexecuted(builder, { callId: id, id: `tool-${event.seq}`, outcome }, at)
}

function answerText(answer: AnswerGiven): string {
  if (answer.type === "reply") return `reply: ${answer.text}`
  return answer.type === "reject" && answer.reason !== "" ? `reject: ${answer.reason}` : answer.type
}

/** The outcome that an answer gives to a call which does not run any more; null when it runs, or waits on. */
function outcomeOf(answer: AnswerGiven): Outcome | null {
  if (answer.type === "happened") return answer.outcome
  if (answer.type === "reply") return { type: "ok", text: answer.text, context: null, handoff: null }
  return answer.type === "reject" ? { type: "failed", text: answerText(answer), retryable: false } : null
}
