// Takes a stream of text apart into server-sent events, wherever the network cut it: LF, CR or CRLF, comments, several data lines, BOM.
// Called by chat-stream.ts. Leaves the meaning of the data to it. Linear in the length of the text. Format: https://html.spec.whatwg.org/#server-sent-events

export interface SseHandler {
  /** One event: its data (lines joined by a newline), its name (empty: none was given), and the line end that the server uses. */
  readonly event: (data: string, name: string, lineEnd: string) => void
  /** A line that is no field of the format. */
  readonly stray: (line: string) => void
  /** May take whole events that begin at `at` by itself and says where it stopped; `at` if it took none. */
  readonly take: (text: string, at: number) => number
}

export interface SseReader {
  readonly push: (text: string) => void
  /** The last event counts without an empty line after it. */
  readonly end: () => void
}

export function sseReader(handler: SseHandler): SseReader {
  const lines = lineReader(handler)
  /** The beginning of a line whose end has not come yet. Only added to: searching it again and again would be quadratic. */
  let pending = ""
  let started = false
  let skipLineFeed = false

  /** Past a byte order mark, and past the second half of a CRLF that the network cut. */
  const firstChar = (chunk: string): number => {
    let at = 0
    if (!started && chunk.charCodeAt(0) === 0xfeff) at = 1
    started ||= chunk !== ""
    if (skipLineFeed && at < chunk.length) {
      skipLineFeed = false
      if (chunk.charCodeAt(at) === LINE_FEED) at++
    }
    return at
  }

  return {
    push(chunk) {
      let at = firstChar(chunk)
      /** null: not looked for yet. */
      let carriageReturn: number | null = null
      while (at < chunk.length) {
        if (pending === "" && lines.isBetweenEvents()) at = handler.take(chunk, at)
        if (at === chunk.length) return
        const lineFeed = chunk.indexOf("\n", at)
        if (carriageReturn === null || (carriageReturn >= 0 && carriageReturn < at)) carriageReturn = chunk.indexOf("\r", at)
        const byReturn = carriageReturn >= 0 && (lineFeed < 0 || carriageReturn < lineFeed)
        const end = byReturn ? carriageReturn : lineFeed
        if (end < 0) break
        const text = pending + chunk.slice(at, end)
        pending = ""
        const both = byReturn && chunk.charCodeAt(end + 1) === LINE_FEED
        skipLineFeed = byReturn && end + 1 === chunk.length
        at = end + (both ? 2 : 1)
        lines.read(text, both ? "\r\n" : byReturn ? "\r" : "\n")
      }
      if (at < chunk.length) pending += chunk.slice(at)
    },
    end() {
      if (pending !== "") lines.read(pending, "\n")
      pending = ""
      lines.dispatch("\n")
    },
  }
}

const LINE_FEED = 10
const SPACE = 32

interface LineReader {
  readonly read: (line: string, lineEnd: string) => void
  readonly dispatch: (lineEnd: string) => void
  readonly isBetweenEvents: () => boolean
}

/** Puts lines together to events. */
function lineReader(handler: SseHandler): LineReader {
  let data: string | null = null
  let dataLines = 0
  let name = ""

  const dispatch = (lineEnd: string): void => {
    if (data !== null) handler.event(data, name, lineEnd)
    data = null
    dataLines = 0
    name = ""
  }
  const addData = (value: string, lineEnd: string): void => {
    // Some gateways end events by one newline only. The standard would join them into nonsense.
    if (data !== null && dataLines === 1 && isWhole(data)) dispatch(lineEnd)
    data = data === null ? value : `${data}\n${value}`
    dataLines++
  }
  const takeField = (line: string, lineEnd: string): void => {
    const colon = line.indexOf(":")
    if (colon === 0) return
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? "" : line.slice(line.charCodeAt(colon + 1) === SPACE ? colon + 2 : colon + 1)
    // Not in the standard, but a server writes errors so.
    if (field === "error") name = "error"
    if (field === "data" || field === "error") addData(value, lineEnd)
    else if (field === "event") name = value
    else if (field !== "id" && field !== "retry") handler.stray(line)
  }

  return {
    dispatch,
    isBetweenEvents: () => data === null && name === "",
    read(line, lineEnd) {
      if (line === "") dispatch(lineEnd)
      else takeField(line, lineEnd)
    },
  }
}

function isWhole(data: string): boolean {
  const text = data.trimEnd()
  if (!text.endsWith("}")) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
