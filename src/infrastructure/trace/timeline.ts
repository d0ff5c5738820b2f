// The events of a run as a plain list: number, time since the start, type, and what it says in one line. Called by `trace show --events`.
// Shows every event; the tree of what they mean is the waterfall's part.
import type { StoredEvent } from "../../contract/event.ts"
import { textOf } from "../../contract/message.ts"
import { cutToWidth, fitToWidth, oneLine } from "./text-width.ts"
import { formatDuration, formatTokens } from "./trace-format.ts"

const DEFAULT_WIDTH = 100

/** One line per event, each with "\n". */
export function renderTimeline(events: readonly StoredEvent[], options: { width?: number | undefined } = {}): string {
  const start = events[0]?.at ?? 0
  const lines = events.map((event) => {
    const cells = [
      fitToWidth(String(event.seq), 5, "right"),
      fitToWidth(`+${formatDuration(event.at - start)}`, 12, "right"),
      fitToWidth(event.type, 13),
      oneLine(textOfEvent(event)),
    ]
    return `${cutToWidth(cells.join("  "), options.width ?? DEFAULT_WIDTH).trimEnd()}\n`
  })
  return lines.join("")
}

function textOfEvent(event: StoredEvent): string {
  switch (event.type) {
    case "run_start":
      return `${event.agent}: ${textOf(event.input.at(-1)?.content ?? "")}`
    case "run_resume":
      return event.reopen ? "reopen" : ""
    case "run_fork":
      return `from ${event.from.runId} at ${event.from.seq}`
    case "run_abort":
      return event.reason
    case "answer_given":
      return `${event.id}: ${event.answer.type}`
    case "message_given":
      return event.message.role === "tool" ? event.message.content : textOf(event.message.content)
    case "thread_run":
      return event.runId
    case "history_edit":
      return `${event.by}: ${event.edits.map(({ remove, insert }) => `−${remove} +${insert.length}`).join(", ")}`
    case "guardrail_end":
      return `${event.point} ${event.rule}: ${event.verdict} ${event.reason}`
    case "model_start":
      return `${event.model}, turn ${event.turn}, attempt ${event.attempt}, ${event.messages} messages`
    case "model_end":
      return `${formatTokens(event.usage)} ${event.reading.type}: ${event.reading.type === "action" ? event.reading.calls.map((call) => `${call.name}(${call.arguments})`).join(", ") : event.reading.text}`
    case "model_fail":
      return `${event.failure.code}: ${event.failure.message}`
    case "tool_check":
      return `${event.callId} ${event.tool}: ${event.verdict.type}${event.verdict.type === "refuse" ? `, ${event.verdict.outcome.text}` : ""}`
    case "tool_start":
      return `${event.callId} ${event.tool}, attempt ${event.attempt}`
    case "tool_end":
      return `${event.callId} ${event.tool}: ${event.outcome.type}, ${event.outcome.text}`
    case "turn_end":
      return `turn ${event.turn}${event.handoff === undefined ? "" : `, handoff to ${event.handoff}`}`
    case "run_pause":
      return event.waiting.map(({ id, reason, question }) => `${id} ${reason}: ${question}`).join(", ")
    case "run_end":
      return `${event.stop.reason}: ${event.answer === "" ? event.stop.message : event.answer}`
    default:
      return event satisfies never
  }
}
