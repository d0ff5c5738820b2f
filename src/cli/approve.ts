// `hello-agents approve`: answers what a run asks, from any terminal or script, and goes on with it.
// How a person is asked stands in ask-person.ts; a run is taken up again as in resume.ts.
import type { Command } from "commander"
import { waitingFor } from "../doors/runs.ts"
import type { Answer, Waiting } from "../index.ts"
import type { PersonSays } from "./ask-person.ts"
import { askPerson, askYesOrNo } from "./ask-person.ts"
import { commandLine } from "./command-line.ts"
import { drive, goOn, storedRun } from "./drive.ts"
import { EXIT } from "./exit-codes.ts"
import { UsageError } from "./failure.ts"
import { findRun } from "./find-run.ts"
import type { Interrupt } from "./interrupt.ts"
import { cancelOnSignals } from "./interrupt.ts"
import type { Question, StoredRun } from "./questions.ts"
import { describe, exactJson, listQuestions, parsed } from "./questions.ts"
import { reportEnd } from "./report.ts"
import type { Prepared, RunFlags } from "./run-options.ts"
import { announce, prepareRun, withRunOptions } from "./run-options.ts"
import type { Shell } from "./shell.ts"
import { speakTalk } from "./talk-texts.ts"

interface ApproveFlags extends RunFlags {
  readonly reject?: string
  readonly edit?: string
  readonly retry?: boolean
  readonly happened?: string
  readonly didNotHappen?: boolean
  readonly reply?: string
  readonly yes?: boolean
}

const ANSWER_OPTIONS = {
  reject: "--reject",
  edit: "--edit",
  retry: "--retry",
  happened: "--happened",
  didNotHappen: "--did-not-happen",
  reply: "--reply",
} as const
type AnswerOption = keyof typeof ANSWER_OPTIONS

/** Which answers fit which question. */
const FITTING: Readonly<Record<Waiting["reason"], readonly AnswerOption[]>> = {
  approval: ["reject", "edit"],
  unfinished: ["retry", "didNotHappen", "happened"],
  input: ["reply", "reject"],
  step: [],
}

export function registerApprove(program: Command, shell: () => Shell): void {
  const { say, language } = shell()
  const tell = speakTalk(language)
  const command = program.command("approve").description(tell("approveAbout")).argument("<run>", tell("runArgument")).argument("[question]", tell("questionArgument"))
  command
    .option("--reject <reason>", tell("rejectOption"))
    .option("--edit <json>", tell("editOption"))
    .option("--retry", tell("retryOption"))
    .option("--happened <result>", tell("happenedOption"))
    .option("--did-not-happen", tell("didNotHappenOption"))
    .option("--reply <text>", tell("replyOption"))
    .option("-y, --yes", tell("yesOption"))
  withRunOptions(command, shell())
    .option("--json", say("jsonOption"))
    .option("--jsonl", say("jsonlOption"))
    .action(async (run: string, question: string | undefined, flags: ApproveFlags) => {
      process.exitCode = await answerRun({ run, question }, flags, shell())
    })
}

async function answerRun(asked: { run: string; question: string | undefined }, flags: ApproveFlags, shell: Shell): Promise<number> {
  const prepared = await prepareRun(flags, shell)
  const { output, say, store, tell } = prepared
  const option = chosenOption(flags, prepared)
  const before = await storedRun(prepared, await findRun(store, asked.run, tell))
  const question = { state: before, waiting: pickQuestion(before, asked.question, prepared) }
  const interrupt = cancelOnSignals(() => output.error(output.yellow(say("cancelling"))))
  try {
    const said = await chooseAnswer(question, { option, flags, prepared, interrupt })
    if (said.type !== "answers") {
      output.error(tell("stillOpen"))
      return said.type === "interrupted" ? EXIT.interrupted : EXIT.waiting
    }
    announce(prepared)
    const live = goOn(before.runId, prepared, { interrupt, answers: said.answers })
    return await reportEnd(await drive(live, prepared, { interrupt, before }), prepared, interrupt)
  } finally {
    interrupt.release()
  }
}

