// Strings of JSON-like text: where one ends although a quote inside it is not escaped, and what its backslashes mean.
// Called by lenient-value.ts. A guess is made only where one reading is left; where two are, the text is refused.

/** Which characters may end a string, by the character that began it. */
const CLOSERS: { readonly [opener: string]: string } = { '"': '"', "'": "'", "“": "”“", "‘": "’‘", "＂": "＂", "＇": "＇" }
/** A key and its colon, or as much of one as there is. */
const KEY_AHEAD = /^(?:"(?:[^"\\]|\\.)*(?:$|"\s*(?:[:：]|$))|(?:'(?:[^'\\]|\\.)*'|[“‘＂＇][^“”‘’＂＇]*[”’＂＇]|[\p{L}_$][\p{L}\p{N}_$-]*)\s*[:：])/su
const VALUE_AHEAD = /^["'“‘＂＇{[｛［\d-]|^(?:true|false|null|True|False|None)\b/
/** A quotation begins after a blank or a sign, and before a word: `x", "b` does not. */
const OPENS_QUOTATION = /^[^A-Za-z0-9_].[^\s,:}\]，：｝］]/su
const LOOKAHEAD_CHARS = 400
const ESCAPE = /\\(u[\da-fA-F]{4}|[\s\S]|$)/g
const DECODED: { readonly [escaped: string]: string } = { '"': '"', "'": "'", "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" }
const PATH_OR_FORMULA = /(?:^|[\s"'=(])[A-Za-z]:\\|^\\\\\w|\$[^$]*\\[A-Za-z]/

/** What the string is part of. `strict`: the text is valid JSON, so the first bare quote ends it. */
export type StringPlace = "key" | "object" | "array" | "strict"
export type StringReading =
  | { readonly type: "string"; readonly value: string; readonly end: number; readonly repairs: readonly string[] }
  | { readonly type: "failed"; readonly reason: string; readonly cut: boolean }

export function isQuote(char: string | undefined): boolean {
  return char !== undefined && CLOSERS[char] !== undefined
}

/** True when a key stands at `at`, as far as a bounded look ahead can see. */
export function keyAhead(text: string, at: number): boolean {
  return KEY_AHEAD.test(text.slice(at, at + LOOKAHEAD_CHARS))
}

/** Reads the string that begins at `start`. Linear. */
export function readString(text: string, start: number, place: StringPlace): StringReading {
  const opener = text[start] ?? ""
  if (place !== "strict" && text.startsWith('"""', start)) return readTripleQuoted(text, start)
  const closers = CLOSERS[opener] ?? opener
  let inner = 0
  let quoted = true
  for (let at = start + 1; at < text.length; at++) {
    const char = text[at] ?? ""
    if (char === "\\") at++
    else if (closers.includes(char)) {
      if (place === "strict" || place === "key" || endsHere(text, at + 1, place)) return finish(text.slice(start + 1, at), at + 1, { opener, inner, quoted })
      // An apostrophe needs no partner, a quotation does.
      const around = text.slice(at - 1, at + 2)
      if (char === "'" && /[\p{L}\p{N}]'\p{L}/u.test(around)) continue
      if (inner++ % 2 === 0) quoted &&= OPENS_QUOTATION.test(around)
    }
  }
  return { type: "failed", reason: inner === 0 ? "a string is not closed" : "a quote or a comma is missing, or a quote inside a string is not escaped", cut: inner === 0 }
}

function readTripleQuoted(text: string, start: number): StringReading {
  const end = text.indexOf('"""', start + 3)
  if (end < 0) return { type: "failed", reason: "a string is not closed", cut: true }
  return { type: "string", value: text.slice(start + 3, end), end: end + 3, repairs: ["read a triple-quoted string"] }
}

function finish(raw: string, end: number, seen: { opener: string; inner: number; quoted: boolean }): StringReading {
  // A quotation has two quotes. An odd number means that this end belongs to something inside the string.
  if (seen.inner % 2 === 1 || !seen.quoted) {
    return { type: "failed", reason: `a quote inside a string is not escaped, write \\" for it (near ${JSON.stringify(raw.slice(0, 40))})`, cut: false }
  }
  const repairs: string[] = []
  if (seen.opener !== '"') repairs.push("rewrote quotes")
  if (seen.inner > 0) repairs.push("escaped quotes inside a string")
  if (/[\n\r\t]/.test(raw)) repairs.push("escaped line breaks or tabs in a string")
  if (!raw.includes("\\")) return { type: "string", value: raw, end, repairs }
  const value = decode(raw, repairs)
  if (value === undefined) return { type: "failed", reason: `a backslash is not escaped, write \\\\ for it (near ${JSON.stringify(raw.slice(0, 40))})`, cut: false }
  return { type: "string", value, end, repairs }
}

/** Does the text after a quote go on as JSON does after a string in this place? Looks a bounded way ahead. */
function endsHere(text: string, from: number, place: StringPlace): boolean {
  const at = spaceEnd(text, from)
  const next = text[at]
  if (next === undefined) return true
  if (place === "key") return next === ":" || next === "："
  if (next === (place === "object" ? "}" : "]") || next === (place === "object" ? "｝" : "］")) return true
  if (next === "/") return text[at + 1] === "/" || text[at + 1] === "*"
  if (next !== "," && next !== "，") return place === "object" ? isQuote(next) && keyAhead(text, at) : at > from && isQuote(next)
  const then = spaceEnd(text, at + 1)
  if (then >= text.length || "}]｝］/".includes(text[then] ?? "")) return true
  return place === "object" ? keyAhead(text, then) : VALUE_AHEAD.test(text.slice(then, then + 8))
}

/** Whitespace, also as the two characters `\n` that some servers leave between tokens. */
export function spaceEnd(text: string, from: number): number {
  let at = from
  for (;;) {
    const char = text[at]
    if (char === "\\" && /[nrt]/.test(text[at + 1] ?? "")) at += 2
    else if (char !== undefined && /[\s\u200b\ufeff]/.test(char)) at++
    else return at
  }
}

/**
 * Undoes escapes. Where one is no JSON escape, the writer did not escape backslashes here, and `\b` or `\n` before a letter may be part of a
 * Windows path or a formula as well: then every such backslash stays. Undefined when both readings are open.
 */
function decode(raw: string, repairs: string[]): string | undefined {
  const escapes = [...raw.matchAll(ESCAPE)]
  const foreign = escapes.some(([, escaped = ""]) => escaped.length !== 5 && DECODED[escaped] === undefined)
  if (!foreign) {
    if (escapes.some(([, escaped]) => escaped === "'")) repairs.push("removed needless backslashes")
    return raw.replace(ESCAPE, (_whole, escaped: string) => decodeOne(escaped))
  }
  repairs.push("kept backslashes that were not escaped")
  const literal = PATH_OR_FORMULA.test(raw) || !/\s/.test(raw)
  const breaks = escapes.filter(([, escaped]) => escaped === "n" || escaped === "r" || escaped === "t")
  const plain = breaks.filter((match) => !/\p{L}/u.test(raw[match.index + 2] ?? "") || /[\s;(){},]/.test(raw[match.index - 1] ?? ""))
  if (!literal && breaks.length > 0 && plain.length === 0) return undefined
  const share = raw.startsWith("\\\\") && raw.indexOf("\\\\", 2) < 0
  return raw.replace(ESCAPE, (whole: string, escaped: string, index: number) => {
    const beforeLetter = /\p{L}/u.test(raw[index + 2] ?? "")
    if (share && index === 0) return whole
    if (beforeLetter && (escaped === "b" || escaped === "f" || (literal && /[nrt]/.test(escaped)))) return whole
    return escaped.length === 5 || DECODED[escaped] !== undefined ? decodeOne(escaped) : whole
  })
}

function decodeOne(escaped: string): string {
  return escaped.length === 5 ? String.fromCharCode(Number.parseInt(escaped.slice(1), 16)) : (DECODED[escaped] ?? escaped)
}
