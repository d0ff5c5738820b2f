// From a call as the model wrote it to a tool with arguments that fit, or to one exact message for the model (T2, T3). Called by orchestration/perform.ts.
// The ladder itself is infrastructure/json/arguments.ts.
import type { ToolCall } from "../../contract/message.ts"
import type { FinishReason } from "../../contract/model.ts"
import type { MaybePromise, SchemaIssue, SchemaResult } from "../../contract/schema.ts"
import type { ToolDefinition } from "../../contract/tool.ts"
import { readArguments } from "../../infrastructure/json/arguments.ts"
import { canonicalJson } from "../../infrastructure/json/canonical.ts"
import { validate } from "../../infrastructure/json/json-schema.ts"
import { nearestNames, resolveToolName } from "../../infrastructure/names.ts"

export type PreparedCall =
  | {
      readonly type: "ready"
      readonly tool: ToolDefinition
      readonly arguments: unknown /** As JSON, before the schema's own transforms. */
      readonly json: Record<string, unknown>
      readonly key: string
      readonly repairs: readonly string[]
    }
  | { readonly type: "refused"; readonly tool: ToolDefinition | null; readonly key: string; readonly message: string }

/** Never throws, never runs anything. `key` is equal for equal calls: tool name and canonical arguments. */
export function prepareCall(call: ToolCall, tools: readonly ToolDefinition[], finish: FinishReason): MaybePromise<PreparedCall> {
  const found = findTool(call.name, tools)
  if (found === null) return { type: "refused", tool: null, key: `${call.name} ${call.arguments}`, message: unknownTool(call.name, tools) }
  const reading = readArguments(call.arguments, { tool: found.name, schema: found.schema, examples: found.examples, finish })
  switch (reading.type) {
    case "refused":
      return refuse(call, found, reading.message)
    case "several":
      return refuse(call, found, `The arguments of ${found.name} hold ${reading.texts.length} objects. Make one call for each.`)
    case "ok":
      return check(call, found, reading)
    default:
      return reading satisfies never
  }
}

/** Calls whose arguments are several whole objects run together become one call each. */
export function splitCalls(calls: readonly ToolCall[], tools: readonly ToolDefinition[]): readonly ToolCall[] {
  if (!calls.some(looksDouble)) return calls
  return calls.flatMap((call): readonly ToolCall[] => {
    const found = looksDouble(call) ? findTool(call.name, tools) : null
    if (found === null) return [call]
    const reading = readArguments(call.arguments, { tool: found.name, schema: found.schema, examples: found.examples, finish: "tool_calls" })
    return reading.type === "several" ? reading.texts.map((text, index) => ({ ...call, id: `${call.id}.${index}`, arguments: text })) : [call]
  })
}

function looksDouble(call: ToolCall): boolean {
  return /\}\s*\{|\},\s*\{/.test(call.arguments)
}

function findTool(name: string, tools: readonly ToolDefinition[]): ToolDefinition | null {
  const exact = tools.find((tool) => tool.name === name)
  if (exact !== undefined) return exact
  const meant = resolveToolName(
    name,
    tools.map((tool) => tool.name),
  )
  return tools.find((tool) => tool.name === meant) ?? null
}

function unknownTool(name: string, tools: readonly ToolDefinition[]): string {
  if (tools.length === 0) return `There is no tool ${name}: no tools are available. Answer in text.`
  const names = tools.map((tool) => tool.name)
  const near = nearestNames(name, names)
  const list = near.length > 0 && near.length < names.length ? `Nearest: ${near.join(", ")}. ` : ""
  const all = names.length <= 20 ? ` All: ${names.join(", ")}.` : ""
  return `Error: there is no tool named "${name.slice(0, 80)}". ${list}Use one of the tools by its exact name.${all}`
}

function refuse(call: ToolCall, tool: ToolDefinition, message: string): PreparedCall {
  return { type: "refused", tool, key: `${tool.name} ${call.arguments}`, message: message.startsWith("Error") ? message : `Error: ${message}` }
}

/** The tool's own schema has the last word: it may know more than its JSON Schema says. */
function check(call: ToolCall, tool: ToolDefinition, reading: { readonly value: Record<string, unknown>; readonly repairs: readonly string[] }): MaybePromise<PreparedCall> {
  const ready = (value: unknown): PreparedCall => ({
    type: "ready",
    tool,
    arguments: value,
    json: reading.value,
    key: `${tool.name} ${canonicalJson(reading.value)}`,
    repairs: reading.repairs,
  })
  if (tool.input === null) return ready(reading.value)
  const settle = (result: SchemaResult<unknown>): PreparedCall => (result.issues === undefined ? ready(result.value) : refuse(call, tool, describeIssues(tool, result.issues)))
  const broken = (error: unknown): PreparedCall =>
    refuse(call, tool, `the arguments of ${tool.name} could not be checked: ${error instanceof Error ? error.name : "unknown error"}.`)
  try {
    const result = validate(tool.input, reading.value)
    return result instanceof Promise ? result.then(settle, broken) : settle(result)
  } catch (error) {
    return broken(error)
  }
}

function describeIssues(tool: ToolDefinition, issues: readonly SchemaIssue[]): string {
  const lines = issues.slice(0, 5).map((issue) => {
    const path = (issue.path ?? []).map((step) => String(typeof step === "object" ? step.key : step)).join(".")
    return `${path === "" ? "arguments" : path}: ${issue.message}`
  })
  const example = tool.examples[0]
  return `the arguments of ${tool.name} do not fit. ${lines.join("; ")}.${example === undefined ? "" : ` A correct example: ${JSON.stringify(example)}`}`
}
