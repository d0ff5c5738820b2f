// Reads a model's reply, native or text, into one of three states: action, final, unknown. Called by perform after every reply.
// Leaves arguments to the argument ladder, call ids to the runtime, and what follows from the state to decide.
import type { Reading } from "../../contract/event.ts"
import type { ToolCall } from "../../contract/message.ts"
import type { ModelReply, ToolSpec } from "../../contract/model.ts"
import { exampleOf } from "../../infrastructure/json/example.ts"
import { toolNamed } from "./dialects.ts"
import { scanReply } from "./scan.ts"
import type { Problem, Scan } from "./sorting.ts"

const NAMES_SHOWN = 20
/** One short sentence that announces a call is neither a call nor an answer. */
const ANNOUNCEMENT = /^(?:(?:ok|okay|sure|now|first)[,.!]? )?(?:i'll|i’ll|i will|i'm going to|i am going to|let me(?! know)|我来|我将|我会|我要|让我|接下来)/i
const LONGEST_ANNOUNCEMENT = 200

export interface ReplyReading {
  readonly reading: Reading
  readonly reasoning: string
  /** What was recognised or corrected, one line each. */
  readonly notes: readonly string[]
}

/**
 * Native calls win, whatever the finish reason says; then calls in the text; then the labelled answer; then the text itself.
 * Action and answer together: the action counts, the answer is dropped, for it was written before the result was seen.
 * Half an answer (finish `length`), an empty one, and half a call are `unknown`; their feedback says what to write instead.
 */
export function readReply(reply: ModelReply, tools: readonly ToolSpec[]): ReplyReading {
  if (reply.calls.length > 0 && reply.text === "") return nativeOnly(reply, tools)
  const scan = scanReply(reply.text, tools)
  const notes = [...scan.notes]
  const native = nativeCalls(reply, tools, notes)
  const written = native.length > 0 ? [] : writtenCalls(scan, reply, { tools, notes })
  const calls = native.length > 0 ? native : written
  const reasoningParts = [reply.reasoning, scan.reasoning]
  if (calls.length > 0) {
    if (scan.answer !== null && scan.answer !== "") notes.push("an answer beside a call was dropped: it was written before the result was seen")
    return { reading: { type: "action", text: scan.prose, calls }, reasoning: joined(reasoningParts), notes }
  }
  const problem = problemOf(scan, reply, tools)
  if (problem !== null) return { reading: { type: "unknown", text: scan.answer ?? scan.prose, feedback: feedbackOn(problem, tools) }, reasoning: joined(reasoningParts), notes }
  return { reading: { type: "final", text: scan.answer ?? scan.text }, reasoning: joined([...reasoningParts, scan.thoughts]), notes }
}

/** The common case of function calling: calls and nothing else. */
function nativeOnly(reply: ModelReply, tools: readonly ToolSpec[]): ReplyReading {
  const notes: string[] = []
  return { reading: { type: "action", text: "", calls: nativeCalls(reply, tools, notes) }, reasoning: joined([reply.reasoning]), notes }
}

function nativeCalls(reply: ModelReply, tools: readonly ToolSpec[], notes: string[]): readonly ToolCall[] {
  const seen = new Set<string>()
  const calls: ToolCall[] = []
  for (const call of reply.calls) {
    const key = reply.calls.length === 1 ? "" : JSON.stringify([call.id, call.name, call.arguments])
    if (call.id !== "" && seen.has(key)) {
      notes.push(`a second copy of the call ${call.id} was dropped`)
      continue
    }
    seen.add(key)
    calls.push(named(call, tools, notes))
  }
  if (calls.length > 0 && reply.finish !== "tool_calls") notes.push(`calls came with the finish reason ${reply.finish}`)
  return calls
}

function named(call: ToolCall, tools: readonly ToolSpec[], notes: string[]): ToolCall {
  const name = resolved(call.name, tools, notes)
  return name === call.name ? call : { ...call, name }
}

