// Text that should be JSON -> the value, with every repair named; or why it is none. The ladder's first half (spec T2).
// Called by arguments.ts, coerce.ts and the readers of model text. Leaves schemas to its callers; cut-off text is never completed.
import { canonicalJson } from "./canonical.ts"
import { isQuote, keyAhead, readString, spaceEnd } from "./lenient-string.ts"
import { readValueAt } from "./lenient-value.ts"

const MAX_LAYERS = 3
/** Numbers that JSON.parse may change: many digits, or a large exponent. */
const INEXACT = /\d{16}|\d[eE]\+?\d{3}/
const THINKING = /^\s*<(think|thinking|thought|reasoning)>/i
/** Outside the object only prose may stand. These are pieces of JSON: something was lost. */
const FRAGMENT = /["'”]\s*[:}\]：｝］]|^\s*,[^{}]*\}/

export type JsonReading =
  | { readonly type: "value"; readonly value: unknown; readonly repairs: readonly string[] }
  /** Different objects one after the other, as they stand in the text. */
  | { readonly type: "several"; readonly texts: readonly string[] }
  | { readonly type: "empty" }
  | { readonly type: "truncated" }
  | { readonly type: "not_json"; readonly reason: string }
  | { readonly type: "repeated_key"; readonly key: string }

/** Linear in the length of the text; never throws. Valid JSON comes back as JSON.parse reads it, long integers as text. */
export function readJson(text: string, layer = 0): JsonReading {
  const parsed = parse(text)
  if (parsed === undefined) return readLoosely(text, layer)
  if (typeof parsed === "string") return readLayer(parsed, layer)
  if (INEXACT.test(text) || repeatsKey(text, parsed)) return readExactly(text)
  return { type: "value", value: parsed, repairs: [] }
}

/** undefined: not JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function readExactly(text: string): JsonReading {
  const reading = readValueAt(text, 0, true)
  if (reading.type === "failed") return { type: "not_json", reason: reading.reason }
  return reading.repeated === null ? { type: "value", value: reading.value, repairs: reading.repairs } : { type: "repeated_key", key: reading.repeated }
}

/** JSON inside a JSON string: written twice. A string that holds no JSON is itself the value. */
function readLayer(inner: string, layer: number): JsonReading {
  if (inner.trim() === "") return { type: "empty" }
  if (layer >= MAX_LAYERS || !/[{["]/.test(inner)) return { type: "value", value: inner, repairs: [] }
  const reading = readJson(inner, layer + 1)
  if (reading.type === "value") return { ...reading, repairs: ["decoded JSON that was encoded twice", ...reading.repairs] }
  return reading.type === "not_json" && !/^\s*[{[]/.test(inner) ? { type: "value", value: inner, repairs: [] } : reading
}

function readLoosely(whole: string, layer: number): JsonReading {
  const trimmed = whole.replaceAll("\ufeff", "").trim()
  if (trimmed === "" || trimmed === "None" || trimmed === "undefined") return { type: "empty" }
  if (/^"?\s*[{[]\s*\\+"/.test(trimmed)) return readEscaped(trimmed, layer)
  const text = withoutThinking(whole)
  const found = findPieces(text)
  if (found.type !== "pieces") return found
  const [first] = found.pieces
  if (first === undefined) return { type: "not_json", reason: "it holds no JSON object" }
  if (found.pieces.length > 1) return { type: "several", texts: found.pieces.map((piece) => piece.text) }
  return { type: "value", value: first.value, repairs: text === whole ? found.repairs : ["removed thinking", ...found.repairs] }
}

/** `{\"a\":1}`: one layer of escaping is left, with or without the quotes around it. */
function readEscaped(text: string, layer: number): JsonReading {
  const quoted = text.startsWith('"') ? text : `"${text}"`
  const string = readString(quoted, 0, "strict")
  if (string.type === "failed") return { type: "truncated" }
  if (layer >= MAX_LAYERS || !/^[\s}\]`]*$/.test(quoted.slice(string.end))) return { type: "not_json", reason: "only some of its quotes are escaped" }
  return readLayer(string.value, layer)
}

function withoutThinking(text: string): string {
  const opened = THINKING.exec(text)
  const brace = text.search(/[{[]/)
  const close = text.search(/<\/(?:think|thinking|thought|reasoning)>/i)
  if (close < 0) return opened === null ? text : ""
  return opened !== null || brace < 0 || close < brace ? text.slice(text.indexOf(">", close) + 1) : text
}

interface Piece {
  readonly text: string
  readonly value: unknown
}
type Found = { readonly type: "pieces"; readonly pieces: readonly Piece[]; readonly repairs: readonly string[] } | Exclude<JsonReading, { type: "value" | "several" | "empty" }>

/** All objects of the text, one after the other. What looks like JSON must be readable, and nothing but prose may stand between. */
function findPieces(text: string): Found {
  const pieces: Piece[] = []
  const repairs = new Set<string>()
  let outside = 0
  for (let at = nextBracket(text, 0); at >= 0; at = nextBracket(text, at)) {
    if (!looksLikeJson(text, at)) {
      at++
      continue
    }
    const reading = readValueAt(text, at, false)
    if (reading.type === "failed") return reading.cut ? { type: "truncated" } : { type: "not_json", reason: reading.reason }
    if (reading.repeated !== null) return { type: "repeated_key", key: reading.repeated }
    for (const repair of reading.repairs) repairs.add(repair)
    if (!isProse(text.slice(outside, at), repairs)) return lostPiece()
    pieces.push({ text: text.slice(at, reading.end), value: reading.value })
    outside = at = reading.end
  }
  if (!isProse(text.slice(outside), repairs)) return lostPiece()
  const kept = distinct(pieces)
  if (kept.length < pieces.length) repairs.add("dropped a list, or an empty or repeated object")
  return { type: "pieces", pieces: kept, repairs: [...repairs] }
}

function lostPiece(): Found {
  return { type: "not_json", reason: "its brackets do not match: a part of it stands outside the object" }
}

function isProse(outside: string, repairs: Set<string>): boolean {
  if (outside.includes("\ufeff")) repairs.add("removed a byte order mark")
  if (outside.trim() === "") return true
  repairs.add(outside.includes("```") ? "removed a code fence" : "removed text around the object")
  return !FRAGMENT.test(outside)
}

function nextBracket(text: string, from: number): number {
  const offset = text.slice(from).search(/[{[｛［]/)
  return offset < 0 ? -1 : from + offset
}

/** `{name}` or `[ARGS]` in prose is none. An opening bracket with nothing after it is the beginning of some, if it begins the text. */
function looksLikeJson(text: string, start: number): boolean {
  const at = spaceEnd(text, start + 1)
  const next = text[at]
  if (next === undefined) return text.slice(0, start).trim() === ""
  if (isQuote(next) || next === "/") return true
  if (text[start] === "{" || text[start] === "｛") return next === "}" || next === "｝" || keyAhead(text, at)
  return /^[\d\-{[｛\]］]|^(?:true|false|null)\b/.test(text.slice(at, at + 6))
}

/** Objects win over lists such as `[1]`, filled ones over `{}` (a server's first event); the same object twice is one. */
function distinct(pieces: readonly Piece[]): readonly Piece[] {
  const objects = pieces.filter((piece) => !Array.isArray(piece.value))
  const filled = objects.filter((piece) => Object.keys(piece.value as object).length > 0)
  const kept = filled.length > 0 ? filled : objects.length > 0 ? objects : pieces
  const byText = new Map(kept.map((piece) => [canonicalJson(piece.value), piece]))
  return [...byText.values()]
}

/** A key of the outermost object written twice: JSON.parse keeps the last one and says nothing. */
function repeatsKey(text: string, value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false
  let depth = 0
  let colons = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22) at = stringEnd(text, at)
    else if (code === 0x7b || code === 0x5b) depth++
    else if (code === 0x7d || code === 0x5d) depth--
    else if (code === 0x3a && depth === 1) colons++
  }
  return colons !== Object.keys(value).length
}

function stringEnd(text: string, start: number): number {
  let at = start + 1
  while (text.charCodeAt(at) !== 0x22) at += text.charCodeAt(at) === 0x5c ? 2 : 1
  return at
}
