// Checks a value against the subset of JSON Schema that docs and `uncheckedKeywords` name; says path, expected, received.
// Called by the argument ladder, coerce.ts and `jsonSchema`. Leaves everything it does not know unchecked, and never throws on a strange schema.
import { canonicalJson } from "./canonical.ts"
import { isLongInteger } from "./lenient-value.ts"
import { safePattern } from "./safe-pattern.ts"

/** `path` like `items[0].name`, empty for the whole value; `expected` and `received` are words for a model to read. */
export interface SchemaProblem {
  readonly path: string
  readonly expected: string
  readonly received: string
}

/** One check's surroundings. `steps` is spent by every schema visited: a schema made to explode ends there, as a problem. */
export interface SchemaWalk {
  readonly root: unknown
  steps: number
}
export type SchemaNode = Readonly<Record<string, unknown>>

const MAX_STEPS = 500_000
const MAX_DEPTH = 300
const MAX_REFERENCES = 50
const MAX_PROBLEMS = 50
const SHOWN_CHARS = 60

/** Long integers arrive as text and stay it: a JavaScript number would change their digits. */
const isDigits = (value: unknown): boolean => typeof value === "bigint" || (typeof value === "string" && isLongInteger(value))
const HAS_TYPE: { readonly [type: string]: (value: unknown) => boolean } = {
  string: (value) => typeof value === "string",
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
  array: Array.isArray,
  object: isPlainObject,
  integer: (value) => Number.isInteger(value) || isDigits(value),
  number: (value) => Number.isFinite(value) || isDigits(value),
}

export function schemaWalk(root: unknown): SchemaWalk {
  return { root, steps: MAX_STEPS }
}

/** The problems of `value`; none means that it fits. */
export function checkSchema(schema: unknown, value: unknown, walk: SchemaWalk = schemaWalk(schema)): readonly SchemaProblem[] {
  const problems: SchemaProblem[] = []
  check(schema, value, { path: "", depth: 0, followed: [], walk, problems })
  return problems
}

/** Does it fit? */
export function fitsSchema(schema: unknown, value: unknown, walk: SchemaWalk): boolean {
  return checkSchema(schema, value, walk).length === 0
}

interface Spot {
  readonly path: string
  readonly depth: number
  /** References followed for this very value: one that leads back to itself says nothing. */
  readonly followed: readonly unknown[]
  readonly walk: SchemaWalk
  readonly problems: SchemaProblem[]
}

function check(given: unknown, value: unknown, spot: Spot): void {
  const tooMuch = spot.walk.steps-- <= 0 || spot.depth > MAX_DEPTH
  if (tooMuch) report(spot, "a simpler value (this one is too large or too deeply nested to be checked)", value)
  else if (given === false) report(spot, "no value here", value)
  if (tooMuch || !isSchemaNode(given)) return
  const target = "$ref" in given ? resolveReference(given, spot.walk.root) : undefined
  if (target !== undefined && !spot.followed.includes(target)) check(target, value, { ...spot, depth: spot.depth + 1, followed: [...spot.followed, target] })
  if (value === null && given.nullable === true) return
  if (!checkType(given, value, spot)) return
  checkChoice(given, value, spot)
  if (typeof value === "string") checkText(given, value, spot)
  if (typeof value === "number" || isDigits(value)) checkNumber(given, Number(value), spot)
  if (Array.isArray(value)) checkItems(given, value, spot)
  else if (isPlainObject(value)) checkMembers(given, value, spot)
  checkCombined(given, value, spot)
}

function checkType(node: SchemaNode, value: unknown, spot: Spot): boolean {
  const types = typesOf(node)
  if (types.length === 0 || types.some((type) => HAS_TYPE[type]?.(value) ?? true)) return true
  report(spot, expectedOf(node, spot.walk.root), value)
  return false
}

function checkChoice(node: SchemaNode, value: unknown, spot: Spot): void {
  const choices = choicesOf(node)
  if (choices === undefined || choices.some((choice) => choice === value || (typeof choice === "object" && canonicalJson(choice) === canonicalJson(value)))) return
  report(spot, expectedOf(node, spot.walk.root), value)
}

