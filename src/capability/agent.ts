// `agent()`: what a team writes becomes a definition with everything settled. Mistakes are thrown here, before any run.
import type { Agent, AgentDefinition, AgentOptions, End } from "../contract/agent.ts"
import type { ToolSpec } from "../contract/model.ts"
import type { Model } from "../contract/ports.ts"
import type { Schema, SchemaInput, SchemaOutput } from "../contract/schema.ts"
import type { ToolDefinition } from "../contract/tool.ts"
import { HelloAgentsError } from "../infrastructure/errors.ts"

/** @throws HelloAgentsError `agent_invalid` if two tools share a name. */
export function agent<const Name extends string, C extends Schema = Schema<object>, O = string>(
  options: AgentOptions<NoInfer<SchemaOutput<C>>, never, O> & { name: Name; context?: C | undefined },
): Agent<SchemaOutput<C>, End<Name, O>, SchemaInput<C>> {
  const { name } = options
  const definition: AgentDefinition = { ...defineAgent(name, options, options.context ?? null), members: () => new Map([[name, definition]]) }
  return { name, definition }
}

/** Everything but the team around it. `C` and `O` are what the schemas promise; inside, a context is an object. */
export function defineAgent<C, Name extends string, O>(name: string, options: AgentOptions<C, Name, O>, context: Schema | null): Omit<AgentDefinition, "members"> {
  const { instructions, tools = [] } = options
  const twice = tools.find((tool, index) => tools.findIndex((other) => other.name === tool.name) !== index)
  if (twice !== undefined) throw new HelloAgentsError("agent_invalid", `The agent ${name} has two tools named ${twice.name}.`, { hint: "Rename one: a model calls tools by name." })
  return {
    name,
    instructions: typeof instructions === "string" ? () => instructions : (values) => instructions(values as C),
    context,
    models: modelList(options.model),
    settings: options.settings ?? {},
    protocol: options.protocol ?? "auto",
    tools: tools as AgentDefinition["tools"],
    specs: (tools as AgentDefinition["tools"]).map(toolSpec),
    output: options.output ?? null,
    limits: options.limits ?? {},
    handoffs: options.handoffs ?? [],
    handoffDescription: options.handoffDescription ?? "",
    fallback: options.fallback ?? null,
  }
}

export function toolSpec({ name, description, schema, examples }: ToolDefinition): ToolSpec {
  return { name, description, schema, examples }
}

export function modelList(model: Model | readonly Model[] | undefined): readonly Model[] {
  if (model === undefined) return []
  return isList(model) ? model : [model]
}

function isList(model: Model | readonly Model[]): model is readonly Model[] {
  return Array.isArray(model)
}
