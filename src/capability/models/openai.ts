// Asks an OpenAI-compatible Chat Completions server, streamed or not. Made by callers through the door `hello-agents/openai`.
// Reports failures as data and asks again only in another form (server-profile.ts); retries and fallbacks are the runtime's.
import type { ModelEvent, ModelFailure, ModelRequest } from "../../contract/model.ts"
import type { Model } from "../../contract/ports.ts"
import { fetchTransport } from "../../infrastructure/transport/fetch.ts"
import { nodeHttpTransport } from "../../infrastructure/transport/node-http.ts"
import type { Transport, TransportResponse } from "../../infrastructure/transport/transport.ts"
import type { ReplyOptions } from "./chat-fields.ts"
import type { Outcome } from "./chat-reply.ts"
import { readChatReply } from "./chat-reply.ts"
import { chatWriter } from "./chat-request.ts"
import { chatStream } from "./chat-stream.ts"
import { classifyHttpError, classifyNetworkError } from "./http-errors.ts"
import type { OpenAIOptions } from "./openai-settings.ts"
import { openaiSettings } from "./openai-settings.ts"
import type { ServerForms } from "./server-profile.ts"
import { FIRST_FORMS, NO_STREAM_WITH_TOOLS, nextForms } from "./server-profile.ts"

/** How often one call may be asked again in other forms. */
const LIMITS = { forms: 8 }
/** Shorter keys are none, and would make holes into ordinary words. */
const SHORTEST_KEY = 8

type Asked = Outcome | { readonly type: "silent"; readonly failure: ModelFailure } | { readonly type: "cancelled" }

/**
 * What a server turned out to want is kept in the model, so make one and share it; nothing else in it changes.
 * Throws `HelloAgentsError` (`model_missing`, `config_invalid`) at once; after that failures are events. An aborted call ends without one.
 */
export function openai(options: OpenAIOptions = {}): Model {
  const settings = openaiSettings(options)
  const { transport: chosen, url, headers, timeoutMs, price, model, contextWindow, constraint } = settings
  const transport: Transport = typeof chosen === "function" ? chosen : chosen === "node" ? nodeHttpTransport() : fetchTransport()
  const write = chatWriter(model)
  const server = { forms: FIRST_FORMS }

  const send = (body: string, signal: AbortSignal): Promise<TransportResponse> => transport({ url, method: "POST", headers, body, timeoutMs, signal })
  const once = (request: ModelRequest, forms: ServerForms, streamed: boolean): AsyncGenerator<ModelEvent, Asked> | Promise<Asked> => {
    const { body, originalName } = write(request, forms, streamed)
    const call = { answer: () => send(body, request.signal), signal: request.signal, reply: { price, originalName } }
    return streamed ? askStreamed(call) : askPlain(call)
  }

  return {
    name: model,
    ...(contextWindow !== undefined && { contextWindow }),
    ...(constraint !== undefined && { constraint }),
    ask: (request) => converse(request, { server, once, hideKey: (failure) => withoutKey(failure, settings.apiKey) }),
  }
}

interface Conversation {
  readonly server: { forms: ServerForms }
  readonly once: (request: ModelRequest, forms: ServerForms, streamed: boolean) => AsyncGenerator<ModelEvent, Asked> | Promise<Asked>
  readonly hideKey: (failure: ModelFailure) => ModelFailure
}

/** One question to the server, in as many forms as it takes. What led to a reply is remembered. */
async function* converse(request: ModelRequest, { server, once, hideKey }: Conversation): AsyncGenerator<ModelEvent, void> {
  let forms = server.forms
  let learnt: Partial<ServerForms> = {}
  let streamed = request.stream && mayStream(forms, request)
  let failsStreamed = false
  for (let asked = 0; ; asked++) {
    const asking = once(request, forms, streamed)
    const outcome = asking instanceof Promise ? await asking : yield* asking
    if (outcome.type === "cancelled" || request.signal.aborted) return
    if (outcome.type === "silent") {
      yield { type: "note", note: "the stream ended without one event; asked again unstreamed" }
      streamed = false
      failsStreamed = request.tools.length > 0
      continue
    }
    if (outcome.type === "reply") {
      const { reply } = outcome
      if (failsStreamed) {
        learnt = { streaming: "without_tools", ...learnt }
        yield { type: "note", note: NO_STREAM_WITH_TOOLS }
      }
      if (Object.keys(learnt).length > 0) server.forms = { ...server.forms, ...learnt }
      if (request.stream && !streamed && reply.reasoning !== "") yield { type: "reasoning", text: reply.reasoning }
      if (request.stream && !streamed && reply.text !== "") yield { type: "text", text: reply.text }
      yield outcome
      return
    }
    const next = outcome.said === null || asked >= LIMITS.forms ? null : nextForms(forms, request, { failure: outcome.failure, said: outcome.said, streamed })
    if (next === null) {
      yield { type: "failure", failure: hideKey(outcome.failure) }
      return
    }
    yield { type: "note", note: next.note }
    learnt = { ...learnt, ...next.change }
    forms = { ...forms, ...next.change }
    streamed &&= mayStream(forms, request)
  }
}

