// What a run asks, as a person reads it: what exactly will run, and the exact commands that answer. Used before asking and wherever nobody is there.
import type { foldEvents } from "../doors/runs.ts"
import { oneLine } from "../doors/trace.ts"
import type { Message, Waiting } from "../index.ts"
import { commandLine } from "./command-line.ts"
import type { Prepared } from "./run-options.ts"

/** A run as its log tells it. */
export type StoredRun = NonNullable<ReturnType<typeof foldEvents>>
/** `state`: of the run that asks; a step says only there what is next. */
export interface Question {
  readonly state: StoredRun
  readonly waiting: Waiting
}
type Asker = Pick<Prepared, "flags" | "tell" | "output">
type Call = Extract<StoredRun["phase"], { type: "tools" }>["calls"][number]

const LINE_CHARS = 100
/** Controls, and everything that is not seen or turns the direction of a line: shown as written, for a person decides by what is seen. */
const UNSEEN = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

/** JSON that says exactly what it is: still the same JSON, with nothing hidden in it. */
export function exactJson(value: unknown, indent = 0): string {
  const text = JSON.stringify(value, null, indent) ?? "null"
  return text.replace(UNSEEN, (character) => (character === "\n" ? "\n" : escaped(character)))
}

function escaped(character: string): string {
  return [...Array(character.length).keys()].map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`).join("")
}

/** The first line names the question by its id. */
export function describe(question: Question, { tell, output }: Asker): readonly string[] {
  const { waiting, state } = question
  const head = (text: string): string => `${output.yellow("?")} ${output.bold(waiting.id)}  ${text}`
  switch (waiting.reason) {
    case "approval":
      return [head(tell("wantsToRun", { tool: waiting.tool })), ...json(waiting.arguments), ...timeLeft(waiting.expiresAt, tell)]
    case "unfinished":
      return [head(tell("wasUnderWay", { tool: waiting.tool })), ...json(parsed(waiting.arguments)), `    ${tell("itsKey", { key: waiting.idempotencyKey })}`]
    case "input":
      return [head(tell("asks", { question: oneLine(waiting.question) }))]
    case "step":
      return describeStep(state, { head, tell })
    default:
      return waiting satisfies never
  }
}

function describeStep(state: StoredRun, { head, tell }: { head: (text: string) => string; tell: Asker["tell"] }): readonly string[] {
  const next = nextCall(state)
  if (next !== null) return [head(tell("nextTool", { tool: next.call.name, id: next.call.id })), ...json(parsed(next.call.arguments))]
  const last = state.messages.at(-1)
  const said = last === undefined ? [] : [`    ${tell("lastMessage", { role: last.role, text: oneLine(textOf(last), LINE_CHARS) })}`]
  return [head(tell("nextModel", { turn: state.turn + 1, count: state.messages.length })), ...said]
}

/** The call that the next step runs; null: it asks the model. */
export function nextCall(state: StoredRun): Call | null {
  if (state.phase.type !== "tools") return null
  const runs = ({ stage, hints }: Call): boolean => stage.type === "ready" || (stage.type === "started" && (hints.readOnly === true || hints.idempotent === true))
  return state.phase.calls.find(runs) ?? null
}

function textOf({ content }: Message): string {
  return typeof content === "string" ? content : content.map((part) => (part.type === "text" ? part.text : "…")).join("")
}

function json(value: unknown): readonly string[] {
  const line = exactJson(value)
  return (line.length <= LINE_CHARS ? [line] : exactJson(value, 2).split("\n")).map((text) => `    ${text}`)
}

/** A call's arguments are text, which a model may have written badly. */
export function parsed(text: unknown): unknown {
  if (typeof text !== "string") return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function timeLeft(expiresAt: number | null, tell: Asker["tell"]): readonly string[] {
  if (expiresAt === null) return []
  const time = `${new Date(expiresAt).toISOString().slice(0, 16).replace("T", " ")} UTC`
  return [`    ${tell(Date.now() > expiresAt ? "timeIsUp" : "openUntil", { time })}`]
}

/** Each question with the commands that answer it. */
export function listQuestions(state: StoredRun, waiting: readonly Waiting[], asker: Asker): readonly string[] {
  const { tell, output } = asker
  const lines = waiting.flatMap((one) => [...describe({ state, waiting: one }, asker), ...ways(state.runId, one, asker)])
  return [output.yellow(tell("waitsHead", { run: state.runId })), ...lines]
}

function ways(runId: string, { id, reason }: Waiting, { flags, tell, output }: Asker): readonly string[] {
  const way = (what: Parameters<typeof tell>[0], words: readonly string[]): readonly string[] => [`    ${output.dim(tell(what))}`, `      ${commandLine(words, flags)}`]
  const approve = ["approve", runId, id]
  switch (reason) {
    case "approval":
      return [...way("toApprove", approve), ...way("toReject", [...approve, "--reject", "REASON"])]
    case "unfinished":
      return [...way("toRetry", [...approve, "--retry"]), ...way("toNotHappened", [...approve, "--did-not-happen"]), ...way("toHappened", [...approve, "--happened", "RESULT"])]
    case "input":
      return way("toReply", [...approve, "--reply", "TEXT"])
    case "step":
      return [...way("toStep", ["resume", runId, "--step"]), ...way("toContinue", ["resume", runId, "--continue"])]
    default:
      return reason satisfies never
  }
}
