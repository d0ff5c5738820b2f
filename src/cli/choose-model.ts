// Which model a command uses, and why: the command line, the agent's own, the configuration, else the demo model.
// Called by `run` and `doctor`.
import type { Config, ConfigKey, LoadedConfig } from "../doors/config.ts"
import { serversOf, settingsOf } from "../doors/config.ts"
import { demoModel } from "../doors/demo.ts"
import { llamaCpp } from "../doors/llama-cpp.ts"
import { openai } from "../doors/openai.ts"
import type { Model, Settings } from "../index.ts"
import type { Speak } from "./texts.ts"

export interface ModelWish {
  /** The agent's own; they win over the configuration, not over the command line. */
  readonly own: readonly Model[]
  readonly demo?: boolean | undefined
}

export interface ChosenModel {
  /** The first, then its fallbacks. undefined: the agent's own. */
  readonly models: readonly Model[] | undefined
  readonly name: string
  readonly why: string
  readonly isDemo: boolean
  /** What a demo says of itself. */
  readonly disclaimer?: string | undefined
  /** The server that the configuration names; null where something else answers. */
  readonly server: { readonly baseUrl: string; readonly apiKey: string | undefined; readonly names: readonly string[] } | null
}

const KEYS = ["llm.model", "llm.base_url", "llm.api_key"] as const satisfies readonly ConfigKey[]

/** @throws HelloAgentsError `config_invalid` or `model_missing` naming the setting. */
export function chooseModel({ own, demo }: ModelWish, { value, origins }: LoadedConfig, say: Speak): ChosenModel {
  if (demo === true) return demoChosen(say("demoAsked"))
  const set = KEYS.filter((key) => origins[key] !== "default")
  const why = say("fromSettings", { source: [...new Set(set.map((key) => origins[key]))].join(", ") })
  const isFlagged = set.some((key) => origins[key].startsWith("--"))
  if (own.length > 0 && !isFlagged) return { models: undefined, ...named(own), why: say("fromAgent"), server: null }
  if (set.length > 0) return configured(value, why)
  const { modelFile, threads } = value.local
  if (modelFile !== undefined) return { ...localChosen(modelFile, threads, settingsOf(value)), why: say("fromSettings", { source: origins["local.model_file"] }) }
  return demoChosen(say("demoWhy"))
}

function configured(config: Config, why: string): ChosenModel {
  const models = serversOf(config).map((server) => speaking(withSettings(openai(server), settingsOf(config)), config.llm.protocol))
  const { baseUrl = "", apiKey } = config.llm
  return { models, ...named(models), why, server: { baseUrl, apiKey, names: models.map(({ name }) => name) } }
}

/** A model that is to be spoken to in the text protocol says that it knows no function calling. */
function speaking(model: Model, protocol: Config["llm"]["protocol"]): Model {
  return protocol === "text" ? { ...model, functionCalling: false } : model
}

function localChosen(file: string, threads: number | undefined, settings: Settings): Omit<ChosenModel, "why"> {
  const models = [withSettings(llamaCpp({ file, threads }), settings)]
  return { models, ...named(models), server: null }
}

function demoChosen(why: string): ChosenModel {
  const models = [demoModel()]
  return { models, ...named(models), why, server: null }
}

function named(models: readonly Model[]): Pick<ChosenModel, "name" | "isDemo" | "disclaimer"> {
  const disclaimer = models[0]?.disclaimer
  return { name: models.map(({ name }) => name).join(", "), isDemo: disclaimer !== undefined, disclaimer }
}

/** What the configuration says of its model holds for every agent that says nothing else. */
function withSettings(model: Model, settings: Settings): Model {
  return { ...model, ask: (request) => model.ask({ ...request, settings: { ...settings, ...request.settings } }) }
}
