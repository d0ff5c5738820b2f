// Every configuration key: its type, its bounds, its default. Read by read-value.ts and load-config.ts; the types of the values are inferred from it.
// A new key is one line here; whoever reads it finds it in `Config`.

/** `default` is in the value. `usual`: what applies when it is not set, shown only; the code that uses the key decides it. */
export type KeyRule = { readonly secret?: true; readonly default?: unknown; readonly usual?: string | number } & (
  | { readonly type: "text" | "path" | "url" | "list" | "boolean" }
  | { readonly type: "number" | "integer"; readonly least?: number; readonly above?: number; readonly most?: number }
  | { readonly type: "choice"; readonly of: readonly string[] }
)

/** Names as in files and the environment: `llm.base_url` is `HELLO_AGENTS_LLM_BASE_URL`. */
const CONFIG_KEYS = {
  "llm.base_url": { type: "url" },
  "llm.api_key": { type: "text", secret: true },
  "llm.model": { type: "text" },
  /** Tried in this order, on the same server, when the model cannot answer. */
  "llm.fallback_models": { type: "list" },
  "llm.protocol": { type: "choice", of: ["auto", "native", "text"], default: "auto" },
  "llm.temperature": { type: "number", least: 0, most: 2 },
  "llm.top_p": { type: "number", above: 0, most: 1 },
  /** Output tokens of one reply. */
  "llm.max_tokens": { type: "integer", least: 1 },
  "llm.seed": { type: "integer" },
  "llm.reasoning_effort": { type: "choice", of: ["minimal", "low", "medium", "high"] },
  /** Longest silence of the server. */
  "llm.timeout_ms": { type: "integer", least: 1, usual: 60_000 },
  /** Tokens. */
  "llm.context_window": { type: "integer", least: 1 },
  "run.max_turns": { type: "integer", least: 1, usual: 10 },
  /** Input and output of all model calls together. */
  "run.max_tokens": { type: "integer", least: 1 },
  /** In the currency of the price table. */
  "run.max_cost": { type: "number", above: 0 },
  /** Working time. */
  "run.max_ms": { type: "integer", least: 1 },
  "store.folder": { type: "path", default: ".hello-agents/runs" },
  /** A GGUF file. */
  "local.model_file": { type: "path" },
  "local.threads": { type: "integer", least: 1 },
  "debug.step_by_step": { type: "boolean", default: false },
  "debug.log_level": { type: "choice", of: ["error", "info", "debug"], default: "info" },
  language: { type: "choice", of: ["en", "zh"], default: "en" },
} as const

type Keys = typeof CONFIG_KEYS
export type ConfigKey = keyof Keys

type ValueOf<Rule> = Rule extends { type: "choice"; of: readonly (infer Choice)[] }
  ? Choice
  : Rule extends { type: "list" }
    ? readonly string[]
    : Rule extends { type: "boolean" }
      ? boolean
      : Rule extends { type: "number" | "integer" }
        ? number
        : string
type Value<Key extends ConfigKey> = ValueOf<Keys[Key]> | (Keys[Key] extends { default: unknown } ? never : undefined)
type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Name
type GroupOf<Key> = Key extends `${infer Group}.${string}` ? Group : never
type KeyIn<Group extends string> = Extract<ConfigKey, `${Group}.${string}`>

/** All settings, grouped, in camelCase: `config.llm.baseUrl`. What is not set and has no default is undefined. */
export type Config = {
  readonly [Group in GroupOf<ConfigKey>]: { readonly [Key in KeyIn<Group> as Key extends `${Group}.${infer Name}` ? Camel<Name> : never]: Value<Key> }
} & { readonly [Key in Exclude<ConfigKey, `${string}.${string}`>]: Value<Key> }

/** In the order of the table. */
export function configKeys(): readonly ConfigKey[] {
  return Object.keys(CONFIG_KEYS) as ConfigKey[]
}

export function isConfigKey(name: string): name is ConfigKey {
  return Object.hasOwn(CONFIG_KEYS, name)
}

export function ruleOf(key: ConfigKey): KeyRule {
  return CONFIG_KEYS[key]
}

/** `llm.base_url` → `["llm", "baseUrl"]`: where its value stands in `Config`. */
export function pathOf(key: ConfigKey): readonly string[] {
  return key.split(".").map((name) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()))
}

/** `llm.base_url` → `HELLO_AGENTS_LLM_BASE_URL`. */
export function variableOf(key: ConfigKey): string {
  return `HELLO_AGENTS_${key.replace(".", "_").toUpperCase()}`
}
