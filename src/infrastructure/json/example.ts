// Makes a small value that fits a JSON Schema, to show a model what correct arguments look like.
// Called by arguments.ts when a tool has no example of its own. Leaves out whatever is not required.
import type { SchemaNode } from "./check-schema.ts"
import { checkSchema, choicesOf, isSchemaNode, requiredOf, resolveReference, schemasAt, typesOf } from "./check-schema.ts"

const MAX_DEPTH = 3

/** A fitting value; undefined when none was found (a pattern, a rare combination). */
export function exampleOf(schema: unknown): unknown {
  const example = make(schema, schema, 0)
  return example !== undefined && checkSchema(schema, example).length === 0 ? example : undefined
}

function make(given: unknown, root: unknown, depth: number): unknown {
  const node = isSchemaNode(given) && "$ref" in given ? resolveReference(given, root) : given
  if (!isSchemaNode(node) || depth > MAX_DEPTH) return "…"
  const said = [...(Array.isArray(node.examples) ? node.examples : []), node.example, node.default, ...(choicesOf(node) ?? [])].find(
    (value) => value !== undefined && value !== null,
  )
  if (said !== undefined) return said
  const [part] = [...schemasAt(node, "anyOf"), ...schemasAt(node, "oneOf"), ...schemasAt(node, "allOf")]
  const type = typesOf(node)[0] ?? (isSchemaNode(node.properties) ? "object" : undefined)
  if (type === undefined && part !== undefined) return make(part, root, depth + 1)
  switch (type) {
    case "integer":
    case "number":
      return node.minimum ?? (typeof node.exclusiveMinimum === "number" ? node.exclusiveMinimum + 1 : (node.maximum ?? 1))
    case "boolean":
      return true
    case "null":
      return null
    case "array":
      return [make(node.items, root, depth + 1)]
    case "object":
      return makeObject(node, root, depth)
    default:
      return saidInWords(node.description) ?? "text".padEnd(typeof node.minLength === "number" ? Math.min(node.minLength, 100) : 0, "x")
  }
}

const SUCH_AS = /(?:such as|e\.g\.|for example|for instance|例如|比如|如)[\s:：,]{0,3}["'“「]?([\p{L}\p{N}][\p{L}\p{N}._@/:+-]{0,60})/iu

/** People put the example of a text argument into its description: "order number such as A1001". */
function saidInWords(description: unknown): string | undefined {
  return typeof description === "string" ? SUCH_AS.exec(description)?.[1]?.replace(/[.:]+$/, "") : undefined
}

function makeObject(node: SchemaNode, root: unknown, depth: number): unknown {
  const properties = isSchemaNode(node.properties) ? node.properties : {}
  return Object.fromEntries(requiredOf(node).map((name) => [name, make(properties[name], root, depth + 1)]))
}
