// Puts the sources together into one value, and says of each key where it comes from. Called by applications and the command line.
// Pure: what a source reads is the source's affair. Holds nothing: two configurations live side by side.
import type { MaybePromise } from "../../contract/schema.ts"
import { HelloAgentsError } from "../errors.ts"
import { deepFreeze } from "../freeze.ts"
import { editDistance, nearestNames } from "../names.ts"
import type { Config, ConfigKey } from "./keys.ts"
import { configKeys, isConfigKey, pathOf, ruleOf } from "./keys.ts"
import { readValue } from "./read-value.ts"

/** Settings by key, grouped (`{ llm: { model } }`) or not (`{ "llm.model": … }`); null and undefined mean not set. */
export type ReadSettings = () => MaybePromise<Readonly<Record<string, unknown>>>

export interface ConfigSource {
  /** How errors and origins call it. */
  readonly name: string
  readonly read: ReadSettings
  /** Where in the source a key stands, if it can say so more exactly than by its name; asked after `read`. */
  readonly locate?: ((key: string) => string) | undefined
  /** What the source itself calls a key, where that is another name. */
  readonly spell?: ((key: ConfigKey) => string) | undefined
  /** Paths in this source are meant from somewhere else than the working directory. */
  readonly resolvePath?: ((path: string) => string) | undefined
}

export interface ConfigOptions {
  /** The strongest first. A plain function is a source without a name, such as a remote configuration service. */
  readonly sources?: readonly (ConfigSource | ReadSettings)[] | undefined
  /** Stronger than every source. */
  readonly explicit?: Readonly<Record<string, unknown>> | undefined
}

export interface LoadedConfig {
  readonly value: Config
  /** Where each value comes from: `explicit`, the place in a source, or `default`. */
  readonly origins: Readonly<Record<ConfigKey, string>>
  /** Reads all sources again. A new value; this one, and the runs that use it, stay as they are. */
  readonly reload: () => Promise<LoadedConfig>
}

/** Up to so many wrong letters are a slip; beyond, the words of a name say more than its letters. */
const TYPO_LETTERS = 2

interface Setting {
  readonly value: unknown
  readonly origin: string
}

/** @throws HelloAgentsError `config_invalid` naming every unknown key (with the nearest one) and every wrong value, and where each stands. */
export async function loadConfig(options: ConfigOptions = {}): Promise<LoadedConfig> {
  const explicit: ConfigSource = { name: "explicit", read: () => options.explicit ?? {} }
  const sources = [explicit, ...(options.sources ?? []).map((source) => (typeof source === "function" ? { name: source.name || "source", read: source } : source))]
  const found = new Map<ConfigKey, Setting>()
  const problems: string[] = []
  for (const source of sources) {
    for (const [key, value] of flat(await source.read())) {
      const origin = source.locate?.(key) ?? source.name
      if (!isConfigKey(key)) {
        problems.push(unknownKey(key, source, origin))
        continue
      }
      const read = readValue(ruleOf(key), value)
      if (read.type === "wrong") problems.push(`${key} (${origin}) must be ${read.expected}, not ${read.received}`)
      else if (!found.has(key)) found.set(key, { value: ruleOf(key).type === "path" ? (source.resolvePath?.(String(read.value)) ?? read.value) : read.value, origin })
    }
  }
  if (problems.length > 0) throw new HelloAgentsError("config_invalid", problems.join("\n"), { hint: "All keys, with their values: hello-agents config" })
  return assemble(found, options)
}

function assemble(found: ReadonlyMap<ConfigKey, Setting>, options: ConfigOptions): LoadedConfig {
  const value: Record<string, unknown> = {}
  for (const key of configKeys()) {
    const [group = key, name] = pathOf(key)
    const setting = found.get(key)?.value ?? ruleOf(key).default
    if (name === undefined) value[group] = setting
    else value[group] = { ...(value[group] as object | undefined), [name]: setting }
  }
  const origins = Object.fromEntries(configKeys().map((key) => [key, found.get(key)?.origin ?? "default"])) as Record<ConfigKey, string>
  // every key of the table was read by its rule, from which the type is inferred
  return { value: deepFreeze(value) as Config, origins: Object.freeze(origins), reload: () => loadConfig(options) }
}

function flat(settings: Readonly<Record<string, unknown>>, prefix = ""): [key: string, value: unknown][] {
  return Object.entries(settings).flatMap(([name, value]) => {
    const key = `${prefix}${name}`
    if (value === undefined || value === null) return []
    return isConfigKey(key) || !isGroup(value) ? [[key, value] as [string, unknown]] : flat(value, `${key}.`)
  })
}

function isGroup(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function unknownKey(key: string, { spell }: ConfigSource, origin: string): string {
  const inside = configKeys().find((known) => known.startsWith(`${key}.`))
  if (inside !== undefined) return `${key} (${origin}) is a group of keys such as ${inside}, and cannot have a value itself`
  const names = configKeys().map(spell ?? ((known) => known))
  const typo = names.map((name) => ({ name, letters: editDistance(key, name) })).sort((a, b) => a.letters - b.letters)[0]
  const nearest = typo !== undefined && typo.letters <= TYPO_LETTERS ? typo.name : nearestNames(key, names, 1)[0]
  return `${key}${origin === key ? "" : ` (${origin})`} is not a key; the nearest is ${nearest}`
}
