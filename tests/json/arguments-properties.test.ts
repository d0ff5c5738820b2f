import fc from "fast-check"
import { describe, expect, test } from "vitest"
import type { JsonSchema } from "../../src/contract/schema.ts"
import type { ArgumentsReading } from "../../src/infrastructure/json/arguments.ts"
import { readArguments } from "../../src/infrastructure/json/arguments.ts"
import { checkSchema } from "../../src/infrastructure/json/check-schema.ts"

const SEED = 20_260_927
const runs = { seed: SEED, numRuns: 400 }
const ANYTHING: JsonSchema = { type: "object" }

/** Text out of the characters that JSON and its slips are made of. */
const signs = fc.string({
  unit: fc.constantFrom(..."{}[]\"'`\\,:/*#\n\t 01-.eaénutTN“”‘’，：｛｝", "```", "\\n", "\\u00e9", "</think>", "<think>", "true", "None", '"""'),
  maxLength: 30,
})
const { value: anyValue } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    signs,
    fc.string(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(signs, tie("value"), { maxKeys: 4 }),
  ),
}))
const anyObject = fc.dictionary(fc.oneof(signs, fc.string()), anyValue, { maxKeys: 5, noNullPrototype: true }).map((value) => JSON.parse(JSON.stringify(value)) as object)

interface Fitting {
  readonly schema: JsonSchema
  readonly value: unknown
}
function withValue(schema: JsonSchema, values: fc.Arbitrary<unknown>): fc.Arbitrary<Fitting> {
  return values.map((value) => ({ schema, value }))
}
const { fitting } = fc.letrec<{ fitting: Fitting }>((tie) => ({
  fitting: fc.oneof(
    { depthSize: "small" },
    withValue({ type: "string" }, fc.oneof(signs, fc.constantFrom("3", "true", "null", "[1]", '{"a":1}', "2398471005512340017"))),
    withValue({ type: "integer", minimum: -9, maximum: 9 }, fc.integer({ min: -9, max: 9 })),
    withValue({ type: "number" }, fc.double({ noNaN: true, noDefaultInfinity: true })),
    withValue({ type: ["boolean", "null"] }, fc.constantFrom(true, false, null)),
    withValue({ enum: ["low", "HIGH", 3, null] }, fc.constantFrom("low", "HIGH", 3, null)),
    withValue({}, anyValue),
    fc.array(tie("fitting"), { minLength: 1, maxLength: 3 }).map((items) => ({
      schema: { type: "array", prefixItems: items.map((item) => item.schema) },
      value: items.map((item) => item.value),
    })),
    fc.array(tie("fitting"), { minLength: 1, maxLength: 3 }).map((parts) => ({ schema: { anyOf: parts.map((part) => part.schema) }, value: parts[0]?.value })),
    fc.dictionary(signs, tie("fitting"), { maxKeys: 4 }).map(objectOf),
  ),
}))
function objectOf(members: Record<string, Fitting>): Fitting {
  const names = Object.keys(members)
  const properties = Object.fromEntries(names.map((name) => [name, members[name]?.schema]))
  return { schema: { type: "object", properties, required: names.slice(1) }, value: Object.fromEntries(names.map((name) => [name, members[name]?.value])) }
}
const fittingObject = fc
  .dictionary(signs, fitting, { maxKeys: 5 })
  .map(objectOf)
  .map(({ schema, value }) => ({ schema, value: JSON.parse(JSON.stringify(value)) as object }))

function read(text: unknown, schema: JsonSchema = ANYTHING): ArgumentsReading {
  return readArguments(text, { tool: "t", schema, examples: [], finish: "tool_calls" })
}
/** The value, or nothing where the text was refused. */
function accepted(text: string): unknown[] {
  const reading = read(text)
  return reading.type === "ok" ? [reading.value] : reading.type === "several" ? [...reading.texts] : []
}

