// Turns tokens into text while they come: whole characters only, without what stands before or from a stop sequence on.
// Called by llama-cpp.ts.

/** Tokens of one character at most, and tokens before a piece that decide how it begins. */
const LIMITS = { character: 8, before: 8 }
const HALF = "\uFFFD"

export interface TextWriter {
  /** Text that is safe to show. `stopped`: a stop sequence was written, nothing after it counts. */
  readonly push: (token: number) => { readonly text: string; readonly stopped: boolean }
  /** What was held back, when the reply ends without a stop sequence. A character that was cut in the middle is not in it. */
  readonly rest: () => string
}

/** `detokenize` gives the text of `tokens` as it stands after `before`. White space at the start of a reply is dropped. */
export function textWriter(detokenize: (tokens: readonly number[], before: readonly number[]) => string, stops: readonly string[]): TextWriter {
  const ends = stops.filter((stop) => stop !== "")
  let before: readonly number[] = []
  let open: readonly number[] = []
  let held = ""
  let begun = false

  const read = (token: number): void => {
    open = [...open, token]
    const text = detokenize(open, before)
    if (text.endsWith(HALF) && open.length < LIMITS.character) return
    before = [...before, ...open].slice(-LIMITS.before)
    open = []
    held += text
    if (!begun) held = held.trimStart()
    begun ||= held !== ""
  }
  const take = (length: number): string => {
    const text = held.slice(0, length)
    held = held.slice(length)
    return text
  }
  return {
    push(token) {
      read(token)
      const found = ends.map((end) => held.indexOf(end)).filter((index) => index >= 0)
      if (found.length > 0) return { text: take(Math.min(...found)), stopped: true }
      return { text: take(held.length - openEnd(held, ends)), stopped: false }
    },
    rest: () => take(held.length),
  }
}

/** Length of the longest end of `text` that may become a stop sequence. */
function openEnd(text: string, ends: readonly string[]): number {
  const lengths = ends.map((end) => {
    let length = Math.min(end.length - 1, text.length)
    while (length > 0 && !text.endsWith(end.slice(0, length))) length--
    return length
  })
  return Math.max(0, ...lengths)
}