function mayStream(forms: ServerForms, request: ModelRequest): boolean {
  return forms.streaming === "always" || (forms.streaming === "without_tools" && request.tools.length === 0)
}

interface Call {
  readonly answer: () => Promise<TransportResponse>
  readonly signal: AbortSignal
  readonly reply: ReplyOptions
}

async function askPlain({ answer, signal, reply }: Call): Promise<Asked> {
  try {
    const response = await answer()
    const body = await response.text()
    if (response.status < 200 || response.status > 299) return refused(response, body)
    return /^\s{0,20}(?:data|event|id|retry)?:/.test(body) ? readStreamAnyway(body, reply) : readChatReply(body, reply)
  } catch (error) {
    return broken(error, signal)
  }
}

/** Some gateways stream whether they are asked to or not. */
function readStreamAnyway(body: string, reply: ReplyOptions): Outcome {
  const stream = chatStream(reply, () => {})
  stream.push(body)
  const outcome = stream.end()
  return outcome.type === "silent" ? { ...outcome, type: "failure", said: null } : outcome
}

async function* askStreamed({ answer, signal, reply }: Call): AsyncGenerator<ModelEvent, Asked> {
  let response: TransportResponse | null = null
  try {
    response = await answer()
    if (response.status < 200 || response.status > 299) return refused(response, await response.text())
    const queue = eventQueue()
    const stream = chatStream(reply, queue.add)
    let end: unknown
    response
      .read(stream.push)
      .catch((error: unknown) => {
        end = error ?? new Error("the connection broke")
      })
      .finally(queue.close)
    yield* queue.events()
    if (signal.aborted) return { type: "cancelled" }
    const outcome = stream.end(end)
    yield* queue.rest()
    response = null
    return outcome
  } catch (error) {
    return broken(error, signal)
  } finally {
    // Left before the end, by a reader who has seen enough.
    response?.cancel()
  }
}

interface EventQueue {
  readonly add: (event: ModelEvent) => void
  readonly close: () => void
  readonly events: () => AsyncGenerator<ModelEvent, void>
  readonly rest: () => readonly ModelEvent[]
}

/** Between the network and a reader who may be slower: texts that wait are joined. */
function eventQueue(): EventQueue {
  let waiting: ModelEvent[] = []
  let closed = false
  let wake: () => void = () => {}
  const take = (): ModelEvent[] => {
    const taken = waiting
    waiting = []
    return taken
  }
  return {
    add(event) {
      const last = waiting.at(-1)
      if (last !== undefined && (event.type === "text" || event.type === "reasoning") && last.type === event.type)
        waiting[waiting.length - 1] = { ...event, text: last.text + event.text }
      else waiting.push(event)
      wake()
    },
    close() {
      closed = true
      wake()
    },
    async *events() {
      for (;;) {
        for (const event of take()) yield event
        if (waiting.length > 0) continue
        if (closed) return
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
    rest: take,
  }
}

function refused(response: TransportResponse, body: string): Asked {
  const { status, headers } = response
  return { type: "failure", failure: classifyHttpError({ status, headers, body }, Date.now()), said: body }
}

function broken(error: unknown, signal: AbortSignal): Asked {
  return signal.aborted ? { type: "cancelled" } : { type: "failure", failure: classifyNetworkError(error), said: null }
}

/** Servers repeat a wrong key in their error text. */
function withoutKey(failure: ModelFailure, key: string): ModelFailure {
  return key.length < SHORTEST_KEY || !failure.message.includes(key) ? failure : { ...failure, message: failure.message.replaceAll(key, "[hidden]") }
}