function checkText(node: SchemaNode, text: string, spot: Spot): void {
  const least = numberAt(node, "minLength")
  const most = numberAt(node, "maxLength")
  if (least !== undefined && (text.length < least || (text.length < least * 2 && [...text].length < least))) report(spot, `at least ${least} characters`, text)
  if (most !== undefined && text.length > most && [...text].length > most) report(spot, `at most ${most} characters`, text)
  if (typeof node.pattern === "string" && safePattern(node.pattern)?.(text) === false) report(spot, `text matching ${node.pattern}`, text)
}

function checkNumber(node: SchemaNode, value: number, spot: Spot): void {
  const least = numberAt(node, "minimum")
  const most = numberAt(node, "maximum")
  const above = node.exclusiveMinimum === true ? least : numberAt(node, "exclusiveMinimum")
  const below = node.exclusiveMaximum === true ? most : numberAt(node, "exclusiveMaximum")
  if (least !== undefined && value < least) report(spot, `at least ${least}`, value)
  if (most !== undefined && value > most) report(spot, `at most ${most}`, value)
  if (above !== undefined && value <= above) report(spot, `more than ${above}`, value)
  if (below !== undefined && value >= below) report(spot, `less than ${below}`, value)
  const step = numberAt(node, "multipleOf")
  if (step === undefined || step <= 0) return
  const ratio = value / step
  if (Math.abs(ratio - Math.round(ratio)) > 1e-9 * Math.max(1, Math.abs(ratio))) report(spot, `a multiple of ${step}`, value)
}

function checkItems(node: SchemaNode, items: readonly unknown[], spot: Spot): void {
  const least = numberAt(node, "minItems")
  const most = numberAt(node, "maxItems")
  if (least !== undefined && items.length < least) report(spot, `at least ${least} items`, items)
  if (most !== undefined && items.length > most) report(spot, `at most ${most} items`, items)
  if (node.uniqueItems === true && new Set(items.map(canonicalJson)).size < items.length) report(spot, "items that differ", items)
  if (node.items === undefined && node.prefixItems === undefined) return
  for (const [index, item] of items.entries()) check(itemSchema(node, index), item, { ...spot, path: `${spot.path}[${index}]`, depth: spot.depth + 1, followed: [] })
}

function checkMembers(node: SchemaNode, value: SchemaNode, spot: Spot): void {
  const keys = Object.keys(value)
  const least = numberAt(node, "minProperties")
  const most = numberAt(node, "maxProperties")
  if (least !== undefined && keys.length < least) report(spot, `at least ${least} properties`, value)
  if (most !== undefined && keys.length > most) report(spot, `at most ${most} properties`, value)
  for (const name of requiredOf(node)) {
    if (Object.hasOwn(value, name)) continue
    const expected = expectedOf(memberSchema(node, name), spot.walk.root)
    spot.problems.push({ path: memberPath(spot.path, name), expected: `${expected} (required)`, received: "nothing" })
  }
  for (const key of keys) {
    const schema = memberSchema(node, key)
    const at: Spot = { ...spot, path: memberPath(spot.path, key), depth: spot.depth + 1, followed: [] }
    if (schema !== false) check(schema, value[key], at)
    else report(at, `no such property${isSchemaNode(node.properties) ? ` (there is ${Object.keys(node.properties).slice(0, 20).join(", ") || "none"})` : ""}`, value[key])
  }
}

function checkCombined(node: SchemaNode, value: unknown, spot: Spot): void {
  const deeper = { ...spot, depth: spot.depth + 1 }
  for (const schema of schemasAt(node, "allOf")) check(schema, value, deeper)
  checkAlternatives(schemasAt(node, "anyOf"), value, deeper)
  if (checkAlternatives(schemasAt(node, "oneOf"), value, deeper) > 1) report(spot, "a value that fits exactly one of the alternatives", value)
  if (node.not === undefined) return
  const problems: SchemaProblem[] = []
  check(node.not, value, { ...deeper, problems })
  if (problems.length === 0) report(spot, "a value that is not of the forbidden kind", value)
}

