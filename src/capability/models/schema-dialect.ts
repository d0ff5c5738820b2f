// Rewrites tool names and schemas into what a provider takes. Called by model adapters. What a schema accepts stays the same where the
// provider's dialect can say it, else it becomes wider: arguments are checked again, against the tool's own schema.
import type { ToolSpec } from "../../contract/model.ts"
import type { JsonSchema } from "../../contract/schema.ts"
import { inlineRefs, isSchema, mergeSchemas, rewriteSchema } from "./schema-rewrite.ts"

/** What a provider demands; absent: no demand. */
export interface SchemaProfile {
  /** No `$ref`, `$defs`, `definitions`: they are written out; recursion is cut to its type. */
  readonly noRefs?: boolean | undefined
  readonly noAllOf?: boolean | undefined
  /** `type` is one string. */
  readonly noTypeArrays?: boolean | undefined
  /** The `Schema` of Gemini's function declarations: https://ai.google.dev/api/caching#Schema */
  readonly geminiSubset?: boolean | undefined
  /** Every object closed, every property required; optional ones take null. Tools that cannot be said so stay as they are. */
  readonly strict?: boolean | undefined
  /** No union at the root. */
  readonly rootMustBeObject?: boolean | undefined
  /** A regular expression, as text. */
  readonly namePattern?: string | undefined
}

export interface ProviderTool {
  /** As the provider sees it; unique. */
  readonly name: string
  /** As the tool is called here. */
  readonly original: string
  readonly description: string
  readonly parameters: JsonSchema
  /** `parameters` keeps the rules of strict mode. With `strict`, null stands for an optional argument that was left out. */
  readonly strict: boolean
}

export function toProviderTools(tools: readonly ToolSpec[], profile: SchemaProfile): readonly ProviderTool[] {
  const names = providerNames(
    tools.map(({ name }) => name),
    profile.namePattern,
  )
  return tools.map((tool, index) => {
    const parameters = toDialect(rootObject(tool.schema), profile)
    const strict = profile.strict === true && canBeStrict(parameters)
    return { name: names[index] ?? tool.name, original: tool.name, description: tool.description, parameters: strict ? rewriteSchema(parameters, strictNode) : parameters, strict }
  })
}

