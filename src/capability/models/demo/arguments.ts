// Fills a tool's arguments from what was said, led by its JSON Schema: types, formats, enums, names, and examples in descriptions.
// Used by demo-model.ts. Knows values (values.ts) and meanings (words.ts), no tool in particular, and never invents a value.
import type { ToolSpec } from "../../../contract/model.ts"
import type { JsonSchema } from "../../../contract/schema.ts"
import type { Parameter } from "./parameters.ts"
import { isDate, parameter, parametersOf, plainSchema } from "./parameters.ts"
import type { Value } from "./values.ts"
import { neighboursSay, readValues } from "./values.ts"
import { conceptOf, isStopWord, mentionEnd, wordsOf } from "./words.ts"

export interface Filled {
  readonly args: { readonly [name: string]: unknown }
  readonly missing: readonly Parameter[]
  /** How many arguments came from something unmistakable: an id of the right shape, an enum value, a code. */
  readonly evidence: number
  /** Further values for one argument: "A1001 and A1002". */
  readonly more: { readonly name: string; readonly values: readonly unknown[] } | null
}
export interface Scope {
  /** YYYY-MM-DD when the instructions say it. */
  readonly today: string | null
  /** Examples of ids by parameter name, from all tools: one that only one tool shows is good for its namesakes. */
  readonly examples: ReadonlyMap<string, string>
  /** Optional arguments are taken from so many of the texts only; required ones from all. */
  readonly optionalFrom: number
}
interface Fit {
  readonly parameter: Parameter
  readonly value: Value
  readonly score: number
}

const TARGETS = ["to", "into", "until", "till", "到", "至", "成", "为"]
const SOURCES = ["from", "between", "从", "把", "将"]
const PLACES = ["in", "at", "near", "around", "to", "for", "from", "of", "在", "去", "到", "从"]
/** Scores from which a value counts as unmistakable, and from which an optional argument is filled at all. */
const CLEAR = 3.5
const OPTIONAL_FROM = 2.5

/** The letters an id begins with: `A` of A1001, `SKU` of SKU-7. */
function prefixOf(id: string): string {
  return /^[A-Za-z]*/.exec(id)?.[0].toUpperCase() ?? ""
}

/** Fills from `texts` in their order: what an earlier text says is not overwritten by a later one. */
export function fill(tool: ToolSpec, texts: readonly string[], scope: Scope): Filled {
  const parameters = parametersOf(tool)
  const args: Record<string, unknown> = {}
  let evidence = 0
  let more: Filled["more"] = null
  for (const [index, text] of texts.entries()) {
    const open = parameters.filter((one) => !(one.name in args) && (one.required || index < scope.optionalFrom))
    const values = readValues(text, scope.today)
    const fits = assign(open, { text, values, scope, tool })
    for (const { parameter: one, value, score } of fits) {
      args[one.name] = one.kind === "number" ? Number(value.text) : spelled(one, value, scope)
      if (score >= CLEAR) evidence += 1
    }
    more ??= furtherValues(fits, { text, values, scope, tool })
    for (const one of open) {
      if (one.name in args) continue
      const read = readWhole(one, { text, values, scope, tool })
      if (read === undefined) continue
      args[one.name] = read
      if (one.kind === "enum" || one.kind === "expression") evidence += 1
    }
  }
  const missing = parameters.filter((one) => one.required && !(one.name in args))
  return { args, missing, evidence, more }
}

interface Reading {
  readonly text: string
  readonly values: readonly Value[]
  readonly scope: Scope
  readonly tool: ToolSpec
}

/** Each value goes to the parameter that it fits best, the best fit first; equal fits keep the order of the schema and of the text. */
function assign(parameters: readonly Parameter[], reading: Reading): Fit[] {
  const fits = parameters.flatMap((one) => reading.values.map((value) => ({ parameter: one, value, score: fitOf(one, value, reading) })))
  const ranked = fits.filter(({ parameter: one, score }) => score >= (one.required ? 0.5 : OPTIONAL_FROM)).sort((a, b) => b.score - a.score)
  const taken: Fit[] = []
  for (const fit of ranked) {
    if (!taken.some((other) => other.parameter === fit.parameter || other.value === fit.value)) taken.push(fit)
  }
  return taken
}

function fitOf(parameter: Parameter, value: Value, { scope, values, tool }: Reading): number {
  const near = neighboursSay(value, parameter.nameWords) ? 2 : neighboursSay(value, parameter.words) ? 1.5 : 0
  const role = roleFit(parameter, value)
  switch (parameter.kind) {
    case "id":
      return idFit(parameter, value, scope) + (near > 0 ? 0.5 : 0)
    case "code":
      return value.kind === "code" ? CLEAR + role : 0
    case "date":
      return value.kind === "date" && (isDate(value.text) || !wantsIsoDate(parameter)) ? 3 + role : 0
    case "time":
      return value.kind === "time" ? 3 + role : 0
    case "email":
    case "url":
      return value.kind === parameter.kind ? CLEAR + role : 0
    case "number":
      return value.kind === "number" && inRange(Number(value.text), parameter.schema) ? 1 + near + (isMoney(parameter, value, values) ? 2 : 0) : 0
    case "name":
      return nameFit(parameter, value, tool) + near + role
    case "text":
      return value.kind === "quoted" ? 3 + near : 0
    default:
      return 0
  }
}