/** The question that is meant. @throws UsageError where that is not clear. */
function pickQuestion(state: StoredRun, asked: string | undefined, { tell, output, flags }: Prepared): Waiting {
  const { runId: run, status } = state
  if (status.type === "stopped") throw new UsageError(tell("waitsForNothing", { run, reason: status.stop.reason }))
  const open = waitingFor(state)
  const [first, second] = open
  if (first === undefined) throw new UsageError(tell("notWaiting", { run }), tell("threadBusyHint", { command: commandLine(["resume", run], flags) }))
  if (asked === undefined) {
    if (second === undefined) return first
    for (const line of listQuestions(state, open, { tell, output, flags })) output.error(line)
    throw new UsageError(tell("severalQuestions", { run, count: open.length }))
  }
  const found = open.find(({ id }) => id === asked)
  if (found !== undefined) return found
  throw new UsageError(tell("unknownQuestion", { run, question: asked }), tell("openQuestions", { questions: open.map(({ id }) => id).join(", ") }))
}

interface Choice {
  readonly option: AnswerOption | null
  readonly flags: ApproveFlags
  readonly prepared: Prepared
  readonly interrupt: Interrupt
}

/** Shows what will happen first; at a terminal nothing is answered without a yes. */
async function chooseAnswer(question: Question, { option, flags, prepared, interrupt }: Choice): Promise<PersonSays> {
  const { person, output, tell } = prepared
  const { waiting } = question
  const agrees = option === null && waiting.reason === "approval" && (person === null || flags.yes === true)
  if (option === null && !agrees) {
    if (person === null || flags.yes === true) throw unanswered(question, prepared)
    return askPerson(question, { ...prepared, person, signal: interrupt.signal })
  }
  const answer: Answer = option === null ? { id: waiting.id, type: "approve" } : toAnswer(waiting, option, { flags, prepared })
  for (const line of describe(question, prepared)) output.error(line)
  if (option !== null) output.error(`    ${tell("thisAnswer", { answer: `${ANSWER_OPTIONS[option]}${shownValue(answer)}` })}`)
  if (person === null || flags.yes === true) return { type: "answers", answers: [answer] }
  const isSure = await askYesOrNo({ ...prepared, person, signal: interrupt.signal })
  if (typeof isSure !== "boolean") return isSure
  return isSure ? { type: "answers", answers: [answer] } : { type: "ended" }
}

function unanswered(question: Question, prepared: Prepared): UsageError {
  const { tell, output } = prepared
  for (const line of listQuestions(question.state, [question.waiting], prepared)) output.error(line)
  return new UsageError(tell("answerMissing", { question: question.waiting.id }))
}

/** At most one. */
function chosenOption(flags: ApproveFlags, { tell }: Prepared): AnswerOption | null {
  const given = (Object.keys(ANSWER_OPTIONS) as AnswerOption[]).filter((name) => flags[name] !== undefined)
  if (given.length > 1) throw new UsageError(tell("oneAnswer", { options: given.map((name) => ANSWER_OPTIONS[name]).join(", ") }))
  return given[0] ?? null
}

function toAnswer({ id, reason }: Waiting, option: AnswerOption, { flags, prepared }: Pick<Choice, "flags" | "prepared">): Answer {
  const { tell } = prepared
  const fitting = FITTING[reason]
  if (!fitting.includes(option)) {
    const hint = fitting.length > 0 ? tell("answersThatFit", { options: fitting.map((name) => ANSWER_OPTIONS[name]).join(", ") }) : ""
    throw new UsageError(tell("doesNotFit", { option: ANSWER_OPTIONS[option], question: id }), hint)
  }
  switch (option) {
    case "reject":
      return { id, type: "reject", reason: flags.reject?.trim() || tell("noReason") }
    case "edit":
      return { id, type: "approve", arguments: readJson(flags.edit ?? "", prepared) }
    case "retry":
      return { id, type: "retry" }
    case "happened":
      return { id, type: "happened", result: parsed(flags.happened) }
    case "didNotHappen":
      return { id, type: "did_not_happen" }
    case "reply":
      return { id, type: "reply", value: flags.reply ?? "" }
    default:
      return option satisfies never
  }
}

function readJson(text: string, { tell }: Prepared): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UsageError(`--edit: ${tell("notJson", { message: error instanceof Error ? error.message : "" })}`)
  }
}

function shownValue(answer: Answer): string {
  switch (answer.type) {
    case "approve":
      return ` ${exactJson(answer.arguments)}`
    case "reject":
      return ` ${exactJson(answer.reason)}`
    case "happened":
      return ` ${exactJson(answer.result)}`
    case "reply":
      return ` ${exactJson(answer.value)}`
    default:
      return ""
  }
}
