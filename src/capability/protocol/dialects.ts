// The forms in which a call is written in text: JSON, name and JSON, XML parameters, GLM keys, Python, quote tokens. Each reads forward from one place.
// Called by scan.ts and labels.ts, which know what stood before. Leaves repair and checking of arguments to the argument ladder.
import { balancedEnd } from "../../infrastructure/json/balanced.ts"
import { resolveToolName } from "../../infrastructure/names.ts"
import type { ToolSpec } from "../../contract/model.ts"
import { matchAt, skip } from "./markup.ts"

/** `open`: it ran to the end of the text, so there may have been more. */
export interface CallText {
  readonly name: string
  readonly arguments: string
  readonly open?: boolean
}
/** `end` -1: it began here and never closes. Reading further would be guessing (and no longer linear). */
export interface Found {
  readonly end: number
  readonly calls: readonly CallText[]
  /** An input label stood there: a call is meant whatever the name. */
  readonly explicit?: boolean
}
export interface Fields {
  readonly end: number
  /** cut: a string or bracket never closes · odd: something else than fields stands at `end`. */
  readonly state: "closed" | "cut" | "odd"
  readonly entries: ReadonlyMap<string, string>
}

export const NAME_KEYS: readonly string[] = ["name", "tool_name", "tool", "function", "function_name", "action", "recipient_name"]
export const ARGUMENT_KEYS: readonly string[] = ["arguments", "parameters", "args", "action_input", "tool_input", "input", "params", "kwargs"]
export const WRAPPER_KEYS: readonly string[] = ["tool_call", "function_call", "function", "tool_calls", "tool_uses"]
/** Wrappers in wrappers that are opened: each level reads its text again. */
const DEEPEST = 3

