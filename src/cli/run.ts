// `hello-agents run`: one question, one answer. stdout is data, stderr is progress; the run is on disk whatever happens.
import type { Command } from "commander"
import { stream } from "../index.ts"
import { drive } from "./drive.ts"
import { cancelOnSignals } from "./interrupt.ts"
import { readPrompt } from "./read-prompt.ts"
import { reportEnd } from "./report.ts"
import type { RunFlags } from "./run-options.ts"
import { announce, prepareRun, withRunOptions } from "./run-options.ts"
import type { Shell } from "./shell.ts"
import { speakTalk } from "./talk-texts.ts"

export function registerRun(program: Command, shell: () => Shell): void {
  const { say, language } = shell()
  withRunOptions(program.command("run").description(say("runAbout")).argument("[prompt...]", say("promptArgument")), shell())
    .option("--json", say("jsonOption"))
    .option("--jsonl", say("jsonlOption"))
    .option("--step", speakTalk(language)("stepOption"))
    .action(async (words: string[], flags: RunFlags & { readonly step?: boolean }) => {
      process.exitCode = await runOnce(words, flags, shell())
    })
}

async function runOnce(words: readonly string[], flags: RunFlags & { readonly step?: boolean }, shell: Shell): Promise<number> {
  const { output, say } = shell
  const prepared = await prepareRun(flags, shell)
  const { agent, store, limits, chosen } = prepared
  const prompt = await readPrompt(words, say)
  announce(prepared)
  const interrupt = cancelOnSignals(() => output.error(output.yellow(say("cancelling"))))
  try {
    const live = stream(agent, prompt, { store, signal: interrupt.signal, limits, model: chosen.models, settings: prepared.settings, step: flags.step ?? prepared.step })
    return await reportEnd(await drive(live, prepared, { interrupt }), prepared, interrupt)
  } finally {
    interrupt.release()
  }
}
