// Carries out one action: the only place that touches models, tools and rules. Yields batches of events; the loop writes each before the
// code after the `yield` goes on, so a start is stored before its effect. The parts: perform-model, check-calls, run-calls, shorten.
import type { PreparedCall } from "../capability/tools/prepare.ts"
import type { FoldedEvent, Handoff, OwnEvent, Stop } from "../contract/event.ts"
import type { ToolCall } from "../contract/message.ts"
import type { FinishReason } from "../contract/model.ts"
import type { Action, State } from "../contract/state.ts"
import { growingHistory } from "../infrastructure/history/history.ts"
import { checkCalls } from "./check-calls.ts"
import { performModel } from "./perform-model.ts"
import { runCalls } from "./run-calls.ts"
import { shortenHistory } from "./shorten.ts"
import type { Batch, Cast, World } from "./world.ts"

export type Perform = (action: Action, state: State) => AsyncIterable<Batch<FoldedEvent>> | Iterable<Batch<FoldedEvent>>

/** Makes the `perform` of one run. */
export function performer(world: World): Perform {
  const prepared = new WeakMap<ToolCall, PreparedCall>()
  const checked = growingHistory()
  let finish: FinishReason = "tool_calls"
  const onFinish = (reason: FinishReason): void => {
    finish = reason
  }
  return (action, state) => {
    const cast = world.cast(state.agent)
    switch (action.type) {
      case "rest":
        return []
      case "shorten":
        return one(shortenHistory(action.because, state, { cast, world }))
      case "model":
        return performModel(action, state, { cast, world, checked, onFinish })
      case "check_calls":
        return checkCalls(action.calls, state, { cast, world, prepared, finish })
      case "run_calls":
        return runCalls(action.calls, state, { cast, world, prepared, finish })
      case "close_turn":
        return one(turnEnd(state, action.handoff))
      case "pause":
        return one({ type: "run_pause", waiting: action.waiting }, true)
      case "stop":
        return one(runEnd(state, action.stop, cast), true)
      default:
        return action satisfies never
    }
  }
}

function one(event: FoldedEvent, durable = false): Batch<FoldedEvent>[] {
  return [{ events: [event], durable }]
}

/** Changes of the context merge in call order, so a later call wins. */
function turnEnd(state: State, handoff: Handoff | null): OwnEvent {
  const calls = state.phase.type === "tools" ? state.phase.calls : []
  let context: Record<string, unknown> = {}
  let removed: string[] = []
  for (const { stage } of calls) {
    if (stage.type !== "done" || stage.outcome.type !== "ok" || stage.outcome.context === null) continue
    const change = stage.outcome.context
    context = Object.fromEntries(Object.entries({ ...context, ...change.set }).filter(([key]) => !change.removed.includes(key)))
    removed = [...removed.filter((key) => !(key in change.set)), ...change.removed]
  }
  return { type: "turn_end", turn: state.turn, context, removed, ...(handoff !== null && { handoff: handoff.agent, reason: handoff.reason }) }
}

function runEnd(state: State, stop: Stop, cast: Cast): OwnEvent {
  if (stop.reason === "final" && state.phase.type === "final") return { type: "run_end", stop, answer: state.phase.text }
  const { fallback } = cast.definition
  return { type: "run_end", stop, answer: "", ...(fallback !== null && { fallback }) }
}
