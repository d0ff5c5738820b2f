// The configuration of one command: its flags, the environment, the configuration file, the locale. Called by main.ts for every command.
// Leaves what the keys mean to the commands.
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import type { Config, ConfigKey, ConfigSource, LoadedConfig } from "../doors/config.ts"
import { configFileSource, environmentSource, findConfigFile, loadConfig, localeSource } from "../doors/config.ts"
import { UsageError } from "./failure.ts"
import { importFile } from "./load-agent.ts"
import type { Language, Speak } from "./texts.ts"
import { speak } from "./texts.ts"

/** What was written on the command line: the option as it is called, and its value. */
export type ConfigFlags = Partial<Record<ConfigKey, readonly [option: string, value: string | undefined]>>

export interface CliConfig extends LoadedConfig {
  /** null: there is none. */
  readonly file: string | null
}

export interface ConfigQuestion {
  /** The file of `--config`; undefined: the one that is found. */
  readonly file: string | undefined
  readonly flags: ConfigFlags
  readonly say: Speak
}

/** @throws HelloAgentsError `config_invalid`, UsageError for a file that is missing or cannot be loaded. */
export async function loadCliConfig({ file, flags, say }: ConfigQuestion): Promise<CliConfig> {
  if (file !== undefined && !existsSync(resolve(file))) throw new UsageError(say("configMissing", { file }), say("configMissingHint"))
  const path = file === undefined ? findConfigFile(process.cwd()) : resolve(file)
  const files = path === null ? [] : [configFileSource(path, { importFile: (module) => importFile(module, { option: "--config", file: file ?? path, say }) })]
  const loaded = await loadConfig({ sources: [flagSource(flags), environmentSource(process.env), ...files, localeSource(process.env)] })
  return { ...loaded, file: files[0]?.name ?? null }
}

/** What is needed before a command runs, and even if the configuration is broken: the command then says so itself, in this language. */
export async function firstSettings(file: string | undefined, flags: ConfigFlags): Promise<{ readonly language: Language; readonly logLevel: Config["debug"]["logLevel"] }> {
  const loaded = await loadCliConfig({ file, flags, say: speak("en") }).catch(async () => {
    const asked = flags.language?.[1] ?? process.env["HELLO_AGENTS_LANGUAGE"]
    return loadConfig({ sources: [() => ({ language: asked === "en" || asked === "zh" ? asked : null }), localeSource(process.env)] })
  })
  return { language: loaded.value.language, logLevel: loaded.value.debug.logLevel }
}

function flagSource(flags: ConfigFlags): ConfigSource {
  const given = new Map(Object.entries(flags))
  return {
    name: "command line",
    read: () => Object.fromEntries([...given].map(([key, [, value]]) => [key, value])),
    locate: (key) => given.get(key)?.[0] ?? key,
  }
}