const NAME = /[A-Za-z_][\w.:/-]{0,127}/y
const KEY = /(?:(["'“])([^"'“”\\\n]{1,100})["'”]|([A-Za-z_]\w{0,100}))\s*[:：=]\s*/y
const SCALAR = /[^,，{}()[\]<\n]*/y
const FENCE = /\s*(?:```\w*)?\s*/y
const BEFORE_NAME = /(?:call:|function<[|｜]tool[▁_]sep[|｜]>)?/y
const BETWEEN_NAME_AND_INPUT = /\s*(?:<[|｜]tool[▁_]sep[|｜]>|<\|tool_call_argument_begin\|>|(?:\[CALL_ID\]\w*)?\[ARGS\]| (?:json|code)\b)/y
const XML_CALL = /<(?:[|｜]{1,2}DSML[|｜]{1,2})?(?:function|invoke)\b([^<>]{0,300})>/y
const XML_CALL_END = /\s*<\/(?:[|｜]{1,2}DSML[|｜]{1,2})?(?:function|invoke)\s*>/y
const PARAMETER = /\s*(?:<(?:[|｜]{1,2}DSML[|｜]{1,2})?(?:parameter|param)\b([^<>]{0,300})>|<arg_key>([^<]{1,200})<\/arg_key>\s*<arg_value>)/y
const PARAMETER_TAG = /<(\/?)(?:[|｜]{1,2}DSML[|｜]{1,2})?(parameter|param|arg_value|arg_key|function|invoke|tool_call)\b/g
const QUOTE_TOKEN = /<\|"\|>|<escape>|[{}]/g

/** One or more calls after an opening tag, in whatever form; null: none begins here. */
export function readCalls(text: string, start: number, tools: readonly ToolSpec[]): Found | null {
  const calls: CallText[] = []
  for (let at = start; ; ) {
    const from = skip(text, at, calls.length === 0 ? FENCE : /[\s,;]*/y)
    const char = text[from] ?? ""
    const found = char === "{" ? jsonCall(text, from) : char === "[" ? listCalls(text, from, tools) : char === "<" ? xmlCall(text, from, tools) : namedCall(text, from, tools)
    if (found === null) return calls.length === 0 ? null : { end: at, calls }
    for (const call of found.calls) calls.push(call)
    if (found.end < 0) return { end: -1, calls }
    at = found.end
  }
}

/** The fields of `{key: value, …}` or `(key=value, …)` as raw text; a value without a key is filed under its position. */
export function readFields(text: string, start: number): Fields {
  const entries = new Map<string, string>()
  for (let at = start + 1; ; ) {
    at = skip(text, at, /[\s,，]*/y)
    const char = text[at]
    if (char === "}" || char === ")") return { end: at + 1, state: "closed", entries }
    const key = matchAt(KEY, text, at)
    const from = at + (key?.[0].length ?? 0)
    const end = valueEnd(text, from)
    if (end < 0 || from >= text.length) return { end: at, state: "cut", entries }
    if (end === from) return { end: at, state: "odd", entries }
    entries.set(key?.[2] ?? key?.[3] ?? String(entries.size), text.slice(from, end).trim())
    at = end
  }
}

/** `{"name": …, "arguments": …}` and its relatives. A missing outer brace is forgiven where a tag follows: the arguments are whole. */
function jsonCall(text: string, start: number, depth = 0): Found | null {
  const fields = readFields(text, start)
  const calls = callsOf(fields, depth)
  const isWhole = fields.state === "closed" || (calls !== null && hasArguments(fields) && text[fields.end] === "<")
  if (!isWhole) return { end: -1, calls: [] }
  return calls === null ? null : { end: fields.end, calls }
}

/** The calls that these fields describe, their arguments as raw text; null: they describe none. */
export function callsOf({ entries }: Fields, depth = 0): readonly CallText[] | null {
  const wrapped = WRAPPER_KEYS.map((key) => entries.get(key)).find((value) => value !== undefined && /^[{[]/.test(value))
  if (wrapped !== undefined) {
    if (depth >= DEEPEST) return null
    return wrapped.startsWith("{") ? callsOf(readFields(wrapped, 0), depth + 1) : (listCalls(wrapped, 0, [], { depth: depth + 1 })?.calls ?? null)
  }
  const name = NAME_KEYS.map((key) => entries.get(key)).find((value) => value !== undefined && /^["'“]/.test(value))
  if (name === undefined) return null
  const written = ARGUMENT_KEYS.map((key) => entries.get(key)).find((value) => value !== undefined)
  const others = [...entries].filter(([key]) => !NAME_KEYS.includes(key) && !["id", "type"].includes(key))
  const flat = `{${others.map(([key, value]) => `${JSON.stringify(key)}: ${value}`).join(", ")}}`
  return [{ name: unquote(name), arguments: written === undefined ? flat : /^(?:null|None|)$/.test(unquote(written)) ? "{}" : unquote(written) }]
}

export function hasArguments({ entries }: Fields): boolean {
  return ARGUMENT_KEYS.some((key) => entries.has(key))
}

/** The text in a JSON or Python string; anything else as it is. */
export function unquote(value: string): string {
  if (!/^["'“]/.test(value)) return value
  try {
    return String(JSON.parse(value))
  } catch {
    return value.slice(1, -1)
  }
}

/** A list of JSON calls or of Python calls: `[{…}, {…}]`, `[search(query="x")]`. */
function listCalls(text: string, start: number, tools: readonly ToolSpec[], { depth }: { depth: number } = { depth: 0 }): Found | null {
  const calls: CallText[] = []
  for (let at = start + 1; ; ) {
    at = skip(text, at, /[\s,]*/y)
    if (text[at] === "]") return calls.length === 0 ? null : { end: at + 1, calls }
    if (at >= text.length) return { end: -1, calls: [] }
    const found = text[at] === "{" ? jsonCall(text, at, depth) : pythonCall(text, at, tools)
    if (found === null || found.end < 0) return found
    for (const call of found.calls) calls.push(call)
    at = found.end
  }
}

/** `search(query="x", limit=2)`. A single value without a name belongs to the only property it can belong to. */
export function pythonCall(text: string, start: number, tools: readonly ToolSpec[]): Found | null {
  const name = matchAt(NAME, text, start)?.[0]
  if (name === undefined) return null
  const bracket = skip(text, start + name.length, / ?/y)
  if (text[bracket] !== "(") return null
  const fields = readFields(text, bracket)
  if (fields.state === "odd") return null
  if (fields.state === "cut") return { end: -1, calls: [] }
  const only = fields.entries.get("0")
  if (only?.startsWith("{")) return { end: fields.end, calls: [{ name, arguments: only }] }
  const sole = only === undefined ? undefined : fields.entries.size === 1 ? soleProperty(name, tools) : null
  if (sole === null) return null
  const pairs = [...fields.entries].map(([key, value]) => `${JSON.stringify(sole ?? key)}: ${pythonString(value)}`)
  return { end: fields.end, calls: [{ name, arguments: `{${pairs.join(", ")}}` }] }
}

/** Plain words are the value of the property they can only belong to. Else they stay as they are, and the ladder says what is wrong. */
export function plainInput(input: string, name: string, tools: readonly ToolSpec[]): string {
  const text = unquote(input.trim())
  if (/^(?:none|null|n\/a|无|)$/i.test(text)) return "{}"
  const property = /^[{[]/.test(text) ? null : soleProperty(name, tools)
  return property === null ? text : JSON.stringify({ [property]: text })
}

/** The property that a bare value can only mean: the single required one, or the single one. null: not clear. */
function soleProperty(name: string, tools: readonly ToolSpec[]): string | null {
  const { required, properties } = toolNamed(name, tools)?.schema ?? {}
  const all = Object.keys(isObject(properties) ? properties : {})
  if (Array.isArray(required) && required.length === 1) return String(required[0])
  return all.length === 1 ? (all[0] ?? null) : null
}

/** A name, then its input: JSON (Kimi, DeepSeek, Mistral, GLM), key and value tags (GLM), brackets (Python), `call:name{…}` (Gemma). */
function namedCall(text: string, start: number, tools: readonly ToolSpec[]): Found | null {
  const isGemma = text.startsWith("call:", start)
  const nameStart = skip(text, start, BEFORE_NAME)
  const name = matchAt(NAME, text, nameStart)?.[0]
  if (name === undefined) return null
  const separated = skip(text, nameStart + name.length, BETWEEN_NAME_AND_INPUT)
  if (text[skip(text, separated, / ?/y)] === "(") return pythonCall(text, nameStart, tools)
  const from = skip(text, separated, FENCE)
  if (text[from] === "{") {
    const input = isGemma ? quoteTokens(text, from) : { end: balancedEnd(text, from), json: null }
    if (input.end < 0) return { end: -1, calls: [] }
    return { end: skip(text, input.end, /\s*(?:```)?/y), calls: [{ name, arguments: input.json ?? text.slice(from, input.end) }] }
  }
  if (text.startsWith("<arg_key>", from)) return parameters(text, from, { name, tools })
  const closes = matchAt(/<(?:\/|[|｜]tool[▁_]call[▁_]end|tool_call\|)/y, text, from) !== null
  return closes ? { end: from, calls: [{ name, arguments: "{}" }] } : null
}

