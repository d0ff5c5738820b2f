// Puts the tool calls of a stream together from their pieces, whatever the server does with indexes, ids and names. Called by chat-stream.ts.
// Leaves the arguments unread: whether they are valid is the argument ladder's to say.
import type { CallDraft, Fields } from "./chat-fields.ts"
import { argumentsText, extraOf, idText, isFields } from "./chat-fields.ts"

export interface CallAssembly {
  readonly add: (piece: unknown) => void
  /** In the order in which they began. */
  readonly calls: readonly CallDraft[]
  /** Whether the arguments of every call are a finished object. */
  readonly isComplete: () => boolean
}

interface OpenCall extends CallDraft {
  scan: Scan
}

export function callAssembly(): CallAssembly {
  const calls: OpenCall[] = []
  const slots = new Map<number, OpenCall>()

  const open = (index: number | null): OpenCall => {
    const call: OpenCall = { id: "", name: "", arguments: "", extra: null, scan: { at: 0, depth: 0, inString: false, ended: false } }
    calls.push(call)
    if (index !== null) slots.set(index, call)
    return call
  }
  /** Without an index the id says which call it is; without both, a name begins a new one. */
  const findByIndex = (index: number | null, id: string, name: string): OpenCall | undefined => {
    if (index !== null) return slots.get(index)
    if (id !== "") return calls.find((call) => call.id === id)
    return name === "" || calls.at(-1)?.name === "" ? calls.at(-1) : undefined
  }

  return {
    calls,
    add(piece) {
      if (!isFields(piece)) return
      const body: Fields = isFields(piece.function) ? piece.function : piece
      const index = indexOf(piece.index)
      const id = idText(piece.id)
      const name = typeof body.name === "string" ? body.name : ""
      const text = argumentsText(body.arguments ?? body.parameters)
      let call = findByIndex(index, id, name)
      if (call === undefined || beginsAnother(call, { id, name, text })) call = open(index)
      if (call.id === "") call.id = id
      if (name !== "" && name !== call.name) call.name = name.startsWith(call.name) ? name : call.name + name
      addArguments(call, text)
      const extra = extraOf(piece)
      if (extra !== null) call.extra = { ...call.extra, ...extra }
    },
    isComplete: () => calls.every((call) => isFinished(call)),
  }
}

function indexOf(value: unknown): number | null {
  const index = typeof value === "string" && value !== "" ? Number(value) : value
  return typeof index === "number" && Number.isInteger(index) ? index : null
}

/** A server that leaves the index at 0 starts its next call with a new id and a name, once the arguments before are finished. */
function beginsAnother(call: OpenCall, piece: { id: string; name: string; text: string }): boolean {
  if (piece.name === "" || call.name === "") return false
  if (piece.id === "") return piece.text.startsWith("{") && call.id === "" && !piece.text.startsWith(call.arguments) && isFinished(call)
  return call.id !== "" && piece.id !== call.id && (call.arguments === "" || isFinished(call))
}

/** A piece that begins with everything so far is a repetition: inside one JSON object the same beginning cannot follow itself. */
function addArguments(call: OpenCall, text: string): void {
  const before = call.arguments
  const repeats = before.startsWith("{") && (text.startsWith(before) || (before === "{}" && text.startsWith("{")))
  if (!repeats) {
    call.arguments += text
    return
  }
  call.arguments = text
  call.scan = { at: 0, depth: 0, inString: false, ended: false }
}

/** How far the arguments were looked at; kept, so that asking after every piece stays linear. */
interface Scan {
  at: number
  depth: number
  inString: boolean
  ended: boolean
}

function isFinished(call: OpenCall): boolean {
  const { scan, arguments: text } = call
  for (; scan.at < text.length; scan.at++) {
    const char = text.charCodeAt(scan.at)
    if (scan.inString) {
      if (char === BACKSLASH) scan.at++
      else if (char === QUOTE) scan.inString = false
    } else if (char === QUOTE) scan.inString = true
    else if (char === OPEN_BRACE || char === OPEN_BRACKET) scan.depth++
    else if (char === CLOSE_BRACE || char === CLOSE_BRACKET) scan.ended = --scan.depth === 0
  }
  return scan.ended && scan.depth === 0 && !scan.inString
}

const [QUOTE, BACKSLASH, OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [34, 92, 123, 125, 91, 93]
