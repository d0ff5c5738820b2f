// The words of every end of a run: what happened, and what to do. Chosen by decide.ts; read by people.
import type { Stop, StopReason } from "../contract/event.ts"
import type { ModelFailure } from "../contract/model.ts"
import type { State } from "../contract/state.ts"

function stop(reason: StopReason, message: string, hint = ""): Stop {
  return { reason, code: reason, message, hint }
}

export const FINAL: Stop = stop("final", "The agent answered.")

export function maxTurns(state: State): Stop {
  return stop("max_turns", `The model was asked ${state.turn} times without reaching an answer.`, "Raise limits.turns, or look at the trace for calls that lead nowhere.")
}

export function overBudget(what: "tokens" | "cost" | "ms", used: number, limit: number): Stop {
  const unit = what === "ms" ? "ms of working time" : what
  return { ...stop("budget", `The run used ${round(used)} ${unit}; its limit is ${round(limit)}.`, `Raise limits.${what}, or resume with a new limit.`), code: what }
}

export function unknownOutput(state: State): Stop {
  return stop(
    "unknown_output",
    `${state.unknownReplies} replies in a row were neither a tool call nor an answer.`,
    "Look at the raw replies in the trace; a clearer prompt, a larger maxTokens or another model helps.",
  )
}

export function repeatedCall(tool: string, count: number): Stop {
  return stop(
    "repeated_call",
    `The model made the same call of ${tool} ${count} times with the same result and was told so: it is in a loop.`,
    "Give the model what it is missing and resume with a message, or set allowRepeats on a tool that is meant to be polled.",
  )
}

export function handoffLoop(pair: string): Stop {
  return stop("handoff_loop", `Two agents keep handing over to each other: ${pair}.`, "Let a person say who should go on, and resume with that message.")
}

export function fatalTool(tool: string, message: string): Stop {
  return stop("fatal_tool_error", `The tool ${tool} ended the run: ${message}`, "The tool itself asked for this; its error says what to mend.")
}

export function modelUnavailable(failures: readonly ModelFailure[], modelsTried: number): Stop {
  const last = failures.at(-1)
  const models = modelsTried > 1 ? `None of ${modelsTried} models answered` : "The model did not answer"
  const tries = failures.length > 1 ? ` after ${failures.length} tries` : ""
  const message = `${models}${tries}: ${last?.message ?? "no reason is known"}`
  return { ...stop("model_unavailable", message, last?.hint ?? "Try again later, or name a fallback model."), code: last?.code ?? "unknown" }
}

export function aborted(reason: string): Stop {
  return stop("aborted", `The run was cancelled: ${reason}.`, "Its history is complete up to here; it can be resumed.")
}

export function refused(rule: string, reason: string): Stop {
  return stop("guardrail", `The rule "${rule}" stopped the run: ${reason}`, "The rule is working as written; change the request or the rule.")
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