/** `<function=name>`, `<function name="name">`, `<invoke name="name">`, with parameters as tags or one JSON object. */
export function xmlCall(text: string, start: number, tools: readonly ToolSpec[]): Found | null {
  const opener = matchAt(XML_CALL, text, start)
  const name = /^\s*=\s*["']?([^"'\s]+)|\bname\s*=\s*["']?([^"'\s]+)/.exec(opener?.[1] ?? "")
  if (opener === null || name === null) return null
  const from = skip(text, start + opener[0].length)
  const call = { name: name[1] ?? name[2] ?? "", tools }
  const end = text[from] === "{" ? balancedEnd(text, from) : -1
  const found = text[from] === "{" ? { end, calls: [{ name: call.name, arguments: text.slice(from, end) }] } : parameters(text, from, call)
  if (found.end < 0) return { end: -1, calls: [] }
  const closed = skip(text, found.end, XML_CALL_END)
  if (closed > found.end) return { ...found, end: closed }
  const after = skip(text, found.end)
  if (found.end === from || (after < text.length && text[after] !== "<")) return null
  return { end: found.end, calls: found.calls.map((written) => ({ ...written, open: after >= text.length })) }
}

function parameters(text: string, start: number, call: { name: string; tools: readonly ToolSpec[] }): Found {
  const { properties } = toolNamed(call.name, call.tools)?.schema ?? {}
  const pairs: string[] = []
  for (let at = start; ; ) {
    const opener = matchAt(PARAMETER, text, at)
    if (opener === null) return { end: at, calls: [{ name: call.name, arguments: `{${pairs.join(", ")}}` }] }
    const attributes = opener[1] ?? ""
    const key = opener[2] ?? /^\s*=\s*["']?([^"'\s]+)|\bname\s*=\s*["']?([^"'\s]+)/.exec(attributes)?.slice(1).find(Boolean) ?? ""
    const from = at + opener[0].length
    const value = parameterEnd(text, from)
    if (value === null) return { end: -1, calls: [] }
    const isText = /\bstring\s*=\s*["']?true/.test(attributes) || acceptsString(isObject(properties) && Object.hasOwn(properties, key.trim()) ? properties[key.trim()] : {})
    pairs.push(`${JSON.stringify(key.trim())}: ${parameterValue(text.slice(from, value.end), isText)}`)
    at = value.next
  }
}

/** A closing tag ends a value only where markup goes on or the text ends; elsewhere it is part of the value. A missing one is seen at the next line. */
function parameterEnd(text: string, start: number): { end: number; next: number } | null {
  PARAMETER_TAG.lastIndex = start
  for (let tag = PARAMETER_TAG.exec(text); tag !== null; tag = PARAMETER_TAG.exec(text)) {
    const isOwn = tag[1] === "/" && /^(?:param|arg_value)/.test(tag[2] ?? "")
    const next = isOwn ? skip(text, PARAMETER_TAG.lastIndex, /\s*>/y) : tag.index
    const after = skip(text, next)
    if (isOwn ? after >= text.length || matchAt(/<\/?(?:[|｜]{1,2}DSML|param|arg_key|function|invoke|tool_call)/y, text, after) !== null : text[tag.index - 1] === "\n")
      return { end: tag.index, next }
  }
  return null
}

/** Values are literal text. Where the schema wants something else, JSON is taken as JSON; what is no JSON is left to the ladder. */
function parameterValue(raw: string, isText: boolean): string {
  const text = raw.replace(/^\r?\n/, "").replace(/\r?\n$/, "")
  if (isText) return JSON.stringify(text)
  const trimmed = text.trim()
  if (/^[{[]/.test(trimmed) && balancedEnd(trimmed, 0) === trimmed.length) return trimmed
  return /^(?:-?\d{1,30}(?:\.\d{1,30})?|true|false|null)$/.test(trimmed) && !/^-?0\d/.test(trimmed) ? trimmed : JSON.stringify(text)
}

function acceptsString(schema: unknown): boolean {
  if (!isObject(schema)) return false
  const { type, enum: values, anyOf, oneOf } = schema
  if (type === "string" || (Array.isArray(type) && type.includes("string"))) return true
  if (Array.isArray(values)) return values.some((value) => typeof value === "string")
  return [anyOf, oneOf].some((branches) => Array.isArray(branches) && branches.some(acceptsString))
}

/** `{city:<|"|>Oslo<|"|>,days:2}`: strings stand between tokens and hold quotes and commas as they are. */
function quoteTokens(text: string, start: number): { end: number; json: string } {
  QUOTE_TOKEN.lastIndex = start
  let json = ""
  let from = start
  let depth = 0
  let isString = false
  const outside = (part: string): string => part.replace(/([{,]\s*)([A-Za-z_]\w{0,100})\s*:/g, '$1"$2":')
  for (let token = QUOTE_TOKEN.exec(text); token !== null; token = QUOTE_TOKEN.exec(text)) {
    if (token[0].length > 1) {
      const part = text.slice(from, token.index)
      json += isString ? JSON.stringify(part) : outside(part)
      isString = !isString
      from = QUOTE_TOKEN.lastIndex
    } else if (!isString) {
      depth += token[0] === "{" ? 1 : -1
      if (depth === 0) return { end: QUOTE_TOKEN.lastIndex, json: json + outside(text.slice(from, QUOTE_TOKEN.lastIndex)) }
    }
  }
  return { end: -1, json }
}

function valueEnd(text: string, from: number): number {
  const char = text[from] ?? ""
  if (char === "{" || char === "[") return balancedEnd(text, from)
  return char === '"' || char === "'" || char === "“" ? stringEnd(text, from) : skip(text, from, SCALAR)
}

function stringEnd(text: string, from: number): number {
  const triple = text.slice(from, from + 3)
  if (triple === '"""' || triple === "'''") {
    const end = text.indexOf(triple, from + 3)
    return end < 0 ? -1 : end + 3
  }
  const quote = text[from] === "“" ? "”" : (text[from] ?? "")
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === "\\") at++
    else if (text[at] === quote) return at + 1
  }
  return -1
}

/** A Python string as a JSON string; other values stay as written. */
function pythonString(value: string): string {
  if (/^("""|''')/.test(value)) return JSON.stringify(value.slice(3, -3))
  if (!value.startsWith("'")) return value
  const inner = value.slice(1, -1).replace(/\\[\s\S]|"/g, (part) => (part === "\\'" ? "'" : part === '"' ? '\\"' : part))
  return `"${inner}"`
}

/** The tool that is meant by a written name. */
export function toolNamed(written: string, tools: readonly ToolSpec[]): ToolSpec | undefined {
  const names = tools.map((tool) => tool.name)
  const name = resolveToolName(written, names)
  return tools.find((tool) => tool.name === name)
}

function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
