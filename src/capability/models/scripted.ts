// A model that gives written replies in order: for tests without a network. Users get it from `hello-agents/testing`.
// Leaves recorded replies of a real model to cassette.ts.
import type { FinishReason, ModelErrorCode, ModelEvent, ModelFailure, ModelRequest, Usage } from "../../contract/model.ts"
import type { Model } from "../../contract/ports.ts"

const DEFAULTS = { name: "scripted", pieceChars: 8 }
/** Whether a failure is worth repeating when the script does not say; the answer of the field's servers. */
const RETRYABLE: readonly ModelErrorCode[] = ["rate_limit", "overloaded", "server_error", "timeout", "model_loading", "empty_response", "incomplete", "network"]

/** A call as the script has it. Without an `id` it gets one that is unique in the script (`call_2_1`: second reply, first call). */
export interface ScriptedCall {
  readonly id?: string | undefined
  readonly name: string
  readonly arguments: string
}
export interface ScriptedAnswer {
  readonly type: "reply"
  readonly text: string
  readonly reasoning: string
  readonly calls: readonly ScriptedCall[]
  /** Absent: `tool_calls` if there are calls, else `stop`. */
  readonly finish?: FinishReason | undefined
  /** Absent: null, as from a server that does not say. */
  readonly usage?: Usage | undefined
}
export interface ScriptedFailure {
  readonly type: "failure"
  readonly failure: ModelFailure
  /** Text that was streamed before the failure. */
  readonly partial: string
}
export type ScriptedReply = ScriptedAnswer | ScriptedFailure | { readonly type: "hang" }
/** A reply, or a function that makes it from the request. `index` counts the model calls of this instance from 0. */
export type ScriptedStep = ScriptedReply | ((request: ModelRequest, index: number) => ScriptedReply)
export interface ScriptedDetails {
  readonly id?: string | undefined
  readonly finish?: FinishReason | undefined
  readonly usage?: Partial<Usage> | undefined
}
export interface ScriptedModel extends Model {
  /** Every request so far, oldest first, as it was when the model was asked. */
  readonly requests: readonly ModelRequest[]
}

/** One tool call. `args` as an object, or as the raw text of a model that writes broken JSON. */
export function call(tool: string, args: object | string, details: ScriptedDetails = {}): ScriptedAnswer {
  const written: ScriptedCall = { id: details.id, name: tool, arguments: typeof args === "string" ? args : JSON.stringify(args) }
  return answer({ calls: [written] }, details)
}

/** A reply in words. */
export function say(text: string, details: ScriptedDetails = {}): ScriptedAnswer {
  return answer({ text }, details)
}

/** Reasoning; alone it is a reply with nothing to show, so join it with `together(think(…), say(…))`. */
export function think(reasoning: string, details: ScriptedDetails = {}): ScriptedAnswer {
  return answer({ reasoning }, details)
}

/** One reply of several parts: texts and reasoning are joined, calls stay in order, the last `finish` and `usage` count. */
export function together(...parts: readonly ScriptedAnswer[]): ScriptedAnswer {
  return {
    type: "reply",
    text: parts.map((part) => part.text).join(""),
    reasoning: parts.map((part) => part.reasoning).join(""),
    calls: parts.flatMap((part) => part.calls),
    finish: parts.findLast((part) => part.finish !== undefined)?.finish,
    usage: parts.findLast((part) => part.usage !== undefined)?.usage,
  }
}

/** The model call fails. `retryable` follows the code unless given; `partial` is text streamed before it broke. */
export function fail(failure: Partial<ModelFailure> & { readonly code: ModelErrorCode; readonly partial?: string | undefined }): ScriptedFailure {
  const { partial = "", ...rest } = failure
  return { type: "failure", failure: { message: `scripted ${failure.code}`, retryable: RETRYABLE.includes(failure.code), ...rest }, partial }
}

/** A model call that never answers: it ends only when the request is aborted. */
export function hang(): ScriptedReply {
  return { type: "hang" }
}

/**
 * A model that gives `replies` in order. Each instance has one cursor, moved by every call of `ask`, whoever asks:
 * runs that go on at the same time need an instance each. One call too many is a failure that is not retryable.
 */
export function scripted(replies: readonly ScriptedStep[], options: { name?: string | undefined; contextWindow?: number | undefined } = {}): ScriptedModel {
  const requests: ModelRequest[] = []
  const name = options.name ?? DEFAULTS.name
  return {
    name,
    contextWindow: options.contextWindow,
    requests,
    ask: (request) => {
      const index = requests.length
      // The runtime goes on with its own arrays, a test wants to see what was asked.
      requests.push({ ...request, messages: [...request.messages], tools: [...request.tools] })
      return events(replyAt({ replies, index, name }, request), request, index)
    },
  }
}

function answer(parts: Partial<ScriptedAnswer>, { finish, usage }: ScriptedDetails): ScriptedAnswer {
  const full = usage && { inputTokens: 0, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0, cost: "unknown" as const, ...usage }
  return { type: "reply", text: "", reasoning: "", calls: [], ...parts, finish, usage: full }
}

function replyAt(script: { replies: readonly ScriptedStep[]; index: number; name: string }, request: ModelRequest): ScriptedReply {
  const { replies, index, name } = script
  const step = replies[index]
  if (step === undefined) {
    const message = `The model "${name}" was asked for reply ${index + 1}, but only ${replies.length} ${replies.length === 1 ? "reply is" : "replies are"} scripted.`
    return fail({ code: "invalid_request", message, hint: "Add the missing reply to scripted([…]), or find out why the agent asked once more." })
  }
  if (typeof step !== "function") return step
  try {
    return step(request, index)
  } catch (error) {
    return fail({ code: "invalid_request", message: `The function for reply ${index + 1} of "${name}" threw: ${error instanceof Error ? error.message : String(error)}` })
  }
}

async function* events(reply: ScriptedReply, request: ModelRequest, index: number): AsyncGenerator<ModelEvent> {
  const { signal, stream } = request
  switch (reply.type) {
    case "hang":
      if (!signal.aborted) await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }))
      return
    case "failure":
      if (stream) yield* deltas("text", reply.partial, signal)
      if (!signal.aborted) yield { type: "failure", failure: reply.failure }
      return
    case "reply": {
      if (stream) {
        yield* deltas("reasoning", reply.reasoning, signal)
        yield* deltas("text", reply.text, signal)
      }
      if (signal.aborted) return
      const { text, reasoning, usage = null } = reply
      const calls = reply.calls.map(({ id = "", ...rest }, position) => ({ ...rest, id: id || `call_${index + 1}_${position + 1}` }))
      yield { type: "reply", reply: { text, reasoning, calls, finish: reply.finish ?? (calls.length > 0 ? "tool_calls" : "stop"), usage } }
    }
  }
}

function* deltas(type: "text" | "reasoning", text: string, signal: AbortSignal): Generator<ModelEvent> {
  // By code points: half a surrogate pair is not text.
  const characters = [...text]
  for (let start = 0; start < characters.length && !signal.aborted; start += DEFAULTS.pieceChars) {
    yield { type, text: characters.slice(start, start + DEFAULTS.pieceChars).join("") }
  }
}
