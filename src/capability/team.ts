// `team()`: agents that know each other. Keys are the names, so that circular handoffs infer; what is shared stands once.
// A handoff is a tool call: each agent gets one tool per agent it may hand over to. The one loop switches agents at the end of a turn.
import type { Agent, AgentDefinition, AgentOptions, Ends, Limits, Member } from "../contract/agent.ts"
import type { Settings } from "../contract/model.ts"
import type { Model } from "../contract/ports.ts"
import type { Schema, SchemaInput, SchemaOutput } from "../contract/schema.ts"
import type { ToolDefinition } from "../contract/tool.ts"
import { HelloAgentsError } from "../infrastructure/errors.ts"
import { jsonSchema } from "../infrastructure/json/json-schema.ts"
import { defineAgent, modelList, toolSpec } from "./agent.ts"
import { tool } from "./tools/tool.ts"

export interface Shared<C extends Schema> {
  context?: C | undefined
  /** Of every agent that names none itself. */
  model?: Model | readonly Model[] | undefined
  settings?: Settings | undefined
  limits?: Limits | undefined
}

type Given = AgentOptions<object, string, unknown> | { readonly definition: AgentDefinition }

/**
 * Any member can begin a run; the next message on a thread goes to the one that spoke last.
 * @throws HelloAgentsError `agent_invalid` for a handoff to a name that the team has not, or to itself.
 */
export function team<C extends Schema = Schema<object>, const O extends Record<string, unknown> = Record<string, string>>(
  shared: Shared<C>,
  agents: { [K in keyof O]: AgentOptions<NoInfer<SchemaOutput<C>>, NoInfer<keyof O & string>, O[K]> | Member<NoInfer<SchemaOutput<C>>, O[K]> },
): { readonly [K in keyof O]: Agent<SchemaOutput<C>, Ends<O>, SchemaInput<C>> } {
  const members = new Map<string, AgentDefinition>()
  const given = Object.entries(agents) as unknown as readonly (readonly [string, Given])[]
  const plain = new Map(given.map(([name, member]) => [name, settle(name, member, shared)]))
  for (const [name, definition] of plain) {
    const targets = targetsOf(definition)
    for (const target of targets) checkTarget(name, target, plain)
    // a tool of the agent's own that hands over needs no second way
    const tools = [...definition.tools, ...definition.handoffs.map((target) => handoffTool(target, plain.get(target)?.handoffDescription ?? ""))]
    members.set(name, { ...definition, tools, specs: tools.map(toolSpec), members: () => members })
  }
  return Object.fromEntries([...members].map(([name, definition]) => [name, { name, definition }])) as never
}

/** An agent of its own keeps what it says; what it leaves open it takes from the team. */
function settle<C extends Schema>(name: string, member: Given, shared: Shared<C>): Omit<AgentDefinition, "members"> {
  const own = "definition" in member ? member.definition : defineAgent(name, member, shared.context ?? null)
  return {
    ...own,
    name,
    context: own.context ?? shared.context ?? null,
    models: own.models.length > 0 ? own.models : modelList(shared.model),
    settings: { ...shared.settings, ...own.settings },
    limits: { ...shared.limits, ...own.limits },
  }
}

function targetsOf({ handoffs, tools }: Pick<AgentDefinition, "handoffs" | "tools">): readonly string[] {
  return [...handoffs, ...tools.flatMap((made) => made.handoffs)]
}

function checkTarget(from: string, to: string, members: ReadonlyMap<string, unknown>): void {
  if (to === from) throw new HelloAgentsError("agent_invalid", `The agent ${from} hands over to itself.`, { hint: "Take its own name out of its handoffs." })
  if (members.has(to)) return
  throw new HelloAgentsError("agent_invalid", `The agent ${from} hands over to ${to}, which this team has not.`, { hint: `The team has: ${[...members.keys()].join(", ")}.` })
}

const REASON = jsonSchema<{ reason?: string }>({ type: "object", properties: { reason: { type: "string", description: "why, in one line" } } })

function handoffTool(to: string, description: string): ToolDefinition {
  return tool({
    name: `transfer_to_${to}`,
    description: `Hands the conversation over to the agent ${to}${description === "" ? "" : ` (${description})`}. Use it when the request is for that agent; say nothing else.`,
    input: REASON,
    handoffs: [to],
    hints: { readOnly: true },
    // going back and forth has a guard of its own (handoff_loop)
    allowRepeats: true,
    execute: ({ reason }, { handoff }) => handoff(to, reason ?? ""),
  })
}
