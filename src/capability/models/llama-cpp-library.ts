// What is used of node-llama-cpp, and where it is found: the optional part that `npm run llama` installs, or a copy of the caller's own.
// Called by llama-cpp.ts. Nothing of it is loaded before a model is asked.
import { existsSync } from "node:fs"
import { createRequire } from "node:module"
import { homedir } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { HelloAgentsError } from "../../infrastructure/errors.ts"

const PACKAGE = "node-llama-cpp"
/** The release that optional/llama-cpp locks. */
const VERSION = "3.21.1"
const ENTRY = "dist/index.js"

export interface LlamaTemplate {
  generateContextState(options: { chatHistory: readonly LlamaTurn[] }): { contextText: { tokenize(tokenizer: unknown): number[] } }
}
export type LlamaTurn =
  | { readonly type: "system"; readonly text: string }
  | { readonly type: "user"; readonly text: string }
  | { readonly type: "model"; readonly response: readonly string[] }

export interface LlamaModel {
  readonly trainContextSize: number
  readonly tokenizer: unknown
  readonly tokens: { readonly bos: number | null; readonly shouldPrependBosToken: boolean }
  readonly fileInfo: { readonly metadata: { readonly tokenizer?: { readonly chat_template?: string | undefined } | undefined } }
  tokenize(text: string): number[]
  detokenize(tokens: readonly number[], specialTokens: boolean, lastTokens: readonly number[]): string
  isEogToken(token: number): boolean
  createContext(options: { contextSize: number; threads: number }): Promise<{ readonly contextSize: number; getSequence(): LlamaSequence }>
}
export interface LlamaSequence {
  readonly nextTokenIndex: number
  compareContextTokens(tokens: readonly number[]): { firstDifferentIndex: number }
  eraseContextTokenRanges(ranges: readonly { start: number; end: number }[]): Promise<void>
  evaluateWithoutGeneratingNewTokens(tokens: readonly number[]): Promise<void>
  evaluate(tokens: readonly number[], options: LlamaSampling): AsyncGenerator<number, void>
}
export interface LlamaSampling {
  readonly temperature: number
  readonly topP?: number | undefined
  readonly seed?: number | undefined
  readonly grammarEvaluationState?: unknown
  readonly yieldEogToken: true
}
export interface Llama {
  loadModel(options: { modelPath: string }): Promise<LlamaModel>
  createGrammar(options: { grammar: string }): Promise<unknown>
  dispose(): Promise<void>
}
/** The names of node-llama-cpp 3 that are used. */
export interface LlamaLibrary {
  getLlama(options: LlamaStart): Promise<Llama>
  readonly JinjaTemplateChatWrapper: new (options: { template: string; tokenizer: unknown }) => LlamaTemplate
  resolveChatWrapper(model: LlamaModel, options: { warningLogs: boolean }): LlamaTemplate
  readonly LlamaGrammarEvaluationState: new (options: { model: LlamaModel; grammar: unknown }) => unknown
}
export interface LlamaStart {
  readonly gpu: false | "metal"
  readonly build: "never"
  readonly skipDownload: true
  readonly progressLogs: false
  readonly logLevel: "error"
  readonly logger: (level: string, message: string) => void
  readonly maxThreads: number
}

/** Loads the package. Throws `HelloAgentsError` (`config_invalid`) at once if it is not there; its hint is the command that installs it. */
export function llamaLoader(): () => Promise<unknown> {
  const own = createRequire(import.meta.url).resolve.paths(PACKAGE) ?? []
  const folders = [...own, join(process.cwd(), "node_modules"), join(llamaFolder(), "node_modules")]
  const entry = folders.map((folder) => join(folder, PACKAGE, ENTRY)).find((path) => existsSync(path))
  if (entry === undefined) throw missingPart()
  return () => import(pathToFileURL(entry).href)
}

/** Only Apple's chips have no prebuilt binding without the GPU. */
export function llamaDevice(platform: string = process.platform, architecture: string = process.arch): LlamaStart["gpu"] {
  return platform === "darwin" && architecture === "arm64" ? "metal" : false
}

/** The command for this machine: the part with its lock in this repository, a folder of its own for users of the package. */
export function installCommand(inRepository: boolean = hasPart(), platform: string = process.platform, architecture: string = process.arch): string {
  if (inRepository) return "npm run llama"
  const system = platform === "darwin" ? "mac" : platform === "win32" ? "win" : platform
  const binding = `@node-llama-cpp/${system}-${architecture === "arm" ? "armv7l" : architecture}${llamaDevice(platform, architecture) === "metal" ? "-metal" : ""}`
  return `npm install --prefix "${llamaFolder()}" --omit=optional --ignore-scripts ${PACKAGE}@${VERSION} ${binding}@${VERSION}`
}

export function missingPart(cause?: unknown): HelloAgentsError {
  const hint = `Install the optional part once (83 MB): ${installCommand()}`
  return new HelloAgentsError("config_invalid", `Local models need ${PACKAGE}, which is not installed. ${hint}`, { hint, cause })
}

function hasPart(): boolean {
  return existsSync(fileURLToPath(new URL("../../../optional/llama-cpp/package.json", import.meta.url)))
}

/** Its own folder outside every project; scripts/llama.mjs installs there. */
function llamaFolder(): string {
  return join(process.env["HELLO_AGENTS_CACHE"] ?? join(homedir(), ".cache", "hello-agents"), "llama-cpp")
}
