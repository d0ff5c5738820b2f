// Runs a GGUF file in this process with node-llama-cpp, an optional part. Made by callers through the door `hello-agents/llama-cpp`.
// It knows no function calling: tools reach it through the text protocol, constrained by a grammar. Retries and shortening are the runtime's.
import { existsSync } from "node:fs"
import { availableParallelism } from "node:os"
import { basename } from "node:path"
import type { ModelEvent, ModelFailure, ModelRequest } from "../../contract/model.ts"
import type { Model } from "../../contract/ports.ts"
import { HelloAgentsError } from "../../infrastructure/errors.ts"
import type { Llama, LlamaLibrary, LlamaModel, LlamaSampling, LlamaSequence } from "./llama-cpp-library.ts"
import { llamaDevice, llamaLoader, missingPart } from "./llama-cpp-library.ts"
import type { LlamaPrompt } from "./llama-cpp-prompt.ts"
import { llamaPrompt } from "./llama-cpp-prompt.ts"
import type { Place } from "./reply-queue.ts"
import { replyQueue, UNWANTED } from "./reply-queue.ts"
import { textWriter } from "./text-writer.ts"

/**
 * `contextSize` and `maxTokens` in tokens. `room`: the share of the context that a reply may need; a prompt that leaves less is too long.
 * `step`: the prompt is read in pieces of so many tokens; after an abort the next reply waits for one of them at most.
 */
const DEFAULTS = { contextSize: 8192, maxTokens: 1024, room: 1 / 8, step: 128, temperature: 0, grammars: 16 }

export interface LlamaCppOptions {
  /** Path of a GGUF file. */
  readonly file: string
  /** Default: the number of cores. More is far slower, and so is that many on cores that others keep busy: threads wait for each other. */
  readonly threads?: number | undefined
  /** Tokens of prompt and reply together; default 8192, and never more than the model was trained on. */
  readonly contextSize?: number | undefined
  /** For requests without a seed of their own. Counts where the temperature is above 0; it is 0 unless set. */
  readonly seed?: number | undefined
  /** Gives the module node-llama-cpp, version 3. Default: the installed one. */
  readonly load?: (() => Promise<unknown>) | undefined
}

export interface LlamaCppModel extends Model {
  /** Waits for the reply that is being written, then frees the memory. The next question loads the file again. */
  readonly close: () => Promise<void>
}

interface Session {
  readonly llama: Llama
  readonly library: LlamaLibrary
  readonly model: LlamaModel
  readonly sequence: LlamaSequence
  /** Tokens of prompt and reply together. */
  readonly size: number
  readonly prompt: LlamaPrompt
  /** Compiled, by their text. null: does not compile. */
  readonly grammars: Map<string, unknown>
  /** So many tokens at the start of the sequence were read in whole steps. */
  read: number
}

/**
 * The file is loaded with the first question and stays in memory; the beginning that two prompts share is read once.
 * The same question gets the same reply, whatever was asked before (with temperature 0 or a seed). Replies are written one at a time.
 * Throws `HelloAgentsError` (`config_invalid`) at once; after that failures are events. An aborted call ends without one.
 */
export function llamaCpp(options: LlamaCppOptions): LlamaCppModel {
  const settings = checked(options)
  const queue = replyQueue()
  let opened: Promise<Session> | null = null
  const session = (): Promise<Session> => {
    opened ??= open(settings).catch((error: unknown) => {
      opened = null
      throw error
    })
    return opened
  }

  return {
    name: basename(settings.file).replace(/\.gguf$/i, ""),
    contextWindow: settings.contextSize,
    functionCalling: false,
    constraint: "grammar",
    async *ask(request) {
      const place = queue.enter(request.signal)
      try {
        await place.wait(place.turn)
        yield* reply(await place.wait(session()), request, { place, seed: settings.seed })
      } catch (error) {
        if (error === UNWANTED || request.signal.aborted) return
        yield { type: "failure", failure: failureOf(error) }
      } finally {
        place.leave()
      }
    },
    async close() {
      const place = queue.enter(new AbortController().signal)
      try {
        await place.turn
        const closing = opened
        opened = null
        await (await closing)?.llama.dispose()
      } finally {
        place.leave()
      }
    },
  }
}

