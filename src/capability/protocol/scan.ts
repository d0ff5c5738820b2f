// Goes once through a reply from left to right and recognises what each part is. Called by read-reply.ts, which decides what the whole means.
// The forms of calls are read by dialects.ts, bare-calls.ts and labels.ts; sorting.ts keeps the parts.
import type { ToolSpec } from "../../contract/model.ts"
import { balancedEnd } from "../../infrastructure/json/balanced.ts"
import { bareCalls, fencedCalls, finalField } from "./bare-calls.ts"
import { pythonCall, readCalls, toolNamed, xmlCall } from "./dialects.ts"
import { LABEL_SOURCE, labelOf, readAction } from "./labels.ts"
import type { Label } from "./labels.ts"
import { isAtBoundary, isQuoted, matchAt, skip, tagAt } from "./markup.ts"
import type { Tag } from "./markup.ts"
import { begin, giveUp, say, startSorting, stop, stopAtResult, summary, takeCalls, takeFinal } from "./sorting.ts"
import type { Scan, Sorting } from "./sorting.ts"
import { loneReasoningEnd, reasoningEnd } from "./think.ts"

const MARKER = new RegExp(
  `<|\\[\\/?[A-Z_]{4,20}\\]|^[ \\t]{0,8}(?=[\`{[])|^${LABEL_SOURCE}|(?<inline>\\bFinal Answer: ?|\\bAction: ?(?=[\\w.-]{1,64} {1,3}Action Input ?:)|(?:assistant)?(?:commentary|analysis) to=(?=functions\\.))`,
  "gm",
)
const FENCE = /`{3,}([^\n`]{0,40})(?:\n|$)/y
const LABEL_HERE = new RegExp(LABEL_SOURCE, "y")
const HARMONY_HEADER = /(?:<\|start\|>([^<]{0,100}))?(?:<\|channel\|>([^<]{0,200}))?(?:<\|constrain\|>[^<]{0,40})?<\|message\|>/y
const HARMONY_END = /<\|(?:end|return|call|start|channel)\|>/g
const NAME_LIKE = /^[\w.:/-]{1,64}$/
/** The line before a fence announces an example rather than a call. */
const EXAMPLE = /\b(?:example|could|would|e\.g\.|for instance|looks? like|such as|sample|template)\b|例如|比如|示例|例子|可以这样/i

export function scanReply(text: string, tools: readonly ToolSpec[], onlyMarkup = false): Scan {
  const lone = onlyMarkup ? null : loneReasoningEnd(text)
  const state = startSorting(text, tools, { onlyMarkup, lone })
  const python = onlyMarkup ? null : pythonCall(text, skip(text, state.from), tools)
  if (python !== null && python.end >= 0 && skip(text, python.end) >= text.length && python.calls.every((call) => toolNamed(call.name, tools) !== undefined))
    takeCalls(state, state.from, python)
  for (let at = state.from; !state.done; ) {
    MARKER.lastIndex = at
    const match = MARKER.exec(text)
    if (match === null) {
      say(state, text.length)
      break
    }
    const next = readMarker(state, match)
    if (next !== null) state.from = next
    at = next ?? Math.max(match.index + 1, match.index + match[0].length)
  }
  return summary(state)
}

/** Index after what the marker stands for, which is then sorted; null: it is ordinary text. */
function readMarker(state: Sorting, match: RegExpExecArray): number | null {
  const { index } = match
  const { words, inline } = match.groups ?? {}
  const end = index + match[0].length
  if (match[0] === "<" || match[0].startsWith("[")) return readTag(state, index)
  if (inline?.endsWith("to=") === true) return readWrapped(state, index, { role: "call", name: "", closing: false, attributes: "", end, unfinished: false })
  if (state.onlyMarkup) return null
  say(state, index)
  if (inline !== undefined) return state.kind === "thought" ? readLabel(state, index, { label: inline.startsWith("F") ? "final" : "action", end }) : null
  const label = words === undefined ? undefined : labelOf(words)
  if (words !== undefined) return label === undefined ? null : readLabel(state, index, { label, end })
  return state.text[end] === "`" ? readFence(state, index, end) : readBare(state, index, end)
}

