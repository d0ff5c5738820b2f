// What a rested run gives back: the typed answer, or why there is none, or what it waits for. Called by the runner and whoever looks at a stored run.
import type { AgentDefinition, End } from "../contract/agent.ts"
import type { RunResult, Waiting } from "../contract/run.ts"
import type { State } from "../contract/state.ts"
import { readOutput } from "../orchestration/check-output.ts"

export async function toResult<C, E extends End>(state: State, definition: AgentDefinition): Promise<RunResult<C, E>> {
  const { status } = state
  const ended = { runId: state.runId, agent: state.agent, context: state.context, messages: [...state.messages], usage: { ...state.usage, unreported: state.unreported } }
  // C and E are what the agent's schemas promise; the values have passed those schemas
  if (status.type === "paused") return { ...ended, ok: false, status: "waiting", answer: "", waiting: waitingFor(state) } as unknown as RunResult<C, E>
  if (status.type !== "stopped") throw new TypeError(`A run that is ${status.type} has no result`)
  if (status.stop.reason !== "final") {
    return { ...ended, ok: false, status: "stopped", answer: "", stop: status.stop, ...(status.fallback !== null && { fallback: status.fallback }) } as unknown as RunResult<C, E>
  }
  const output = definition.output === null ? status.answer : await typedOutput(status.answer, definition.output)
  return { ...ended, ok: true, status: "final", answer: status.answer, output } as unknown as RunResult<C, E>
}

async function typedOutput(answer: string, schema: NonNullable<AgentDefinition["output"]>): Promise<unknown> {
  const result = await readOutput(answer, schema)
  if (result.issues !== undefined) throw new TypeError("The answer passed its schema and then did not")
  return result.value
}

/** What a paused run asks; nothing if it is not paused. */
export function waitingFor(state: State): readonly Waiting[] {
  if (state.status.type !== "paused") return []
  const calls = state.phase.type === "tools" ? state.phase.calls : []
  return state.status.waiting.flatMap((question): Waiting[] => {
    const found = calls.find(({ call }) => call.id === question.id)
    if (question.reason === "input") return [{ id: question.id, reason: "input", question: question.question }]
    if (question.reason === "step") return [{ id: question.id, reason: "step", next: question.question === "model" ? "model" : "tool" }]
    if (found === undefined) return []
    const asked = { id: question.id, tool: found.call.name, arguments: question.arguments }
    if (question.reason === "unfinished") return [{ ...asked, reason: "unfinished", idempotencyKey: found.stage.type === "started" ? found.stage.idempotencyKey : "" }]
    return [{ ...asked, reason: "approval", expiresAt: question.expiresAt }]
  })
}
