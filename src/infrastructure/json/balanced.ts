// Finds where a bracketed piece of JSON-like text ends, without reading its contents.
// Called by the readers of model text (argument ladder, text protocol, tool calls leaked into prose).
// Leaves to lenient-json.ts whether the piece is JSON at all.

const CLOSERS: { readonly [opener: string]: string } = { "{": "}", "[": "]", "｛": "}", "［": "]" }
const CLOSING: { readonly [closer: string]: string } = { "}": "}", "]": "]", "｝": "}", "］": "]" }
/** Which characters may end a string that one of these began. A plain `"` follows JSON to the letter; the others are guesses and need `endsToken`. */
const QUOTES: { readonly [opener: string]: string } = { "'": "'", "“": "”“", "‘": "’‘", "＂": "＂" }
const BEFORE_TOKEN = "{[,:｛［，："
const AFTER_TOKEN = ",:}]，：｝］"

/**
 * Index just after the bracket that closes the `{` or `[` at `start`; -1 when it never closes, or closes with the wrong kind of bracket.
 * Knows double-quoted strings with escapes, comments, and single-quoted, curly and full-width quotes where a token can begin. Linear.
 */
export function balancedEnd(text: string, start: number): number {
  const open: string[] = []
  let previous = ""
  for (let at = start; at < text.length; at++) {
    const char = text[at] ?? ""
    const closer = CLOSERS[char]
    if (closer !== undefined) open.push(closer)
    else if (CLOSING[char] !== undefined) {
      if (open.pop() !== CLOSING[char]) return -1
      if (open.length === 0) return at + 1
    } else if (char === '"') at = plainStringEnd(text, at)
    else if (QUOTES[char] !== undefined && BEFORE_TOKEN.includes(previous)) at = guessedStringEnd(text, at, QUOTES[char])
    else if (char === "/" && text[at - 1] !== ":") at = commentEnd(text, at)
    if (at < 0 || open.length === 0) return -1
    if (!isSpace(char)) previous = char
  }
  return -1
}

function plainStringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === "\\") at++
    else if (text[at] === '"') return at
  }
  return -1
}

/** An apostrophe inside a single-quoted string is not its end: what ends it is followed by a comma, a colon or a bracket. */
function guessedStringEnd(text: string, start: number, quotes: string): number {
  for (let at = start + 1; at < text.length; at++) {
    const char = text[at] ?? ""
    if (char === "\\") at++
    else if (quotes.includes(char) && endsToken(text, at + 1)) return at
  }
  return -1
}

function endsToken(text: string, from: number): boolean {
  let at = from
  while (at < text.length && isSpace(text[at] ?? "")) at++
  return AFTER_TOKEN.includes(text[at] ?? " ")
}

function commentEnd(text: string, start: number): number {
  if (text[start + 1] === "/") {
    const end = text.indexOf("\n", start)
    return end < 0 ? -1 : end
  }
  if (text[start + 1] !== "*") return start
  const end = text.indexOf("*/", start + 2)
  return end < 0 ? -1 : end + 1
}

function isSpace(char: string): boolean {
  return char === " " || char === "\n" || char === "\r" || char === "\t"
}
