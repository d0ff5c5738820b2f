// Decides while a reply streams in what may be shown already: text is held back only from the first character of what may become a marker.
// Made for one model call by whoever passes deltas on. Not the last word: the reading of the whole reply decides, and the caller takes back.
import { LABEL_SOURCE, LABEL_WORDS, labelOf } from "./labels.ts"
import { headAt, isAtBoundary, isQuoted } from "./markup.ts"
import { reasoningEnd } from "./think.ts"

export interface StreamGate {
  /** Takes the next piece of the reply; gives what may be shown now. How the reply is cut into pieces makes no difference. */
  push(text: string): string
  /** The reply is over: gives what was held only because it was not clear yet. */
  end(): string
  /** All text shown so far. */
  readonly shown: string
  /** Something is held back right now. */
  readonly held: boolean
}

/** show: text goes through · hide: thoughts, until the answer's label · think: until the block closes · hold: a call has begun, until the end. */
type Mode = "show" | "hide" | "think" | "hold"
type Verdict = { readonly type: "wait" } | { readonly type: "plain" } | { readonly type: Mode; readonly length: number }
interface Gate {
  mode: Mode
  afterThinking: Mode
  shown: string
  /** Not yet decided. */
  waiting: string
  /** The last characters before `waiting`. */
  before: string
  isLineStart: boolean
  /** Labels have been used in this reply. */
  isLabelled: boolean
}

