// `hello-agents resume`: takes a stored run up again with the same agent, and says clearly why not where there is nothing to go on with.
import type { Command } from "commander"
import type { Answer, StopReason } from "../index.ts"
import { commandLine } from "./command-line.ts"
import { drive, goOn, storedRun } from "./drive.ts"
import { EXIT } from "./exit-codes.ts"
import { UsageError } from "./failure.ts"
import { findRun } from "./find-run.ts"
import { cancelOnSignals } from "./interrupt.ts"
import type { StoredRun } from "./questions.ts"
import { reportEnd } from "./report.ts"
import type { Prepared, RunFlags } from "./run-options.ts"
import { announce, prepareRun, withRunOptions } from "./run-options.ts"
import type { Shell } from "./shell.ts"
import { speakTalk } from "./talk-texts.ts"

interface ResumeFlags extends RunFlags {
  readonly message?: string
  readonly step?: boolean
  readonly continue?: boolean
}

/** The id of the question that step mode asks (contract/answer.ts: `step`, `continue`). */
const STEP = "step"
/** After these ends there is nothing to go on with. */
const FOR_GOOD: ReadonlySet<StopReason> = new Set(["final", "guardrail", "fatal_tool_error"])

export function registerResume(program: Command, shell: () => Shell): void {
  const { say, language } = shell()
  const tell = speakTalk(language)
  withRunOptions(program.command("resume").description(tell("resumeAbout")).argument("<run>", tell("runArgument")), shell())
    .option("--message <text>", tell("messageOption"))
    .option("--step", tell("resumeStepOption"))
    .option("--continue", tell("resumeContinueOption"))
    .option("--json", say("jsonOption"))
    .option("--jsonl", say("jsonlOption"))
    .action(async (run: string, flags: ResumeFlags) => {
      process.exitCode = await takeUp(run, flags, shell())
    })
}

async function takeUp(asked: string, flags: ResumeFlags, shell: Shell): Promise<number> {
  const prepared = await prepareRun(flags, shell)
  const { output, say, store, tell } = prepared
  const runId = await findRun(store, asked, tell)
  const before = await storedRun(prepared, runId)
  const code = explainEnd(before, flags, prepared)
  if (code !== null) return code
  const answers = stepAnswers(before, flags, prepared)
  const isOver = before.status.type === "stopped" && FOR_GOOD.has(before.status.stop.reason)
  if (!isOver) announce(prepared)
  const interrupt = cancelOnSignals(() => output.error(output.yellow(say("cancelling"))))
  try {
    const live = goOn(runId, prepared, { interrupt, answers, input: flags.message })
    return await reportEnd(await drive(live, prepared, { interrupt, before }), prepared, interrupt)
  } finally {
    interrupt.release()
  }
}

/** Says what a person has to know of a run that has ended. A code: there is nothing more to do. */
function explainEnd({ status, runId }: StoredRun, flags: ResumeFlags, { output, tell, flagged }: Prepared): number | null {
  if (status.type !== "stopped") return null
  const { reason, message, code } = status.stop
  if ((reason === "max_turns" || reason === "budget") && flagged === undefined) {
    const option = reason === "max_turns" ? "--max-turns" : code === "ms" ? "--max-seconds" : `--max-${code}`
    output.error(output.red(tell("usedUp", { run: runId, reason, message })))
    output.error(`  ${tell("usedUpHint", { command: `${commandLine(["resume", runId], flags)} ${option} N` })}`)
    return EXIT.limit
  }
  if (FOR_GOOD.has(reason) && flags.message === undefined && flagged === undefined) {
    output.progress(output.yellow(tell("hadEnded", { run: runId, reason })))
    output.progress(`  ${tell("forkHint", { command: commandLine(["fork", runId], flags, { agent: false }) })}`)
  }
  return null
}

/** With a person at the terminal, `--step` is step mode, which asks; else it is one step. */
function stepAnswers(state: StoredRun, flags: ResumeFlags, { tell, person }: Prepared): readonly Answer[] {
  if (flags.step !== true && flags.continue !== true) return []
  if (flags.step === true && flags.continue === true) throw new UsageError(tell("stepOrContinue"))
  if (state.step === "off") throw new UsageError(tell("notStepped", { run: state.runId }))
  const isAtStep = state.status.type === "paused" && state.status.waiting.some(({ id }) => id === STEP)
  if (flags.step === true) return isAtStep && person === null ? [{ id: STEP, type: "step" }] : []
  if (!isAtStep) throw new UsageError(tell("notAtStep", { run: state.runId }))
  return [{ id: STEP, type: "continue" }]
}