function roleFit({ role }: Parameter, { before }: Value): number {
  const said = TARGETS.some((word) => before === word || (/\P{ASCII}/u.test(word) && before.endsWith(word)))
    ? "target"
    : SOURCES.some((word) => before === word || before.endsWith(word))
      ? "source"
      : null
  return role === null || said === null ? 0 : role === said ? 1 : -1
}

function idFit({ name, schema, required, ...own }: Parameter, value: Value, { examples }: Scope): number {
  const example = own.example ?? examples.get(name) ?? null
  const isClaimed = [...examples.values()].some((other) => prefixOf(other) === prefixOf(value.text))
  if (value.kind !== "id" && value.kind !== "quoted" && value.kind !== "number") return 0
  if (typeof schema.pattern === "string") return matches(schema.pattern, value.text) ? 4 : 0
  if (example === null) return value.kind === "id" && !isClaimed ? 2 : value.kind === "number" && required ? 0.5 : 0
  if (shapeOf(example) !== shapeOf(value.text)) return 0
  if (prefixOf(example) === prefixOf(value.text)) return 4
  return isClaimed ? 0 : 1.5
}

function nameFit(parameter: Parameter, value: Value, tool: ToolSpec): number {
  const isPlace = ["city", "address", "country"].some((word) => parameter.words.has(conceptOf(word)))
  if (value.kind === "quoted") return 2
  if (value.kind === "id") return neighboursSay(value, parameter.nameWords) ? 0.5 : -9
  if (value.kind !== "name") return -9
  const own = new Set([...wordsOf(tool.name), ...wordsOf(tool.description), ...optionsOf(tool)])
  if ([...value.text.split(" ")].every((word) => isStopWord(word) || own.has(conceptOf(word)))) return -9
  const preposition = PLACES.some((word) => value.before === word || (/\P{ASCII}/u.test(word) && value.before.endsWith(word)))
  return 1 + (preposition ? (isPlace && value.before !== "for" ? 1.5 : 0.5) : 0) - (/^\p{Lu}/u.test(value.text) || /\p{Script=Han}/u.test(value.text) ? 0 : 0.4)
}

/** The meanings of all enum values: "in fahrenheit" is no place. */
function optionsOf({ schema }: ToolSpec): string[] {
  const properties = Object.values((schema.properties ?? {}) as Record<string, JsonSchema>)
  return properties.flatMap((one) => (Array.isArray(one.enum) ? one.enum.flatMap((option) => [...wordsOf(String(option))]) : []))
}

/** A second id of the same shape, or a second name joined by "and". */
function furtherValues(fits: readonly Fit[], reading: Reading): Filled["more"] {
  for (const fit of fits.filter(({ parameter: one }) => one.kind === "id" || one.kind === "name")) {
    let last = fit.value
    const values: unknown[] = []
    for (const value of reading.values) {
      if (value.start < last.end || fits.some((other) => other.value === value)) continue
      const joined = /^(?:[\s,、，&]|and|or|vs|和|与|跟|in|for|of|order|订单|还有){0,6}$/i.test(reading.text.slice(last.end, value.start))
      if (value.kind !== fit.value.kind || (fit.parameter.kind === "id" ? fitOf(fit.parameter, value, reading) < 4 : !joined || nameFit(fit.parameter, value, reading.tool) < 0.5))
        continue
      values.push(spelled(fit.parameter, value, reading.scope))
      last = value
    }
    if (values.length > 0) return { name: fit.parameter.name, values }
  }
  return null
}

/** Arguments that no single value gives: enums, yes or no, lists, objects, free text. */
function readWhole(one: Parameter, reading: Reading): unknown {
  const { text } = reading
  switch (one.kind) {
    case "enum":
      return enumValues(one.schema, text)[0]
    case "boolean":
      return [...wordsOf(one.name)].some((word) => wordsOf(text).has(word)) ? !/\b(?:no|not|without)\b|不|无需/.test(text.toLowerCase()) : undefined
    case "expression":
      return arithmeticIn(text)
    case "list":
      return listOf(one, reading)
    case "object": {
      const inner = fill({ ...reading.tool, schema: one.schema, examples: [] }, [text], reading.scope)
      return inner.missing.length === 0 && Object.keys(inner.args).length > 0 ? inner.args : undefined
    }
    case "text":
      return one.required ? (freeText(reading, one) ?? undefined) : undefined
    default:
      return undefined
  }
}