/** How many fit. None: reports the alternative that comes closest, or all their types when the value is of none. */
function checkAlternatives(schemas: readonly unknown[], value: unknown, spot: Spot): number {
  const attempts = schemas.map((schema) => {
    const problems: SchemaProblem[] = []
    check(schema, value, { ...spot, problems })
    return problems
  })
  const fitting = attempts.filter((problems) => problems.length === 0).length
  if (fitting > 0 || attempts.length === 0) return fitting
  const inside = attempts.filter((problems) => problems.some((problem) => problem.path !== spot.path)).sort((a, b) => a.length - b.length)
  const [closest] = inside
  if (closest !== undefined) spot.problems.push(...closest.slice(0, MAX_PROBLEMS - spot.problems.length))
  else report(spot, [...new Set(attempts.flat().map((problem) => problem.expected))].join(" or "), value)
  return 0
}

function report(spot: Spot, expected: string, value: unknown): void {
  if (spot.problems.length < MAX_PROBLEMS) spot.problems.push({ path: spot.path, expected, received: shown(value) })
}

/** A value in few words, cut short. */
export function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.length > SHOWN_CHARS ? `${value.slice(0, SHOWN_CHARS)}…` : value)
  if (typeof value === "object" && value !== null) {
    const names = Array.isArray(value) ? "" : Object.keys(value).slice(0, 10).join(", ")
    return Array.isArray(value) ? `an array of ${value.length}` : `an object${names === "" ? " without keys" : ` with ${names}`}`
  }
  return String(value)
}

function expectedOf(schema: unknown, root: unknown): string {
  const node = isSchemaNode(schema) && "$ref" in schema ? resolveReference(schema, root) : schema
  if (!isSchemaNode(node)) return "a value"
  const choices = choicesOf(node)
  if (choices?.length === 1) return shown(choices[0])
  return choices === undefined ? typesOf(node).join(" or ") || "a value" : `one of ${choices.slice(0, 50).map(shown).join(", ")}`
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
export function isSchemaNode(value: unknown): value is SchemaNode {
  return isPlainObject(value)
}

export function typesOf(node: SchemaNode): readonly string[] {
  const types = Array.isArray(node.type) ? node.type : [node.type]
  return types.filter((type): type is string => typeof type === "string")
}

export function choicesOf(node: SchemaNode): readonly unknown[] | undefined {
  if (Object.hasOwn(node, "const")) return [node.const]
  return Array.isArray(node.enum) ? node.enum : undefined
}

export function requiredOf(node: SchemaNode): readonly string[] {
  return Array.isArray(node.required) ? node.required.filter((name) => typeof name === "string") : []
}

/** The schema of one member; undefined where nothing is said. Keys that a pattern may allow are not judged. */
export function memberSchema(node: SchemaNode, key: string): unknown {
  if (isSchemaNode(node.properties) && Object.hasOwn(node.properties, key)) return node.properties[key]
  return node.patternProperties === undefined ? node.additionalProperties : undefined
}

/** Tuples stand in `prefixItems`, in older drafts in `items` itself. */
export function itemSchema(node: SchemaNode, index: number): unknown {
  const tuple = Array.isArray(node.prefixItems) ? node.prefixItems : Array.isArray(node.items) ? node.items : []
  return index < tuple.length ? tuple[index] : node.items === tuple ? undefined : node.items
}

export function schemasAt(node: SchemaNode, keyword: "allOf" | "anyOf" | "oneOf"): readonly unknown[] {
  const schemas = node[keyword]
  return Array.isArray(schemas) ? schemas : []
}

/** Follows `#/…` inside the same schema; undefined for anything else, and for a chain that never arrives. */
export function resolveReference(node: SchemaNode, root: unknown): unknown {
  let target: unknown = node
  for (let hops = 0; hops < MAX_REFERENCES; hops++) {
    if (!isSchemaNode(target) || typeof target.$ref !== "string") return target
    target = pointed(root, target.$ref)
  }
  return undefined
}

function pointed(root: unknown, reference: string): unknown {
  if (reference === "#") return root
  if (!reference.startsWith("#/")) return undefined
  let target: unknown = root
  for (const part of reference.slice(2).split("/")) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~").replaceAll("%25", "%")
    if (typeof target !== "object" || target === null || !Object.hasOwn(target, key)) return undefined
    target = (target as SchemaNode)[key]
  }
  return target
}

export function memberPath(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`
}

function numberAt(node: SchemaNode, keyword: string): number | undefined {
  const value = node[keyword]
  return typeof value === "number" ? value : undefined
}
