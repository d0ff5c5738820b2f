// Where the parts of a reply go while it is scanned: prose, thoughts, answer, reasoning, calls. Used by scan.ts.
// Keeps the rule that nothing said after a call counts, for it could only rest on a result that nobody has seen.
import type { ToolSpec } from "../../contract/model.ts"
import { plainInput, toolNamed, unquote } from "./dialects.ts"
import type { CallText, Found } from "./dialects.ts"
import { isFinish, isNoAction, withoutBrokenObservation } from "./labels.ts"
import { skip, tagAt } from "./markup.ts"
import type { Block } from "./think.ts"

const LOST_NAME = /^(?:call|toolu|chatcmpl)[_-]|[^\w.:/-]/i

/** cut: a call that never closes · unreadable: markup without a call · nameless: the tool is lost · invented: a result the model wrote itself. */
export type Problem = "cut" | "unreadable" | "nameless" | "invented" | "no_action"
export interface Scan {
  readonly calls: readonly CallText[]
  /** Text and thoughts that are neither call nor answer. */
  readonly prose: string
  readonly thoughts: string
  /** What was marked as the answer: by a label, a final channel, a final field. */
  readonly answer: string | null
  /** Text that nothing was said about: the answer if there is no other. */
  readonly text: string
  readonly reasoning: string
  readonly problem: Problem | null
  readonly notes: readonly string[]
}

export type Kind = "text" | "thought" | "answer" | "weak" | "aside" | "label"
export interface Sorting {
  readonly text: string
  readonly tools: readonly ToolSpec[]
  /** Inside unclosed reasoning and fences only unmistakable markup counts. */
  readonly onlyMarkup: boolean
  /** Text from here on is not yet sorted. */
  from: number
  kind: Kind
  pieces: { kind: Kind; text: string }[]
  /** Calls in a fence or as bare JSON: an example if prose follows. */
  pending: { text: string; calls: readonly CallText[] }[]
  calls: CallText[]
  reasoning: string[]
  problem: Problem | null
  notes: Set<string>
  /** The text protocol is being used: a thought, an action or a final answer stood before. */
  labelled: boolean
  /** Something visible stood before. */
  visible: boolean
  /** An opening tag stood before whose calls are still to come. */
  wrapped: boolean
  question: boolean
  openFence: boolean
  /** False once something never closed: looking for the end again and again would be quadratic. */
  closes: boolean
  fencesClose: boolean
  done: boolean
}

/** `lone`: a closing reasoning tag without an opening one; what stands before it is reasoning. */
export function startSorting(text: string, tools: readonly ToolSpec[], { onlyMarkup, lone }: { onlyMarkup: boolean; lone: Block | null }): Sorting {
  return {
    ...{ text, tools, onlyMarkup, from: lone?.end ?? 0, kind: "text", pieces: [], pending: [], calls: [], problem: null, notes: new Set() },
    ...{ reasoning: lone === null ? [] : [text.slice(0, lone.start)], labelled: false, visible: false, wrapped: false, question: false },
    ...{ openFence: false, closes: true, fencesClose: true, done: false },
  }
}

export function begin(state: Sorting, start: number, { kind, end }: { kind: Kind; end: number }): number {
  say(state, start)
  state.kind = kind
  state.labelled = true
  state.visible = true
  return end
}

export function takeFinal(state: Sorting, final: { thought: string; answer: string }, end: number): number {
  state.kind = "thought"
  add(state, final.thought)
  begin(state, end, { kind: "answer", end })
  add(state, final.answer)
  return end
}

export function takeCalls(state: Sorting, start: number, found: Found): number {
  const { text } = state
  say(state, start)
  const closing = found.end < 0 ? null : tagAt(text, skip(text, found.end))
  const after = skip(text, closing?.closing === true ? closing.end : found.end)
  if (state.onlyMarkup && found.end >= 0 && after < text.length && text[after] !== "<") return found.end
  takePending(state)
  for (const call of found.calls) takeCall(state, call)
  if (found.end >= 0) return found.end
  if (state.calls.length === 0) return giveUp(state, start, "cut")
  state.notes.add("a tool call that never closes was dropped")
  return stop(state, text.length)
}

/** Nothing was said after them: they are calls. */
function takePending(state: Sorting): void {
  for (const { calls } of state.pending.splice(0)) for (const call of calls) takeCall(state, call)
}

function takeCall(state: Sorting, call: CallText): void {
  const tool = toolNamed(call.name, state.tools)
  if (tool !== undefined) state.calls.push({ ...call, arguments: plainInput(call.arguments, tool.name, state.tools) })
  else if (isFinish(call.name)) {
    state.kind = "answer"
    state.labelled = true
    add(state, finishText(call.arguments))
  } else if (isNoAction(call.name)) state.problem ??= "no_action"
  else if (LOST_NAME.test(call.name)) state.problem = "nameless"
  else state.calls.push(call)
}

/** `Finish[text]`, or an object with the text as its only field. */
function finishText(written: string): string {
  const inner = /^\{\s*["']\w{1,40}["']\s*:\s*(["'][\s\S]*)\}\s*$/.exec(written)?.[1]
  return inner === undefined ? unquote(written) : unquote(inner.trim())
}

export function stopAtResult(state: Sorting, start: number): number {
  say(state, start)
  state.notes.add("a tool result written by the model was cut off")
  if (state.calls.length + state.pending.length === 0 && state.kind !== "answer") state.problem = "invented"
  return stop(state, start)
}

export function giveUp(state: Sorting, start: number, problem: Problem): number {
  say(state, start)
  state.problem = problem
  return stop(state, start)
}

export function stop(state: Sorting, start: number): number {
  if (start > state.from) say(state, start)
  state.done = true
  return state.text.length
}

/** Sorts the text up to `end`; the result is `next`, for the caller to go on from. */
export function say(state: Sorting, end: number, next: number = end): number {
  add(state, state.text.slice(state.from, end))
  state.from = end
  return next
}

/** After a call nothing is said any more: it could only rest on a result that nobody has seen. */
function add(state: Sorting, text: string): void {
  if (text === "" || state.calls.length > 0) return
  const isBlank = text.trim() === ""
  const last = state.pending.at(-1)
  if (isBlank && last !== undefined) last.text += text
  else {
    for (const example of state.pending.splice(0)) state.pieces.push({ kind: state.kind, text: example.text })
    state.pieces.push({ kind: state.kind, text })
    state.visible ||= !isBlank
  }
}

export function summary(state: Sorting): Scan {
  takePending(state)
  const join = (...kinds: readonly Kind[]): string => {
    const text = state.pieces.map((piece) => (kinds.includes(piece.kind) ? piece.text : "")).join("")
    return (state.openFence ? text.trimEnd().replace(/\n?`{3,}$/, "") : text).trim()
  }
  const isWeak = state.pieces.filter((piece) => piece.kind === "label").length === 1 && !join("text").includes("\n\n")
  const isAnswered = state.pieces.some((piece) => piece.kind === "answer")
  const answer = isAnswered ? withoutBrokenObservation(join("answer")) : isWeak ? join("weak") : null
  const isStuck = state.problem === null && state.labelled && answer === null
  return {
    calls: state.calls,
    prose: join("text", "thought", "aside", "label", "weak"),
    thoughts: join("thought"),
    answer,
    text: join("text", "label", "weak"),
    reasoning: state.reasoning.map((part) => part.trim()).join("\n"),
    problem: isStuck ? "no_action" : state.problem,
    notes: [...state.notes],
  }
}