/** The longest piece of arithmetic, with "17% of 200" and the words for the operators read as signs. */
function arithmeticIn(text: string): string | undefined {
  const signs = text
    .replace(/(\d),(?=\d{3})/g, "$1")
    .replace(/% of /gi, "/100*")
    .replace(/ ?(?:plus|加上?) ?/gi, "+")
    .replace(/ ?(?:minus|减去?) ?/gi, "-")
    .replace(/ ?(?:times|multiplied by|乘以?|×) ?/gi, "*")
    .replace(/ ?(?:divided by|除以|÷) ?/gi, "/")
  const pieces = [...signs.matchAll(/[\d(][\d\s.+*/()^%-]*/g)].map(([piece]) => piece.trim())
  return pieces.filter((piece) => /\d\s*[+*/^-]\s*[\d(]|\)/.test(piece)).sort((a, b) => b.length - a.length)[0]
}

function listOf(one: Parameter, reading: Reading): unknown[] | undefined {
  const item = parameter(one.name, plainSchema(one.schema.items), { required: true, example: one.example })
  if (item.kind === "enum") return some(enumValues(item.schema, reading.text))
  const fitting = reading.values.filter((value) => fitOf(item, value, reading) >= 1)
  return some(fitting.map((value) => (item.kind === "number" ? Number(value.text) : spelled(item, value, reading.scope))))
}

function enumValues(schema: JsonSchema, text: string): unknown[] {
  const said = wordsOf(text)
  const lower = ` ${text.toLowerCase()} `
  const options = Array.isArray(schema.enum) ? schema.enum : [schema.const]
  const exact = options.filter((option) => new RegExp(`(?<![\\p{L}\\d])${escaped(String(option).toLowerCase())}(?![a-z\\d])`, "u").test(lower))
  if (exact.length > 0) return exact
  return options.filter((option) => {
    const words = [...wordsOf(String(option))]
    return words.length > 0 && words.every((word) => said.has(word))
  })
}

/** What was said beside the command itself: after its words ("open a ticket for …"), else before them ("…, please open a ticket"). */
function freeText(reading: Reading, one: Parameter): string | null {
  // Addresses have parameters of their own.
  const text = reading.values.filter(({ kind }) => kind === "email" || kind === "url").reduce((left, value) => left.replace(value.text, " "), reading.text)
  const command = Math.max(mentionEnd(text, wordsOf(reading.tool.name)), mentionEnd(text, one.nameWords))
  if (command < 0) return wordsOf(text).size > 0 ? text.trim() : null
  const after = text
    .slice(command)
    .replace(/^(?:[\s:：,，.。!！?？;；的]|(?:for|about|that|saying|says?|to|regarding|because|with|titled|called|is|me|us|please)\b|关于|说|因为|是|我)+/i, "")
    .replace(/[\s.。!！?？]+$/, "")
  if (wordsOf(after).size > 0) return after
  const start = Math.max(...[".", ",", "，", "。", "；", "！", "？", "?", ";", "!", "\n"].map((mark) => text.lastIndexOf(mark, command)))
  const before = start < 0 ? "" : text.slice(0, start).trim()
  return wordsOf(before).size > 0 ? before : null
}

/** Letters and digits as runs: A1001 → `LD`, SKU-7 → `L-D`. */
function shapeOf(text: string): string {
  return text.replace(/[A-Za-z]+/g, "L").replace(/\d+/g, "D")
}

function spelled({ kind, name, ...own }: Parameter, value: Value, { examples }: Scope): string {
  const example = own.example ?? examples.get(name) ?? null
  return kind === "id" && example !== null && example === example.toUpperCase() ? value.text.toUpperCase() : value.text
}

function isMoney({ words }: Parameter, value: Value, values: readonly Value[]): boolean {
  const touching = values.some((other) => other.kind === "code" && (Math.abs(other.start - value.end) <= 1 || Math.abs(value.start - other.end) <= 1))
  return touching && ["amount", "price", "money", "currency"].some((word) => words.has(conceptOf(word)))
}

function inRange(number: number, { type, minimum, maximum, exclusiveMinimum, exclusiveMaximum }: JsonSchema): boolean {
  if (type === "integer" && !Number.isInteger(number)) return false
  if ((typeof minimum === "number" && number < minimum) || (typeof exclusiveMinimum === "number" && number <= exclusiveMinimum)) return false
  return !((typeof maximum === "number" && number > maximum) || (typeof exclusiveMaximum === "number" && number >= exclusiveMaximum))
}

function wantsIsoDate({ schema, example, description }: Parameter): boolean {
  return schema.format === "date" || (example !== null && isDate(example)) || /yyyy-mm-dd/i.test(description)
}

/** Patterns come from the developer's own schema; the text is one short token. */
function matches(pattern: string, text: string): boolean {
  try {
    return text.length <= 64 && new RegExp(pattern, "u").test(text)
  } catch {
    return false
  }
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")
}

function some<T>(values: readonly T[]): T[] | undefined {
  return values.length > 0 ? [...values] : undefined
}
