// `hello-agents doctor`: is everything there to run an agent, and if not, what to do. Each line a fact with ✓, ! or ✗ and its remedy.
import type { Command } from "commander"
import { HelloAgentsError } from "../index.ts"
import type { ChosenModel } from "./choose-model.ts"
import { chooseModel } from "./choose-model.ts"
import type { Check } from "./doctor-checks.ts"
import { checkFile, checkKeys, checkModel, checkNode, checkOptional, checkServer, checkStore, checkTerminal, line, offerServers } from "./doctor-checks.ts"
import { EXIT } from "./exit-codes.ts"
import { UsageError } from "./failure.ts"
import type { CliConfig } from "./load-config.ts"
import { findLocalServers } from "./local-servers.ts"
import type { Output } from "./output.ts"
import type { Shell } from "./shell.ts"
import type { Speak } from "./texts.ts"

const MARKS = { ok: "✓", warning: "!", failed: "✗" } as const

export function registerDoctor(program: Command, shell: () => Shell, say: Speak): void {
  program
    .command("doctor")
    .description(say("doctorAbout"))
    .option("--json", say("doctorJsonOption"))
    .action(async (flags: { readonly json?: boolean }) => {
      process.exitCode = await examine(flags.json === true, shell())
    })
}

async function examine(asJson: boolean, shell: Shell): Promise<number> {
  const { output, say } = shell
  const checks = [checkNode(process.versions.node, say), ...(await checkSettings(shell)), checkOptional(say)]
  const exitCode = exitCodeOf(checks)
  const text = asJson ? asData(checks, exitCode) : [...checks.map((check) => asLines(check, output)), "", say(VERDICTS[exitCode])].join("\n")
  return (await output.data(text)) ? exitCode : EXIT.failed
}

const VERDICTS = { [EXIT.ok]: "doctorReady", [EXIT.usage]: "doctorUnusable", [EXIT.infrastructure]: "doctorNoServer" } as const

/** A wrong configuration hides whether the server could be reached, so it comes first. */
function exitCodeOf(checks: readonly Check[]): keyof typeof VERDICTS {
  const failed = checks.filter(({ status }) => status === "failed")
  if (failed.length === 0) return EXIT.ok
  return failed.some(({ fault }) => fault === "usage") ? EXIT.usage : EXIT.infrastructure
}

async function checkSettings(shell: Shell): Promise<readonly Check[]> {
  const { output, say } = shell
  const config = await attempt("config", shell.config())
  if ("check" in config) return [config.check]
  const loaded = config.value
  const model = await attempt(
    "model",
    Promise.resolve().then(() => chooseModel({ own: [] }, loaded, say)),
  )
  const chosen = "check" in model ? null : model.value
  const [server, local, store] = await Promise.all([chosen === null ? [] : checkServer(chosen, say), findLocalServers(), checkStore(loaded, say)])
  const aboutModel = chosen === null ? ("check" in model ? [model.check] : []) : modelChecks(chosen, loaded, say)
  return [checkFile(loaded, say), ...aboutModel, ...server, ...offerServers(local, chosen, say), store, checkTerminal(output, loaded, say)]
}

function modelChecks(chosen: ChosenModel, loaded: CliConfig, say: Speak): readonly Check[] {
  return [checkModel(chosen, say), ...checkKeys(chosen, loaded, { environment: process.env, say })]
}

/** A mistake of the user becomes a line of the report. */
async function attempt<T>(id: Check["id"], work: Promise<T>): Promise<{ readonly value: T } | { readonly check: Check }> {
  try {
    return { value: await work }
  } catch (error) {
    if (!(error instanceof HelloAgentsError || error instanceof UsageError)) throw error
    return { check: line(id, "failed", error.message, { remedy: error.hint }) }
  }
}

function asLines({ status, text, remedy }: Check, output: Output): string {
  const paint = { ok: output.green, warning: output.yellow, failed: output.red }[status]
  const mark = output.isTerminal ? paint(MARKS[status]) : MARKS[status]
  return `${mark} ${text.replaceAll("\n", "\n  ")}${remedy === "" ? "" : `\n    → ${remedy}`}`
}

function asData(checks: readonly Check[], exitCode: number): string {
  return JSON.stringify({ usable: exitCode === EXIT.ok, exitCode, checks: checks.map(({ id, status, text, remedy }) => ({ id, status, text, remedy })) }, null, 2)
}
