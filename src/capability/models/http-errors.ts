// Says what a failed HTTP answer, an error object or a broken connection means: code, retryable, how long to wait, a clean text.
// Called by the model adapters. Leaves retrying to `decide`, and reading of good answers to the adapter.
import type { ModelErrorCode, ModelFailure } from "../../contract/model.ts"
import { redactSecrets } from "../../infrastructure/redaction.ts"
import { readErrorBody } from "./error-body.ts"
import type { ErrorFacts } from "./error-body.ts"
import { waitFromBody, waitFromHeaders } from "./retry-after.ts"

const LIMITS = { bodyChars: 64_000, wordsChars: 2_000, messageChars: 300, causes: 5, transientWaitMs: 3_600_000 }

export interface HttpErrorResponse {
  readonly status: number
  /** Names in any case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A failed HTTP answer (status other than 2xx). `now`: milliseconds since 1970, for waiting times given as dates. */
export function classifyHttpError(response: HttpErrorResponse, now: number): ModelFailure {
  const facts = readErrorBody(response.body.slice(0, LIMITS.bodyChars))
  const headers = Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name.toLowerCase(), value]))
  const wait = waitFromHeaders(headers, now) ?? waitFromBody(facts, now)
  return failure({ ...facts, status: response.status }, wait, { fallback: statusCode(response.status, facts) })
}

/** An error inside a 200 answer or an event of a stream: the parsed body (`{error: …}`), the error itself, or its text. `now` as above. */
export function classifyErrorBody(error: unknown, now: number = Date.now()): ModelFailure {
  const facts = readErrorBody(error)
  const fallback = facts.status !== null ? statusCode(facts.status, facts) : typeof error === "string" ? "bad_response" : "server_error"
  return failure(facts, waitFromBody(facts, now), { fallback, retry: fallback === "bad_response" })
}

/** What the transport threw: refused, reset, DNS, TLS, timeout. Causes are followed. */
export function classifyNetworkError(error: unknown): ModelFailure {
  const chain = causes(error)
  const text = chain
    .map(({ name, code, message }) => `${name} ${code} ${message}`)
    .join(" ")
    .slice(0, LIMITS.wordsChars)
  const kind = NETWORK.find(({ words }) => words.test(text)) ?? NETWORK_OTHER
  const inner = chain.at(-1)
  const detail = inner === undefined ? "" : inner.message.includes(inner.code) ? inner.message : `${inner.message} (${inner.code})`
  const message = clean(detail === "" ? kind.says : `${kind.says}: ${detail}`)
  return { code: kind === TIMEOUT ? "timeout" : "network", message, retryable: kind.again, ...(kind.hint === "" ? {} : { hint: kind.hint }) }
}

const CHECK_URL = "Check LLM_BASE_URL"
interface NetworkKind {
  readonly words: RegExp
  /** May work the next time. */
  readonly again: boolean
  readonly says: string
  readonly hint: string
}
const NETWORK_OTHER: NetworkKind = { words: /^/, again: true, says: "The connection to the model server failed", hint: `${CHECK_URL} and the network.` }
const TIMEOUT: NetworkKind = {
  words: /TIMEDOUT|TimeoutError|_TIMEOUT\b|timed? ?out/i,
  again: true,
  says: "The model server did not answer in time",
  hint: `${CHECK_URL}, or allow more time.`,
}
const NETWORK: readonly NetworkKind[] = [
  TIMEOUT,
  { words: /ECONNREFUSED/, again: true, says: "The model server refused the connection", hint: `${CHECK_URL}: is the server running there?` },
  { words: /EAI_AGAIN|EHOST|ENET/, again: true, says: "The model server cannot be reached", hint: `${CHECK_URL} and the network.` },
  { words: /ENOTFOUND/, again: false, says: "The model server's host name is unknown", hint: `${CHECK_URL}: the host name is not known.` },
  {
    words: /ERR_INVALID_(?:URL|PROTOCOL)|unknown scheme/,
    again: false,
    says: "The address is not a URL of a server",
    hint: `${CHECK_URL}: it must begin with http:// or https://.`,
  },
  { words: /EPROTO|wrong version number|HPE_/, again: false, says: "The server does not speak the expected protocol", hint: `${CHECK_URL}: http and https may be mixed up.` },
  { words: /CERT|_TLS_|_SSL_|self.signed|certificate/i, again: false, says: "The TLS connection is not trusted", hint: `${CHECK_URL} and the server's certificate.` },
  {
    words: /ECONNRESET|EPIPE|ECONNABORTED|UND_ERR_SOCKET|hang up|terminated|other side closed|premature close/i,
    again: true,
    says: "The connection to the model server broke",
    hint: "",
  },
]

