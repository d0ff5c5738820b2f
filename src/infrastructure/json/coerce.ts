// Brings a value to its schema where the meaning is plain: "3" where a number is due, one value where a list is due, an allowed value in other letters.
// Called by arguments.ts for values that do not fit. Never touches a part that fits, never invents; leaves the verdict to check-schema.ts.
import type { SchemaNode, SchemaWalk } from "./check-schema.ts"
import { choicesOf, fitsSchema, isPlainObject, isSchemaNode, itemSchema, memberPath, memberSchema, requiredOf, resolveReference, schemasAt, typesOf } from "./check-schema.ts"
import { readJson } from "./lenient-json.ts"

const NUMBER = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$/
const MAX_DEPTH = 50

export interface Coerced {
  readonly value: unknown
  /** `path: what was done`, one each. */
  readonly repairs: readonly string[]
}
interface Spot {
  readonly path: string
  readonly depth: number
  readonly followed: readonly unknown[]
  readonly walk: SchemaWalk
}

/** `value` as near to the schema as it can be brought; the same value, and no repairs, when nothing could be done. */
export function coerce(schema: unknown, value: unknown, walk: SchemaWalk): Coerced {
  return coerceAt(schema, value, { path: "", depth: 0, followed: [], walk })
}

function coerceAt(schema: unknown, value: unknown, spot: Spot): Coerced {
  const unchanged = { value, repairs: [] }
  const node = isSchemaNode(schema) && "$ref" in schema ? resolveReference(schema, spot.walk.root) : schema
  if (!isSchemaNode(node) || spot.depth > MAX_DEPTH || spot.followed.includes(node) || spot.walk.steps <= 0 || fitsSchema(node, value, spot.walk)) return unchanged
  const deeper = { ...spot, followed: [...spot.followed, node] }
  for (const [converted, repair] of conversions(node, value)) {
    const inside = members(node, converted, deeper)
    if (fitsSchema(node, inside.value, spot.walk)) return { value: inside.value, repairs: [`${spot.path || "arguments"}: ${repair}`, ...inside.repairs] }
  }
  let best = members(node, value, deeper)
  for (const part of schemasAt(node, "allOf")) best = and(best, coerceAt(part, best.value, deeper))
  const alternatives = [...schemasAt(node, "anyOf"), ...schemasAt(node, "oneOf")].map((part) => and(best, coerceAt(part, best.value, deeper)))
  const fitting = alternatives.filter((attempt) => fitsSchema(node, attempt.value, spot.walk))
  return fitting.sort((a, b) => a.repairs.length - b.repairs.length)[0] ?? best
}

function and(first: Coerced, second: Coerced): Coerced {
  return { value: second.value, repairs: [...first.repairs, ...second.repairs] }
}

/** What the value may have meant, each with its repair; the schema decides whether one of them is right. */
function conversions(node: SchemaNode, value: unknown): Conversions {
  const found: (readonly [unknown, string])[] = []
  const sameLetters = (choicesOf(node) ?? []).filter((choice) => typeof choice !== "object" && letters(choice) === letters(value))
  if (sameLetters.length === 1 && typeof value !== "object") found.push([sameLetters[0], "an allowed value written differently"])
  for (const type of impliedTypes(node)) found.push(...(CONVERT[type]?.(value, typeof value === "string" ? value.trim() : "") ?? []))
  const [only] = Array.isArray(value) && value.length === 1 ? value : []
  if (only !== undefined && !impliedTypes(node).includes("array")) found.push([only, "took the only item out of its list"])
  return found
}

function impliedTypes(node: SchemaNode): readonly string[] {
  const types = typesOf(node)
  if (types.length > 0) return types
  return isSchemaNode(node.properties) ? ["object"] : node.items === undefined ? [] : ["array"]
}

function letters(value: unknown): string {
  return String(value).trim().toLowerCase()
}

type Conversions = readonly (readonly [unknown, string])[]

/** By wanted type: what a text, or another value, may have meant. A list written as text is a list or nothing, never one item. */
const CONVERT: { readonly [type: string]: (value: unknown, text: string) => Conversions } = {
  integer: (_value, text) => (NUMBER.test(text) ? [[Number(text), "text to number"]] : []),
  number: (_value, text) => (NUMBER.test(text) ? [[Number(text), "text to number"]] : []),
  boolean: (_value, text) => (/^(?:true|false)$/i.test(text) ? [[text.toLowerCase() === "true", "text to boolean"]] : []),
  null: (_value, text) => (/^(?:null|none)$/i.test(text) ? [[null, "text to null"]] : []),
  string: (value) => (typeof value === "number" || typeof value === "boolean" ? [[String(value), `${typeof value} to text`]] : []),
  object: (_value, text) => decoded(text, "{"),
  array: (value, text) => {
    if (text.startsWith("[")) return decoded(text, "[")
    return Array.isArray(value) || value === null ? [] : [...decoded(text, "{").map(([one]) => [[one], "JSON text to a list"] as const), [[value], "one value to a list"]]
  },
}

function decoded(text: string, bracket: "{" | "["): Conversions {
  if (!text.startsWith(bracket)) return []
  const reading = readJson(text)
  return reading.type === "value" ? [[reading.value, "JSON text to the value it holds"]] : []
}

/** The parts of an object or a list, each by its own schema. A null for what may be left out is left out. */
function members(node: SchemaNode, value: unknown, spot: Spot): Coerced {
  const repairs: string[] = []
  const part = (schema: unknown, member: unknown, path: string): unknown => {
    const coerced = coerceAt(schema, member, { ...spot, path, depth: spot.depth + 1, followed: [] })
    repairs.push(...coerced.repairs)
    return coerced.value
  }
  if (Array.isArray(value)) {
    const items = value.map((item, index) => part(itemSchema(node, index), item, `${spot.path}[${index}]`))
    return { value: repairs.length === 0 ? value : items, repairs }
  }
  if (!isPlainObject(value)) return { value, repairs }
  const required = requiredOf(node)
  const entries: [string, unknown][] = []
  for (const [key, member] of Object.entries(value)) {
    const schema = memberSchema(node, key)
    const path = memberPath(spot.path, key)
    const declared = isSchemaNode(node.properties) && Object.hasOwn(node.properties, key)
    if (member === null && declared && !required.includes(key) && !fitsSchema(schema, null, spot.walk)) repairs.push(`${path}: left out null`)
    else entries.push([key, part(schema, member, path)])
  }
  return { value: repairs.length === 0 ? value : Object.fromEntries(entries), repairs }
}
