// The one place that continues, pauses or stops a run. Pure: the same state gives the same action. Called by loop.ts before every step.
import type { Outcome, Stop, WaitingFor } from "../contract/event.ts"
import type { ModelFailure } from "../contract/model.ts"
import type { Action, Call, Phase, State } from "../contract/state.ts"
import { mayRunAgain } from "./apply-calls.ts"
import { pairOf, STEP } from "./apply.ts"
import { repeatedCall, aborted, FINAL, fatalTool, handoffLoop, maxTurns, modelUnavailable, overBudget, refused, unknownOutput } from "./stops.ts"
import { stuckCall, timesBefore } from "./repeats.ts"

const UNKNOWN_REPLIES = 2
const MODEL_RETRIES = 2
const BACK_OFF_MS = 500
/** A server that asks for a longer wait counts as away: the next model is tried. */
const LONGEST_WAIT_MS = 60_000
const TRANSFERS_IN_A_PAIR = 2

export function decide(state: State): Action {
  switch (state.status.type) {
    case "paused":
    case "stopped":
      return { type: "rest" }
    case "aborting":
      return ending(aborted(state.status.reason))
    case "refused":
      return ending(refused(state.status.rule, state.status.reason))
    case "running":
      return oneStep(state, next(state))
    default:
      return state.status satisfies never
  }
}

/** Step mode pauses before each model call and each tool call. */
function oneStep(state: State, action: Action): Action {
  if (state.step === "off" || (action.type !== "model" && action.type !== "run_calls")) return action
  if (state.step === "go") return action.type === "run_calls" ? { ...action, calls: action.calls.slice(0, 1) } : action
  const what = action.type === "model" ? "model" : "tool"
  return { type: "pause", waiting: [{ id: STEP, reason: "step", question: what, arguments: null, expiresAt: null }] }
}

function next(state: State): Action {
  switch (state.phase.type) {
    case "model":
      return askModel(state, state.phase)
    case "tools":
      return handleCalls(state, state.phase.calls)
    case "final":
      return ending(FINAL)
    default:
      return state.phase satisfies never
  }
}

function askModel(state: State, phase: Extract<Phase, { type: "model" }>): Action {
  if (state.unknownReplies >= UNKNOWN_REPLIES) return ending(unknownOutput(state))
  const spent = overLimit(state)
  if (spent !== null) return ending(spent)
  const failure = phase.failures.at(-1)
  if (failure !== undefined) return afterFailure(state, phase, failure)
  const tooLong = state.messageTokens > state.limits.contextTokens || (state.limits.messages !== null && state.messages.length > state.limits.messages)
  if (tooLong && phase.shortened === null) return { type: "shorten", because: "limit" }
  return { type: "model", modelIndex: phase.modelIndex, attempt: 1, wait: null }
}

function overLimit(state: State): Stop | null {
  const { limits, usage } = state
  if (state.turn >= limits.turns) return maxTurns(state)
  if (limits.tokens !== null && state.budgetTokens >= limits.tokens) return overBudget("tokens", state.budgetTokens, limits.tokens)
  if (limits.cost !== null && usage.cost !== "unknown" && usage.cost >= limits.cost) return overBudget("cost", usage.cost, limits.cost)
  if (limits.ms !== null && state.activeMs >= limits.ms) return overBudget("ms", state.activeMs, limits.ms)
  return null
}

function afterFailure(state: State, phase: Extract<Phase, { type: "model" }>, failure: ModelFailure): Action {
  const { failures, modelIndex } = phase
  if (failure.code === "context_length" && phase.shortened !== "context_length") return { type: "shorten", because: "context_length" }
  const patient = (failure.waitMs ?? 0) <= LONGEST_WAIT_MS
  if (failure.retryable && patient && failures.length <= MODEL_RETRIES) {
    const wait = failure.waitMs === undefined ? { ms: BACK_OFF_MS * 2 ** (failures.length - 1), jitter: true } : { ms: failure.waitMs, jitter: false }
    return { type: "model", modelIndex, attempt: failures.length + 1, wait }
  }
  const models = state.models[state.agent] ?? 1
  if (modelIndex + 1 < models) return { type: "model", modelIndex: modelIndex + 1, attempt: 1, wait: null }
  return ending(modelUnavailable(failures, models))
}

/** All calls of a turn are checked before any runs; those that may run do; what waits for a person pauses only when nothing else can be done. */
function handleCalls(state: State, calls: readonly Call[]): Action {
  const asked = calls.filter(({ stage }) => stage.type === "asked")
  if (asked.length > 0) return { type: "check_calls", calls: asked }
  const stuck = stuckCall(state, calls)
  if (stuck !== null) return ending(repeatedCall(stuck.call.name, timesBefore(state, stuck.key) + 1))
  // perform ends what it starts, so a call found started here lost its process: it runs again only if that does no harm
  const runnable = calls.filter((call) => call.stage.type === "ready" || (call.stage.type === "started" && mayRunAgain(call)))
  if (runnable.length > 0) return { type: "run_calls", calls: runnable }
  const fatal = calls.find((call) => fatalText(call) !== null)
  if (fatal !== undefined) return ending(fatalTool(fatal.call.name, fatalText(fatal) ?? ""))
  const waiting = calls.flatMap(openQuestion)
  if (waiting.length > 0) return { type: "pause", waiting }
  return closeTurn(state, calls)
}

function openQuestion({ call, stage }: Call): WaitingFor[] {
  if (stage.type === "waiting") return [{ id: call.id, reason: stage.reason, question: stage.question, arguments: stage.arguments, expiresAt: stage.expiresAt }]
  if (stage.type !== "started") return []
  return [{ id: call.id, reason: "unfinished", question: `Did this call of ${call.name} happen?`, arguments: call.arguments, expiresAt: null }]
}

function closeTurn(state: State, calls: readonly Call[]): Action {
  const outcomes = calls.flatMap(({ stage }): Outcome[] => (stage.type === "done" ? [stage.outcome] : []))
  const handoff = outcomes.flatMap((outcome) => (outcome.type === "ok" && outcome.handoff !== null ? [outcome.handoff] : []))[0] ?? null
  if (handoff !== null) {
    const pair = pairOf(state.agent, handoff.agent)
    if (state.transfers.pair === pair && state.transfers.count >= TRANSFERS_IN_A_PAIR) return ending(handoffLoop(pair))
  }
  return { type: "close_turn", handoff }
}

function fatalText(call: Call): string | null {
  if (call.stage.type !== "done" || call.stage.outcome.type !== "failed") return null
  return call.stage.outcome.fatal ?? null
}

function ending(stop: Stop): Action {
  return { type: "stop", stop }
}
