// The parts of a configuration in the form in which models and runs take them. Called by applications and the command line.
import type { Limits } from "../../contract/agent.ts"
import type { Settings } from "../../contract/model.ts"
import type { Config } from "./keys.ts"

/** What `openai()` takes. A setting that is missing here is one that it finds, or misses, itself. */
export interface ServerSettings {
  readonly baseUrl?: string | undefined
  readonly apiKey?: string | undefined
  readonly model?: string | undefined
  readonly timeoutMs?: number | undefined
  readonly contextWindow?: number | undefined
}

/** The first model and its fallbacks, all on the one server: `serversOf(config).map(openai)`. */
export function serversOf({ llm }: Config): readonly [ServerSettings, ...ServerSettings[]] {
  const { baseUrl, apiKey, model, timeoutMs, contextWindow } = llm
  const first = { baseUrl, apiKey, model, timeoutMs, contextWindow }
  return [first, ...(llm.fallbackModels ?? []).map((name) => ({ ...first, model: name }))]
}

/** Only what is set, so that it can be spread over or under other settings. */
export function settingsOf({ llm }: Config): Settings {
  const { temperature, topP, maxTokens, seed, reasoningEffort } = llm
  return onlySet({ temperature, topP, maxTokens, seed, reasoningEffort })
}

/** Only what is set. */
export function limitsOf({ run }: Config): Limits {
  return onlySet({ turns: run.maxTurns, tokens: run.maxTokens, cost: run.maxCost, ms: run.maxMs })
}

function onlySet<T extends object>(values: T): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T
}
