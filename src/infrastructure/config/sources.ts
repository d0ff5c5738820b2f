// Sources of settings that need nothing but what they are handed: the environment, the locale, the text of a JSON file.
// Called by applications and the command line; reading files is config-file.ts.
import { HelloAgentsError } from "../errors.ts"
import type { ConfigKey } from "./keys.ts"
import { configKeys, ruleOf, variableOf } from "./keys.ts"
import type { ConfigSource } from "./load-config.ts"
import { readText } from "./read-value.ts"

export type Environment = Readonly<Record<string, string | undefined>>

const PREFIX = "HELLO_AGENTS_"
/** The field's usual names; weaker than ours. */
const SHORT: readonly (readonly [ConfigKey, string])[] = [
  ["llm.base_url", "LLM_BASE_URL"],
  ["llm.api_key", "LLM_API_KEY"],
  ["llm.model", "LLM_MODEL"],
]
const LOCALE = ["LC_ALL", "LC_MESSAGES", "LANG"]

/** `HELLO_AGENTS_LLM_TEMPERATURE` and the like, then `LLM_BASE_URL`, `LLM_API_KEY`, `LLM_MODEL`. Empty variables are not set. */
export function environmentSource(environment: Environment): ConfigSource {
  const isSet = (variable: string): boolean => (environment[variable] ?? "").trim() !== ""
  const variableFor = (key: string): string | undefined => variables().find(([known, variable]) => known === key && isSet(variable))?.[1]
  return {
    name: "environment",
    locate: (key) => variableFor(key) ?? key,
    spell: variableOf,
    read: () => {
      const known = configKeys().flatMap((key) => {
        const variable = variableFor(key)
        return variable === undefined ? [] : [[key, readText(ruleOf(key), environment[variable] ?? "")] as const]
      })
      const ours = new Set(configKeys().map(variableOf))
      const unknown = Object.keys(environment).filter((variable) => variable.startsWith(PREFIX) && isSet(variable) && !ours.has(variable))
      return Object.fromEntries([...known, ...unknown.map((variable) => [variable, ""] as const)])
    },
  }
}

/** Strongest first, for each key. */
function variables(): readonly (readonly [ConfigKey, string])[] {
  return [...configKeys().map((key) => [key, variableOf(key)] as const), ...SHORT]
}

/** The language of the environment's locale, for the weakest place of all. */
export function localeSource(environment: Environment): ConfigSource {
  const variable = LOCALE.find((name) => (environment[name] ?? "") !== "")
  const locale = variable === undefined ? "" : (environment[variable] ?? "").toLowerCase()
  const language = /^zh(?:[-_.@]|$)/.test(locale) ? "zh" : /^en(?:[-_.@]|$)/.test(locale) ? "en" : undefined
  return { name: variable ?? "locale", read: () => ({ language }) }
}

/** A JSON object of settings. @throws HelloAgentsError `config_invalid` naming file and line, never what stands there: it may be a secret. */
export function jsonSource(name: string, readFile: () => string | Promise<string>): ConfigSource {
  let text = ""
  return {
    name,
    read: async () => {
      text = (await readFile()).replace(/^\ufeff/, "")
      const value = parse(text, name)
      if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
      throw new HelloAgentsError("config_invalid", `${name} must hold a JSON object`, { hint: 'It looks like { "llm": { "model": "…" } }.' })
    },
    locate: (key) => {
      const line = lineOf(text, key)
      return line === null ? name : `${name}:${line}`
    },
  }
}

function parse(text: string, name: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    // the parser's own message quotes the text around the mistake, and so does an error kept as the cause
    const position = error instanceof Error ? /at position (\d{1,9})/.exec(error.message)?.[1] : undefined
    const place = position === undefined ? name : `${name}:${text.slice(0, Number(position)).split("\n").length}`
    throw new HelloAgentsError("config_invalid", `${place} is not valid JSON`, { hint: "A comma too many or too few, a comment, or a missing quote?" })
  }
}

/** The line where a key stands: its whole name, else its groups one after the other. null: not found. */
function lineOf(text: string, key: string): number | null {
  let at = find(text, key, 0)
  if (at < 0) {
    at = 0
    for (const name of key.split(".")) if (at >= 0) at = find(text, name, at)
  }
  return at < 0 ? null : text.slice(0, at).split("\n").length
}

/** Where `"name":` begins; -1: nowhere. */
function find(text: string, name: string, from: number): number {
  const quoted = JSON.stringify(name)
  for (let at = text.indexOf(quoted, from); at >= 0; at = text.indexOf(quoted, at + 1)) {
    const after = at + quoted.length
    if (/^\s{0,100}:/.test(text.slice(after, after + 101))) return at
  }
  return -1
}
