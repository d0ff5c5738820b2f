// What can be wrong inside one message or one call, and what it becomes; the same object when nothing is wrong. Called by history.ts.
// Messages from outside may break their types (`content: null`, arguments as an object), so nothing is believed here.
import type { Message, Part, ToolCall, ToolMessage } from "../../contract/message.ts"

/** What every provider takes as the name of a function. */
const NAME = /^[a-zA-Z0-9_-]{1,64}$/
const NOT_IN_NAME = /[^a-zA-Z0-9_-]/g
const UNKNOWN_NAME = "unknown_tool"

/** Text without halves of characters, for which strict JSON parsers refuse the whole request. In Node since 20; only the type is missing. */
export function wellFormed(text: string): string {
  return (text as string & { toWellFormed(): string }).toWellFormed()
}

export function isBlank(content: string | readonly Part[]): boolean {
  return typeof content === "string" ? !/\S/.test(content) : content.every((part) => part.type === "text" && isBlank(part.text))
}

/** null when nothing is left of it. Calls stay as they are. */
export function mendMessage<M extends Message>(message: M): M | null {
  const content = mendContent(message.content)
  if (message.role !== "assistant") return content === message.content ? message : { ...message, content }
  const { calls, reasoning } = message
  const hasCalls = calls !== undefined && calls !== null && calls.length > 0
  if (!hasCalls && isBlank(content)) return null
  const thought = typeof reasoning === "string" ? wellFormed(reasoning) : undefined
  if (content === message.content && hasCalls === (calls !== undefined) && thought === reasoning) return message
  const { calls: _calls, reasoning: _reasoning, ...rest } = message
  return { ...rest, content, ...(hasCalls ? { calls } : {}), ...(thought === undefined ? {} : { reasoning: thought }) } as M
}

/** A result never disappears, whatever is in it. */
export function mendResult(result: ToolMessage, callId: string): ToolMessage {
  const content = mendContent(result.content) as string
  return content === result.content && callId === result.callId ? result : { ...result, callId, content }
}

/** Under the given id. Arguments that are no JSON object stay readable as `{"raw": …}`. */
export function mendCall(call: ToolCall, id: string): ToolCall {
  const name = typeof call.name !== "string" ? UNKNOWN_NAME : NAME.test(call.name) ? call.name : call.name.replace(NOT_IN_NAME, "_").slice(0, 64) || UNKNOWN_NAME
  const args = mendArguments(call.arguments)
  return id === call.id && name === call.name && args === call.arguments ? call : { ...call, id, name, arguments: args }
}

function mendArguments(value: unknown): string {
  if (typeof value === "string") {
    const text = wellFormed(value)
    if (text === "{}" || isJsonObject(text)) return text
    return isBlank(text) ? "{}" : JSON.stringify({ raw: text })
  }
  if (typeof value !== "object" || value === null) return "{}"
  return wellFormed(JSON.stringify(Array.isArray(value) ? { raw: value } : value))
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

function mendContent(content: unknown): string | readonly Part[] {
  if (typeof content === "string") return wellFormed(content)
  if (!Array.isArray(content)) return content === null || content === undefined ? "" : wellFormed(JSON.stringify(content))
  const mended = content.map((part: Part) => (part.type === "text" && part.text !== wellFormed(String(part.text)) ? { ...part, text: wellFormed(String(part.text)) } : part))
  return mended.every((part, index) => part === content[index]) ? content : mended
}
