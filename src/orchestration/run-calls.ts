// Runs the calls of a turn side by side: intents first, results as they come. Called by perform.ts for the action `run_calls`.
// Running one tool is capability/tools/execute.ts.
import { executeTool } from "../capability/tools/execute.ts"
import type { Outcome, OwnEvent } from "../contract/event.ts"
import type { Call, State } from "../contract/state.ts"
import type { CallScene } from "./check-calls.ts"
import { prepare } from "./check-calls.ts"
import type { Batch } from "./world.ts"

const RETRY_WAIT_MS = 200

/** At most `limits.callsAtOnce`; a waiting call starts in the same write as the end that made room for it. */
export async function* runCalls(calls: readonly Call[], state: State, scene: CallScene): AsyncGenerator<Batch<OwnEvent>> {
  const { signal, clock } = scene.world
  const attempt = Math.max(...calls.map(attemptOf))
  if (attempt > 1) await clock.wait(RETRY_WAIT_MS * 2 ** (attempt - 2), signal)
  const queue = [...calls]
  const ended: { call: Call; outcome: Outcome }[] = []
  let wake: () => void = () => {}
  const begin = (batch: readonly Call[]): void => {
    for (const call of batch) {
      void runOne(call, state, scene).then((outcome) => {
        ended.push({ call, outcome })
        wake()
      })
    }
  }
  let next = queue.splice(0, state.limits.callsAtOnce)
  yield { events: next.map((call) => toolStart(call, state, scene)), durable: true }
  begin(next)
  for (let open = next.length; open > 0; ) {
    if (ended.length === 0)
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    const done = ended.splice(0)
    next = signal.aborted ? [] : queue.splice(0, done.length)
    open += next.length - done.length
    const ends = done.map(({ call, outcome }): OwnEvent => ({ type: "tool_end", callId: call.call.id, tool: toolName(call, scene), outcome }))
    yield { events: [...ends, ...next.map((call) => toolStart(call, state, scene))], durable: true }
    begin(next)
  }
}

async function runOne(call: Call, state: State, scene: CallScene): Promise<Outcome> {
  const ready = await prepare(call.call, scene)
  if (ready.type === "refused") return { type: "failed", text: ready.message, retryable: false }
  const { publish, aborts } = scene.world
  const callId = call.call.id
  return executeTool(ready.tool, ready.arguments, {
    runId: state.runId,
    callId,
    idempotencyKey: keyOf(call, state),
    context: state.context,
    aborts,
    progress: (note) => publish({ type: "tool_progress", callId, note }),
    log: (note, data) => publish({ type: "tool_log", callId, note, data }),
  })
}

function toolName(call: Call, scene: CallScene): string {
  return scene.prepared.get(call.call)?.tool?.name ?? call.call.name
}

function toolStart(call: Call, state: State, scene: CallScene): OwnEvent {
  return { type: "tool_start", callId: call.call.id, tool: toolName(call, scene), attempt: attemptOf(call), idempotencyKey: keyOf(call, state) }
}

/** An attempt that a crash cut off is made again under its own number: it has used up no retry. */
function attemptOf(call: Call): number {
  return call.stage.type === "started" ? call.attempts : call.attempts + 1
}

/** The same for every attempt: a call found started keeps the key it was started with. */
function keyOf(call: Call, state: State): string {
  return call.stage.type === "started" ? call.stage.idempotencyKey : `${state.runId}:${call.call.id}`
}
