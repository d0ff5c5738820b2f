// A stand-in for node-llama-cpp, handed in by `load`: a token is a byte, a prompt is recorded, a reply is what the test wrote.
import { fileURLToPath } from "node:url"
import type { LlamaCppModel, LlamaCppOptions } from "hello-agents/llama-cpp"
import { llamaCpp } from "hello-agents/llama-cpp"
import type { Llama, LlamaLibrary, LlamaModel, LlamaSampling, LlamaSequence, LlamaTemplate, LlamaTurn } from "../../src/capability/models/llama-cpp-library.ts"

const END = 256
const BEGIN = 257

export interface FakeOptions {
  /** One reply per question, in order; the last one again and again. A reply without "." at its end is not ended by the model. */
  readonly replies?: readonly string[]
  /** null: the file has none. "refused": the library cannot read it. */
  readonly template?: string | null
  readonly begins?: boolean
  readonly trained?: number
  /** Has to forget all but so many tokens when it is to forget any. */
  readonly keeps?: number
  /** Waited for before each piece of native work. */
  readonly before?: (work: string) => Promise<void> | void
}
export interface Fake {
  readonly load: () => Promise<LlamaLibrary>
  /** What happened, in order. */
  readonly log: string[]
  readonly starts: unknown[]
  readonly contexts: unknown[]
  readonly samplings: LlamaSampling[]
  /** Full text of the sequence at the moment a reply began. */
  readonly prompts: string[]
  /** Native calls that ran while another one did. */
  overlaps: number
}

const bytes = (text: string): number[] => (text.startsWith("<s>") ? [BEGIN, ...Buffer.from(text.slice(3))] : [...Buffer.from(text)])
const textOf = (tokens: readonly number[]): string => tokens.map((token) => (token === BEGIN ? "<s>" : "")).join("") + Buffer.from(tokens.filter((token) => token < END)).toString()

export function fakeLlama({ replies = ["Shipped."], template = "a template", begins = false, trained = 4096, keeps = Number.POSITIVE_INFINITY, before }: FakeOptions = {}): Fake {
  const fake: Fake = { load: async () => library, log: [], starts: [], contexts: [], samplings: [], prompts: [], overlaps: 0 }
  let busy = 0
  let asked = 0
  const native = async <T>(work: string, result: () => T): Promise<T> => {
    fake.overlaps += busy
    busy++
    try {
      fake.log.push(work)
      await before?.(work)
      return result()
    } finally {
      busy--
    }
  }
  const sequence = (): LlamaSequence => {
    const state: number[] = []
    return {
      get nextTokenIndex() {
        return state.length
      },
      compareContextTokens: (tokens) => {
        const different = state.findIndex((token, index) => token !== tokens[index])
        return { firstDifferentIndex: different < 0 ? state.length : different }
      },
      eraseContextTokenRanges: ([range]) => native(`forget from ${range?.start}`, () => void state.splice(Math.min(range?.start ?? 0, keeps))),
      evaluateWithoutGeneratingNewTokens: (tokens) => native(`read ${tokens.length}`, () => void state.push(...tokens)),
      async *evaluate(tokens, sampling) {
        fake.samplings.push(sampling)
        const reply = replies[Math.min(asked++, replies.length - 1)] ?? ""
        let next = [...tokens]
        fake.prompts.push(textOf([...state, ...next]))
        try {
          for (const token of [...bytes(reply), ...(reply.endsWith(".") ? [END] : []), ...bytes("~".repeat(5000))]) {
            await native("write", () => void state.push(...next))
            yield token
            next = [token]
          }
        } finally {
          fake.log.push("stopped")
        }
      },
    }
  }
  const model: LlamaModel = {
    trainContextSize: trained,
    tokenizer: "the tokenizer",
    tokens: { bos: BEGIN, shouldPrependBosToken: begins },
    fileInfo: { metadata: { tokenizer: template === null ? {} : { chat_template: template } } },
    tokenize: bytes,
    detokenize: (tokens) => textOf(tokens),
    isEogToken: (token) => token === END,
    createContext: (options) =>
      native("open context", () => {
        fake.contexts.push(options)
        return { contextSize: Math.ceil(options.contextSize / 256) * 256, getSequence: sequence }
      }),
  }
  const llama: Llama = {
    loadModel: ({ modelPath }) => native(`load ${modelPath === HERE ? "the file" : modelPath}`, () => model),
    createGrammar: ({ grammar }) =>
      native(`compile ${grammar}`, () => {
        if (grammar === "broken") throw new Error("Failed to parse grammar")
        return { compiled: grammar }
      }),
    dispose: () => native("dispose", () => undefined),
  }
  const written = (turns: readonly LlamaTurn[], form: string): string =>
    `${form}: ${turns.map((turn) => (turn.type === "model" ? `model=${turn.response.join("")}` : `${turn.type}=${turn.text}`)).join("|")}`
  const wrapper = (form: string): LlamaTemplate => ({ generateContextState: ({ chatHistory }) => ({ contextText: { tokenize: () => bytes(written(chatHistory, form)) } }) })
  const library: LlamaLibrary = {
    getLlama: async (options) => {
      fake.starts.push(options)
      return llama
    },
    JinjaTemplateChatWrapper: class {
      generateContextState: LlamaTemplate["generateContextState"]
      constructor(options: { template: string }) {
        if (options.template === "refused") throw new Error("cannot read the template")
        this.generateContextState = wrapper(options.template).generateContextState
      }
    },
    resolveChatWrapper: () => wrapper("the library's own"),
    LlamaGrammarEvaluationState: class {
      grammar: unknown
      constructor(options: { grammar: unknown }) {
        this.grammar = options.grammar
      }
    },
  }
  return fake
}

const HERE = fileURLToPath(import.meta.url)

/** A model on a file that exists, run by the fake. */
export function fakeModel(fake: Fake, options: Partial<LlamaCppOptions> = {}): LlamaCppModel {
  return llamaCpp({ file: HERE, threads: 2, load: fake.load, ...options })
}
