#!/usr/bin/env node
// The command line: puts the commands together, and turns every mistake into one clear line and a documented exit code.
// It is the composition root: it enters the library through its doors.
import { readFileSync } from "node:fs"
import { Command, CommanderError } from "commander"
import { HelloAgentsError } from "../index.ts"
import { registerApprove } from "./approve.ts"
import { registerChat } from "./chat.ts"
import { registerConfig } from "./config.ts"
import { registerDoctor } from "./doctor.ts"
import { EXIT } from "./exit-codes.ts"
import { UsageError } from "./failure.ts"
import type { ConfigFlags } from "./load-config.ts"
import { firstSettings, loadCliConfig } from "./load-config.ts"
import { createOutput } from "./output.ts"
import { registerResume } from "./resume.ts"
import { registerRunControl } from "./run-control.ts"
import { registerRun } from "./run.ts"
import type { Language } from "./texts.ts"
import { speak } from "./texts.ts"
import { registerTrace } from "./trace.ts"

const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string }

async function main(words: readonly string[]): Promise<void> {
  const file = optionValue(words, ["-c", "--config"])
  const flags: ConfigFlags = { language: ["--language", givenLanguage(words)] }
  const { language, logLevel } = await firstSettings(file, flags)
  const say = speak(language)
  const program = new Command("hello-agents")
    .description(say("about"))
    .version(version, "-V, --version")
    .option("-q, --quiet", say("quietOption"))
    .option("--language <language>", say("languageOption"))
    .option("-c, --config <file>", say("configOption"))
    .option("--debug", "stack traces with errors")
    .showSuggestionAfterError()
    .showHelpAfterError(false)
    .exitOverride()
  const output = createOutput({
    stdout: process.stdout,
    stderr: process.stderr,
    environment: process.env,
    quiet: logLevel === "error" || words.includes("-q") || words.includes("--quiet"),
  })
  const shell = () => ({ output, say, language, configFile: file, config: (more: ConfigFlags = {}) => loadCliConfig({ file, flags: { ...flags, ...more }, say }) })
  registerRun(program, shell)
  registerChat(program, shell)
  registerResume(program, shell)
  registerApprove(program, shell)
  registerRunControl(program, shell)
  registerTrace(program, shell, say)
  registerConfig(program, shell, say)
  registerDoctor(program, shell, say)
  for (const command of program.commands)
    command
      .exitOverride()
      .option("-c, --config <file>", say("configOption"))
      .option("-q, --quiet", say("quietOption"))
      .option("--language <language>", say("languageOption"))
      .option("--debug", "stack traces with errors")
  try {
    await program.parseAsync(words, { from: "user" })
  } catch (error) {
    process.exitCode = explain(error, logLevel === "debug" || words.includes("--debug"))
  }
  function explain(error: unknown, debug: boolean): number {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    const message = error instanceof Error ? error.message : String(error)
    output.error(output.red(say("error", { message })))
    if ((error instanceof UsageError || error instanceof HelloAgentsError) && error.hint !== "") output.error(`  ${error.hint}`)
    if (debug && error instanceof Error) output.error(error.stack ?? "")
    const storeFault = error instanceof HelloAgentsError && ["store_failed", "store_corrupt", "stale_writer"].includes(error.code)
    return storeFault || !(error instanceof UsageError || error instanceof HelloAgentsError) ? EXIT.infrastructure : EXIT.usage
  }
}

/** Before anything is parsed, so that help speaks it too. */
function givenLanguage(words: readonly string[]): Language | undefined {
  const given = optionValue(words, ["--language"])
  if (given === undefined || given === "en" || given === "zh") return given
  process.stderr.write(`${speak("en")("error", { message: speak("en")("badLanguage", { option: "--language", value: given }) })}\n`)
  process.exit(EXIT.usage)
}

/** The value of an option: `--option value` or `--option=value`. What stands after `--` is no option. */
function optionValue(words: readonly string[], names: readonly string[]): string | undefined {
  const end = words.indexOf("--")
  const at = words.findIndex((word, index) => (end < 0 || index < end) && names.some((name) => word === name || word.startsWith(`${name}=`)))
  if (at < 0) return undefined
  const word = words[at] ?? ""
  return word.includes("=") ? word.slice(word.indexOf("=") + 1) : words[at + 1]
}

await main(process.argv.slice(2))
