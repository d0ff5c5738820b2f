// Records the calls of a real model as JSON lines and plays them back without a network. Users get both from `hello-agents/testing`.
// Leaves the file to two functions that are passed in (cassette-file.ts has them for Node).
import type { Message } from "../../contract/message.ts"
import { textOf } from "../../contract/message.ts"
import type { ModelEvent, ModelFailure, ModelReply, ModelRequest } from "../../contract/model.ts"
import type { Model } from "../../contract/ports.ts"
import type { MaybePromise } from "../../contract/schema.ts"
import { digest } from "../../infrastructure/digest.ts"
import { canonicalJson } from "../../infrastructure/json/canonical.ts"
import { redactSecrets } from "../../infrastructure/redaction.ts"

const DEFAULTS = { replayName: "replay", excerptChars: 60 }

export interface CassetteFile {
  /** All lines recorded so far; an empty text if there is no file yet. */
  readonly read: () => MaybePromise<string>
  /** Adds one line; the text ends with a line break. */
  readonly append: (line: string) => MaybePromise<void>
}
export interface CassetteOptions {
  /** Of `replay`: take the recordings of this model only. Needed when a file holds several. */
  readonly name?: string | undefined
  /** Of `replay`: set it if the recorded model had one, because it decides how much history is sent. */
  readonly contextWindow?: number | undefined
  /** Takes out of any text of a request what differs from run to run. UUIDs and `toISOString()` times are taken out anyway. */
  readonly normalise?: ((text: string) => string) | undefined
}
/** One line of a cassette. `attempt` counts equal requests from 1, so a retry has a recording of its own. */
interface Recording {
  readonly v: 1
  readonly key: string
  readonly attempt: number
  readonly model: string
  readonly request: Plain
  readonly end: Ending
}
type Ending = { readonly type: "reply"; readonly reply: ModelReply } | { readonly type: "failure"; readonly failure: ModelFailure }
type Plain = string | number | boolean | null | readonly Plain[] | { readonly [name: string]: Plain }

/**
 * Asks `model` and writes every reply and failure down, secrets hidden. An interrupted call leaves nothing.
 * Recording the same request again replaces the older recording, because the last line counts.
 */
export function record(model: Model, file: CassetteFile, options: CassetteOptions = {}): Model {
  const attempts = new Map<string, number>()
  return {
    ...model,
    ask: async function* (request) {
      const { key, plain } = keyOf(request, options)
      const attempt = (attempts.get(key) ?? 0) + 1
      attempts.set(key, attempt)
      for await (const event of model.ask(request)) {
        if (event.type === "reply" || event.type === "failure") {
          const line: Recording = { v: 1, key, attempt, model: model.name, request: plain, end: event }
          try {
            await file.append(`${JSON.stringify(hideSecrets(line))}\n`)
          } catch (error) {
            yield failed(`The cassette could not be written: ${error instanceof Error ? error.message : String(error)}`, "Check the folder and its rights.")
            return
          }
        }
        yield event
      }
    },
  }
}

/**
 * Answers from a recording and never from a network: it knows no model that it could ask. A request that was not recorded is a
 * failure that names the nearest recorded one. Attempts are counted per instance, so take a new one for every run.
 */
export function replay(file: CassetteFile, options: CassetteOptions = {}): Model {
  const attempts = new Map<string, number>()
  let loaded: Promise<readonly Recording[]> | undefined
  return {
    name: options.name ?? DEFAULTS.replayName,
    contextWindow: options.contextWindow,
    ask: async function* (request) {
      const { key, plain } = keyOf(request, options)
      const attempt = (attempts.get(key) ?? 0) + 1
      attempts.set(key, attempt)
      let recordings: readonly Recording[]
      try {
        loaded ??= load(file, options.name)
        recordings = await loaded
      } catch (error) {
        yield failed(`The cassette cannot be used: ${error instanceof Error ? error.message : String(error)}`, "Record it again.")
        return
      }
      const found = recordings.findLast((one) => one.key === key && one.attempt === attempt)
      if (request.signal.aborted) return
      if (found) yield* played(found.end, request)
      else yield failed(missMessage(recordings, { key, attempt, plain }), "Record this request, or undo what changed it.")
    },
  }
}

async function load(file: CassetteFile, name: string | undefined): Promise<readonly Recording[]> {
  const lines = (await file.read()).split("\n")
  const all = lines.flatMap((line, index) => (line.trim() === "" ? [] : [parseLine(line, index + 1)]))
  const models = [...new Set(all.map((one) => one.model))]
  if (name === undefined && models.length > 1) throw new Error(`it holds recordings of ${models.join(" and ")}; say which with { name }`)
  return name === undefined ? all : all.filter((one) => one.model === name)
}