function causes(error: unknown): { name: string; code: string; message: string }[] {
  const found: { name: string; code: string; message: string }[] = []
  let next: unknown = error
  while (next !== undefined && next !== null && found.length < LIMITS.causes) {
    if (typeof next !== "object") return [...found, { name: "", code: "", message: String(next) }]
    const { name, code, message, cause, errors } = next as Record<string, unknown>
    found.push({ name: String(name ?? ""), code: typeof code === "string" ? code : "", message: String(message ?? "") })
    next = Array.isArray(errors) ? errors[0] : cause
  }
  return found
}

function failure(facts: ErrorFacts, wait: number | undefined, { fallback, retry = false }: { fallback: ModelErrorCode; retry?: boolean }): ModelFailure {
  const words = `${facts.codes.join(" ")} ${facts.message}`.toLowerCase().slice(0, LIMITS.wordsChars)
  const status = facts.status
  const transient = wait !== undefined && wait <= LIMITS.transientWaitMs
  const code = codeByWords(words, facts, transient) ?? fallback
  const retryable = code === "rate_limit" ? !tooLargeForRate(words) : RETRYABLE.has(code) || (retry && code === fallback)
  const text = facts.message.trim() === "" ? facts.codes.join(" ") : facts.message
  const where = status === null ? "" : `HTTP ${status}`
  const message = clean(text === "" ? `${where || "The server reported an error"} without a message` : where === "" ? text : `${where}: ${text}`)
  const hint = hintFor(code, words, facts.html)
  return { code, message, retryable, ...(retryable && wait !== undefined ? { waitMs: wait } : {}), ...(hint === "" ? {} : { hint }) }
}

const RETRYABLE: ReadonlySet<ModelErrorCode> = new Set(["overloaded", "server_error", "timeout", "model_loading", "network", "incomplete", "empty_response"])

const RATE = /rate.?limit|throttl|too many requests|resource_exhausted|resource exhausted|per.?min(?:ute)?|\b[tr]p[md]\b|访问量|频率|并发|限流/
const QUOTA_CERTAIN = /insufficient[_ ](?:quota|balance|funds|credits?)|exceeded_current_quota|billing_|credit balance|余额|欠费/
const QUOTA_LIKELY = /current quota|billing|usage limit|monthly|spending limit|out of credits|payment required|quota has been exceeded|quota_exceeded/
const CONTEXT_NAMED = /context[ _-]?(?:length|size|window|limit)|上下文/
const CONTEXT_SUBJECT = /\b(?:prompt|inputs?|messages?|request(?:ed)?|conversation|token count|model token limit)\b|输入|提示/
const CONTEXT_EXCESS = /too long|too large|too many tokens|exceed|longer than|larger than|greater than|reduce the length|maximum (?:prompt|input) length|range of input length|超/
const CONTEXT_UNIT = /\btokens?\b|length|prompt|长/
/** About the length of the answer or the size of other things than the history: shortening it would not help. */
const ABOUT_OUTPUT = /^\W{0,3}(?:[\w ]{1,40}: ?\W?)?max[_ ](?:completion_|output_|new_)?tokens/i
const OTHER_SIZES = /\b(?:bytes?|[km]b|images?|files?|string|array)\b/
const FILTER = /content[_ ]?filter|content management policy|content[_ ]policy|responsibleai|safety system|moderation|data_?inspection|sensitive[_ ]|敏感|不安全/
const AUTH =
  /(?:invalid|incorrect|missing|expired|bad)[_ ](?:x-)?api[_ ]?key|api[_ ]?key(?: is)? (?:not valid|invalid|missing)|api_key_invalid|unauthori[sz]ed|authentication|invalid[_ ]token\b|鉴权|未授权/
