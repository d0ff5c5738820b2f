// Asks a person at the terminal what a run asks, and turns the words into an answer. Nothing is ever taken for granted: an unclear word is asked again.
// Called by drive.ts and approve.ts; how a question reads stands in questions.ts.
import type { Answer } from "../index.ts"
import type { Heard, Person } from "./person.ts"
import type { Question } from "./questions.ts"
import { describe, exactJson, nextCall, parsed } from "./questions.ts"
import type { Prepared } from "./run-options.ts"
import type { SpeakTalk } from "./talk-texts.ts"

export type PersonSays =
  | { readonly type: "answers"; readonly answers: readonly Answer[] }
  /** Left open: by Ctrl-C, or because the terminal has ended. */
  | { readonly type: "interrupted" | "ended" }

export interface Asking extends Pick<Prepared, "flags" | "tell" | "output"> {
  readonly person: Person
  readonly signal: AbortSignal
}
type Left = Exclude<PersonSays, { type: "answers" }>
type Told<T> = { readonly type: "told"; readonly value: T } | Left

export async function askPerson(question: Question, asking: Asking): Promise<PersonSays> {
  for (const line of describe(question, asking)) asking.output.error(line)
  const { waiting } = question
  switch (waiting.reason) {
    case "approval":
      return askApproval(waiting, asking)
    case "unfinished":
      return askUnfinished(waiting.id, asking)
    case "input":
      return answering(await askText("askReply", asking), (value) => [{ id: waiting.id, type: "reply", value }])
    case "step":
      return askStep(question, asking)
    default:
      return waiting satisfies never
  }
}

async function askApproval(waiting: { readonly id: string; readonly arguments: unknown }, asking: Asking): Promise<PersonSays> {
  const { id } = waiting
  let edited: unknown
  for (;;) {
    const word = await askKey("askApproval", { keys: APPROVAL_KEYS, again: "askApprovalAgain" }, asking)
    if (word.type !== "told") return word
    const { key, rest } = word.value
    if (key === "y") return answers({ id, type: "approve", ...(edited !== undefined && { arguments: edited }) })
    if (key === "n") {
      const reason = rest === "" ? await askReason(asking) : ({ type: "told", value: rest } as const)
      return answering(reason, (text) => [{ id, type: "reject", reason: text }])
    }
    const wanted = await askArguments(edited ?? waiting.arguments, asking)
    if (wanted.type !== "told") return wanted
    edited = wanted.value
  }
}

async function askReason(asking: Asking): Promise<Told<string>> {
  const heard = await decide("askReason", asking)
  return heard.type === "line" ? { type: "told", value: heard.text.trim() || asking.tell("noReason") } : heard
}

async function askUnfinished(id: string, asking: Asking): Promise<PersonSays> {
  const word = await askKey("askUnfinished", { keys: { r: [], d: [], h: [] }, again: "askUnfinishedAgain" }, asking)
  if (word.type !== "told") return word
  switch (word.value.key) {
    case "r":
      return answers({ id, type: "retry" })
    case "d":
      return answers({ id, type: "did_not_happen" })
    default:
      return answering(await askText("askHappened", asking), (text) => [{ id, type: "happened", result: parsed(text) }])
  }
}

async function askStep({ waiting, state }: Question, asking: Asking): Promise<PersonSays> {
  const next = nextCall(state)
  const canEdit = next !== null && next.stage.type === "ready"
  const keys = { s: [], c: [], ...(canEdit && { e: [] }), q: [] }
  let edit: readonly Answer[] = []
  let current = parsed(next?.call.arguments)
  for (;;) {
    const word = await askKey(canEdit ? "askStepTool" : "askStepModel", { keys, again: "askStepAgain" }, asking)
    if (word.type !== "told") return word
    const { key } = word.value
    if (key === "e" && next !== null) {
      const wanted = await askArguments(current, asking)
      if (wanted.type !== "told") return wanted
      current = wanted.value
      edit = [{ id: next.call.id, type: "approve", arguments: current }]
    } else return answers(...(key === "q" ? [] : edit), { id: waiting.id, type: key === "s" ? "step" : key === "c" ? "continue" : "stop" })
  }
}

/** Asks until it is JSON; shows what came of it. */
async function askArguments(before: unknown, asking: Asking): Promise<Told<unknown>> {
  const { tell, output } = asking
  let text = exactJson(before)
  for (;;) {
    const heard = await decide("askArguments", asking, text)
    if (heard.type !== "line") return heard
    text = heard.text
    try {
      const value: unknown = JSON.parse(text)
      output.error(`  ${tell("editedTo")} ${exactJson(value)}`)
      return { type: "told", value }
    } catch (error) {
      output.error(`  ${output.yellow(tell("notJson", { message: error instanceof Error ? error.message : "" }))}`)
    }
  }
}

/** Only a clear yes is a yes. */
export async function askYesOrNo(asking: Asking): Promise<boolean | Left> {
  const word = await askKey("askSend", { keys: YES_OR_NO, again: "askSendAgain" }, asking)
  return word.type === "told" ? word.value.key === "y" : word
}

const YES_OR_NO = { y: ["yes", "是"], n: ["no", "否"] }
const APPROVAL_KEYS = { ...YES_OR_NO, e: ["edit"] }

type Key = Parameters<SpeakTalk>[0]
interface Keys {
  /** Key, and other words for it. */
  readonly keys: Readonly<Record<string, readonly string[]>>
  readonly again: Key
}

/** The key that was chosen, and what was written after it. */
async function askKey(question: Key, { keys, again }: Keys, asking: Asking): Promise<Told<{ key: string; rest: string }>> {
  const { tell, output } = asking
  for (;;) {
    const heard = await decide(question, asking)
    if (heard.type !== "line") return heard
    const [word = "", ...rest] = heard.text.trim().split(/\s+/)
    const found = Object.entries(keys).find(([key, others]) => [key, ...others].includes(word.toLowerCase()))
    if (found !== undefined) return { type: "told", value: { key: found[0], rest: rest.join(" ") } }
    output.error(`  ${output.yellow(tell(again, { keys: Object.keys(keys).join(", ") }))}`)
  }
}

async function askText(question: Key, asking: Asking): Promise<Told<string>> {
  for (;;) {
    const heard = await decide(question, asking)
    if (heard.type !== "line") return heard
    if (heard.text.trim() !== "") return { type: "told", value: heard.text }
  }
}

function decide(question: Key, { tell, person, signal }: Asking, prefill = ""): Promise<Heard> {
  return person.decide(`  ${tell(question)}`, { prefill, signal })
}

function answers(...given: readonly Answer[]): PersonSays {
  return { type: "answers", answers: given }
}

function answering<T>(told: Told<T>, toAnswers: (value: T) => readonly Answer[]): PersonSays {
  return told.type === "told" ? answers(...toAnswers(told.value)) : told
}