type Settings = ReturnType<typeof checked>

function checked({ file, threads = availableParallelism(), contextSize = DEFAULTS.contextSize, seed, load }: LlamaCppOptions) {
  for (const [name, value] of Object.entries({ threads, contextSize })) {
    if (!Number.isInteger(value) || value < 1) throw new HelloAgentsError("config_invalid", `${name} must be a whole number above 0, not ${value}.`)
  }
  if (!existsSync(file)) {
    throw new HelloAgentsError("config_invalid", `There is no model file ${file}.`, {
      hint: "Give the path of a GGUF file; `npm run model` fetches a small one and prints its path.",
    })
  }
  return { file, threads, contextSize, seed, load: load ?? llamaLoader() }
}

async function open({ file, threads, contextSize, load }: Settings): Promise<Session> {
  const library = await load().then(asLibrary, (error: unknown) => {
    throw missingPart(error)
  })
  let said = ""
  const logger = (_: string, message: string): void => {
    said = message.trim()
  }
  const llama = await library.getLlama({ gpu: llamaDevice(), build: "never", skipDownload: true, progressLogs: false, logLevel: "error", logger, maxThreads: threads })
  try {
    const model = await llama.loadModel({ modelPath: file })
    const size = Math.min(contextSize, model.trainContextSize)
    const context = await model.createContext({ contextSize: size, threads })
    const prompt = llamaPrompt(library, model)
    return { llama, library, model, sequence: context.getSequence(), size: Math.min(size, context.contextSize), prompt, grammars: new Map(), read: 0 }
  } catch (cause) {
    await llama.dispose()
    throw new Error(`${basename(file)} could not be loaded: ${messageOf(cause)}${said === "" ? "" : ` (${said})`}`, { cause })
  }
}

function asLibrary(module: unknown): LlamaLibrary {
  if (typeof module !== "object" || module === null || !("getLlama" in module)) throw new Error("load() did not give the module node-llama-cpp")
  return module as LlamaLibrary
}

async function* reply(session: Session, request: ModelRequest, { place, seed }: { place: Place; seed: number | undefined }): AsyncGenerator<ModelEvent> {
  const { settings, tools } = request
  if (tools.length > 0) {
    const hint = 'Let the agent speak the text protocol: protocol "auto" or "text".'
    yield { type: "failure", failure: { code: "invalid_request", message: "A local model does not support tools by itself.", retryable: false, hint } }
    return
  }
  const tokens = session.prompt.tokens(request)
  const maxTokens = settings.maxTokens ?? DEFAULTS.maxTokens
  const room = Math.max(1, Math.min(maxTokens, Math.floor(session.size * DEFAULTS.room)))
  if (tokens.length + room > session.size) {
    const message = `The prompt has ${tokens.length} tokens and the reply needs room for ${room}, but the context holds ${session.size}.`
    yield { type: "failure", failure: { code: "context_length", message, retryable: false, hint: "contextSize" } }
    return
  }
  const grammar = request.grammar === undefined ? undefined : await place.wait(compiled(session, request.grammar))
  if (grammar === null) yield { type: "note", note: "the grammar does not compile; the reply is not constrained" }
  const chosenSeed = settings.seed ?? seed
  const sampling: LlamaSampling = {
    temperature: settings.temperature ?? DEFAULTS.temperature,
    ...(settings.topP !== undefined && { topP: settings.topP }),
    ...(chosenSeed !== undefined && { seed: chosenSeed }),
    ...(grammar !== undefined && grammar !== null && { grammarEvaluationState: new session.library.LlamaGrammarEvaluationState({ model: session.model, grammar }) }),
    yieldEogToken: true,
  }
  const cachedTokens = await readPrompt(session, tokens, place)
  const limit = Math.min(maxTokens, session.size - tokens.length)
  const { text, outputTokens, finish } = yield* write(session, request, { place, last: tokens.slice(-1), sampling, limit })
  // Nobody sends a bill for it: 0 is the price, not a guess.
  const usage = { inputTokens: tokens.length, outputTokens, cachedTokens, reasoningTokens: 0, cost: 0 }
  yield { type: "reply", reply: { text, reasoning: "", calls: [], finish, usage } }
}

