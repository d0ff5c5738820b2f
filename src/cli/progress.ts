// Live progress on stderr: one line per step, as it happens. A reader of the event stream like any other. Used by drive.ts.
import { oneLine } from "../doors/trace.ts"
import type { RunEvent } from "../index.ts"
import type { Output } from "./output.ts"
import type { Speak } from "./texts.ts"

const PREVIEW_CHARS = 100

export interface Progress {
  (event: RunEvent): void
  readonly counts: { turns: number; tools: number }
}

/** `known`: arguments of the calls that were open before, by call id. */
export function createProgress(output: Output, say: Speak, known: ReadonlyMap<string, string> = new Map()): Progress {
  const counts = { turns: 0, tools: 0 }
  const started = new Map<string, number>()
  const calls = new Map(known)
  const line = (mark: string, text: string): void => output.progress(`${output.dim(mark)} ${text}`)
  const read = (event: RunEvent): void => {
    switch (event.type) {
      case "model_start":
        line("…", output.dim(event.attempt === 1 ? say("asking") : say("askingAgain", { attempt: event.attempt })))
        return
      case "model_end":
        counts.turns++
        if (event.reading.type === "unknown") line("?", output.yellow(say("unusable")))
        if (event.reading.type === "action") for (const call of event.reading.calls) calls.set(call.id, call.arguments)
        for (const note of event.notes) line("·", output.dim(oneLine(note)))
        return
      case "model_fail":
        line("!", output.yellow(say("modelFailed", { message: oneLine(event.failure.message) })))
        return
      case "answer_given":
        if (event.answer.type === "approve" && event.answer.arguments !== null) calls.set(event.id, event.answer.arguments)
        return
      case "tool_check":
        if (event.repairs.length > 0) line("·", output.dim(say("repaired", { what: event.repairs.join(", ") })))
        if (event.verdict.type === "refuse") line("×", `${event.tool} ${output.yellow(say("notRun", { why: preview(event.verdict.outcome.text) }))}`)
        return
      case "tool_start":
        counts.tools++
        started.set(event.callId, event.at)
        line("→", `${output.bold(event.tool)} ${output.dim(preview(calls.get(event.callId) ?? ""))}`)
        return
      case "tool_end": {
        const ms = event.at - (started.get(event.callId) ?? event.at)
        const text = preview(event.outcome.text)
        line("←", `${output.bold(event.tool)} ${event.outcome.type === "ok" ? output.dim(text) : output.red(text)} ${output.dim(`${ms} ms`)}`)
        return
      }
      case "tool_progress":
        line("·", output.dim(oneLine(event.note)))
        return
      case "history_edit":
        line("·", output.dim(say("shortened")))
        return
      default:
        return
    }
  }
  return Object.assign(read, { counts })
}

function preview(text: string): string {
  const flat = oneLine(text)
  return flat.length > PREVIEW_CHARS ? `${flat.slice(0, PREVIEW_CHARS)}…` : flat
}
