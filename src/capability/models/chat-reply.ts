// Reads a whole reply: the JSON answer of a request that was not streamed, or what came in its place. Called by the adapter and by chat-stream.ts.
// Leaves the argument texts, text protocols and reasoning tags inside the text to capability/protocol.
import type { ModelFailure, ModelReply } from "../../contract/model.ts"
import type { CallDraft, Fields, ReplyOptions } from "./chat-fields.ts"
import { agreedFinish, argumentsText, errorIn, extraOf, callsOf, finishOf, idText, isFields, MALFORMED_CALL, reasoningOf, textOfContent, usageOf } from "./chat-fields.ts"
import { classifyErrorBody } from "./http-errors.ts"

/** How asking went. `said`: what the server wrote about a failure, where that may be a refusal of the form of the request. */
export type Outcome = { readonly type: "reply"; readonly reply: ModelReply } | Failed
export interface Failed {
  readonly type: "failure"
  readonly failure: ModelFailure
  readonly said: string | null
}

const EXCERPT_CHARS = 200

/** `body`: the text of an answer with a good status. */
export function readChatReply(body: string, options: ReplyOptions): Outcome {
  let parsed: unknown
  try {
    // A byte order mark is white space to `trim`, not to JSON.
    parsed = JSON.parse(body.trim())
  } catch {
    return notJson(body)
  }
  if (!isFields(parsed)) return notJson(body)
  return readParsedReply(parsed, body, options)
}

function readParsedReply(parsed: Fields, body: string, options: ReplyOptions): Outcome {
  const error = errorIn(parsed)
  if (error !== undefined) return { type: "failure", failure: classifyErrorBody(error), said: body }
  if (!Array.isArray(parsed.choices)) return failed("bad_response", "the answer has no choices", { retryable: true, hint: CHECK_URL })
  const choice: unknown = parsed.choices[0]
  if (!isFields(choice)) return failed("empty_response", "the list of choices is empty", { retryable: true })
  const finish = finishOf(choice.finish_reason)
  if (isFields(choice.error)) return { type: "failure", failure: classifyErrorBody(choice.error), said: body }
  if (finish === "error") return failed("server_error", "the server broke its answer off with an error", { retryable: true })
  if (finish === "malformed_call") return { type: "failure", failure: MALFORMED_CALL, said: null }
  const message = isFields(choice.message) ? choice.message : isFields(choice.delta) ? choice.delta : null
  const plainText = typeof choice.text === "string" ? choice.text : ""
  if (message === null && plainText === "") return failed("empty_response", "the choice has no message", { retryable: true })
  const drafts = message === null ? [] : draftsOf(message)
  const text = message === null ? plainText : textOfContent(message.content) || (typeof message.refusal === "string" ? message.refusal : "")
  return {
    type: "reply",
    reply: {
      text,
      reasoning: message === null ? "" : reasoningOf(message),
      ...callsOf(drafts, finish, options.originalName),
      finish: agreedFinish(finish, drafts.length),
      usage: usageOf(parsed.usage, options.price),
    },
  }
}

/** `tool_calls`, else the old `function_call`: servers that send both mean one call. */
function draftsOf(message: Fields): CallDraft[] {
  const list = Array.isArray(message.tool_calls) ? message.tool_calls : isFields(message.tool_calls) ? [message.tool_calls] : []
  const pieces: unknown[] = list.length === 0 && isFields(message.function_call) ? [{ function: message.function_call }] : list
  return pieces.filter(isFields).map((piece) => {
    const body = isFields(piece.function) ? piece.function : piece
    const name = typeof body.name === "string" ? body.name : ""
    return { id: idText(piece.id), name, arguments: argumentsText(body.arguments ?? body.parameters), extra: extraOf(piece) }
  })
}

const CHECK_URL = "Check LLM_BASE_URL: what answers there may be no model server."

function notJson(body: string): Outcome {
  const text = body.trim()
  if (text === "") return failed("empty_response", "the server answered with an empty body", { retryable: true })
  if (text.startsWith("{")) return failed("incomplete", "the answer is cut off in the middle of its JSON", { retryable: true })
  const what = text.startsWith("<") ? "a web page (HTML), not JSON" : "not JSON"
  return failed("bad_response", `the server answered with ${what}: ${classifyErrorBody(text).message.slice(0, EXCERPT_CHARS)}`, { retryable: false, hint: CHECK_URL })
}

export function failed(code: ModelFailure["code"], message: string, rest: { retryable: boolean; hint?: string }): Failed {
  return { type: "failure", failure: { code, message, ...rest }, said: null }
}
