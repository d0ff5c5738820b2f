// The labels of the text protocol in English and Chinese, and what stands after an action label.
// Called by scan.ts at the start of a line, and by stream-gate.ts. Whether a label counts as one is decided there.
import { balancedEnd } from "../../infrastructure/json/balanced.ts"
import type { ToolSpec } from "../../contract/model.ts"
import { readCalls } from "./dialects.ts"
import type { Found } from "./dialects.ts"
import { matchAt, skip, trimChars } from "./markup.ts"

export type Label = "thought" | "input" | "action" | "observation" | "final" | "answer" | "question"

/** Without blanks, hyphens and underscores, in lower case. */
export const LABEL_WORDS: { readonly [label in Label]: readonly string[] } = {
  thought: ["thought", "思考"],
  input: [
    "actioninput",
    "actioninputs",
    "actionarguments",
    "toolinput",
    "input",
    "arguments",
    "parameters",
    "行动输入",
    "动作输入",
    "行动参数",
    "动作参数",
    "工具输入",
    "工具参数",
    "输入",
    "参数",
  ],
  action: ["action", "行动", "动作"],
  observation: ["observation", "observations", "观察", "观察结果", "观测", "观测结果"],
  final: ["finalanswer", "最终答案", "最终回答", "最终答复"],
  answer: ["answer", "答案", "回答"],
  question: ["question", "问题"],
}
const LABELS: ReadonlyMap<string, Label> = new Map(Object.entries(LABEL_WORDS).flatMap(([label, words]) => words.map((word) => [word, label as Label] as const)))

/** `Action:`, `**Action Input 2**：`, `1. 行动：`, `### Final Answer:`; the words are in group `words`. */
export const LABEL_SOURCE =
  "[ \\t>*_#-]{0,8}(?:\\d{1,3}[.)、][ \\t]{0,4})?[*_`]{0,3}(?<words>[A-Za-z]{4,12}(?:[ _-]?[A-Za-z]{5,9})?|[\\u4e00-\\u9fff]{2,4})[ \\t]?\\d{0,3}[ \\t]{0,4}[*_`]{0,3}[ \\t]{0,4}[:：][*_]{0,3}"
const LINE_LABEL = new RegExp(`^${LABEL_SOURCE}`, "gm")
const LABEL_HERE = new RegExp(LABEL_SOURCE, "y")
/** What is left of `Observation:` when a stop word cut it. */
const BROKEN_OBSERVATION = /\n[ \t>*_#]{0,8}(?:obs[a-z]{0,9}|观|观察)$/i
const OPENING = /\s*(?:`{3,}\w*\s*|`)?/y

export function labelOf(words: string): Label | undefined {
  return LABELS.get(words.toLowerCase().replace(/[\s_-]/g, ""))
}

export function withoutBrokenObservation(text: string): string {
  return text.replace(BROKEN_OBSERVATION, "")
}

/** What an action label asks for, `start` being the place after it: a call in one piece, or a name and its input. null: nothing stands there. */
export function readAction(text: string, start: number, tools: readonly ToolSpec[]): Found | null {
  const from = skip(text, start, OPENING)
  if (lineLabelAt(text, from) !== undefined) return null
  const whole = readCalls(text, from, tools)
  if (whole !== null) return whole.end < 0 ? whole : { ...whole, end: skip(text, whole.end, /\s*`*/y) }
  const newline = text.indexOf("\n", from)
  const end = newline < 0 ? text.length : newline
  const line = text.slice(from, end)
  const inline = / (?:action input|input|行动输入|参数) ?[:：]/i.exec(line)
  const label = inline === null ? lineLabelAt(text, skip(text, end)) : { label: "input", end: from + inline.index + inline[0].length }
  const name = trimChars(line.slice(0, inline?.index), " \t\r*`\"'“”.。")
  if (label?.label === "input") return { ...readInput(text, label.end, name), explicit: true }
  const bracket = /^([\w.-]{1,64})\[(.*)\]$/.exec(name)
  if (bracket !== null) return { end, calls: [{ name: bracket[1] ?? "", arguments: bracket[2] ?? "" }] }
  return name === "" ? null : { end, calls: [{ name, arguments: "{}", open: end >= text.length }] }
}

/** The input after its label: the first whole object or list, else plain text up to the next label. */
function readInput(text: string, start: number, name: string): Found {
  const from = skip(text, start, OPENING)
  if (text[from] === "{" || text[from] === "[") {
    const end = balancedEnd(text, from)
    return end < 0 ? { end: -1, calls: [] } : { end: skip(text, end, /\s*`*/y), calls: [{ name, arguments: text.slice(from, end) }] }
  }
  LINE_LABEL.lastIndex = from
  let end = lineLabelAt(text, from) === undefined ? text.length : from
  for (let match = LINE_LABEL.exec(text); match !== null && end === text.length; match = LINE_LABEL.exec(text)) {
    if (labelOf(match.groups?.["words"] ?? "") !== undefined) end = match.index
  }
  const input = trimChars(withoutBrokenObservation(text.slice(from, end).trimEnd()), " \t\r\n`")
  return { end, calls: [{ name, arguments: input, open: end >= text.length }] }
}

function lineLabelAt(text: string, at: number): { label: Label; end: number } | undefined {
  const match = matchAt(LABEL_HERE, text, at)
  const label = labelOf(match?.groups?.["words"] ?? "")
  return match === null || label === undefined ? undefined : { label, end: at + match[0].length }
}

/** Words with which a model says that it wants no tool. */
export function isNoAction(name: string): boolean {
  return /^(?:none|no action|no tool|nothing|n\/a|null|-|无|没有|不需要)(?![\w-])/i.test(name) || name === ""
}

/** Names with which a model hands in its answer as if that were a tool. */
export function isFinish(name: string): boolean {
  return /^(?:final[ _-]?answer|finish|最终答案|完成)$/i.test(name)
}