function parseLine(line: string, number: number): Recording {
  let value: Partial<Recording> | null
  try {
    value = JSON.parse(line)
  } catch {
    throw new Error(`line ${number} is not JSON`)
  }
  if (value?.v !== 1 || typeof value.key !== "string" || typeof value.attempt !== "number" || !value.end) throw new Error(`line ${number} is not a recording of this version`)
  return value as Recording
}

function* played(end: Ending, { stream, signal }: ModelRequest): Generator<ModelEvent> {
  if (end.type === "reply" && stream) {
    if (end.reply.reasoning) yield { type: "reasoning", text: end.reply.reasoning }
    if (end.reply.text) yield { type: "text", text: end.reply.text }
  }
  if (!signal.aborted) yield end
}

function failed(message: string, hint: string): ModelEvent {
  return { type: "failure", failure: { code: "invalid_request", message, retryable: false, hint } }
}

/** The key is that of the request as written to disk, so a reply whose secrets were hidden still leads to the next recording. */
function keyOf(request: ModelRequest, { normalise = (text) => text }: CassetteOptions): { key: string; plain: Plain } {
  const plain = hideSecrets(eachString(plainRequest(request), (text) => normalise(withoutRunMarks(text))))
  return { key: digest(JSON.stringify(plain)), plain }
}

/** Call ids numbered by their order, pictures as digests; without `stream` and `signal`, which change no reply. */
function plainRequest({ instructions, notes, messages, tools, settings, output }: ModelRequest): Plain {
  const ids = new Map<string, string>()
  const idOf = (id: string): string => {
    const known = ids.get(id) ?? `call ${ids.size + 1}`
    ids.set(id, known)
    return known
  }
  return JSON.parse(canonicalJson({ instructions, notes, messages: messages.map((message) => plainMessage(message, idOf)), tools, settings, output }))
}

function plainMessage(message: Message, idOf: (id: string) => string): unknown {
  switch (message.role) {
    case "user": {
      const { role, content } = message
      if (typeof content === "string") return { role, content }
      return {
        role,
        content: textOf(content),
        images: content.flatMap((part) => (part.type === "image" ? [part.image instanceof Uint8Array ? digest(oneUnitPerByte(part.image)) : String(part.image)] : [])),
      }
    }
    case "assistant":
      return { role: message.role, content: message.content, calls: (message.calls ?? []).map(({ id, name, arguments: text }) => ({ id: idOf(id), name, arguments: text })) }
    case "tool":
      return { role: message.role, callId: idOf(message.callId), content: message.content }
  }
}

function withoutRunMarks(text: string): string {
  return text.replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, "<uuid>").replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "<time>")
}

function hideSecrets<T>(value: T): T {
  return eachString(value, redactSecrets)
}

function eachString<T>(value: T, change: (text: string) => string): T {
  const walk = (one: unknown): unknown => {
    if (typeof one === "string") return change(one)
    if (Array.isArray(one)) return one.map(walk)
    return typeof one === "object" && one !== null ? Object.fromEntries(Object.entries(one).map(([name, inner]) => [name, walk(inner)])) : one
  }
  return walk(value) as T
}

function oneUnitPerByte(bytes: Uint8Array): string {
  return new TextDecoder("latin1").decode(bytes)
}

function missMessage(recordings: readonly Recording[], asked: { key: string; attempt: number; plain: Plain }): string {
  const times = recordings.filter((one) => one.key === asked.key).length
  if (times > 0) return `This request was recorded for ${times} ${times === 1 ? "attempt" : "attempts"}, and is now asked for attempt ${asked.attempt}.`
  const leaves = leavesOf(asked.plain)
  let nearest: { number: number; distance: number; difference: string } | undefined
  for (const [index, one] of recordings.entries()) {
    const recorded = leavesOf(one.request)
    const paths = [...new Set([...recorded.keys(), ...leaves.keys()])].filter((path) => recorded.get(path) !== leaves.get(path))
    if (nearest && paths.length >= nearest.distance) continue
    const path = paths[0] ?? "nothing that this version compares"
    nearest = { number: index + 1, distance: paths.length, difference: `${path}: recorded ${excerpt(recorded.get(path))}, asked ${excerpt(leaves.get(path))}` }
  }
  if (!nearest) return "This request was not recorded: the cassette is empty."
  return `This request was not recorded. The nearest is recording ${nearest.number} of ${recordings.length}; it differs first in ${nearest.difference}.`
}

function leavesOf(value: Plain, path = "", found: Map<string, string> = new Map()): Map<string, string> {
  if (typeof value === "object" && value !== null) {
    for (const [name, inner] of Object.entries(value)) leavesOf(inner as Plain, path ? `${path}.${name}` : name, found)
  } else found.set(path, JSON.stringify(value))
  return found
}

function excerpt(text: string | undefined): string {
  if (text === undefined) return "nothing"
  return text.length > DEFAULTS.excerptChars ? `${text.slice(0, DEFAULTS.excerptChars)}…` : text
}
