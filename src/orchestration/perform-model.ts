// One model call: request, deltas to the readers, the reply read into one of three states. Called by perform.ts.
// What a reply means is capability/protocol; what goes over the wire is the adapter's.
import type { FoldedEvent, OwnEvent, Reading } from "../contract/event.ts"
import type { Message } from "../contract/message.ts"
import type { FinishReason, ModelEvent, ModelFailure, ModelRequest, Settings } from "../contract/model.ts"
import type { Model } from "../contract/ports.ts"
import type { Action, State } from "../contract/state.ts"
import { readReply } from "../capability/protocol/read-reply.ts"
import { splitCalls } from "../capability/tools/prepare.ts"
import { jsonSchemaOf } from "../infrastructure/json/json-schema.ts"
import { letGo } from "../infrastructure/let-go.ts"
import { redactError } from "../infrastructure/redaction.ts"
import { estimateTokens } from "../infrastructure/tokens.ts"
import { checkOutput } from "./check-output.ts"
import type { Audience } from "./audience.ts"
import { createAudience } from "./audience.ts"
import type { Batch, Cast, World } from "./world.ts"

/** A model that says nothing final for so long is let go, whatever its adapter promises. */
const LONGEST_CALL_MS = 600_000

interface ModelScene {
  readonly cast: Cast
  readonly world: World
  /** The history as models get it: every call with its result. */
  readonly checked: (messages: readonly Message[]) => readonly Message[]
  readonly onFinish: (finish: FinishReason) => void
}

export async function* performModel(action: Extract<Action, { type: "model" }>, state: State, scene: ModelScene): AsyncGenerator<Batch<FoldedEvent>> {
  const { cast, world } = scene
  const model = cast.models[action.modelIndex]
  if (model === undefined) throw new TypeError(`The agent ${state.agent} has no model ${action.modelIndex}`)
  if (action.wait !== null) await world.clock.wait(action.wait.jitter ? action.wait.ms * (0.75 + world.clock.random() / 2) : action.wait.ms, world.signal)
  if (world.signal.aborted) return
  const start: OwnEvent = {
    type: "model_start",
    turn: state.turn + 1,
    model: model.name,
    modelIndex: action.modelIndex,
    attempt: action.attempt,
    messages: state.messages.length,
    ...(model.disclaimer !== undefined && { disclaimer: model.disclaimer }),
  }
  yield { events: [start], durable: true }
  const audience = world.stream ? createAudience(world.publish) : null
  const answer = await ask(model, state, { ...scene, audience })
  if (answer.type === "failure") {
    audience?.takeBack()
    yield { events: [{ type: "model_fail", failure: answer.failure, notes: answer.notes }], durable: false }
    return
  }
  const { reply } = answer
  scene.onFinish(reply.finish)
  const read = readReply(reply, cast.specs)
  const reading = await settle(read.reading, state, cast)
  audience?.settle(reading)
  const end: OwnEvent = {
    type: "model_end",
    reading,
    reasoning: read.reasoning,
    finish: reply.finish,
    usage: reply.usage,
    estimatedTokens: reply.usage === null ? state.messageTokens + estimateTokens(reply.text) : 0,
    notes: answer.notes.length === 0 ? read.notes : [...answer.notes, ...read.notes],
    ...(reply.text !== "" && reply.text !== reading.text && { raw: reply.text }),
  }
  yield { events: [end], durable: false }
}

/** Calls get our ids; a final answer must fit the agent's output schema. */
async function settle(reading: Reading, state: State, cast: Cast): Promise<Reading> {
  switch (reading.type) {
    case "action": {
      const calls = splitCalls(reading.calls, cast.tools)
      return { ...reading, calls: calls.map((call, index) => ({ ...call, id: `c${state.calls + index + 1}` })) }
    }
    case "final":
      return cast.definition.output === null ? reading : checkOutput(reading.text, cast.definition.output)
    case "unknown":
      return reading
    default:
      return reading satisfies never
  }
}

type Answer = Extract<ModelEvent, { type: "reply" | "failure" }> & { readonly notes: readonly string[] }

/** Whatever the adapter does, this ends: with its answer, or because the run was cancelled, ran out of time or the model hangs. */
async function ask(model: Model, state: State, scene: ModelScene & { audience: Audience | null }): Promise<Answer> {
  const ms = state.limits.ms === null ? LONGEST_CALL_MS : Math.min(LONGEST_CALL_MS, Math.max(1, state.limits.ms - state.activeMs))
  try {
    const waited = await letGo((signal) => listen(model.ask(request(state, scene, signal())), scene.audience), { ms, aborts: scene.world.aborts, graceMs: 0 })
    if (waited.type === "done") return waited.value
    return waited.type === "timeout" ? failure("timeout", `the model gave no answer within ${Math.round(ms / 1000)} s`, false) : failure("network", "the call was cancelled", false)
  } catch (error) {
    return failure("bad_response", `the model adapter failed: ${redactError(error instanceof Error ? error.message : String(error))}`, false)
  }
}

async function listen(events: ReturnType<Cast["models"][number]["ask"]>, audience: Audience | null): Promise<Answer> {
  const notes: string[] = []
  for await (const event of events) {
    if (event.type === "note") notes.push(event.note)
    else if (event.type === "reply" || event.type === "failure") return { ...event, notes }
    else audience?.hear(event)
  }
  return failure("incomplete", "the model adapter ended without an answer", true)
}

function request(state: State, scene: ModelScene, signal: AbortSignal): ModelRequest {
  const { definition, specs, settings } = scene.cast
  return {
    instructions: definition.instructions(state.context),
    notes: "",
    messages: scene.checked(state.messages),
    tools: specs,
    settings: afterTools(settings, state),
    output: definition.output === null ? null : jsonSchemaOf(definition.output),
    stream: scene.world.stream,
    signal,
  }
}

/** A forced tool choice holds until the first tools have run; kept on, it would never let the model answer. */
function afterTools(settings: Settings, state: State): Settings {
  const { toolChoice } = settings
  const forced = toolChoice === "required" || typeof toolChoice === "object"
  return forced && state.messages.at(-1)?.role === "tool" ? { ...settings, toolChoice: "auto" } : settings
}

function failure(code: ModelFailure["code"], message: string, retryable: boolean): Answer {
  return { type: "failure", failure: { code, message, retryable }, notes: [] }
}
