// The argument ladder (spec T2, T3): raw arguments of a tool call -> the value a tool may run with, or one exact message to the model.
// Called by capability/tools/prepare.ts. Leaves the tool's own Standard Schema, and splitting one call into several, to its caller.
import type { FinishReason } from "../../contract/model.ts"
import type { JsonSchema } from "../../contract/schema.ts"
import type { SchemaProblem } from "./check-schema.ts"
import { checkSchema, isPlainObject, schemaWalk, shown } from "./check-schema.ts"
import { coerce } from "./coerce.ts"
import { exampleOf } from "./example.ts"
import type { JsonReading } from "./lenient-json.ts"
import { readJson } from "./lenient-json.ts"

const SHOWN_PROBLEMS = 5
const SHOWN_PATH_CHARS = 120
const EXAMPLE_CHARS = 600
const NUMBER_TO_TEXT = ": number to text"
/** Number literals that do not come back as they were written. */
const LOSES_DIGITS = /\d\.\d*0(?!\d)|\d[eE][+-]?\d/
/** Names under which models wrap the arguments once more. */
const WRAPPERS = new Set(["arguments", "args", "parameters", "params", "input", "kwargs", "tool_input", "action_input"])
const CALL_NAMES = new Set(["name", "tool", "tool_name", "function", "action"])

export interface ArgumentsOptions {
  readonly tool: string
  readonly schema: JsonSchema
  readonly examples: readonly unknown[]
  readonly finish: FinishReason
}

export type RefusalCode = "invalid_json" | "not_object" | "schema" | "truncated" | "ambiguous"
export type ArgumentsReading =
  | { readonly type: "ok"; readonly value: Record<string, unknown>; readonly repairs: readonly string[] }
  /** Several different objects that all fit: each is a call of its own. */
  | { readonly type: "several"; readonly texts: readonly string[] }
  /** `message` is for the model: which argument, what was expected, what was received, an example. */
  | { readonly type: "refused"; readonly code: RefusalCode; readonly message: string }

/**
 * Deterministic, linear in the text, never throws. An object that satisfies its schema passes unchanged and without repairs;
 * a truncated one is refused. `repairs` names every change. Empty text, `null` and `""` are `{}`, if that satisfies the schema.
 */
export function readArguments(raw: unknown, options: ArgumentsOptions): ArgumentsReading {
  const reading = readRaw(raw)
  switch (reading.type) {
    case "value":
      return keepsDigits(raw, settle(reading.value, reading.repairs, options), options)
    case "several":
      return settleSeveral(reading.texts, options)
    case "empty":
      return options.finish === "length" ? refuse("truncated", cutOff(options), options) : settle({}, ["empty arguments read as {}"], options)
    case "truncated":
      return refuse("truncated", cutOff(options), options)
    case "repeated_key":
      return refuse("ambiguous", `the key ${JSON.stringify(reading.key)} occurs more than once with different values; give it once`, options)
    case "not_json":
      if (options.finish === "length") return refuse("truncated", cutOff(options), options)
      return refuse("invalid_json", `they are not valid JSON: ${reading.reason}`, options)
  }
}

/** A number where text is due (`3.10` for a version) has lost its last digits by now: only the model knows them. */
function keepsDigits(raw: unknown, settled: ArgumentsReading, options: ArgumentsOptions): ArgumentsReading {
  const written = settled.type === "ok" && typeof raw === "string" && LOSES_DIGITS.test(raw) ? settled.repairs.find((repair) => repair.endsWith(NUMBER_TO_TEXT)) : undefined
  return written === undefined ? settled : refuse("schema", `${written.slice(0, -NUMBER_TO_TEXT.length)}: expected string, received a number; put it in quotes`, options)
}

function readRaw(raw: unknown): JsonReading {
  if (typeof raw !== "string") return raw === undefined || raw === null ? { type: "empty" } : { type: "value", value: raw, repairs: [] }
  return readJson(raw)
}

function settle(value: unknown, repairs: readonly string[], options: ArgumentsOptions): ArgumentsReading {
  if (value === null) return settle({}, [...repairs, "null read as {}"], options)
  if (!isPlainObject(value)) return refuse("not_object", `expected one JSON object, received ${shown(value)}`, options)
  const walk = schemaWalk(options.schema)
  if (checkSchema(options.schema, value, walk).length === 0) return { type: "ok", value, repairs }
  const coerced = coerce(options.schema, value, walk)
  const problems = checkSchema(options.schema, coerced.value, walk)
  if (problems.length === 0 && isPlainObject(coerced.value)) return { type: "ok", value: coerced.value, repairs: [...repairs, ...coerced.repairs] }
  const inner = unwrapped(value, options)
  const reading = inner === undefined ? undefined : readRaw(inner)
  const settled = reading?.type === "value" ? settle(reading.value, [...repairs, "took the arguments out of a wrapper", ...reading.repairs], options) : undefined
  return settled?.type === "ok" ? settled : refuse("schema", describe(problems), options)
}

/** The inside of `{"arguments": {…}}` or `{"name": "<this tool>", "arguments": {…}}`, when nothing else stands beside it and the tool has no such argument. */
function unwrapped(value: Record<string, unknown>, options: ArgumentsOptions): unknown {
  const declared = isPlainObject(options.schema.properties) ? options.schema.properties : {}
  const keys = Object.keys(value)
  const named = keys.filter((key) => CALL_NAMES.has(key) && value[key] === options.tool)
  const [wrapper, ...others] = keys.filter((key) => !named.includes(key))
  if (wrapper === undefined || others.length > 0 || named.length > 1 || keys.some((key) => Object.hasOwn(declared, key))) return undefined
  return WRAPPERS.has(wrapper) || wrapper === options.tool ? value[wrapper] : undefined
}

function settleSeveral(texts: readonly string[], options: ArgumentsOptions): ArgumentsReading {
  const fits = texts.every((text) => {
    const reading = readJson(text)
    return reading.type === "value" && settle(reading.value, [], options).type === "ok"
  })
  return fits ? { type: "several", texts } : refuse("ambiguous", `they hold ${texts.length} JSON objects; give exactly one object per call`, options)
}

function cutOff(options: ArgumentsOptions): string {
  const why =
    options.finish === "length"
      ? "the reply reached its output limit. Write less, or split the work into several calls"
      : "the JSON ends before it is complete. Send the whole object"
  return `they are cut off: ${why}`
}

function describe(problems: readonly SchemaProblem[]): string {
  const lines = new Set(problems.map(({ path, expected, received }) => `${path.slice(0, SHOWN_PATH_CHARS) || "the arguments"}: expected ${expected}, received ${received}`))
  const more = lines.size > SHOWN_PROBLEMS ? `; and ${lines.size - SHOWN_PROBLEMS} more` : ""
  return `${[...lines].slice(0, SHOWN_PROBLEMS).join("; ")}${more}`
}

function refuse(code: RefusalCode, what: string, options: ArgumentsOptions): ArgumentsReading {
  const example = options.examples.find((candidate) => checkSchema(options.schema, candidate).length === 0) ?? exampleOf(options.schema)
  const text = example === undefined ? "" : JSON.stringify(example)
  const shownExample = text === "" || text.length > EXAMPLE_CHARS ? "" : ` Correct arguments look like this: ${text}`
  return { type: "refused", code, message: `The arguments of ${options.tool} were not accepted: ${what}.${shownExample}` }
}
