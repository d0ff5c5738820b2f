// Walks, merges and dereferences JSON Schemas from strangers: bounded in depth and size. Called by schema-dialect.ts.
import type { JsonSchema } from "../../contract/schema.ts"

/** Beyond these a schema is cut to one that takes anything. */
const LIMITS = { depth: 64, nodes: 5_000 }

const SCHEMA_MAPS: ReadonlySet<string> = new Set(["properties", "$defs", "definitions", "patternProperties", "dependentSchemas"])
const SCHEMA_LISTS: ReadonlySet<string> = new Set(["anyOf", "oneOf", "allOf", "prefixItems", "items"])
const SCHEMAS: ReadonlySet<string> = new Set([
  "items",
  "additionalProperties",
  "not",
  "if",
  "then",
  "else",
  "contains",
  "propertyNames",
  "unevaluatedProperties",
  "additionalItems",
])

export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** Applies `change` to every schema inside `schema`, innermost first, and to it. Properties named like keywords are no keywords. */
export function rewriteSchema(schema: JsonSchema, change: (node: JsonSchema) => JsonSchema): JsonSchema {
  const walk = (value: unknown, depth: number): unknown => (!isSchema(value) ? value : depth > LIMITS.depth ? {} : change(mapChildren(value, (child) => walk(child, depth + 1))))
  return walk(schema, 0) as JsonSchema
}

function mapChildren(node: JsonSchema, map: (child: unknown) => unknown): JsonSchema {
  return Object.fromEntries(
    Object.entries(node).map(([keyword, value]) => {
      if (SCHEMA_MAPS.has(keyword) && isSchema(value)) return [keyword, Object.fromEntries(Object.entries(value).map(([name, child]) => [name, map(child)]))]
      if (SCHEMA_LISTS.has(keyword) && Array.isArray(value)) return [keyword, value.map(map)]
      return [keyword, SCHEMAS.has(keyword) ? map(value) : value]
    }),
  )
}

/** Writes out the references that `chosen` picks. A recursive one becomes a schema of its type only, one that leads nowhere `{}`. */
export function inlineRefs(root: JsonSchema, chosen: (pointer: string) => boolean): JsonSchema {
  let nodes = 0
  const walk = (value: unknown, path: readonly string[], depth: number): unknown => {
    if (!isSchema(value)) return value
    if (++nodes > LIMITS.nodes || depth > LIMITS.depth) return {}
    const pointer = value.$ref
    if (typeof pointer !== "string" || !chosen(pointer)) return mapChildren(value, (child) => walk(child, path, depth + 1))
    const { $ref: _pointer, ...beside } = value
    const target = resolvePointer(root, pointer)
    if (path.includes(pointer)) return isSchema(target) && typeof target.type === "string" ? { ...beside, type: target.type } : beside
    const written = walk(target, [...path, pointer], depth + 1)
    const others = walk(beside, path, depth + 1) as JsonSchema
    return isSchema(written) ? mergeSchemas(written, others) : others
  }
  const inlined = walk(root, ["#"], 0) as JsonSchema
  if (!chosen("#/$defs/")) return inlined
  const { $defs: _defs, definitions: _definitions, ...rest } = inlined
  return rest
}

function resolvePointer(root: JsonSchema, pointer: string): unknown {
  if (pointer === "#") return root
  if (!pointer.startsWith("#/")) return undefined
  let found: unknown = root
  for (const part of pointer.slice(2).split("/")) {
    const key = decodePart(part)
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined
    found = (found as Record<string, unknown>)[key]
  }
  return found
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~")
  } catch {
    return part
  }
}

/** One schema for what both accept, as far as one can say it; where two keywords cannot be joined the second is left out. */
export function mergeSchemas(first: JsonSchema, second: JsonSchema): JsonSchema {
  const merged: Record<string, unknown> = { ...first }
  for (const [keyword, value] of Object.entries(second)) merged[keyword] = Object.hasOwn(first, keyword) ? mergeKeyword(keyword, first[keyword], value) : value
  return merged
}

function mergeKeyword(keyword: string, first: unknown, second: unknown): unknown {
  if (keyword === "description" || keyword === "title" || keyword === "default") return second
  if (keyword === "required" && Array.isArray(first) && Array.isArray(second)) return [...new Set([...first, ...second])]
  if (keyword === "properties" && isSchema(first) && isSchema(second)) {
    const names = [...new Set([...Object.keys(first), ...Object.keys(second)])]
    return Object.fromEntries(
      names.map((name) => [name, !Object.hasOwn(first, name) ? second[name] : !Object.hasOwn(second, name) ? first[name] : mergeBoth(first[name], second[name])]),
    )
  }
  if (keyword === "items" && isSchema(first) && isSchema(second)) return mergeSchemas(first, second)
  if (keyword === "enum" && Array.isArray(first) && Array.isArray(second)) return first.filter((value) => second.includes(value))
  if (keyword === "type") return commonTypes(first, second)
  if (/^(?:min|exclusiveMin)/.test(keyword) && typeof first === "number" && typeof second === "number") return Math.max(first, second)
  if (/^(?:max|exclusiveMax)/.test(keyword) && typeof first === "number" && typeof second === "number") return Math.min(first, second)
  if (keyword === "additionalProperties" && (first === false || second === false)) return false
  return first
}

function mergeBoth(first: unknown, second: unknown): unknown {
  return isSchema(first) && isSchema(second) ? mergeSchemas(first, second) : first
}

function commonTypes(first: unknown, second: unknown): unknown {
  const seconds = Array.isArray(second) ? second : [second]
  const common = (Array.isArray(first) ? first : [first]).filter((type) => seconds.includes(type))
  if (common.length === 0) return seconds.includes("integer") ? "integer" : first
  return common.length === 1 ? common[0] : common
}
