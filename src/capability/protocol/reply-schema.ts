// The protocol's JSON form, for models that only a JSON Schema can constrain: `{thought, action, arguments}` or `{thought, final}`.
// Called by text-protocol.ts; dialects.ts reads the form back, constrained or not.
import type { ToolSpec } from "../../contract/model.ts"
import type { JsonSchema } from "../../contract/schema.ts"

export function replySchema(tools: readonly ToolSpec[]): JsonSchema {
  const thought = { type: "string", maxLength: 300 }
  const object = (properties: Record<string, unknown>): JsonSchema => ({ type: "object", properties, required: Object.keys(properties), additionalProperties: false })
  return { anyOf: [...tools.map((tool) => object({ thought, action: { const: tool.name }, arguments: tool.schema })), object({ thought, final: { type: "string" } })] }
}
