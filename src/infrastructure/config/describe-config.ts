// A configuration as people may see it: every key, its value, its origin; secrets masked. Called by `hello-agents config`.
import { redactSecrets } from "../redaction.ts"
import type { Config, ConfigKey } from "./keys.ts"
import { configKeys, pathOf, ruleOf } from "./keys.ts"
import type { LoadedConfig } from "./load-config.ts"

export interface DescribedSetting {
  readonly key: ConfigKey
  /** Masked where it is a secret. null: not set. */
  readonly value: string | number | boolean | readonly string[] | null
  /** What applies where it is not set; null: nothing does. */
  readonly usual: string | number | null
  readonly origin: string
}

/** A shorter secret would be half told by its ends. */
const SHORTEST_SHOWN = 16

export function describeConfig({ value, origins }: LoadedConfig): readonly DescribedSetting[] {
  return configKeys().map((key) => {
    const rule = ruleOf(key)
    const found = valueAt(value, key)
    const shown = typeof found === "string" ? (rule.secret === true ? maskSecret(found) : rule.type === "url" ? maskUrl(found) : redactSecrets(found)) : found
    return { key, value: shown ?? null, usual: rule.usual ?? null, origin: origins[key] }
  })
}

/** `sk-…89`: at most the first three and the last two characters; of a short secret nothing. */
export function maskSecret(secret: string): string {
  return secret.length < SHORTEST_SHOWN ? "…" : `${secret.slice(0, 3)}…${secret.slice(-2)}`
}

/** Some servers take their key in the query. */
export function maskUrl(address: string): string {
  const query = address.indexOf("?")
  return redactSecrets(query < 0 ? address : `${address.slice(0, query)}?…`)
}

function valueAt(config: Config, key: ConfigKey): DescribedSetting["value"] | undefined {
  // a key of the table leads to a value of one of the table's types
  return pathOf(key).reduce<unknown>((inside, name) => (inside as Readonly<Record<string, unknown>>)[name], config) as DescribedSetting["value"] | undefined
}
