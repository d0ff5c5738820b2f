// Plays a stored run again against what was recorded of it: no model is asked, no tool runs. Shows whether today's agent and runtime still come
// to the same history. For tests of changed rules, limits and versions.
import type { Agent, AgentDefinition, End } from "../contract/agent.ts"
import type { StoredEvent } from "../contract/event.ts"
import type { Message } from "../contract/message.ts"
import type { ModelEvent } from "../contract/model.ts"
import type { Model, Store } from "../contract/ports.ts"
import type { RunResult } from "../contract/run.ts"
import type { ToolDefinition } from "../contract/tool.ts"
import { HelloAgentsError } from "../infrastructure/errors.ts"
import { systemClock } from "./clock.ts"
import { startRun } from "./runner.ts"
import { requireState } from "./stored-run.ts"

export interface Replayed<C, E extends End> {
  readonly result: RunResult<C, E>
  /** Where the new history leaves the recorded one; null: they are the same. */
  readonly difference: { readonly at: number; readonly recorded: Message | null; readonly replayed: Message | null } | null
}

/** @throws HelloAgentsError `run_not_found`; `input_invalid` for a run whose log does not begin with its start. */
export async function replayRun<C, E extends End, I>(agent: Agent<C, E, I>, runId: string, { store }: { store: Store }): Promise<Replayed<C, E>> {
  const state = await requireState(store, runId)
  const events = await store.read(runId)
  const [start] = events
  if (start?.type !== "run_start") throw new HelloAgentsError("input_invalid", `The log of ${runId} does not begin with its start.`)
  const members = new Map([...agent.definition.members()].map(([name, definition]) => [name, recorded(definition, events, state.messages)]))
  for (const [name, definition] of members) members.set(name, { ...definition, members: () => members })
  const first = members.get(start.agent) ?? recorded(agent.definition, events, state.messages)
  const limits = Object.fromEntries(Object.entries(start.limits).filter(([, value]) => value !== null))
  const options = { context: start.context, limits, model: recordedModel(events) }
  const result = await startRun<C, E, I>({ name: first.name, definition: first }, start.input, { options, clock: { ...systemClock, wait: async () => {} }, owned: false }).result
  return { result, difference: differenceOf(state.messages, result.messages) }
}

/** Gives the recorded replies in order; one call too many is a failure. */
function recordedModel(events: readonly StoredEvent[]): Model {
  const replies = events.flatMap((event): ModelEvent[] => {
    if (event.type === "model_fail") return [{ type: "failure", failure: event.failure }]
    if (event.type !== "model_end") return []
    const { reading, reasoning, finish, usage, raw } = event
    const calls = reading.type === "action" ? reading.calls : []
    return [{ type: "reply", reply: { text: calls.length > 0 ? reading.text : (raw ?? reading.text), reasoning, calls, finish, usage } }]
  })
  let asked = 0
  return {
    name: "recorded",
    async *ask() {
      yield replies[asked++] ?? { type: "failure", failure: { code: "invalid_request", message: `Only ${replies.length} replies were recorded.`, retryable: false } }
    },
  }
}

function recorded(definition: AgentDefinition, events: readonly StoredEvent[], messages: readonly Message[]): AgentDefinition {
  const ends = new Map(events.flatMap((event) => (event.type === "tool_end" ? [[event.callId, event.outcome] as const] : [])))
  const told = new Map(messages.flatMap((message) => (message.role === "tool" ? [[message.callId, message.content] as const] : [])))
  const replay = (tool: ToolDefinition): ToolDefinition => ({
    ...tool,
    approval: () => false,
    output: null,
    maxResultChars: Number.POSITIVE_INFINITY,
    execute: (_, { callId, result, handoff }) => {
      const outcome = ends.get(callId)
      const text = outcome?.text ?? told.get(callId) ?? ""
      if (outcome?.type !== "ok") return text
      if (outcome.handoff !== null) return handoff(outcome.handoff.agent, outcome.handoff.reason)
      return outcome.context === null ? text : result(text, { context: outcome.context.set as never })
    },
  })
  return { ...definition, models: [], tools: definition.tools.map(replay) }
}

function differenceOf(before: readonly Message[], after: readonly Message[]): Replayed<object, End>["difference"] {
  const length = Math.max(before.length, after.length)
  for (let at = 0; at < length; at++) {
    if (JSON.stringify(before[at]) !== JSON.stringify(after[at])) return { at, recorded: before[at] ?? null, replayed: after[at] ?? null }
  }
  return null
}
