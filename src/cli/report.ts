// What is printed when a run has ended or waits: the answer on stdout, everything else on stderr. Used by run, resume and approve; chat uses parts.
import { commandLine } from "./command-line.ts"
import type { AnyResult, Driven } from "./drive.ts"
import { storedRun } from "./drive.ts"
import { EXIT, exitCodeOf } from "./exit-codes.ts"
import type { Interrupt } from "./interrupt.ts"
import { printable } from "./live-text.ts"
import { listQuestions } from "./questions.ts"
import type { Prepared } from "./run-options.ts"

/** Prints the end, and gives the exit code. */
export async function reportEnd(driven: Driven, prepared: Prepared, interrupt: Interrupt): Promise<number> {
  const { output, say } = prepared
  const { result } = driven
  const written = await writeResult(driven, prepared)
  reportTotals(driven, prepared)
  output.progress(output.dim(say("traceLine", { command: commandLine(["trace", "show", result.runId], prepared.flags, { agent: false }) })))
  if (!written) {
    output.error(say("pipeClosed"))
    return EXIT.failed
  }
  return interrupt.code() ?? (driven.left === "interrupted" ? EXIT.interrupted : exitCodeOf(result))
}

/** Writes the data, and why there is none; false if stdout was closed. */
async function writeResult(driven: Driven, prepared: Prepared): Promise<boolean> {
  const { flags, agent, output } = prepared
  const { result } = driven
  if (flags.jsonl === true) return output.data(JSON.stringify({ type: "result", ...summary(result, prepared) }))
  if (flags.json === true) return output.data(JSON.stringify({ ...summary(result, prepared), agent: agent.name }, null, 2))
  if (result.ok) return writeAnswer(driven, prepared)
  await reportNoAnswer(driven, prepared)
  return true
}

/** Once: a terminal has seen it being written. */
export async function writeAnswer({ result, shown }: Driven, { output }: Prepared): Promise<boolean> {
  if (!output.isTerminal) return output.data(result.answer)
  const answer = printable(result.answer)
  return shown.trim() === answer.trim() ? true : output.data(answer)
}

export async function reportNoAnswer({ result, left }: Driven, prepared: Prepared): Promise<void> {
  const { output, say, tell } = prepared
  if (result.ok) return
  if (result.status === "waiting") {
    if (left !== null) output.error(tell("stillOpen"))
    for (const line of listQuestions(await storedRun(prepared, result.runId), result.waiting, prepared)) output.error(line)
    return
  }
  output.error(output.red(say("stopped", { reason: result.stop.reason, message: printable(result.stop.message) })))
  if (result.stop.hint !== "") output.error(`  ${printable(result.stop.hint)}`)
  if (result.fallback !== undefined) output.error(say("fallback", { text: result.fallback }))
}

function summary(result: AnyResult, { chosen }: Prepared): Record<string, unknown> {
  const { runId, ok, status, answer, usage, context } = result
  const model = chosen.isDemo ? { model: chosen.name, disclaimer: chosen.disclaimer ?? "not an LLM" } : { model: chosen.name }
  if (result.ok) return { runId, ok, status, answer, output: result.output, ...model, usage, context }
  if (result.status === "stopped") return { runId, ok, status, answer, stop: result.stop, fallback: result.fallback, ...model, usage, context }
  return { runId, ok, status, answer, waiting: result.waiting, ...model, usage, context }
}

/** What this process did. */
export function reportTotals({ result, counts, seconds }: Driven, { output, say, tell }: Prepared): void {
  // a run that had ended, or still waits, was only looked at
  if (counts.turns + counts.tools === 0 && result.status !== "stopped") return
  const count = result.usage.inputTokens + result.usage.outputTokens
  const tokens = result.usage.unreported > 0 ? say("tokensUnknown") : say("tokens", { count })
  const totals = { ...counts, seconds: seconds.toFixed(1), tokens }
  output.progress(output.dim(result.status === "waiting" ? tell("soFar", totals) : say("totals", totals)))
}
