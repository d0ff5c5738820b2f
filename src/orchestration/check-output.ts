// Structured output (R11): a final answer must be JSON that fits the agent's output schema; else the exact error goes back to the model.
// Called by perform-model.ts for the reading, and by the runner for the typed value.
import type { Reading } from "../contract/event.ts"
import type { Schema, SchemaResult } from "../contract/schema.ts"
import { schemaWalk } from "../infrastructure/json/check-schema.ts"
import { coerce } from "../infrastructure/json/coerce.ts"
import { jsonSchemaOf, validate } from "../infrastructure/json/json-schema.ts"
import { readJson } from "../infrastructure/json/lenient-json.ts"

export async function checkOutput(text: string, schema: Schema): Promise<Reading> {
  const result = await readOutput(text, schema)
  if (result.issues === undefined) return { type: "final", text }
  const issues = result.issues.slice(0, 5).map((issue) => {
    const path = (issue.path ?? []).map((step) => String(typeof step === "object" ? step.key : step)).join(".")
    return path === "" ? issue.message : `${path}: ${issue.message}`
  })
  const feedback = `Your answer must be one JSON value of the given schema, and nothing else. ${issues.join("; ")}. The schema: ${JSON.stringify(jsonSchemaOf(schema))}`
  return { type: "unknown", text, feedback }
}

/** The typed value of an answer. */
export async function readOutput(text: string, schema: Schema): Promise<SchemaResult<unknown>> {
  const json = readJson(text)
  if (json.type !== "value") return { issues: [{ message: json.type === "truncated" ? "the JSON is cut off" : "this is not one JSON value" }] }
  const shape = jsonSchemaOf(schema)
  return validate(schema, coerce(shape, json.value, schemaWalk(shape)).value)
}
