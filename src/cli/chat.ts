// `hello-agents chat`: several turns with an agent, kept as a thread. At a terminal for a person, from a pipe line by line.
// One turn is one run, driven as in `run`; what a turn asks is asked in between.
import type { Command } from "commander"
import { cancel, foldEvents, threadRuns } from "../doors/runs.ts"
import { stream } from "../index.ts"
import type { ChatCommand } from "./chat-commands.ts"
import { readCommand, showHelp, showTools, showTrace } from "./chat-commands.ts"
import { chatInput } from "./chat-input.ts"
import { commandLine } from "./command-line.ts"
import type { AnyRun, Driven } from "./drive.ts"
import { drive, goOn } from "./drive.ts"
import { EXIT, exitCodeOf } from "./exit-codes.ts"
import { UsageError } from "./failure.ts"
import type { Interrupt } from "./interrupt.ts"
import { cancelOnSignals } from "./interrupt.ts"
import type { StoredRun } from "./questions.ts"
import { reportNoAnswer, reportTotals, writeAnswer } from "./report.ts"
import type { Prepared, RunFlags } from "./run-options.ts"
import { announce, prepareRun, withRunOptions } from "./run-options.ts"
import type { Shell } from "./shell.ts"
import { speakTalk } from "./talk-texts.ts"

interface ChatFlags extends RunFlags {
  readonly thread?: string
  readonly step?: boolean
}

/** In a chat Ctrl-C is pressed twice easily; only the third leaves a turn that does not end. */
const LEAVE_AT = 3

export function registerChat(program: Command, shell: () => Shell): void {
  const tell = speakTalk(shell().language)
  withRunOptions(program.command("chat").description(tell("chatAbout")), shell())
    .option("--thread <name>", tell("threadOption"))
    .option("--step", tell("stepOption"))
    .action(async (flags: ChatFlags) => {
      process.exitCode = await chat(flags, shell())
    })
}

/** Where a chat stands. */
interface Talk {
  readonly prepared: Prepared
  readonly step: boolean
  thread: string
  lastRun: string | null
  /** The code of the last turn that had no answer; 0: all had one. */
  code: number
}

async function chat(flags: ChatFlags, shell: Shell): Promise<number> {
  const prepared = await prepareRun(flags, shell)
  const { output, tell, person } = prepared
  const talk: Talk = { prepared, step: flags.step ?? prepared.step, thread: flags.thread ?? newThread(), lastRun: null, code: EXIT.ok }
  announce(prepared)
  const waiting = await beginThread(talk)
  if (person !== null) output.progress(output.dim(tell("chatWelcome")))
  if (waiting !== null && !(await goOnWith(talk, waiting))) return talk.code
  const input = chatInput(person, output.progress)
  let isLeaving = false
  for (;;) {
    if (person !== null) output.progress("")
    const heard = await input.next(output.bold(tell("you")))
    if (heard.type === "ended") return endCode(talk)
    if (heard.type === "interrupted") {
      if (isLeaving) return endCode(talk)
      isLeaving = true
      output.error(output.dim(tell("leaveHint")))
      continue
    }
    isLeaving = false
    if (heard.text.trim() === "") continue
    const asked = readCommand(heard.text)
    if (asked === null) {
      if (!(await takeTurn(talk, heard.text))) return talk.code
    } else if (asked.command === "/exit") return endCode(talk)
    else if (asked.command === null) output.error(tell("unknownCommand", { command: asked.written }))
    else await obey(asked.command, talk)
  }
}

/** A person has seen what went wrong and went on; a script has to be told at the end. */
function endCode({ prepared, code }: Talk): number {
  return prepared.person === null ? code : EXIT.ok
}

/** Names the conversation. Gives back its last run if that waits for a person. @throws UsageError if that has not ended. */
async function beginThread(talk: Talk): Promise<StoredRun | null> {
  const { thread, prepared } = talk
  const { store, output, tell, flags } = prepared
  const runId = (await threadRuns(store, thread)).at(-1)
  const last = runId === undefined ? null : foldEvents(await store.read(runId))
  output.progress(output.bold(last === null ? tell("threadNew", { thread }) : tell("threadOn", { thread, count: last.messages.length })))
  if (last === null) return null
  talk.lastRun = last.runId
  if (last.status.type === "stopped") return null
  if (last.status.type === "paused") return last
  throw new UsageError(tell("threadBusy", { thread }), tell("threadBusyHint", { command: commandLine(["resume", last.runId], flags) }))
}

async function obey(command: Exclude<ChatCommand, "/exit">, talk: Talk): Promise<void> {
  const { prepared } = talk
  switch (command) {
    case "/help":
      return showHelp(prepared)
    case "/tools":
      return showTools(prepared)
    case "/trace":
      return showTrace(talk.lastRun, prepared)
    case "/new":
      talk.thread = newThread()
      talk.lastRun = null
      await beginThread(talk)
      return
    default:
      command satisfies never
  }
}

function takeTurn(talk: Talk, text: string): Promise<boolean> {
  const { prepared, step, thread } = talk
  const { agent, store, limits, chosen, settings } = prepared
  return turn(talk, ({ signal }) => stream(agent, text, { store, signal, limits, model: chosen.models, settings, step, thread: { id: thread, whenBusy: "refuse" } }))
}

function goOnWith(talk: Talk, before: StoredRun): Promise<boolean> {
  return turn(talk, (interrupt) => goOn(before.runId, talk.prepared, { interrupt }), before)
}

/** One turn to its end. false: the chat cannot go on, and `talk.code` says how. */
async function turn(talk: Talk, begin: (interrupt: Interrupt) => AnyRun, before?: StoredRun): Promise<boolean> {
  const { prepared } = talk
  const { output, say } = prepared
  const interrupt = cancelOnSignals(() => output.error(output.yellow(say("cancellingTurn"))), prepared.person === null ? undefined : LEAVE_AT)
  try {
    const live = begin(interrupt)
    talk.lastRun = live.runId
    return await endTurn(await drive(live, prepared, { interrupt, before }), talk, interrupt)
  } finally {
    interrupt.release()
  }
}

async function endTurn(driven: Driven, talk: Talk, interrupt: Interrupt): Promise<boolean> {
  const { prepared } = talk
  const { output, say, store, tell, person } = prepared
  const { result, left } = driven
  if (left === "interrupted" && interrupt.code() !== EXIT.terminated) {
    await cancel(store, result.runId, "by Ctrl-C")
    output.error(tell("turnCancelled"))
    return true
  }
  const written = result.ok ? await writeAnswer(driven, prepared) : true
  const isCancelled = person !== null && interrupt.code() === EXIT.interrupted && result.status === "stopped"
  if (isCancelled) output.error(output.yellow(tell("turnEnded")))
  else if (!result.ok) await reportNoAnswer(driven, prepared)
  reportTotals(driven, prepared)
  if (!result.ok) talk.code = exitCodeOf(result)
  if (!written) {
    output.error(say("pipeClosed"))
    talk.code = EXIT.failed
    return false
  }
  const code = interrupt.code()
  if (code === EXIT.terminated || (code !== null && person === null)) {
    talk.code = code
    return false
  }
  return result.status !== "waiting"
}

/** By the time, to the second, and a little chance: chats that begin at the same time are not one. */
function newThread(): string {
  const time = new Date().toISOString().slice(0, 19).replaceAll(":", "").replace("T", "-")
  return `chat-${time}-${Math.random().toString(36).slice(2, 5)}`
}
