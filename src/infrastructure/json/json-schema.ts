// Schemas at the edge: any Standard Schema to JSON Schema and back, and what of a JSON Schema is not checked here.
// Called by `tool`, `agent` and the door (`jsonSchema`). Leaves the checking of values to check-schema.ts.
import type { JsonSchema, MaybePromise, Schema, SchemaResult } from "../../contract/schema.ts"
import { HelloAgentsError } from "../errors.ts"
import type { SchemaNode } from "./check-schema.ts"
import { checkSchema, isPlainObject, resolveReference } from "./check-schema.ts"
import { safePattern } from "./safe-pattern.ts"

const TARGET = { target: "draft-2020-12" }
const CHECKED = new Set(
  `type enum const nullable properties required additionalProperties minProperties maxProperties items prefixItems minItems maxItems uniqueItems
  minLength maxLength pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf anyOf oneOf allOf not $ref $defs definitions`.split(/\s+/),
)
const SAYS_NOTHING = new Set("$schema $comment title description default examples example deprecated readOnly writeOnly".split(" "))
const MAPS_OF_SCHEMAS = new Set("properties $defs definitions".split(" "))
const HOLD_SCHEMAS = new Set("items prefixItems additionalProperties anyOf oneOf allOf not".split(" "))

/** A JSON Schema as a schema for tools and answers: checks the documented subset. `T` is your word for what it describes. */
export function jsonSchema<T = unknown>(schema: JsonSchema): Schema<T> {
  return {
    "~standard": {
      version: 1,
      vendor: "hello-agents",
      validate: (value: unknown): SchemaResult<T> => {
        const problems = checkSchema(schema, value)
        if (problems.length === 0) return { value: value as T }
        return { issues: problems.map(({ path, expected, received }) => ({ message: `expected ${expected}, received ${received}`, path: path === "" ? [] : [path] })) }
      },
      jsonSchema: { input: () => ({ ...schema }) },
    },
  }
}

/** The JSON Schema of a Standard Schema, without what only tools of its library need. Throws `schema_invalid` for a schema that cannot say one. */
export function jsonSchemaOf(schema: Schema): JsonSchema {
  const hint = "Use a schema that JSON Schema can express (zod 4, arktype 2, valibot with @valibot/to-json-schema), or jsonSchema({ … })."
  try {
    const { $schema: _, ...said } = schema["~standard"].jsonSchema.input(TARGET as never)
    return withoutNoise(said) as JsonSchema
  } catch (cause) {
    throw new HelloAgentsError("schema_invalid", `The schema has no JSON Schema: ${cause instanceof Error ? cause.message : String(cause)}`, { hint, cause })
  }
}

/** zod states for every integer that it is a safe one. Models read that as a range to think about. */
function withoutNoise(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutNoise)
  if (!isPlainObject(node)) return node
  const safeBounds = ([keyword, value]: [string, unknown]): boolean =>
    node.type === "integer" && ((keyword === "minimum" && value === Number.MIN_SAFE_INTEGER) || (keyword === "maximum" && value === Number.MAX_SAFE_INTEGER))
  const members = Object.entries(node).filter((member) => !safeBounds(member))
  return Object.fromEntries(members.map(([keyword, value]) => [keyword, withoutNoise(value)]))
}

/** Runs a Standard Schema. */
export function validate(schema: Schema, value: unknown): MaybePromise<SchemaResult<unknown>> {
  return schema["~standard"].validate(value) as MaybePromise<SchemaResult<unknown>>
}

/** Keywords of the schema that `checkSchema` passes over: unknown ones, patterns that could hang, references out of the schema. Sorted. */
export function uncheckedKeywords(schema: JsonSchema): readonly string[] {
  const found = new Set<string>()
  const seen = new Set<unknown>()
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) for (const part of node) visit(part)
    if (!isPlainObject(node) || seen.has(node)) return
    seen.add(node)
    for (const [keyword, value] of Object.entries(node)) {
      if (!SAYS_NOTHING.has(keyword) && !isChecked(node, keyword, schema)) found.add(keyword)
      if (MAPS_OF_SCHEMAS.has(keyword) && isPlainObject(value)) visit(Object.values(value))
      else if (HOLD_SCHEMAS.has(keyword)) visit(value)
    }
  }
  visit(schema)
  return [...found].sort()
}

function isChecked(node: SchemaNode, keyword: string, root: JsonSchema): boolean {
  if (keyword === "pattern") return typeof node.pattern === "string" && safePattern(node.pattern) !== undefined
  if (keyword === "$ref") return resolveReference(node, root) !== undefined
  return CHECKED.has(keyword)
}