function writtenCalls(scan: Scan, reply: ModelReply, { tools, notes }: { tools: readonly ToolSpec[]; notes: string[] }): readonly ToolCall[] {
  const whole = reply.finish === "length" ? scan.calls.filter((call) => call.open !== true) : scan.calls
  if (whole.length < scan.calls.length) notes.push("a call that may have been cut off by the output limit was dropped")
  if (whole.length > 0) notes.push(whole.length === 1 ? "a tool call was read from the text" : `${whole.length} tool calls were read from the text`)
  return whole.map((call) => ({ id: "", name: resolved(call.name, tools, notes), arguments: call.arguments }))
}

function resolved(written: string, tools: readonly ToolSpec[], notes: string[]): string {
  const name = toolNamed(written, tools)?.name ?? written
  if (name !== written) notes.push(`tool name ${JSON.stringify(written.slice(0, 100))} was read as ${name}`)
  return name
}

type Fault = Problem | "cut_off" | "empty" | "reasoning_only" | "announced" | "unlabelled"

function problemOf(scan: Scan, reply: ModelReply, tools: readonly ToolSpec[]): Fault | null {
  const text = scan.answer ?? scan.text
  if (reply.cutCall !== undefined) return "cut"
  if (reply.finish === "length") return scan.problem === "cut" || scan.calls.length > 0 ? "cut" : text === "" && scan.problem === null ? "reasoning_only" : "cut_off"
  if (scan.problem !== null && !(scan.problem === "no_action" && text !== "" && scan.answer !== null)) return scan.problem
  if (text !== "" && reply.labelled === true && scan.answer === null) return "unlabelled"
  if (text !== "") return scan.answer === null && isAnnouncement(text, tools) ? "announced" : null
  return scan.prose !== "" ? "no_action" : scan.reasoning + reply.reasoning.trim() === "" ? "empty" : "reasoning_only"
}

function isAnnouncement(text: string, tools: readonly ToolSpec[]): boolean {
  if (text.length > LONGEST_ANNOUNCEMENT || !ANNOUNCEMENT.test(text) || /[.!?:。！？：]\s*\S/.test(text)) return false
  const spoken = text.toLowerCase()
  return tools.some(({ name }) => {
    const lower = name.toLowerCase()
    const forms = [`\`${lower}\``, `${lower} tool`, `${lower} function`, `tool ${lower}`, `${lower}工具`, `${lower} 工具`, `工具${lower}`, `工具 ${lower}`]
    return forms.some((form) => spoken.includes(form)) || (lower.includes("_") && spoken.includes(lower))
  })
}

/** What is wrong, then the format that is wanted. Goes to the model as it stands. */
function feedbackOn(fault: Fault, tools: readonly ToolSpec[]): string {
  // no placeholders in angle brackets: small models copy them
  const answer = "To answer, begin with the label:\nFinal Answer:"
  const [first] = tools
  if (first === undefined) return `${FAULTS[fault]}\n${answer}`
  const names = tools.slice(0, NAMES_SHOWN).map((tool) => tool.name)
  const rest = tools.length > NAMES_SHOWN ? ` and ${tools.length - NAMES_SHOWN} more` : ""
  const sample = JSON.stringify(first.examples[0] ?? exampleOf(first.schema) ?? {})
  return `${FAULTS[fault]}\nTools: ${names.join(", ")}${rest}. To use one, call it, or write two lines such as:\nAction: ${first.name}\nAction Input: ${sample}\n${answer}`
}

const FAULTS: { readonly [fault in Fault]: string } = {
  empty: "Your reply was empty.",
  reasoning_only: "Your reply held only reasoning, no answer and no tool call.",
  cut_off: "Your reply was cut off by the output limit. Answer again, shorter.",
  cut: "Your tool call was cut off before its end and was not run. Write it again, whole and shorter, with every bracket and quote closed.",
  unreadable: "Your reply has the markup of a tool call but no call that can be read. Nothing was run.",
  nameless: "Your tool call does not say which tool to use: the name must be exactly one of the tools. Nothing was run.",
  invented: "You wrote a tool result yourself. Results come only from tools; what you wrote was dropped.",
  no_action: "Your reply has neither a tool call nor a final answer.",
  unlabelled: "Your reply has no label, so it is neither a tool call nor an answer.",
  announced: "You announced a tool call but did not make it. Nothing was run.",
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part.trim() !== "").join("\n")
}
