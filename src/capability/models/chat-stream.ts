// Reads a streamed reply: text as it comes, everything put together at the end. Called by the adapter with the text of the response body.
// Leaves framing to sse.ts, pieces of calls to call-assembly.ts; a body that is one JSON document or a web page goes to chat-reply.ts.
import type { FinishReason, ModelEvent, ModelFailure } from "../../contract/model.ts"
import type { CallAssembly } from "./call-assembly.ts"
import { callAssembly } from "./call-assembly.ts"
import type { Fields, ReplyOptions } from "./chat-fields.ts"
import { agreedFinish, errorIn, callsOf, finishOf, isFields, MALFORMED_CALL, reasoningOf, textOfContent, usageOf } from "./chat-fields.ts"
import type { Failed, Outcome } from "./chat-reply.ts"
import { failed, readChatReply } from "./chat-reply.ts"
import type { DeltaTemplate } from "./delta-template.ts"
import { deltaTemplate } from "./delta-template.ts"
import { classifyErrorBody, classifyNetworkError } from "./http-errors.ts"
import type { SseReader } from "./sse.ts"
import { sseReader } from "./sse.ts"

export interface ChatStream {
  /** One read of the network. Text of one read leaves as one event. false: the reply is complete, no more is needed. */
  readonly push: (chunk: string) => boolean
  /** `broken`: what broke the connection. `silent`: it ended without one event. */
  readonly end: (broken?: unknown) => Outcome | { readonly type: "silent"; readonly failure: ModelFailure }
}

const KEEP_ALIVE = /^(?:ping|pong|keep-?alive|heartbeat|processing)\b/i
const EXCERPT_CHARS = 200
const BROKEN_OFF: Failed = failed("server_error", "the server broke its answer off with an error", { retryable: true })
const CUT_EVENT: Failed = failed("incomplete", "an event of the stream is cut off in the middle of its JSON", { retryable: true })

/** What has been read so far. */
interface Reading {
  readonly options: ReplyOptions
  readonly emit: (event: ModelEvent) => void
  readonly assembly: CallAssembly
  readonly template: DeltaTemplate
  text: string
  reasoning: string
  /** Text and reasoning of the current read, not yet sent on. */
  freshText: string
  freshReasoning: string
  refusal: string
  /** Calls come in the old `function_call`. */
  oldCalls: boolean
  finish: FinishReason | null
  usage: unknown
  done: boolean
  events: number
  /** Lines that are no events. */
  stray: string
  failure: Failed | null
}

export function chatStream(options: ReplyOptions, emit: (event: ModelEvent) => void): ChatStream {
  const reading = newReading(options, emit)
  const events = eventReader(reading)
  let form: "unknown" | "events" | "document" = "unknown"
  let document = ""
  return {
    push(chunk) {
      if (form === "events") events.push(chunk)
      else {
        document += chunk
        form = form === "unknown" ? formOf(document) : form
        if (form !== "events") return true
        events.push(document)
      }
      flush(reading)
      return !reading.done && reading.failure === null
    },
    end(broken) {
      if (form === "document") return broken === undefined ? readChatReply(document, options) : unfinished(broken)
      events.end()
      flush(reading)
      return conclude(reading, broken)
    },
  }
}

/** A stream does not begin like JSON or a web page. */
function formOf(text: string): "unknown" | "events" | "document" {
  const first = text.trimStart().charAt(0)
  if (first === "") return "unknown"
  return first === "{" || first === "<" || first === "[" ? "document" : "events"
}

function newReading(options: ReplyOptions, emit: (event: ModelEvent) => void): Reading {
  const counts = { events: 0, done: false, finish: null, usage: null, failure: null, oldCalls: false }
  const texts = { text: "", reasoning: "", freshText: "", freshReasoning: "", refusal: "", stray: "" }
  return { options, emit, assembly: callAssembly(), template: deltaTemplate(), ...texts, ...counts }
}

function eventReader(reading: Reading): SseReader {
  const { template } = reading
  return sseReader({
    event: (data, name, lineEnd) => takeEvent(reading, { data, name, lineEnd }),
    stray: (line) => {
      if (reading.stray.length < EXCERPT_CHARS) reading.stray += `${line}\n`
    },
    take(chunk, start) {
      let at = start
      if (reading.done || reading.failure !== null) return at
      let text = ""
      for (let piece = template.read(chunk, at); piece !== null; piece = template.read(chunk, at)) {
        text += piece
        at = template.end()
      }
      reading.freshText += text
      return at
    },
  })
}

function flush(reading: Reading): void {
  if (reading.freshReasoning !== "") reading.emit({ type: "reasoning", text: reading.freshReasoning })
  if (reading.freshText !== "") reading.emit({ type: "text", text: reading.freshText })
  reading.reasoning += reading.freshReasoning
  reading.text += reading.freshText
  reading.freshReasoning = ""
  reading.freshText = ""
}