/**
 * Reads all of the prompt but its last token, and gives the number of tokens that were known from before. Steps begin at multiples of their
 * length and the reply's own tokens are read anew, so that every number comes out of the same calculation, whatever was asked before.
 */
async function readPrompt(session: Session, tokens: readonly number[], place: Place): Promise<number> {
  const { sequence } = session
  const last = Math.max(0, tokens.length - 1)
  const known = wholeSteps(Math.min(sequence.compareContextTokens(tokens).firstDifferentIndex, session.read, last))
  session.read = known
  if (sequence.nextTokenIndex > known) await place.wait(sequence.eraseContextTokenRanges([{ start: known, end: sequence.nextTokenIndex }]))
  // Some models cannot forget a part; then it is more than asked for.
  const cachedTokens = sequence.nextTokenIndex
  for (let start = cachedTokens; start < last; ) {
    const end = Math.min(last, wholeSteps(start) + DEFAULTS.step)
    await place.wait(sequence.evaluateWithoutGeneratingNewTokens(tokens.slice(start, end)))
    session.read = wholeSteps(end)
    start = end
  }
  return cachedTokens
}

function wholeSteps(tokens: number): number {
  return tokens - (tokens % DEFAULTS.step)
}

interface Writing {
  readonly place: Place
  readonly last: readonly number[]
  readonly sampling: LlamaSampling
  readonly limit: number
}
interface Written {
  readonly text: string
  /** All that were sampled, the end token among them. */
  readonly outputTokens: number
  readonly finish: "stop" | "length"
}

async function* write({ model, sequence, prompt }: Session, request: ModelRequest, { place, last, sampling, limit }: Writing): AsyncGenerator<ModelEvent, Written> {
  const writer = textWriter((tokens, before) => model.detokenize(tokens, false, before), [...(request.settings.stop ?? []), ...prompt.stop])
  const tokens = sequence.evaluate(last, sampling)
  let text = ""
  let outputTokens = 0
  let finish: Written["finish"] | null = null
  try {
    while (finish === null) {
      const next = await place.wait(tokens.next())
      if (next.done !== true) outputTokens++
      const ended = next.done === true || model.isEogToken(next.value)
      const piece = ended ? { text: writer.rest(), stopped: true } : writer.push(next.value)
      if (piece.stopped) finish = "stop"
      else if (outputTokens >= limit) finish = "length"
      const added = finish === "length" ? piece.text + writer.rest() : piece.text
      text += added
      if (request.stream && added !== "") yield { type: "text", text: added }
    }
    return { text, outputTokens, finish }
  } finally {
    await place.wait(tokens.return()).catch(() => {})
  }
}

/** A grammar that the library refuses would be refused again: null is remembered too. */
async function compiled({ llama, grammars }: Session, text: string): Promise<unknown> {
  if (!grammars.has(text)) {
    grammars.set(text, await llama.createGrammar({ grammar: text }).catch(() => null))
  }
  const [oldest] = grammars.keys()
  if (oldest !== undefined && grammars.size > DEFAULTS.grammars) grammars.delete(oldest)
  return grammars.get(text)
}

function failureOf(error: unknown): ModelFailure {
  if (error instanceof HelloAgentsError) return { code: "not_found", message: error.message, retryable: false, hint: error.hint }
  return { code: "server_error", message: messageOf(error), retryable: false }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
