// What every command that drives a run takes from the command line and the configuration: agent, model, store, limits. Called by run, chat, resume, approve.
import type { Command } from "commander"
import type { FileStore } from "../doors/stores.ts"
import { fileStore } from "../doors/stores.ts"
import type { AnyAgent, Limits, Settings } from "../index.ts"
import type { LimitFlags } from "./choose-limits.ts"
import { chooseLimits, readLimits } from "./choose-limits.ts"
import type { ChosenModel } from "./choose-model.ts"
import { chooseModel } from "./choose-model.ts"
import { loadAgent } from "./load-agent.ts"
import type { Person } from "./person.ts"
import { personAtTerminal } from "./person.ts"
import type { Shell } from "./shell.ts"
import type { SpeakTalk } from "./talk-texts.ts"
import { speakTalk } from "./talk-texts.ts"

export interface StoreFlags {
  readonly store?: string
  /** Read by main.ts before the command. */
  readonly config?: string
}

export interface RunFlags extends LimitFlags, StoreFlags {
  readonly agent?: string
  readonly model?: string
  readonly baseUrl?: string
  readonly demo?: boolean
  readonly json?: boolean
  readonly jsonl?: boolean
  /** false: `--no-input`. */
  readonly input?: boolean
}

export function withRunOptions(command: Command, { say, language }: Shell): Command {
  return command
    .option("-a, --agent <file>", say("agentOption"))
    .option("-m, --model <name>", say("modelOption"))
    .option("--base-url <url>", say("baseUrlOption"))
    .option("--demo", say("demoOption"))
    .option("--store <folder>", say("storeOption"))
    .option("--max-turns <n>", say("turnsOption"))
    .option("--max-seconds <n>", say("secondsOption"))
    .option("--max-tokens <n>", say("tokensOption"))
    .option("--max-cost <n>", say("costOption"))
    .option("--no-input", speakTalk(language)("noInputOption"))
}

/** What a run is driven with. */
export interface Prepared extends Shell {
  readonly tell: SpeakTalk
  readonly flags: RunFlags
  readonly agent: AnyAgent
  readonly chosen: ChosenModel
  readonly store: FileStore
  readonly limits: Limits
  /** Only those of the command line: a run that is taken up again keeps its own. undefined: none. */
  readonly flagged: Limits | undefined
  /** Who can be asked; null: nobody is there, so what needs a person pauses. */
  readonly person: Person | null
  /** The text protocol speaks the language of the command line, unless the agent says otherwise. */
  readonly settings: Settings
  /** `debug.step_by_step`. */
  readonly step: boolean
}

/** @throws UsageError and HelloAgentsError `config_invalid`, `model_missing` before anything runs. */
export async function prepareRun(flags: RunFlags, shell: Shell): Promise<Prepared> {
  const { say, language } = shell
  const flagged = readLimits(flags, say)
  const settings = await shell.config({
    "llm.model": ["--model", flags.model],
    "llm.base_url": ["--base-url", flags.baseUrl],
    "store.folder": ["--store", flags.store],
  })
  const agent = await loadAgent(flags.agent, say)
  return {
    ...shell,
    tell: speakTalk(language),
    flags: { ...flags, ...(shell.configFile !== undefined && { config: shell.configFile }) },
    agent,
    chosen: chooseModel({ own: agent.definition.models, demo: flags.demo }, settings, say),
    store: fileStore(settings.value.store.folder),
    limits: chooseLimits(agent, settings.value, flagged),
    settings: { language: agent.definition.settings.language ?? language },
    flagged: Object.keys(flagged).length > 0 ? flagged : undefined,
    person: flags.input === false ? null : personAtTerminal(),
    step: settings.value.debug.stepByStep,
  }
}

export async function openStore(flags: StoreFlags, { config }: Shell): Promise<FileStore> {
  return fileStore((await config({ "store.folder": ["--store", flags.store] })).value.store.folder)
}

/** Which model answers and why, before it is asked. */
export function announce({ chosen, output, say }: Prepared): void {
  output.progress(output.bold(say("modelLine", { model: `${chosen.name} (${chosen.why})` })))
  if (chosen.isDemo) output.progress(output.dim(say("plugIn")))
}