function readTag(state: Sorting, start: number): number | null {
  const tag = tagAt(state.text, start)
  if (tag === null || isQuoted(state.text, start)) return null
  switch (tag.role) {
    case "reasoning":
      return state.onlyMarkup ? null : readReasoning(state, start, tag)
    case "harmony":
      return readHarmony(state, start, tag)
    case "result":
      return tag.closing || !isAtBoundary(state.text, start) ? null : stopAtResult(state, start)
    case "direct":
      return readDirect(state, start, tag)
    case "call":
      return tag.closing ? say(state, start, tag.end) : readWrapped(state, start, tag)
    case "noise":
      return say(state, start, skip(state.text, tag.end, tag.name.includes("start") ? /(?:assistant)?\s*/y : /(?:)/y))
  }
}

function readWrapped(state: Sorting, start: number, tag: Tag): number | null {
  const { text, tools } = state
  const inner = tagAt(text, skip(text, tag.end))
  const found = state.closes ? readCalls(text, inner?.role === "noise" ? inner.end : tag.end, tools) : null
  if (found !== null) return takeCalls(state, start, found)
  if (inner !== null && !inner.closing && ["call", "direct", "noise"].includes(inner.role)) {
    state.wrapped = true
    return say(state, start, tag.end)
  }
  return tag.unfinished || isAtBoundary(text, start) ? giveUp(state, start, "unreadable") : null
}

/** `<function=…>` and `<invoke …>` without a wrapper may be talk about markup: they count if they close and the name is known, or nothing stands around. */
function readDirect(state: Sorting, start: number, tag: Tag): number | null {
  const { text, tools } = state
  if (tag.closing) return state.wrapped || state.calls.length > 0 ? say(state, start, tag.end) : null
  const found = state.closes ? xmlCall(text, start, tools) : null
  if (found === null) return null
  const isOwnLine = isAtBoundary(text, start)
  if (found.end < 0) {
    state.closes = false
    return state.wrapped || isOwnLine ? takeCalls(state, start, found) : null
  }
  const isClear = state.wrapped || found.calls.every((call) => toolNamed(call.name, tools) !== undefined) || (isOwnLine && skip(text, found.end) >= text.length)
  return isClear ? takeCalls(state, start, found) : null
}

function readReasoning(state: Sorting, start: number, tag: Tag): number | null {
  const { text, tools } = state
  if (tag.closing) return isAtBoundary(text, start) ? say(state, start, tag.end) : null
  if (!isAtBoundary(text, start)) return null
  say(state, start)
  state.notes.add("reasoning taken out of the text")
  const block = reasoningEnd(text, tag.end)
  state.reasoning.push(text.slice(tag.end, block?.start))
  if (block !== null) return block.end
  const last = scanReply(text.slice(tag.end), tools, true)
  const calls = last.problem === null && last.calls.every((call) => toolNamed(call.name, tools) !== undefined) ? last.calls : []
  state.calls.push(...calls.map((call) => ({ ...call, open: true })))
  state.done = true
  return text.length
}

function readHarmony(state: Sorting, start: number, tag: Tag): number {
  const { text } = state
  const header = matchAt(HARMONY_HEADER, text, start)
  say(state, start)
  if (header === null) return tag.end
  const [whole, role = "", channel = ""] = header
  const from = start + whole.length
  if (/^\s*(?:functions?\.|tool)/.test(role)) return stopAtResult(state, start)
  const recipient = /\bto=([\w.:/-]{1,128})/.exec(`${role} ${channel}`)?.[1]
  HARMONY_END.lastIndex = from
  if (recipient !== undefined && !/^(?:user|assistant|all)$/.test(recipient)) {
    const body = skip(text, from)
    const end = text[body] === "{" ? balancedEnd(text, body) : (HARMONY_END.exec(text)?.index ?? -1)
    return takeCalls(state, start, { end, calls: end < 0 ? [] : [{ name: recipient, arguments: text.slice(body, end).trim() }] })
  }
  if (/^\s*analysis/.test(channel)) {
    const end = HARMONY_END.exec(text)?.index ?? text.length
    state.reasoning.push(text.slice(from, end))
    return end
  }
  state.kind = channel.trim() === "" ? "text" : /^\s*final/.test(channel) ? "answer" : "aside"
  return from
}

