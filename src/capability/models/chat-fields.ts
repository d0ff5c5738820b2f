// The fields that plain and streamed replies share, in all the ways servers write them. Called by chat-reply.ts and chat-stream.ts.
import type { ToolCall } from "../../contract/message.ts"
import type { FinishReason, ModelFailure, ModelReply, Usage } from "../../contract/model.ts"

export type Fields = Readonly<Record<string, unknown>>

/** Of a million tokens, in any currency. Cached input costs as much as other input unless said. */
export interface Price {
  readonly input: number
  readonly cachedInput?: number | undefined
  readonly output: number
}

export interface ReplyOptions {
  readonly price: Price | null
  /** The name that a tool has here, by the name the server knows it by. */
  readonly originalName: (name: string) => string
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** Text, or a list of parts of which the text counts; `thinking` parts belong to `reasoningOf`. */
export function textOfContent(content: unknown): string {
  if (typeof content === "string") return content
  if (!Array.isArray(content)) return ""
  return content.map((part) => (typeof part === "string" ? part : isFields(part) && typeof part.text === "string" ? part.text : "")).join("")
}

/** `reasoning_content` and `reasoning` hold the same where both are sent. */
export function reasoningOf(message: Fields): string {
  if (typeof message.reasoning_content === "string" && message.reasoning_content !== "") return message.reasoning_content
  if (typeof message.reasoning === "string") return message.reasoning
  if (!Array.isArray(message.content)) return ""
  return message.content.map((part) => (isFields(part) && part.type === "thinking" ? textOfContent(part.thinking) : "")).join("")
}

/** null: not finished; servers write that as null, "" and "null". */
export function finishOf(reason: unknown): FinishReason | "malformed_call" | "error" | null {
  if (typeof reason !== "string" || reason === "" || reason === "null") return null
  return FINISH[reason.toLowerCase()] ?? "unknown"
}

const FINISH: Readonly<Record<string, FinishReason | "malformed_call" | "error">> = {
  stop: "stop",
  end_turn: "stop",
  eos: "stop",
  eos_token: "stop",
  stop_sequence: "stop",
  tool_calls: "tool_calls",
  function_call: "tool_calls",
  tool_use: "tool_calls",
  length: "length",
  max_tokens: "length",
  model_length: "length",
  max_output_tokens: "length",
  content_filter: "content_filter",
  safety: "content_filter",
  recitation: "content_filter",
  prohibited_content: "content_filter",
  blocklist: "content_filter",
  sensitive: "content_filter",
  refusal: "content_filter",
  malformed_function_call: "malformed_call",
  error: "error",
  network_error: "error",
}

/** null: the server did not say. All zero is a server that does not count. */
export function usageOf(usage: unknown, price: Price | null): Usage | null {
  if (!isFields(usage)) return null
  const inputTokens = countOf(usage.prompt_tokens ?? usage.input_tokens)
  const outputTokens = countOf(usage.completion_tokens ?? usage.output_tokens)
  if (inputTokens === 0 && outputTokens === 0) return null
  const inDetail = isFields(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {}
  const outDetail = isFields(usage.completion_tokens_details) ? usage.completion_tokens_details : {}
  const cachedTokens = Math.min(inputTokens, countOf(inDetail.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens))
  const reasoningTokens = countOf(outDetail.reasoning_tokens ?? usage.reasoning_tokens)
  return { inputTokens, outputTokens, cachedTokens, reasoningTokens, cost: price === null ? "unknown" : costOf({ inputTokens, outputTokens, cachedTokens }, price) }
}

function costOf(tokens: { inputTokens: number; outputTokens: number; cachedTokens: number }, price: Price): number {
  const fresh = (tokens.inputTokens - tokens.cachedTokens) * price.input
  return (fresh + tokens.cachedTokens * (price.cachedInput ?? price.input) + tokens.outputTokens * price.output) / 1_000_000
}

function countOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0
}

/** A call as it is put together; see call-assembly.ts for streams. */
export interface CallDraft {
  id: string
  name: string
  arguments: string
  extra: Record<string, unknown> | null
}

/** Fields beside the known ones, which a provider may want back (thought signatures). */
export function extraOf(call: Fields): Record<string, unknown> | null {
  let extra: Record<string, unknown> | null = null
  for (const key in call) {
    if (KNOWN.has(key) || call[key] === null || call[key] === undefined) continue
    extra ??= {}
    extra[key] = call[key]
  }
  return extra
}

const KNOWN: ReadonlySet<string> = new Set(["id", "type", "index", "function", "name", "arguments", "parameters"])

export function argumentsText(value: unknown): string {
  return typeof value === "string" ? value : value === null || value === undefined ? "" : JSON.stringify(value)
}

export function idText(id: unknown): string {
  return typeof id === "string" ? id : typeof id === "number" ? String(id) : ""
}

/**
 * The calls a reply makes. A second copy under one id is the same call; one that the output limit cut off is none, its name stands in `cutCall`;
 * what a content filter left over is not run.
 */
export function callsOf(
  drafts: readonly CallDraft[],
  finish: FinishReason | "malformed_call" | "error" | null,
  originalName: (name: string) => string,
): Pick<ModelReply, "calls" | "cutCall"> {
  if (drafts.length === 0 || finish === "content_filter") return { calls: [] }
  const copies = new Set<string>()
  const single = drafts.filter(({ id, name, arguments: text }) => {
    const copy = JSON.stringify([id, name, text])
    if (id !== "" && copies.has(copy)) return false
    copies.add(copy)
    return true
  })
  const cut = finish === "length" ? single.findLast((draft) => !isJson(draft.arguments)) : undefined
  const calls = finishCalls(
    single.filter((draft) => draft !== cut),
    originalName,
  )
  return cut === undefined ? { calls } : { calls, cutCall: originalName(cut.name) }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Every call gets an id of its own, where the server gave none or the same twice. */
function finishCalls(drafts: readonly CallDraft[], originalName: (name: string) => string): ToolCall[] {
  const used = new Set<string>()
  return drafts.map(({ id, name, arguments: text, extra }, index) => {
    let own = id
    for (let suffix = index + 1; own === "" || used.has(own); suffix++) own = `${id || "call"}_${suffix}`
    used.add(own)
    return { id: own, name: originalName(name), arguments: text, ...(extra !== null && { extra }) }
  })
}

/** What the reason and the calls say together: servers say `stop` with calls and `tool_calls` without. */
export function agreedFinish(finish: FinishReason | null, callCount: number): FinishReason {
  if (finish === "length" || finish === "content_filter") return finish
  if (callCount > 0) return "tool_calls"
  return finish === "tool_calls" ? "stop" : (finish ?? "unknown")
}

export const MALFORMED_CALL: ModelFailure = { code: "bad_tool_call", message: "the server could not read the model's own tool call", retryable: true }

/** Where a body without a good answer says why: `error`, a vendor's status object, or the whole body. undefined: it names no error. */
export function errorIn(body: Fields): unknown {
  const { error, choices, base_resp: vendor } = body
  if (error !== undefined && error !== null && error !== "" && error !== false && !(isFields(error) && Object.keys(error).length === 0)) return body
  if (Array.isArray(choices)) return undefined
  if (isFields(vendor) && vendor.status_code !== 0) return body
  const named = body.object === "error" || body.detail !== undefined || typeof body.message === "string" || typeof body.msg === "string"
  return named ? body : undefined
}
