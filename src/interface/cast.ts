// Selects what an agent may use in one run: models (the run's or its own), tools by name and tag, settings. Called by the runner.
import type { AgentDefinition } from "../contract/agent.ts"
import type { ResolvedLimits } from "../contract/event.ts"
import type { Model } from "../contract/ports.ts"
import type { RunOptions } from "../contract/run.ts"
import type { ToolDefinition } from "../contract/tool.ts"
import { modelList, toolSpec } from "../capability/agent.ts"
import { autoProtocol, textProtocol } from "../capability/protocol/text-protocol.ts"
import { digest } from "../infrastructure/digest.ts"
import { HelloAgentsError } from "../infrastructure/errors.ts"
import { nearestNames } from "../infrastructure/names.ts"
import type { Cast } from "../orchestration/world.ts"

const DEFAULT_TURNS = 10
const CALLS_PER_REPLY = 128
const CALLS_AT_ONCE = 64
/** In the text protocol every turn is long, and models that need it rarely find back. */
const DEFAULT_TURNS_TEXT = 6
const MAX_RESULT_CHARS_TEXT = 1_500
/** Tokens of history when no model says its context window. */
const DEFAULT_CONTEXT_TOKENS = 100_000
/** Of a context window, what is left to the history; the rest is for instructions, tools and the reply. */
const HISTORY_SHARE = 0.75

export type CastOptions = Pick<RunOptions, "model" | "tools" | "settings" | "limits">

/** @throws HelloAgentsError `model_missing`, `config_invalid`. */
export function castAgent(definition: AgentDefinition, options: CastOptions): Cast {
  const models: readonly Model[] = options.model === undefined ? definition.models : modelList(options.model)
  if (models.length === 0) {
    throw new HelloAgentsError("model_missing", `The agent ${definition.name} has no model.`, {
      hint: 'Give the agent or the run a model: model: openai() from "hello-agents/openai" with LLM_BASE_URL, LLM_API_KEY and LLM_MODEL set.',
    })
  }
  const settings = { ...definition.settings, ...options.settings }
  const speaking = models.map((model) => speak(model, definition.protocol, settings.language ?? "en"))
  const selected = selectTools(definition, options.tools)
  const tools = speaksText(definition, models) ? selected.map(shortResults) : selected
  return {
    definition,
    models: speaking,
    speaksText: speaksText(definition, models),
    tools,
    specs: selected === definition.tools ? definition.specs : tools.map(toolSpec),
    settings,
  }
}

function speak(model: Model, protocol: AgentDefinition["protocol"], language: "en" | "zh"): Model {
  if (protocol === "native") return model
  return protocol === "text" ? textProtocol(model, language) : autoProtocol(model, language)
}

function speaksText({ protocol }: AgentDefinition, [first]: readonly Model[]): boolean {
  return protocol === "text" || (protocol === "auto" && first?.functionCalling === false)
}

function shortResults(tool: ToolDefinition): ToolDefinition {
  return { ...tool, maxResultChars: Math.min(tool.maxResultChars, MAX_RESULT_CHARS_TEXT) }
}

/** `#tag` names every tool with that tag. What is disabled stays so, whatever enables it. */
function selectTools(definition: AgentDefinition, selection: CastOptions["tools"]): readonly ToolDefinition[] {
  const { tools } = definition
  if (selection === undefined) return tools
  const names = [...definition.members().values()].flatMap((member) => member.tools.map((tool) => tool.name))
  const { enable, disable = [] } = selection
  for (const name of [...(enable ?? []), ...disable]) {
    if (name.startsWith("#") || names.includes(name)) continue
    const near = nearestNames(name, names)
    throw new HelloAgentsError("config_invalid", `There is no tool named ${name} to enable or disable.`, {
      hint: near.length > 0 ? `Nearest: ${near.join(", ")}.` : "There are no tools.",
    })
  }
  const named = (list: readonly string[], tool: ToolDefinition): boolean => list.includes(tool.name) || tool.tags.some((tag) => list.includes(`#${tag}`))
  return tools.filter((tool) => (enable === undefined || named(enable, tool)) && !named(disable, tool))
}

export function resolveLimits(cast: Cast, options: CastOptions): ResolvedLimits {
  const limits = { ...withoutUndefined(cast.definition.limits), ...withoutUndefined(options.limits ?? {}) }
  const windows = cast.models.flatMap(({ contextWindow }) => (contextWindow === undefined ? [] : [contextWindow]))
  const contextTokens = windows.length > 0 ? Math.floor(Math.min(...windows) * HISTORY_SHARE) : DEFAULT_CONTEXT_TOKENS
  const resolved = {
    turns: cast.speaksText ? DEFAULT_TURNS_TEXT : DEFAULT_TURNS,
    tokens: null,
    cost: null,
    ms: null,
    messages: null,
    contextTokens,
    callsPerReply: CALLS_PER_REPLY,
    callsAtOnce: CALLS_AT_ONCE,
    ...limits,
  }
  for (const [name, value] of Object.entries(resolved)) {
    if (value !== null && !(typeof value === "number" && value > 0)) throw new HelloAgentsError("config_invalid", `limits.${name} must be a number above 0, not ${String(value)}.`)
  }
  return resolved
}

/** Which agent this was: changes with its instructions, tools and models. */
export function castHash(cast: Cast, context: object): string {
  return digest(JSON.stringify([cast.definition.name, cast.definition.instructions(context), cast.specs, cast.models.map(({ name }) => name)]))
}

function withoutUndefined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as { [K in keyof T]: Exclude<T[K], undefined> }
}