describe("the argument ladder", () => {
  test("passes an object that satisfies its schema unchanged and without repairs", () => {
    fc.assert(
      fc.property(fittingObject, fc.constantFrom(0, 2), ({ schema, value }, indent) => {
        expect(checkSchema(schema, value)).toEqual([])
        expect(read(JSON.stringify(value, null, indent), schema)).toEqual({ type: "ok", value, repairs: [] })
        expect(read(value, schema)).toEqual({ type: "ok", value, repairs: [] })
      }),
      runs,
    )
  })

  test("never accepts an object that was cut off, wherever the cut is", () => {
    fc.assert(
      fc.property(anyObject, (value) => {
        const text = JSON.stringify(value)
        const cuts = Array.from({ length: text.length - 1 }, (_, index) => text.slice(0, index + 1))
        expect(cuts.filter((cut) => accepted(cut).length > 0)).toEqual([])
      }),
      { ...runs, numRuns: 150 },
    )
  })

  test("repairs the frame without touching the contents, or refuses", () => {
    const frames: readonly ((text: string) => string)[] = [
      (text) => `\`\`\`json\n${text}\n\`\`\``,
      (text) => `Here it is: ${text}`,
      (text) => `${text}}\n</tool_call>`,
      (text) => (text === "{}" ? text : `${text.slice(0, -1)},}`),
      (text) => text.replace("{", "{ /* first \" ' */ "),
      (text) => `｛${text.slice(1, -1)}｝`,
      (text) => JSON.stringify(text),
      (text) => JSON.stringify(text).slice(1, -1),
    ]
    let repaired = 0
    fc.assert(
      fc.property(anyObject, fc.constantFrom(...frames), (value, frame) => {
        const found = accepted(frame(JSON.stringify(value)))
        repaired += found.length
        for (const other of found) expect(other).toEqual(value)
      }),
      { ...runs, numRuns: 2000 },
    )
    // Only frames whose contents allow two readings may be refused, and these contents are made to allow them.
    expect(repaired).toBeGreaterThan(1800)
  })

  test("reads a Python dict as its value, or refuses", () => {
    let repaired = 0
    fc.assert(
      fc.property(anyObject, (value) => {
        const found = accepted(python(value))
        repaired += found.length
        for (const other of found) expect(other).toEqual(value)
      }),
      { ...runs, numRuns: 1000 },
    )
    expect(repaired).toBeGreaterThan(800)
  })

  test("never throws, whatever the text", () => {
    const mutated = fc.tuple(anyObject, fc.nat(), fc.nat({ max: 3 }), signs).map(([value, at, remove, insert]) => {
      const text = JSON.stringify(value)
      const start = at % (text.length + 1)
      return text.slice(0, start) + insert + text.slice(start + remove)
    })
    fc.assert(
      fc.property(fc.oneof(signs, fc.string({ unit: "binary" }), mutated), fittingObject, (text, { schema }) => {
        expect(["ok", "several", "refused"]).toContain(read(text, schema).type)
      }),
      { ...runs, numRuns: 1500 },
    )
  })

  test("never throws and comes to an end, whatever the schema", () => {
    const keywords = "type enum const properties required items prefixItems anyOf oneOf allOf not $ref additionalProperties pattern minimum multipleOf examples default".split(" ")
    const strange = fc.dictionary(fc.constantFrom(...keywords), fc.oneof(anyValue, fc.constantFrom("#", "#/properties", "object", "array", [{ $ref: "#" }])))
    fc.assert(
      fc.property(strange, anyObject, (schema, value) => {
        expect(["ok", "several", "refused"]).toContain(read(JSON.stringify(value), schema).type)
      }),
      { ...runs, numRuns: 1000 },
    )
  })
})

/** Python's repr of a JSON value. */
function python(value: unknown): string {
  if (value === null) return "None"
  if (typeof value === "boolean") return value ? "True" : "False"
  if (typeof value === "string") {
    const quote = value.includes("'") && !value.includes('"') ? '"' : "'"
    const body = value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\t", "\\t").replaceAll(quote, `\\${quote}`)
    return quote + body + quote
  }
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`
  if (typeof value === "object")
    return `{${Object.entries(value)
      .map(([key, member]) => `${python(key)}: ${python(member)}`)
      .join(", ")}}`
  return String(value)
}
