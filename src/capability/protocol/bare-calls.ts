// Calls without any markup: JSON and Python at the start of a line or in a fence, and the JSON form of the text protocol.
// Called by scan.ts. Stricter than dialects.ts, because JSON in an answer is usually just JSON.
import type { ToolSpec } from "../../contract/model.ts"
import { ARGUMENT_KEYS, NAME_KEYS, WRAPPER_KEYS, callsOf, hasArguments, pythonCall, readCalls, readFields, toolNamed, unquote } from "./dialects.ts"
import type { CallText, Fields, Found } from "./dialects.ts"
import { isFinish, isNoAction } from "./labels.ts"
import { matchAt, skip } from "./markup.ts"

const CALL_KEYS = new Set([...NAME_KEYS, ...ARGUMENT_KEYS, ...WRAPPER_KEYS, "id", "type", "index", "thought", "thoughts"])
const FINAL_KEYS = ["final", "final_answer"]
const CUT_INPUT = /["'](?:arguments|parameters|args|action_input|tool_input|input)["']/y

/** What stands at `at`; `end` without calls: JSON that is none, to be stepped over. A cut call has `end` -1 and calls. */
export function bareCalls(text: string, start: number, tools: readonly ToolSpec[]): Found {
  if (text[start] === "[") return bareList(text, start, tools)
  const first = bareObject(text, start, tools)
  const calls = [...first.calls]
  let { end } = first
  while (end >= 0 && calls.length > 0) {
    const at = skip(text, end, /[\s,;]*/y)
    const next = text[at] === "{" ? bareObject(text, at, tools) : null
    if (next === null || next.calls.length === 0) break
    for (const call of next.calls) calls.push(call)
    end = next.end
  }
  return { end, calls }
}

function bareObject(text: string, at: number, tools: readonly ToolSpec[]): Found {
  const fields = readFields(text, at)
  if (fields.state === "odd") return { end: fields.end, calls: [] }
  const calls = callsOf(fields) ?? []
  if (fields.state === "closed") return { end: fields.end, calls: isCall(fields, calls, tools) ? calls : [] }
  const isCut = matchAt(CUT_INPUT, text, fields.end) !== null || hasArguments(fields)
  return { end: -1, calls: isCut && calls.some((call) => toolNamed(call.name, tools) !== undefined) ? calls : [] }
}

function bareList(text: string, start: number, tools: readonly ToolSpec[]): Found {
  const calls: CallText[] = []
  for (let at = start + 1; ; ) {
    at = skip(text, at, /[\s,]*/y)
    if (text[at] === "]") return { end: at + 1, calls }
    const found = text[at] === "{" ? bareObject(text, at, tools) : pythonCall(text, at, tools)
    if (found === null || found.calls.length === 0 || !found.calls.every((call) => toolNamed(call.name, tools) !== undefined))
      return { end: found?.end === -1 ? -1 : at, calls: [] }
    for (const call of found.calls) calls.push(call)
    if (found.end < 0) return { end: -1, calls }
    at = found.end
  }
}

/** Only fields of a call, with an input; the name known, or the form beyond doubt. */
function isCall(fields: Fields, calls: readonly CallText[], tools: readonly ToolSpec[]): boolean {
  const keys = [...fields.entries.keys()]
  if (calls.length === 0 || !keys.every((key) => CALL_KEYS.has(key))) return false
  if (keys.some((key) => WRAPPER_KEYS.includes(key) && key !== "function")) return true
  const isProtocol = keys.includes("action") && (keys.includes("thought") || keys.includes("action_input"))
  const isPlain = tools.length > 0 && keys.length === 2 && keys.includes("name") && fields.entries.get("arguments")?.startsWith("{") === true
  const isNamed = calls.every((call) => toolNamed(call.name, tools) !== undefined || (isProtocol && (isFinish(call.name) || isNoAction(call.name))))
  if (isNamed) return hasArguments(fields) || isProtocol || keys.includes("function")
  return hasArguments(fields) && (isProtocol || isPlain)
}

/** All that is in a fence must be calls. null: it is something else. */
export function fencedCalls(content: string, language: string, tools: readonly ToolSpec[]): readonly CallText[] | null {
  const text = content.trim()
  const calls: CallText[] = []
  const isNamed = /^tool/i.test(language)
  for (let at = 0; at < text.length; at = skip(text, at, /[\s,;]*/y)) {
    const found = isNamed ? readCalls(text, at, tools) : "{[".includes(text[at] ?? " ") ? bareCalls(text, at, tools) : null
    if (found === null || found.end < 0 || found.calls.length === 0) return null
    for (const call of found.calls) calls.push(call)
    at = found.end
  }
  return calls
}

/** `{"thought": …, "final": …}` and nothing else around it. */
export function finalField(text: string, start = 0): { thought: string; answer: string; end: number } | null {
  if (text[start] !== "{") return null
  const { state, entries, end } = readFields(text, start)
  const answer = FINAL_KEYS.map((key) => entries.get(key)).find((value) => value !== undefined)
  const isForm = state === "closed" && [...entries.keys()].every((key) => FINAL_KEYS.includes(key) || key === "thought") && entries.has("thought") && skip(text, end) >= text.length
  return isForm && answer !== undefined ? { thought: unquote(entries.get("thought") ?? ""), answer: unquote(answer), end } : null
}
