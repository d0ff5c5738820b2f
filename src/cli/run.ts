// `hello-agents run`: one question, one answer. stdout is data, stderr is progress; the run is on disk whatever happens.
import type { Command } from "commander"
import { fileStore } from "../doors/stores.ts"
import type { AnyAgent, End, RunResult } from "../index.ts"
import { stream } from "../index.ts"
import type { LimitFlags } from "./choose-limits.ts"
import { chooseLimits, readLimits } from "./choose-limits.ts"
import type { ChosenModel } from "./choose-model.ts"
import { chooseModel } from "./choose-model.ts"
import { EXIT, exitCodeOf } from "./exit-codes.ts"
import { cancelOnSignals } from "./interrupt.ts"
import { loadAgent } from "./load-agent.ts"
import type { CliConfig, ConfigFlags } from "./load-config.ts"
import type { Output } from "./output.ts"
import type { Progress } from "./progress.ts"
import { createProgress } from "./progress.ts"
import { readPrompt } from "./read-prompt.ts"
import type { Speak } from "./texts.ts"

export interface Shell {
  readonly output: Output
  readonly say: Speak
  /** The configuration with these flags over it. @throws what `loadCliConfig` does. */
  readonly config: (flags?: ConfigFlags) => Promise<CliConfig>
}

interface RunFlags extends LimitFlags {
  readonly agent?: string
  readonly model?: string
  readonly baseUrl?: string
  readonly demo?: boolean
  readonly json?: boolean
  readonly jsonl?: boolean
  readonly store?: string
}

export function registerRun(program: Command, shell: () => Shell, say: Speak): void {
  program
    .command("run")
    .description(say("runAbout"))
    .argument("[prompt...]", say("promptArgument"))
    .option("-a, --agent <file>", say("agentOption"))
    .option("-m, --model <name>", say("modelOption"))
    .option("--base-url <url>", say("baseUrlOption"))
    .option("--demo", say("demoOption"))
    .option("--json", say("jsonOption"))
    .option("--jsonl", say("jsonlOption"))
    .option("--store <folder>", say("storeOption"))
    .option("--max-turns <n>", say("turnsOption"))
    .option("--max-seconds <n>", say("secondsOption"))
    .action(async (words: string[], flags: RunFlags) => {
      process.exitCode = await runOnce(words, flags, shell())
    })
}

async function runOnce(words: readonly string[], flags: RunFlags, { output, say, config }: Shell): Promise<number> {
  const flagged = readLimits(flags, say)
  const settings = await config({ "llm.model": ["--model", flags.model], "llm.base_url": ["--base-url", flags.baseUrl], "store.folder": ["--store", flags.store] })
  const agent = await loadAgent(flags.agent, say)
  const prompt = await readPrompt(words, say)
  const chosen = chooseModel({ own: agent.definition.models, demo: flags.demo }, settings, say)
  announce(chosen, { output, say })
  const progress = createProgress(output, say)
  const interrupt = cancelOnSignals(() => output.error(output.yellow(say("cancelling"))))
  const startedAt = Date.now()
  try {
    const limits = chooseLimits(agent, settings.value, flagged)
    const live = stream(agent, prompt, { store: fileStore(settings.value.store.folder), signal: interrupt.signal, limits, model: chosen.models })
    for await (const event of live) {
      progress(event)
      if (flags.jsonl === true) await output.data(JSON.stringify(event))
    }
    const result = await live.result
    const written = await report(result, { agent, flags, chosen, output, say })
    summarize(result, { progress, output, say, seconds: (Date.now() - startedAt) / 1000 })
    if (!written) {
      output.error(say("pipeClosed"))
      return EXIT.failed
    }
    return interrupt.code() ?? exitCodeOf(result)
  } finally {
    interrupt.release()
  }
}

function announce(chosen: ChosenModel, { output, say }: Pick<Shell, "output" | "say">): void {
  output.progress(output.bold(say("modelLine", { model: `${chosen.name} (${chosen.why})` })))
  if (chosen.isDemo) output.progress(output.dim(say("plugIn")))
}

interface Report {
  readonly agent: AnyAgent
  readonly flags: RunFlags
  readonly chosen: ChosenModel
  readonly output: Output
  readonly say: Speak
}

/** Writes the data; false if stdout was closed. */
async function report(result: RunResult<object, End>, { agent, flags, chosen, output, say }: Report): Promise<boolean> {
  if (flags.jsonl === true) return output.data(JSON.stringify({ type: "result", ...summary(result, chosen) }))
  if (flags.json === true) return output.data(JSON.stringify({ ...summary(result, chosen), agent: agent.name }, null, 2))
  if (result.ok) return output.data(result.answer)
  if (result.status === "waiting") {
    output.error(output.yellow(say("waiting", { questions: result.waiting.map(({ reason }) => reason).join(", ") })))
    return true
  }
  output.error(output.red(say("stopped", { reason: result.stop.reason, message: result.stop.message })))
  if (result.stop.hint !== "") output.error(`  ${result.stop.hint}`)
  if (result.fallback !== undefined) output.error(say("fallback", { text: result.fallback }))
  return true
}

function summary(result: RunResult<object, End>, chosen: ChosenModel): Record<string, unknown> {
  const { runId, ok, status, answer, usage, context } = result
  const model = chosen.isDemo ? { model: chosen.name, disclaimer: chosen.disclaimer ?? "not an LLM" } : { model: chosen.name }
  if (result.ok) return { runId, ok, status, answer, output: result.output, ...model, usage, context }
  if (result.status === "stopped") return { runId, ok, status, answer, stop: result.stop, fallback: result.fallback, ...model, usage, context }
  return { runId, ok, status, answer, waiting: result.waiting, ...model, usage, context }
}

function summarize(result: RunResult<object, End>, shown: { progress: Progress; output: Output; say: Speak; seconds: number }): void {
  const { progress, output, say } = shown
  const { turns, tools } = progress.counts
  const count = result.usage.inputTokens + result.usage.outputTokens
  const tokens = result.usage.unreported > 0 ? say("tokensUnknown") : say("tokens", { count })
  output.progress(output.dim(say("totals", { turns, tools, seconds: shown.seconds.toFixed(1), tokens })))
  output.progress(output.dim(say("traceLine", { run: result.runId })))
}
