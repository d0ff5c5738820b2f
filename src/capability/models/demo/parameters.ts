// Reads a tool's JSON Schema as a list of parameters, each with the kind of value it wants: an id like A1001, a date, a name, free text…
// Used by the other files of this folder. Judges by types, formats, names, descriptions and examples; finds no values itself.
import type { ToolSpec } from "../../../contract/model.ts"
import type { JsonSchema } from "../../../contract/schema.ts"
import { conceptOf, splitName, wordsOf } from "./words.ts"

export type ParameterKind = "enum" | "boolean" | "number" | "expression" | "id" | "code" | "date" | "time" | "email" | "url" | "name" | "text" | "list" | "object"
export interface Parameter {
  readonly name: string
  readonly schema: JsonSchema
  readonly required: boolean
  readonly kind: ParameterKind
  readonly description: string
  readonly example: string | null
  /** Meanings of name and description. */
  readonly words: ReadonlySet<string>
  readonly nameWords: ReadonlySet<string>
  readonly role: "source" | "target" | null
}

const TEXT_WORDS: ReadonlySet<string> = new Set(
  "title subject description detail message content text body note reason comment query question summary issue problem search complaint keyword".split(" ").map(conceptOf),
)

export function parametersOf(tool: ToolSpec): Parameter[] {
  const properties = tool.schema.properties
  if (typeof properties !== "object" || properties === null) return []
  const required = Array.isArray(tool.schema.required) ? tool.schema.required : []
  return Object.entries(properties).map(([name, raw]) => {
    const shown = tool.examples.find((one): one is Record<string, unknown> => typeof one === "object" && one !== null && name in one)?.[name]
    return parameter(name, plainSchema(raw), { required: required.includes(name), example: typeof shown === "string" ? shown : null })
  })
}

/** Examples of ids by parameter name. */
export function idExamplesOf(tools: readonly ToolSpec[]): Map<string, string> {
  return new Map(tools.flatMap(parametersOf).flatMap((one) => (one.kind === "id" && one.example !== null ? [[one.name, one.example] as const] : [])))
}

export function parameter(name: string, schema: JsonSchema, known: { required: boolean; example: string | null }): Parameter {
  const description = typeof schema.description === "string" ? schema.description : ""
  const shown = Array.isArray(schema.examples) && typeof schema.examples[0] === "string" ? schema.examples[0] : null
  const example = known.example ?? shown ?? exampleIn(description)
  const nameWords = wordsOf(name)
  const words = new Set([...nameWords, ...wordsOf(description)])
  const said = `${splitName(name)} ${description.toLowerCase()}`
  const role = /\b(?:to|target|destination|end|until|arrival)\b/.test(splitName(name))
    ? "target"
    : /\b(?:from|source|base|origin|start|begin|departure)\b/.test(splitName(name))
      ? "source"
      : null
  return { name, schema, description, example, nameWords, words, role, required: known.required, kind: kindOf(schema, { said, example, nameWords, words }) }
}

interface Described {
  readonly said: string
  readonly example: string | null
  readonly nameWords: ReadonlySet<string>
  readonly words: ReadonlySet<string>
}

function kindOf(schema: JsonSchema, { said, example, nameWords, words }: Described): ParameterKind {
  if (Array.isArray(schema.enum) || "const" in schema) return "enum"
  switch (schema.type) {
    case "boolean":
    case "object":
      return schema.type
    case "array":
      return "list"
    case "number":
    case "integer":
      return "number"
  }
  const means = (set: ReadonlySet<string>, ...concepts: string[]) => concepts.some((word) => set.has(conceptOf(word)))
  if (schema.format === "email" || /\be-?mail address\b|邮箱/.test(said)) return "email"
  if (schema.format === "uri" || /\burl\b|网址/.test(said)) return "url"
  if (schema.format === "date" || (example !== null && isDate(example)) || /yyyy-mm-dd/.test(said)) return "date"
  if (schema.format === "time" || (example !== null && /^\d{1,2}:\d\d$/.test(example)) || /hh:mm/.test(said)) return "time"
  if ((example !== null && /^[A-Z]{3}$/.test(example)) || means(nameWords, "currency")) return "code"
  if (/\b(?:expression|formula)\b|算式|表达式/.test(said) || (example !== null && /^[\d(][\d ]*[+*/]/.test(example))) return "expression"
  if (typeof schema.pattern === "string" || (example !== null && /\d/.test(example))) return "id"
  if ([...nameWords].some((word) => TEXT_WORDS.has(word))) return "text"
  if (means(nameWords, "date", "day")) return "date"
  if (means(nameWords, "time") || (/^(?:start|end|from|to)$/.test(said.split(" ", 1)[0] ?? "") && means(words, "time", "hour"))) return "time"
  return /^(?:\w+ ){0,3}(?:id|number|no|sku|ref)\b|编号|单号|货号/.test(said) ? "id" : "name"
}

/** The one type of a schema that also allows null or offers a choice. */
export function plainSchema(raw: unknown): JsonSchema {
  if (typeof raw !== "object" || raw === null) return {}
  const schema = raw as JsonSchema
  const choices = schema.anyOf ?? schema.oneOf
  if (Array.isArray(choices))
    return { ...plainSchema(choices.find((one) => one?.type !== "null")), ...(schema.description === undefined ? {} : { description: schema.description }) }
  return Array.isArray(schema.type) ? { ...schema, type: schema.type.find((one) => one !== "null") } : schema
}

function exampleIn(description: string): string | null {
  const found = /(?:such as|e\.g\.,?|for example|for instance|example:|like|例如|比如|形如|如)[\s:："'“「`]{0,4}([\p{L}\p{N}][\w.:/#@-]{0,60}|\p{Script=Han}{1,10})/iu.exec(
    description,
  )?.[1]
  return found?.replace(/[.:]+$/, "") ?? null
}

export function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text)
}