function takeEvent(reading: Reading, event: { data: string; name: string; lineEnd: string }): void {
  const data = event.data.trim()
  if (reading.done || reading.failure !== null || data === "") return
  reading.events++
  if (data === "[DONE]") reading.done = true
  else if (takeData(reading, data, event.name) && event.lineEnd !== "") reading.template.learn(event.data, event.lineEnd)
}

/** true: it held a piece of text and nothing else. */
function takeData(reading: Reading, data: string, name: string): boolean {
  let parsed: unknown
  try {
    parsed = JSON.parse(data)
  } catch {
    const lines = data.split("\n")
    if (name !== "error" && lines.length > 1) for (const line of lines) takeEvent(reading, { data: line, name, lineEnd: "" })
    else if (data.startsWith("{")) reading.failure = CUT_EVENT
    else if (!KEEP_ALIVE.test(data)) fail(reading, data, data)
    return false
  }
  if (name === "error") fail(reading, parsed, data)
  return isFields(parsed) && takeChunk(reading, parsed, data)
}

function takeChunk(reading: Reading, chunk: Fields, data: string): boolean {
  const error = errorIn(chunk)
  if (error !== undefined) fail(reading, error, data)
  reading.usage = chunk.usage ?? (isFields(chunk.x_groq) ? chunk.x_groq.usage : null) ?? reading.usage
  const choice: unknown = Array.isArray(chunk.choices) ? chunk.choices[0] : null
  if (!isFields(choice)) return false
  if (isFields(choice.error)) fail(reading, choice.error, data)
  const delta = isFields(choice.delta) ? choice.delta : isFields(choice.message) ? choice.message : null
  const onlyText = delta === null ? takeOldText(reading, choice) : takeDelta(reading, delta)
  const finish = finishOf(choice.finish_reason)
  if (finish === "error") reading.failure ??= BROKEN_OFF
  else if (finish === "malformed_call") reading.failure ??= { type: "failure", failure: MALFORMED_CALL, said: null }
  else reading.finish = finish ?? reading.finish
  return onlyText && finish === null
}

function takeOldText(reading: Reading, choice: Fields): boolean {
  if (typeof choice.text === "string") reading.freshText += choice.text
  return false
}

function takeDelta(reading: Reading, delta: Fields): boolean {
  const thought = reasoningOf(delta)
  if (thought !== "") {
    if (reading.freshText !== "") flush(reading)
    reading.freshReasoning += thought
  }
  reading.freshText += textOfContent(delta.content)
  const { refusal, tool_calls: calls, function_call: oldCall } = delta
  if (typeof refusal === "string") reading.refusal += refusal
  if (Array.isArray(calls)) for (const piece of calls) reading.assembly.add(piece)
  else if (isFields(calls)) reading.assembly.add(calls)
  else if (isFields(oldCall) && (reading.oldCalls || reading.assembly.calls.length === 0)) {
    reading.oldCalls = true
    reading.assembly.add({ index: 0, function: oldCall })
  }
  return typeof delta.content === "string" && thought === "" && !refusal && !calls && !oldCall
}

function fail(reading: Reading, error: unknown, said: string): void {
  reading.failure ??= { type: "failure", failure: classifyErrorBody(error), said }
}

function conclude(reading: Reading, broken: unknown): ReturnType<ChatStream["end"]> {
  const { failure, events, stray, done, finish, assembly } = reading
  if (failure !== null) return isRefusal(reading) ? failure : { ...failure, said: null }
  if (events === 0 && stray !== "") {
    return failed("bad_response", `the server sent no events but: ${classifyErrorBody(stray).message.slice(0, EXCERPT_CHARS)}`, { retryable: true })
  }
  if (events === 0 && broken === undefined) return { type: "silent", failure: { code: "incomplete", message: "the stream ended without one event", retryable: true } }
  if (finish !== null) return replied(reading)
  if (!done) return unfinished(broken)
  if (assembly.calls.length > 0) return assembly.isComplete() ? replied(reading) : unfinished(broken)
  const nothing = reading.text + reading.reasoning + reading.refusal === ""
  return nothing ? failed("empty_response", "the stream ended without any content", { retryable: true }) : replied(reading)
}

/** A server that has begun to answer does not refuse the question. */
function isRefusal(reading: Reading): boolean {
  return reading.text === "" && reading.reasoning === "" && reading.assembly.calls.length === 0
}

function unfinished(broken: unknown): Outcome {
  if (broken !== undefined) return { type: "failure", failure: classifyNetworkError(broken), said: null }
  return failed("incomplete", "the stream ended before the reply was complete", { retryable: true })
}

function replied(reading: Reading): Outcome {
  const { refusal, reasoning, options, finish } = reading
  if (refusal !== "" && reading.text === "") {
    reading.text = refusal
    reading.emit({ type: "text", text: refusal })
  }
  const made = callsOf(reading.assembly.calls, finish, options.originalName)
  return { type: "reply", reply: { text: reading.text, reasoning, ...made, finish: agreedFinish(finish, made.calls.length), usage: usageOf(reading.usage, options.price) } }
}
