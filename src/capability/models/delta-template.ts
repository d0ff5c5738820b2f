// Reads the common event of a stream without parsing it: servers send the same JSON again and again with only the text of `content` changed.
// Called by chat-stream.ts, which parses everything else and shows each parsed event here.

/** After so many events that were not like the one before, a server (one that pads its events, say) is not tried any more. */
const DEFAULTS = { misses: 20 }

const [SPACE, QUOTE, BACKSLASH] = [32, 34, 92]

export interface DeltaTemplate {
  /** The text of the event at `at`, if it is the last one learnt with another text; `end` then says where it ends. */
  readonly read: (chunk: string, at: number) => string | null
  readonly end: () => number
  /** `data`: an event that was parsed and held nothing but a piece of text in `choices[0].delta.content`. */
  readonly learn: (data: string, lineEnd: string) => void
}

export function deltaTemplate(): DeltaTemplate {
  let head = ""
  let tail = ""
  let end = 0
  let misses = 0
  return {
    read(chunk, at) {
      const from = at + head.length
      // `startsWith` compares letter by letter; two strings of one length are compared at once.
      if (head === "" || chunk.slice(at, from) !== head) return null
      let quote = from
      for (let code = chunk.charCodeAt(quote); code !== QUOTE; code = chunk.charCodeAt(++quote)) {
        // Escapes, what no JSON string may hold, and the end of the chunk (NaN). Everything else stands for itself.
        if (code === BACKSLASH || !(code >= SPACE)) return null
      }
      const stop = quote + tail.length
      if (chunk.slice(quote, stop) !== tail) return null
      end = stop
      misses = 0
      return chunk.slice(from, quote)
    },
    end: () => end,
    learn(data, lineEnd) {
      if (misses++ >= DEFAULTS.misses) return
      head = ""
      const place = contentPlace(data)
      if (place === null) return
      // Joined, not added: only so V8 makes a flat string, which compares three times faster.
      head = ["data: ", data.slice(0, place.from)].join("")
      tail = [data.slice(place.to), lineEnd, lineEnd].join("")
    },
  }
}

/** Where the text of the only `"content": "…"` stands. A quote inside a JSON string is escaped, so an unescaped `"content":"` is a key. */
function contentPlace(data: string): { from: number; to: number } | null {
  const key = data.indexOf('"content"')
  if (key < 1 || data.indexOf('"content"', key + 1) >= 0 || data.charAt(key - 1) === "\\") return null
  let from = key + 9
  while (data.charAt(from) === " " || data.charAt(from) === ":") from++
  if (data.charAt(from) !== '"') return null
  from++
  for (let to = from; to < data.length; to++) {
    const char = data.charAt(to)
    if (char === "\\") to++
    else if (char === '"') return { from, to }
  }
  return null
}
