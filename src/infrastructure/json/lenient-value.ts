// Reads one JSON-like value at a position: JSON with the slips models make (quotes, commas, comments, Python words, full-width punctuation, bare keys).
// Called by lenient-json.ts. Never completes what is cut off, never invents a value; leaves finding the value in a text to its caller.
import { canonicalJson } from "./canonical.ts"
import { isQuote, keyAhead, readString, spaceEnd } from "./lenient-string.ts"

const MAX_DEPTH = 200
const WORDS: { readonly [word: string]: true | false | null } = { true: true, false: false, null: null, True: true, False: false, None: null }
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const LOOSE_NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/
const NO_VALUE = /^[+-]?(?:nan|inf|infinity|undefined)$/i
const BARE_WORD = /^[\p{L}\p{N}_$][\p{L}\p{N}_$.@+-]*$/u
const WORD_END = /[\s,:{}[\]"'\\/，：｛｝［］“”‘’＂＇]/

/** `repeated` names a key that occurs twice with different values. */
export type ValueReading =
  | { readonly type: "value"; readonly value: unknown; readonly end: number; readonly repairs: readonly string[]; readonly repeated: string | null }
  | { readonly type: "failed"; readonly reason: string; readonly cut: boolean }

interface Cursor {
  readonly text: string
  readonly strict: boolean
  readonly repairs: Set<string>
  at: number
  depth: number
  repeated: string | null
  failure: { readonly reason: string; readonly cut: boolean } | null
}

/** `strict`: the text is known to be valid JSON and is read only for what JSON.parse loses: long numbers and repeated keys. Linear. */
export function readValueAt(text: string, start: number, strict: boolean): ValueReading {
  const cursor: Cursor = { text, strict, repairs: new Set(), at: start, depth: 0, repeated: null, failure: null }
  const value = readValue(cursor, "array")
  if (value === undefined) return { type: "failed", ...(cursor.failure ?? { reason: "it is not JSON", cut: false }) }
  return { type: "value", value, end: cursor.at, repairs: [...cursor.repairs], repeated: cursor.repeated }
}

/** The value, or undefined after a failure: no JSON value is undefined. */
function readValue(cursor: Cursor, place: "object" | "array"): unknown {
  skip(cursor)
  const char = cursor.text[cursor.at]
  if (char === "{" || char === "｛") return nested(cursor, readObject)
  if (char === "[" || char === "［") return nested(cursor, readArray)
  return isQuote(char) ? readText(cursor, place) : readWord(cursor, place)
}

function nested(cursor: Cursor, read: (cursor: Cursor) => unknown): unknown {
  if (cursor.depth >= MAX_DEPTH) return fail(cursor, "it is nested too deeply")
  cursor.depth++
  take(cursor)
  const value = read(cursor)
  cursor.depth--
  return value
}

function readObject(cursor: Cursor): unknown {
  const members: Record<string, unknown> = {}
  for (;;) {
    skip(cursor)
    if (closes(cursor, "}", "｝")) return members
    const key = isQuote(cursor.text[cursor.at]) ? readText(cursor, "key") : readBareKey(cursor)
    if (key === undefined) return undefined
    skip(cursor)
    if (!closes(cursor, ":", "：")) return fail(cursor, `there is no colon after the key ${JSON.stringify(key)}`)
    const value = readValue(cursor, "object")
    if (value === undefined) return undefined
    if (Object.hasOwn(members, key) && canonicalJson(members[key]) !== canonicalJson(value)) cursor.repeated ??= key
    Object.defineProperty(members, key, { value, enumerable: true, configurable: true, writable: true })
    if (!separated(cursor, "}", "｝")) return undefined
  }
}

function readArray(cursor: Cursor): unknown {
  const items: unknown[] = []
  for (;;) {
    skip(cursor)
    if (closes(cursor, "]", "］")) return items
    const value = readValue(cursor, "array")
    if (value === undefined) return undefined
    items.push(value)
    if (!separated(cursor, "]", "］")) return undefined
  }
}

/** Between two members: takes the comma, or sees the closing bracket that comes next. */
function separated(cursor: Cursor, closer: string, wide: string): boolean {
  const before = cursor.at
  skip(cursor)
  const comma = closes(cursor, ",", "，")
  if (comma) skip(cursor)
  const next = cursor.text[cursor.at]
  if (next === closer || next === wide) {
    if (comma) cursor.repairs.add("removed a comma before a closing bracket")
    return true
  }
  if (comma) return true
  const startsMember = closer === "}" ? isQuote(next) && keyAhead(cursor.text, cursor.at) : cursor.at > before && (isQuote(next) || next === "{" || next === "[")
  if (startsMember) cursor.repairs.add("added a missing comma")
  else fail(cursor, "there is no comma between two values")
  return startsMember
}

function readText(cursor: Cursor, place: "key" | "object" | "array"): string | undefined {
  const reading = readString(cursor.text, cursor.at, cursor.strict ? "strict" : place)
  if (reading.type === "failed") return fail(cursor, reading.reason, reading.cut)
  for (const repair of reading.repairs) cursor.repairs.add(repair)
  cursor.at = reading.end
  return reading.value
}

function readBareKey(cursor: Cursor): string | undefined {
  if (cursor.at >= cursor.text.length || !keyAhead(cursor.text, cursor.at)) return fail(cursor, "a key in double quotes is missing")
  cursor.repairs.add("quoted a bare key")
  return takeWord(cursor)
}

function readWord(cursor: Cursor, place: "object" | "array"): unknown {
  const word = takeWord(cursor)
  if (word === "") return fail(cursor, "a value is missing")
  if (Object.hasOwn(WORDS, word)) {
    if (/^[TFN]/.test(word)) cursor.repairs.add("rewrote Python words")
    return WORDS[word]
  }
  if (LOOSE_NUMBER.test(word)) return readNumber(cursor, word, place)
  if (NO_VALUE.test(word)) return fail(cursor, `${word} is not JSON`)
  if (place === "array" || !BARE_WORD.test(word)) return fail(cursor, `${JSON.stringify(word.slice(0, 40))} is not in quotes`)
  cursor.repairs.add("quoted a bare word")
  return word
}

/** A number that JavaScript cannot hold stays text, digit by digit: the schema decides what becomes of it. */
function readNumber(cursor: Cursor, literal: string, place: "object" | "array"): unknown {
  const value = Number(literal)
  if (/^[+-]?0\d/.test(literal)) {
    if (place === "array") return fail(cursor, `${literal} is not a JSON number`)
    cursor.repairs.add("kept the leading zeros of a number as text")
    return literal
  }
  if (!Number.isFinite(value) || isLongInteger(literal)) {
    cursor.repairs.add("kept the digits of a long number as text")
    return literal
  }
  if (!JSON_NUMBER.test(literal)) cursor.repairs.add("rewrote a number")
  return value
}

/** The text of an integer that a JavaScript number would change (2^53 and beyond). */
export function isLongInteger(text: string): boolean {
  return text.length > 15 && text.length < 400 && /^-?[1-9]\d*$/.test(text) && String(Number(text)) !== text
}

function takeWord(cursor: Cursor): string {
  const start = cursor.at
  while (cursor.at < cursor.text.length && !WORD_END.test(cursor.text[cursor.at] ?? "")) cursor.at++
  return cursor.text.slice(start, cursor.at)
}

function closes(cursor: Cursor, char: string, wide: string): boolean {
  if (cursor.text[cursor.at] !== char && cursor.text[cursor.at] !== wide) return false
  take(cursor)
  return true
}

function take(cursor: Cursor): void {
  if ((cursor.text[cursor.at] ?? "") > "\u007f") cursor.repairs.add("rewrote full-width punctuation")
  cursor.at++
}

/** Whitespace and comments. A comment that never ends takes the rest, and the value is cut off. */
function skip(cursor: Cursor): void {
  for (;;) {
    const end = spaceEnd(cursor.text, cursor.at)
    if (cursor.text.slice(cursor.at, end).includes("\\")) cursor.repairs.add("removed escaped line breaks between values")
    cursor.at = end
    const mark = cursor.text.slice(end, end + 2)
    if (mark !== "//" && mark !== "/*") return
    cursor.repairs.add("removed comments")
    const close = cursor.text.indexOf(mark === "//" ? "\n" : "*/", end + 2)
    cursor.at = close < 0 ? cursor.text.length : close + (mark === "//" ? 1 : 2)
  }
}

/** Whatever fails at the very end of the text failed because more was to come. */
function fail(cursor: Cursor, reason: string, cut: boolean = cursor.at >= cursor.text.length): undefined {
  cursor.failure ??= { reason, cut }
  return undefined
}
