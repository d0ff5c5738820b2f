// Makers of states and events for tests of the heart. Everything has a default, so that a test names only what it is about.
import type { FoldedEvent, StoredEvent } from "../../src/contract/event.ts"
import type { Call, State } from "../../src/contract/state.ts"
import { apply } from "../../src/orchestration/apply.ts"

export const LIMITS = { turns: 10, tokens: null, cost: null, ms: null, messages: null, contextTokens: 100_000, callsPerReply: 128, callsAtOnce: 64 } as const

export const START: FoldedEvent = {
  type: "run_start",
  runId: "r1",
  agent: "support",
  input: [{ role: "user", content: "Where is A1001?" }],
  context: {},
  limits: LIMITS,
  guarded: [],
  models: { support: ["first", "second"] },
  hash: "h",
  step: false,
}

/** Stamps events as the loop does, 10 ms apart. */
export function stamped(events: readonly FoldedEvent[]): StoredEvent[] {
  return events.map((event, index): StoredEvent => ({ ...event, v: 1, seq: index + 1, at: 1_000 + index * 10 }))
}

export function folded(...events: readonly FoldedEvent[]): State {
  let state: State | null = null
  for (const event of stamped(events)) state = apply(state, event)
  if (state === null) throw new Error("no events")
  return state
}

export function stateWith(changes: Partial<State>): State {
  return { ...folded(START), ...changes }
}

export function callAt(stage: Call["stage"], more: Partial<Call> = {}): Call {
  return { call: { id: "c1", name: "get_order", arguments: "{}" }, key: "get_order {}", hints: {}, allowRepeats: false, retries: 0, approved: false, attempts: 0, stage, ...more }
}

export function inTools(...calls: readonly Call[]): State {
  return stateWith({ phase: { type: "tools", text: "", reasoning: "", calls: [...calls] } })
}
