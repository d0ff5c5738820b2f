// Options of `openai()` and the environment made into settings, or a clear error before any request. Called by openai.ts.
import { HelloAgentsError } from "../../infrastructure/errors.ts"
import type { Transport } from "../../infrastructure/transport/transport.ts"
import type { Price } from "./chat-fields.ts"

/** A team's own table, with the day it was copied from the provider's page: prices change, and a figure without a date is none. */
export interface PriceTable {
  /** Such as 2026-12-01. */
  readonly date: string
  readonly models: { readonly [model: string]: Price }
}

export interface OpenAIOptions {
  /** Where the server is, up to and including `/v1`. Else LLM_BASE_URL. */
  baseUrl?: string | undefined
  /** Else LLM_API_KEY; a server on this machine may need none. */
  apiKey?: string | undefined
  /** Else LLM_MODEL. */
  model?: string | undefined
  /** Longest silence in milliseconds, before the first byte and between two reads. 60,000. */
  timeoutMs?: number | undefined
  /** Without it the cost of a call is "unknown". */
  price?: Price | undefined
  /** Prices of many models, looked up by name; `price` wins. A model that is not in it costs "unknown", never 0. */
  prices?: PriceTable | undefined
  /** Tokens. */
  contextWindow?: number | undefined
  /**
   * How this server can be made to keep to a form, for the text protocol: `grammar` (llama.cpp servers, field `grammar`), or `json_schema`
   * (`response_format`). A server that ignores it does no harm: replies are checked all the same. Default: not at all.
   */
  constraint?: "grammar" | "json_schema" | undefined
  /** Sent with every request. */
  headers?: Readonly<Record<string, string>> | undefined
  /** `node` where there is Node, else `fetch`; or your own. */
  transport?: "node" | "fetch" | Transport | undefined
}

export interface OpenAISettings {
  readonly url: string
  readonly model: string
  readonly apiKey: string
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly price: Price | null
  readonly contextWindow: number | undefined
  readonly constraint: "grammar" | "json_schema" | undefined
  readonly transport: "node" | "fetch" | Transport
}

const DEFAULTS = { timeoutMs: 60_000 }

/** Throws `HelloAgentsError`: `model_missing` without a model or server, `config_invalid` for values that cannot be right. Keys are never shown. */
export function openaiSettings(options: OpenAIOptions): OpenAISettings {
  const environment = typeof process === "undefined" ? {} : process.env
  const model = (options.model ?? environment.LLM_MODEL ?? "").trim()
  const apiKey = (options.apiKey ?? environment.LLM_API_KEY ?? "").trim()
  const baseUrl = (options.baseUrl ?? environment.LLM_BASE_URL ?? "").trim()
  if (model === "") throw new HelloAgentsError("model_missing", "No model is named", { hint: 'Set LLM_MODEL, or pass { model: "…" }.' })
  if (baseUrl === "") throw new HelloAgentsError("model_missing", "No model server is named", { hint: 'Set LLM_BASE_URL, or pass { baseUrl: "http://localhost:11434/v1" }.' })
  return {
    url: chatUrl(baseUrl),
    model,
    apiKey,
    headers: requestHeaders(apiKey, options.headers ?? {}),
    timeoutMs: positive("timeoutMs", options.timeoutMs) ?? DEFAULTS.timeoutMs,
    price: checkedPrice(options.price ?? options.prices?.models[model]),
    contextWindow: positive("contextWindow", options.contextWindow),
    constraint: options.constraint,
    transport: checkedTransport(options.transport),
  }
}

/** Given with or without a slash at the end, and with `/chat/completions` by people who copied the whole address. A query is kept. */
function chatUrl(baseUrl: string): string {
  let url: URL
  try {
    url = new URL(baseUrl)
  } catch (cause) {
    throw invalid("LLM_BASE_URL is not a URL", "It looks like https://host.example/v1.", cause)
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") throw invalid("LLM_BASE_URL must begin with http:// or https://", "It looks like https://host.example/v1.")
  if (url.username !== "" || url.password !== "") throw invalid("LLM_BASE_URL must not hold a user name or password", "Pass them in { headers }.")
  let path = url.pathname
  while (path.endsWith("/")) path = path.slice(0, -1)
  url.pathname = path.endsWith("/chat/completions") ? path : `${path}/chat/completions`
  url.hash = ""
  return url.href
}

function requestHeaders(apiKey: string, own: Readonly<Record<string, string>>): Record<string, string> {
  const headers: Record<string, string> = { "content-type": "application/json", accept: "application/json, text/event-stream" }
  if (apiKey !== "") headers.authorization = `Bearer ${apiKey}`
  for (const [name, value] of Object.entries(own)) headers[name.toLowerCase()] = value
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name)) throw invalid(`"${name}" cannot be the name of a header`, "Use letters, digits and dashes.")
    if (typeof value === "string" && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)) continue
    const what = name === "authorization" ? "LLM_API_KEY" : `The header ${name}`
    throw invalid(`${what} holds characters that cannot be sent`, "Was something else copied with it: a line end, a curly quote?")
  }
  return headers
}

function checkedPrice(price: Price | undefined): Price | null {
  if (price === undefined) return null
  const { input, cachedInput = 0, output } = price
  if ([input, cachedInput, output].every((value) => Number.isFinite(value) && value >= 0)) return price
  throw invalid("`price` needs numbers for input and output", "Give the price of a million tokens: { input: 0.5, output: 1.5 }.")
}

function checkedTransport(transport: OpenAIOptions["transport"]): OpenAISettings["transport"] {
  if (transport === undefined) return typeof process !== "undefined" && typeof process.versions?.node === "string" ? "node" : "fetch"
  if (transport === "node" || transport === "fetch" || typeof transport === "function") return transport
  throw invalid("`transport` is neither a name nor a function", 'Use "node", "fetch" or a function.')
}

function positive(name: string, value: number | undefined): number | undefined {
  if (value === undefined || (Number.isFinite(value) && value > 0)) return value
  throw invalid(`\`${name}\` must be a number above 0`, `Leave it out for the default, or give ${name === "timeoutMs" ? "milliseconds" : "tokens"}.`)
}

function invalid(message: string, hint: string, cause?: unknown): HelloAgentsError {
  return new HelloAgentsError("config_invalid", message, { hint, cause })
}
