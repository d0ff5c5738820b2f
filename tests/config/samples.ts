// Two different good values for every key, in the spellings of the sources. Used by the table tests.
import type { ConfigKey } from "../../src/infrastructure/config/keys.ts"
import { configKeys, ruleOf } from "../../src/infrastructure/config/keys.ts"

export type Which = 0 | 1

export function sample(key: ConfigKey, which: Which): unknown {
  const rule = ruleOf(key)
  switch (rule.type) {
    case "text":
    case "path":
      return `${key}-${which}`
    case "url":
      return `http://host${which}.example/v1`
    case "choice":
      return rule.of[which]
    case "list":
      return [`${key}-${which}`, "other"]
    case "boolean":
      return which === 0
    case "integer":
      return 7 + which
    case "number":
      return 0.5 + which / 4
  }
}

export function asVariable(value: unknown): string {
  return Array.isArray(value) ? value.join(", ") : String(value)
}

/** `llm.base_url` → `{ llm: { base_url } }`. */
export function grouped(key: ConfigKey, value: unknown): Record<string, unknown> {
  const [group = "", name] = key.split(".")
  return name === undefined ? { [group]: value } : { [group]: { [name]: value } }
}

/** Where a key's value stands in the value object. */
export function at(config: object, key: ConfigKey): unknown {
  let inside: unknown = config
  for (const name of key.split(".")) inside = (inside as Record<string, unknown>)[name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())]
  return inside
}

export const KEYS: readonly ConfigKey[] = configKeys()