const WAIT: Verdict = { type: "wait" }
const PLAIN: Verdict = { type: "plain" }
const HOLD: Verdict = { type: "hold", length: 0 }
const BEFORE_KEPT = 16
const LONGEST_LABEL = 64
const LONGEST_START = 140
const LONGEST_CLOSER = 48
const MARKER = /[<[\n]/
const UNFINISHED_TAG = /^(?:<\/?[|｜]{0,2}(?:DSML[|｜]{0,2})?[A-Za-z_▁:]{0,64}|\[\/?[A-Z_]{0,20})$/
/** A list, an object or a fence at the start of a line, as far as it must be read to see whether it begins like a call. */
const UNFINISHED_START = /^(?:`{1,2}|`{3,}[^\n`]{0,40}(?:\n\s{0,20})?)?(?:[{[]\s{0,20}(?:["']?[\w.-]{0,60})?|<[a-z]{0,3})?$/i
const CALL_START =
  /^(?:`{3,}[^\n`]{0,40}\n\s{0,20})?(?:\{\s{0,20}["'](?:name|action|tool\w{0,8}|function\w{0,8}|recipient_name|type|id|thought|final\w{0,8}|arguments|parameters)["']|\[\s{0,20}(?:\{|[A-Za-z_][\w.]{0,60}\()|<(?:tool|func|invo|[|｜]))|^`{3,}tool/i
const LABEL = new RegExp(`^${LABEL_SOURCE}`)
const WORDS = Object.values(LABEL_WORDS).flat()
const LABEL_STARTS = new Set([...">*_#-0123456789", ...WORDS.map((word) => word[0] ?? "")])

export function createStreamGate(): StreamGate {
  const gate: Gate = { mode: "show", afterThinking: "show", shown: "", waiting: "", before: "", isLineStart: true, isLabelled: false }
  return {
    push(text) {
      if (gate.mode === "show" && !gate.isLineStart && gate.waiting === "" && gate.shown !== "" && !MARKER.test(text)) {
        gate.before = (gate.before + text).slice(-BEFORE_KEPT)
        gate.shown += text
        return text
      }
      if (gate.mode === "hold") return ""
      gate.waiting += text
      let out = ""
      for (let part = step(gate); part !== null; part = step(gate)) out += part
      return out
    },
    end: () => pass(gate, gate.waiting.length),
    get shown() {
      return gate.shown
    },
    get held() {
      return gate.mode !== "show" || gate.waiting !== ""
    },
  }
}

/** What may be shown of the next thing in `waiting`; null: nothing more can be said before further text comes. */
function step(gate: Gate): string | null {
  const { mode, waiting } = gate
  if (mode === "hold" || waiting === "") return null
  if (mode === "think") {
    const closer = reasoningEnd(waiting, 0)
    pass(gate, closer?.end ?? Math.max(0, waiting.length - LONGEST_CLOSER))
    if (closer !== null) gate.mode = gate.afterThinking
    return closer === null ? null : ""
  }
  const at = gate.isLineStart ? waiting.search(/\S/) : waiting.search(MARKER)
  if (at !== 0) return pass(gate, at < 0 ? waiting.length : at)
  const verdict = verdictOn(gate)
  if (verdict.type === "wait") return null
  if (verdict.type === "plain") return pass(gate, waiting[0] === "\n" ? 1 : plainEnd(waiting))
  if (verdict.type === "think") gate.afterThinking = mode
  if (verdict.length > 0) {
    gate.isLabelled = true
    gate.mode = "hide"
    pass(gate, verdict.length)
  }
  gate.mode = verdict.type
  return ""
}

/** What follows an ordinary character is ordinary too, up to the next marker. */
function plainEnd(waiting: string): number {
  const next = waiting.slice(1).search(MARKER)
  return next < 0 ? waiting.length : next + 1
}

/** Lets the first `length` waiting characters go: to the reader, or away. */
function pass(gate: Gate, length: number): string {
  const text = gate.waiting.slice(0, length)
  const line = text.lastIndexOf("\n")
  gate.waiting = gate.waiting.slice(length)
  gate.before = (gate.before + text.slice(-BEFORE_KEPT)).slice(-BEFORE_KEPT)
  if (text !== "") gate.isLineStart = (line >= 0 || gate.isLineStart) && text.slice(line + 1).trim() === ""
  if (gate.mode !== "show") return ""
  const visible = gate.shown === "" ? text.trimStart() : text
  gate.shown += visible
  return visible
}

/** What begins at the first waiting character. Once it is not `wait`, further text does not change it. */
function verdictOn(gate: Readonly<Gate>): Verdict {
  const { waiting, isLineStart } = gate
  const first = waiting[0] ?? ""
  const tag = first === "<" || first === "[" ? tagVerdict(gate) : PLAIN
  if (tag !== PLAIN || !isLineStart || first === "<") return tag
  if (!"{[`".includes(first)) return labelVerdict(gate)
  return UNFINISHED_START.test(waiting.slice(0, LONGEST_START)) ? WAIT : CALL_START.test(waiting) ? HOLD : PLAIN
}

function tagVerdict({ waiting, before }: Readonly<Gate>): Verdict {
  if (UNFINISHED_TAG.test(waiting.slice(0, LONGEST_START))) return WAIT
  const tag = headAt(waiting, 0)
  const text = before + waiting.slice(0, 1)
  if (tag === null || isQuoted(text, before.length)) return PLAIN
  if (tag.role !== "reasoning" && tag.role !== "result") return HOLD
  if (!isAtBoundary(text, before.length)) return PLAIN
  return tag.role === "reasoning" && !tag.closing ? { type: "think", length: 0 } : HOLD
}

function labelVerdict({ waiting, isLabelled, shown }: Readonly<Gate>): Verdict {
  if (!LABEL_STARTS.has(waiting[0]?.toLowerCase() ?? "")) return PLAIN
  const line = waiting.slice(0, LONGEST_LABEL)
  if (!/[:：\n]/.test(line)) {
    const letters = line.replace(/[\s_\-*#>`\d.)、]/g, "").toLowerCase()
    return line.length < LONGEST_LABEL && WORDS.some((word) => word.startsWith(letters)) ? WAIT : PLAIN
  }
  const label = LABEL.exec(line)
  if (label === null) return PLAIN
  const length = label[0].length
  switch (labelOf(label.groups?.["words"] ?? "")) {
    case "final":
      return length < waiting.length ? { type: "show", length } : WAIT
    case "answer":
      return !isLabelled ? PLAIN : length < waiting.length ? { type: "show", length } : WAIT
    case "thought":
      return isLabelled || shown === "" ? { type: "hide", length } : PLAIN
    case "action":
      return HOLD
    case "observation":
    case "question":
      return isLabelled ? HOLD : PLAIN
    case "input":
    case undefined:
      return PLAIN
  }
}