const LOADING = /loading model|(?:currently|still|is) loading|model_loading|warming up|加载中/
const NO_MODEL = /model[_ ]not[_ ]found|no such model|unknown model|invalid model(?:[_ ](?:name|id))?\b|model\b.{0,100}(?:not found|does ?n[o']t exist|not exist)/
/** What servers say, with a 5xx, of a request that will never be right. */
const VALIDATION =
  /validation error|literal_error|input should be|field required|has no attribute|invalid[_ ](?:request|parameter|argument|type|value)|unexpected keyword|not supported|unsupported|is required|jinja|chat template/
const OVERLOADED = /overload|server is busy|at capacity|over capacity|no capacity/

function codeByWords(words: string, { status, message }: ErrorFacts, transient: boolean): ModelErrorCode | undefined {
  const refusesRequest = status === null || status < 500
  // These repeat the request in their text, so its words say nothing.
  if (/^\W{0,3}\d{1,4} validation errors?\b/.test(message)) return "invalid_request"
  if (status === 402) return "quota"
  if (QUOTA_CERTAIN.test(words) || (QUOTA_LIKELY.test(words) && refusesRequest && !transient)) return "quota"
  if (RATE.test(words)) return "rate_limit"
  if (!ABOUT_OUTPUT.test(message) && isContextOverflow(words)) return "context_length"
  if (refusesRequest && FILTER.test(words)) return "content_filter"
  if (LOADING.test(words) && !/\b(?:error|fail)/.test(words)) return "model_loading"
  if (refusesRequest && AUTH.test(words)) return "auth"
  if (refusesRequest && NO_MODEL.test(words)) return "not_found"
  if (status !== null && status >= 500) return VALIDATION.test(words) ? "invalid_request" : undefined
  if (OVERLOADED.test(words)) return "overloaded"
  return status === null && /invalid_request|invalid_argument/.test(words) ? "invalid_request" : undefined
}

function isContextOverflow(words: string): boolean {
  if (CONTEXT_NAMED.test(words)) return true
  return CONTEXT_SUBJECT.test(words) && CONTEXT_EXCESS.test(words) && CONTEXT_UNIT.test(words) && !OTHER_SIZES.test(words)
}

/** One request above the budget of a minute can never pass, whatever the code says. */
function tooLargeForRate(words: string): boolean {
  const budget = /limit:? (\d{1,12})\b.{0,40}requested:? (\d{1,12})/.exec(words)
  return words.includes("request too large") || (budget !== null && Number(budget[2]) > Number(budget[1]))
}

function statusCode(status: number, facts: ErrorFacts): ModelErrorCode {
  if (status === 408) return "timeout"
  if (status === 413) return facts.message.trim() === "" ? "context_length" : "request_too_large"
  if (status === 429) return "rate_limit"
  if (status === 401 || status === 403 || status === 407) return "auth"
  if (status === 404 || status === 410) return "not_found"
  if (status === 503 || status === 529) return "overloaded"
  if (status === 501 || status === 505) return "invalid_request"
  if (status >= 500) return "server_error"
  return status >= 400 ? "invalid_request" : "bad_response"
}

function hintFor(code: ModelErrorCode, words: string, html: boolean): string {
  if (code === "auth") return html ? "Check LLM_API_KEY and LLM_BASE_URL: a proxy or firewall may have answered." : "Check LLM_API_KEY."
  if (code === "not_found") return /\bmodel/.test(words) ? "Check LLM_MODEL." : `${CHECK_URL}: it usually ends in /v1.`
  if (code === "quota") return "Check the plan and balance behind LLM_API_KEY."
  if (code === "bad_response") return `${CHECK_URL}: what answers there may be no model server.`
  return ""
}

/** One line for people: no secrets, no stack of the server. */
function clean(text: string): string {
  const said = text.slice(0, LIMITS.messageChars * 4).split(/\n\s{0,8}(?:File "|at \S|Traceback)/, 1)[0] ?? ""
  const line = redactSecrets(said).replace(/\s+/g, " ").trim()
  return line.length > LIMITS.messageChars ? `${line.slice(0, LIMITS.messageChars - 1)}…` : line
}