function toDialect(root: JsonSchema, profile: SchemaProfile): JsonSchema {
  const gemini = profile.geminiSubset === true
  const flattens = profile.rootMustBeObject === true && ["anyOf", "oneOf", "allOf"].some((keyword) => keyword in root)
  const inlinesAll = gemini || profile.noRefs === true || flattens
  const steps: ((node: JsonSchema) => JsonSchema)[] = []
  if (gemini || profile.noAllOf || profile.strict) steps.push(withoutAllOf)
  if (gemini || profile.noTypeArrays) steps.push(withoutTypeArrays)
  if (gemini) steps.push(geminiNode)
  if (!inlinesAll && steps.length === 0) return root
  // Pointers into other places than the definitions break when those places are rewritten.
  const inlined = inlineRefs(root, (pointer) => inlinesAll || !/^#\/(?:\$defs|definitions)\//.test(pointer))
  const flat = flattens ? flattenRoot(inlined) : inlined
  return steps.reduce((schema, step) => rewriteSchema(schema, step), flat)
}

/** Arguments are always an object: says so where a schema forgot it. */
function rootObject(schema: unknown): JsonSchema {
  if (!isSchema(schema)) return { type: "object", properties: {} }
  if (schema.type === "object" && isSchema(schema.properties)) return schema
  return { ...schema, type: "object", properties: isSchema(schema.properties) ? schema.properties : {} }
}

function withoutAllOf(node: JsonSchema): JsonSchema {
  if (!Array.isArray(node.allOf)) return node
  const { allOf, ...rest } = node
  return allOf.filter(isSchema).reduce((merged: JsonSchema, part) => mergeSchemas(merged, part), rest)
}

/** Each type gets its own branch, with all the other keywords: those of other types mean nothing there. */
function withoutTypeArrays(node: JsonSchema): JsonSchema {
  if (!Array.isArray(node.type)) return node
  const { type: types, description, title, ...rest } = node
  const about = { ...(title === undefined ? {} : { title }), ...(description === undefined ? {} : { description }) }
  if (types.length === 1) return { ...about, ...rest, type: types[0] }
  return { ...about, anyOf: types.map((type: unknown) => (type === "null" ? { type } : { ...rest, type })) }
}

const GEMINI_KEYWORDS = new Set([
  ..."type format title description nullable enum maxItems minItems properties required minProperties maxProperties".split(" "),
  ..."minLength maxLength pattern anyOf propertyOrdering items minimum maximum".split(" "),
])
const GEMINI_FORMATS = new Set(["date-time", "enum", "float", "double", "int32", "int64"])

function geminiNode(node: JsonSchema): JsonSchema {
  const union = node.anyOf ?? node.oneOf
  if (Array.isArray(union)) return geminiUnion(node, union.filter(isSchema))
  const said = "const" in node ? { ...node, enum: [node.const] } : node
  const kept: Record<string, unknown> = Object.fromEntries(Object.entries(said).filter(([keyword]) => GEMINI_KEYWORDS.has(keyword)))
  if (typeof kept.format === "string" && !GEMINI_FORMATS.has(kept.format)) delete kept.format
  if (Array.isArray(kept.enum) && !kept.enum.every((value) => typeof value === "string")) {
    // Only strings can be listed; other values are said in words.
    kept.description = [kept.description, `One of: ${JSON.stringify(kept.enum)}`].filter((text) => text !== undefined).join(" ")
    delete kept.enum
  } else if (kept.enum !== undefined) kept.type = "string"
  if (typeof node.exclusiveMinimum === "number") kept.minimum = node.exclusiveMinimum + (node.type === "integer" ? 1 : 0)
  if (typeof node.exclusiveMaximum === "number") kept.maximum = node.exclusiveMaximum - (node.type === "integer" ? 1 : 0)
  if (isSchema(kept.properties)) {
    kept.type ??= "object"
    kept.properties = Object.fromEntries(Object.entries(kept.properties).map(([name, schema]) => [name, isSchema(schema) ? schema : {}]))
  }
  if (kept.type === "array" && !isSchema(kept.items)) kept.items = Array.isArray(node.prefixItems) ? { anyOf: node.prefixItems } : {}
  if (Array.isArray(kept.required)) kept.required = kept.required.filter((name) => isSchema(kept.properties) && Object.hasOwn(kept.properties, String(name)))
  return kept
}

/** A union stands alone: keywords beside it go into its branches, null becomes `nullable`. */
function geminiUnion(node: JsonSchema, branches: readonly JsonSchema[]): JsonSchema {
  const { anyOf: _anyOf, oneOf: _oneOf, description, title, nullable, ...beside } = node
  const kept = branches.filter((branch) => branch.type !== "null").map((branch) => geminiNode(mergeSchemas(beside, branch)))
  const about = { ...(title === undefined ? {} : { title }), ...(description === undefined ? {} : { description }) }
  const takesNull = kept.length < branches.length || nullable === true ? { nullable: true } : {}
  const [only, ...others] = kept
  return others.length === 0 ? { ...only, ...about, ...takesNull } : { ...about, ...takesNull, anyOf: kept }
}

/**
 * A union of objects as one object: all properties, of which those are required that every branch requires. A key that a branch leaves
 * open is taken to mean what the other branches say: only here the schema may get narrower.
 */
function flattenRoot(root: JsonSchema): JsonSchema {
  const { anyOf, oneOf, ...rest } = withoutAllOf(root)
  const branches = [anyOf, oneOf].flatMap((union) => (Array.isArray(union) ? union.filter(isSchema).map(withoutAllOf) : []))
  if (branches.length === 0) return rest
  const names = [...new Set(branches.flatMap((branch) => Object.keys(propertiesOf(branch))))]
  const united = names.map((name) => {
    const found = branches.flatMap((branch) => (Object.hasOwn(propertiesOf(branch), name) ? [propertiesOf(branch)[name]] : []))
    const distinct = [...new Map(found.map((schema) => [JSON.stringify(schema), schema])).values()]
    return [name, distinct.length === 1 ? distinct[0] : { anyOf: distinct }]
  })
  const properties = { ...propertiesOf(rest), ...Object.fromEntries(united) }
  const inAll = branches.map(requiredOf).reduce((common, names) => common.filter((name) => names.includes(name)))
  return { ...rest, type: "object", properties, required: [...new Set([...requiredOf(rest), ...inAll])] }
}

function propertiesOf(schema: JsonSchema): JsonSchema {
  return isSchema(schema.properties) ? schema.properties : {}
}

function requiredOf(schema: JsonSchema): readonly string[] {
  return Array.isArray(schema.required) ? schema.required : []
}

/** Objects with free keys and values of any type have no strict form. */
function canBeStrict(root: JsonSchema): boolean {
  let possible = true
  rewriteSchema(root, (node) => {
    const isObject = isSchema(node.properties) || node.type === "object" || (Array.isArray(node.type) && node.type.includes("object"))
    const hasFreeKeys = isSchema(node.additionalProperties) || node.additionalProperties === true || node.patternProperties !== undefined || !isSchema(node.properties)
    if (isObject ? hasFreeKeys : !SAYS_TYPE.some((keyword) => keyword in node)) possible = false
    return node
  })
  return possible
}
const SAYS_TYPE = ["type", "enum", "const", "anyOf", "oneOf", "$ref"]

function strictNode(node: JsonSchema): JsonSchema {
  const { oneOf, default: _default, ...rest } = node
  const open = oneOf === undefined ? rest : { ...rest, anyOf: oneOf }
  if (!isSchema(node.properties)) return open
  const required = requiredOf(node)
  const properties = Object.entries(node.properties).map(([name, schema]) => [name, required.includes(name) ? schema : orNull(schema)])
  return { ...open, properties: Object.fromEntries(properties), required: Object.keys(node.properties), additionalProperties: false }
}

function orNull(schema: unknown): unknown {
  if (!isSchema(schema) || schema.nullable === true || (Array.isArray(schema.type) && schema.type.includes("null"))) return schema
  const { description, ...rest } = schema
  return { ...(description === undefined ? {} : { description }), anyOf: [rest, { type: "null" }] }
}

/** Names that fit are kept; others are cleaned, shortened, and told apart by a digest of the original, so order does not matter. */
function providerNames(originals: readonly string[], pattern: string | undefined): string[] {
  if (pattern === undefined) return [...originals]
  const fits = new RegExp(pattern)
  const taken = new Set(originals.filter((name) => fits.test(name)))
  return originals.map((original) => {
    if (fits.test(original)) return original
    const base = original.replace(/[^a-zA-Z0-9_-]/g, "_")
    const stem = /^[a-zA-Z]/.test(base) ? base : `t_${base}`
    const shapes = [base, stem]
    for (let number = 0; number < 50; number++) {
      const end = `_${digest(`${original}${number || ""}`)}`
      for (const length of [64, 60, 48, 32, 24, 16]) shapes.push(stem.slice(0, length - end.length) + end)
    }
    const name = shapes.find((shape) => fits.test(shape) && !taken.has(shape)) ?? original
    taken.add(name)
    return name
  })
}

/** FNV-1a, 32 bit. */
function digest(text: string): string {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return (hash >>> 0).toString(36)
}