function readFence(state: Sorting, start: number, ticks: number): number | null {
  const { text, tools } = state
  const opener = matchAt(FENCE, text, ticks)
  if (opener === null) return null
  const from = ticks + opener[0].length
  const closer = state.fencesClose ? text.indexOf("\n```", from - 1) : -1
  state.fencesClose = closer >= 0
  const end = closer < 0 ? text.length : skip(text, closer + 4, /`*/y)
  const label = labelOf(matchAt(LABEL_HERE, text, skip(text, from))?.groups?.["words"] ?? "")
  if (label !== undefined && !state.visible) {
    state.openFence = true
    return say(state, start, from)
  }
  const content = text.slice(from, closer < 0 ? text.length : Math.max(from, closer))
  const calls = fencedCalls(content, (opener[1] ?? "").trim(), tools) ?? (/^\s*[<[]/.test(content) ? scanReply(content, tools, true).calls : [])
  const final = state.visible ? null : finalField(content.trim())
  if (final !== null) return takeFinal(state, final, end)
  if (calls.length > 0) {
    say(state, start)
    const before = state.pieces.at(-1)?.text.trimEnd().slice(-200) ?? ""
    if (!EXAMPLE.test(before.slice(before.lastIndexOf("\n") + 1))) {
      state.pending.push({ text: text.slice(start, end), calls })
      return end
    }
  }
  return closer < 0 ? null : say(state, end)
}

/** JSON or a Python list at the start of a line: a call if it is exactly one, at the very start or with nothing after it. */
function readBare(state: Sorting, start: number, at: number): number | null {
  const { text, tools } = state
  if (!state.closes) return null
  const final = state.visible ? null : finalField(text, at)
  if (final !== null) return takeFinal(state, final, final.end)
  const found = bareCalls(text, at, tools)
  if (found.end < 0) state.closes = false
  if (found.calls.length === 0) return found.end < 0 || found.end <= at ? null : say(state, found.end)
  if (found.end < 0) return giveUp(state, start, "cut")
  if (!state.visible && state.pending.length === 0) return takeCalls(state, start, found)
  say(state, start)
  state.pending.push({ text: text.slice(start, found.end), calls: found.calls })
  return found.end
}

function readLabel(state: Sorting, start: number, { label, end }: { label: Label; end: number }): number | null {
  const hasCalls = state.calls.length + state.pending.length > 0
  switch (label) {
    case "thought":
      if (state.labelled && hasCalls) return stop(state, start)
      if (!state.labelled && state.visible && !state.question) return null
      if (state.question) state.pieces = []
      return begin(state, start, { kind: "thought", end })
    case "action":
      return readActionLabel(state, start, end)
    case "input":
      return state.kind === "thought" ? giveUp(state, start, "nameless") : null
    case "observation":
      return state.labelled || hasCalls ? stopAtResult(state, start) : null
    case "final":
      return begin(state, start, { kind: "answer", end })
    case "answer":
      if (state.labelled) return state.kind === "answer" ? null : begin(state, start, { kind: "answer", end })
      say(state, start)
      state.kind = "label"
      say(state, end)
      state.kind = "weak"
      return end
    case "question":
      if (state.kind === "answer" || (state.labelled && hasCalls)) return stop(state, start)
      state.question = !state.visible && !state.labelled
      return null
  }
}

function readActionLabel(state: Sorting, start: number, end: number): number | null {
  const { tools, labelled, kind } = state
  const isProtocol = labelled && kind !== "answer"
  const found = state.closes ? readAction(state.text, end, tools) : null
  if (found === null) return isProtocol ? giveUp(state, start, "nameless") : null
  const isMeant =
    isProtocol || (found.explicit === true && found.calls.every((call) => NAME_LIKE.test(call.name))) || found.calls.some((call) => toolNamed(call.name, tools) !== undefined)
  if (found.end < 0) state.closes = false
  if (!isMeant) return null
  begin(state, start, { kind: "text", end })
  return takeCalls(state, start, found)
}
