// Looks at the calls of a turn before any of them runs: is there such a tool, do the arguments fit, was it made before, must a person agree?
// Called by perform.ts for the action `check_calls`.
import type { PreparedCall } from "../capability/tools/prepare.ts"
import { prepareCall } from "../capability/tools/prepare.ts"
import type { CheckVerdict, Outcome, OwnEvent } from "../contract/event.ts"
import type { ToolCall } from "../contract/message.ts"
import type { FinishReason } from "../contract/model.ts"
import type { Call, State } from "../contract/state.ts"
import { isSpent, spentText, timesBefore } from "./repeats.ts"
import type { Batch, Cast, World } from "./world.ts"

export interface CallScene {
  readonly cast: Cast
  readonly world: World
  /** Parsed arguments between check and start; losing them (a restart) only costs parsing again. */
  readonly prepared: WeakMap<ToolCall, PreparedCall>
  readonly finish: FinishReason
}

export async function* checkCalls(calls: readonly Call[], state: State, scene: CallScene): AsyncGenerator<Batch<OwnEvent>> {
  const twins = new Map<string, number>()
  const events: OwnEvent[] = []
  for (const [index, call] of calls.entries()) {
    const found = prepare(call.call, scene)
    const ready = found instanceof Promise ? await found : found
    const twinsBefore = twins.get(ready.key) ?? 0
    twins.set(ready.key, twinsBefore + 1)
    const judged = judge(ready, { call, index, twinsBefore, state, now: scene.world.clock.now() })
    const verdict = judged instanceof Promise ? await judged : judged
    events.push(checked(call, ready, verdict))
  }
  yield { events, durable: false }
}

export function prepare(call: ToolCall, scene: CallScene): PreparedCall | Promise<PreparedCall> {
  const known = scene.prepared.get(call)
  if (known !== undefined) return known
  const keep = (made: PreparedCall): PreparedCall => {
    scene.prepared.set(call, made)
    return made
  }
  const made = prepareCall(call, scene.cast.tools, scene.finish)
  return made instanceof Promise ? made.then(keep) : keep(made)
}

interface Circumstances {
  readonly call: Call
  readonly index: number
  readonly twinsBefore: number
  readonly state: State
  readonly now: number
}

function judge(ready: PreparedCall, { call, index, twinsBefore, state, now }: Circumstances): CheckVerdict | Promise<CheckVerdict> {
  const name = ready.tool?.name ?? call.call.name
  if (ready.tool?.allowRepeats !== true && isSpent(state, ready.key, twinsBefore)) return refuse(spentText(name, timesBefore(state, ready.key) + twinsBefore))
  if (ready.type === "refused") return refuse(ready.message)
  const { callsPerReply } = state.limits
  if (index >= callsPerReply) return refuse(`Not run: one reply may make at most ${callsPerReply} calls. Ask for fewer at once.`)
  if (call.approved) return { type: "run" }
  const { approvalExpiresMs } = ready.tool
  const ask: CheckVerdict = { type: "ask", question: `Run ${name}?`, arguments: ready.json, expiresAt: approvalExpiresMs === null ? null : now + approvalExpiresMs }
  const settle = (needed: boolean): CheckVerdict => (needed ? ask : { type: "run" })
  try {
    const needed = ready.tool.approval(ready.arguments, state.context)
    return needed instanceof Promise ? needed.then(settle, () => ask) : settle(needed)
  } catch {
    // a predicate that fails asks: a broken rule must not open the door
    return ask
  }
}

function checked({ call }: Call, ready: PreparedCall, verdict: CheckVerdict): OwnEvent {
  const { tool } = ready
  return {
    type: "tool_check",
    callId: call.id,
    tool: tool?.name ?? call.name,
    key: ready.key,
    hints: tool?.hints ?? {},
    allowRepeats: tool?.allowRepeats ?? false,
    retries: tool?.retries ?? 0,
    repairs: ready.type === "ready" ? ready.repairs : [],
    verdict,
  }
}

function refuse(text: string): { type: "refuse"; outcome: Outcome } {
  return { type: "refuse", outcome: { type: "failed", text, retryable: false } }
}
