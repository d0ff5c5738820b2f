import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { ToolSpec } from "../../src/contract/model.ts"
import type { JsonSchema } from "../../src/contract/schema.ts"
import { toProviderTools } from "../../src/capability/models/schema-dialect.ts"
import type { SchemaProfile } from "../../src/capability/models/schema-dialect.ts"
import { corpusRows } from "../history/corpus.ts"

const { validate } = (await import(new URL("../fixtures/corpus/verify/schema-mini.mjs", import.meta.url).href)) as { validate: (schema: unknown, value: unknown) => string[] }

const spec = (schema: unknown, name = "find"): ToolSpec => ({ name, description: "Does it.", schema: schema as JsonSchema, examples: [] })
const object = (properties: Record<string, unknown>, required: readonly string[] = []): JsonSchema => ({ type: "object", properties, required })
const emitted = (schema: unknown, profile: SchemaProfile): JsonSchema => toProviderTools([spec(schema)], profile)[0]?.parameters ?? {}
const property = (schema: unknown, profile: SchemaProfile): unknown => (emitted(object({ q: schema }), profile).properties as JsonSchema).q

describe("the corpus of schemas", () => {
  it.each(corpusRows<{ tools: { name: string; description: string; inputSchema: unknown }[] }, { profile: SchemaProfile }>("schema"))("$id", ({ input, context, verdict }) => {
    const tools = toProviderTools(
      input.tools.map(({ name, description, inputSchema }) => ({ ...spec(inputSchema, name), description })),
      context.profile,
    )
    expect(verdict({ tools })).toEqual({ pass: true, exact: true })
  })
})

describe("without demands", () => {
  it("a schema is passed on as it is", () => {
    const schema = object({ q: { $ref: "#/$defs/Q" }, t: { type: ["string", "null"], $comment: "kept" } })
    expect(emitted(schema, {})).toBe(schema)
  })
  it.each([
    [null, { type: "object", properties: {} }],
    [true, { type: "object", properties: {} }],
    [{ properties: { q: {} } }, { type: "object", properties: { q: {} } }],
    [{ type: ["object", "null"] }, { type: "object", properties: {} }],
  ])("a root that is not an object, %j, becomes one", (schema, parameters) => {
    expect(emitted(schema, {})).toEqual(parameters)
  })
})

describe("references", () => {
  it("are written out with what stands beside them", () => {
    const schema = { ...object({ a: { $ref: "#/definitions/City~1Name", description: "Where to" } }), definitions: { "City/Name": { type: "string", minLength: 2 } } }
    expect(emitted(schema, { noRefs: true })).toEqual(object({ a: { type: "string", minLength: 2, description: "Where to" } }))
  })
  it("that lead nowhere, or round in a circle, take anything of their kind", () => {
    const schema = {
      ...object({ a: { $ref: "https://example.com/x" }, b: { $ref: "#/$defs/A" }, c: { $ref: "#" } }),
      $defs: { A: { $ref: "#/$defs/B" }, B: { $ref: "#/$defs/A" } },
    }
    expect(emitted(schema, { noRefs: true })).toEqual(object({ a: {}, b: {}, c: { type: "object" } }))
  })
  it("that double with every step are cut before they fill the memory", () => {
    const $defs = Object.fromEntries(Array.from({ length: 40 }, (_, step) => [`d${step}`, object({ l: { $ref: `#/$defs/d${step + 1}` }, r: { $ref: `#/$defs/d${step + 1}` } })]))
    const written = JSON.stringify(emitted({ ...object({ a: { $ref: "#/$defs/d0" } }), $defs }, { noRefs: true }))
    expect(written.length).toBeLessThan(1_000_000)
    expect(written).not.toContain("$ref")
  })
  it("stay when only a property of that name is meant", () => {
    expect(emitted(object({ $ref: { type: "string" }, $defs: { type: "string" } }), { noRefs: true })).toEqual(object({ $ref: { type: "string" }, $defs: { type: "string" } }))
  })
})

describe("joined and several types", () => {
  it("allOf becomes one schema", () => {
    const schema = {
      allOf: [object({ a: { type: "string", maxLength: 9 } }, ["a"]), object({ a: { maxLength: 5 }, b: { type: ["integer", "string"] } }, ["b"])],
      description: "Both",
    }
    expect(property(schema, { noAllOf: true })).toEqual({ description: "Both", ...object({ a: { type: "string", maxLength: 5 }, b: { type: ["integer", "string"] } }, ["a", "b"]) })
  })
  it("each type gets a branch", () => {
    expect(property({ type: ["string", "null"], minLength: 1, description: "D" }, { noTypeArrays: true })).toEqual({
      description: "D",
      anyOf: [{ type: "string", minLength: 1 }, { type: "null" }],
    })
    expect(property({ type: ["string"] }, { noTypeArrays: true })).toEqual({ type: "string" })
  })
})

describe("Gemini's subset", () => {
  it.each([
    [{ type: ["string", "null"] }, { type: "string", nullable: true }],
    [
      { oneOf: [{ const: "a" }, { type: "integer", exclusiveMinimum: 0 }, { type: "null" }], description: "D" },
      {
        description: "D",
        nullable: true,
        anyOf: [
          { enum: ["a"], type: "string" },
          { type: "integer", minimum: 1 },
        ],
      },
    ],
    [
      { type: "integer", enum: [1, 2], description: "Size." },
      { type: "integer", description: "Size. One of: [1,2]" },
    ],
    [{ type: "array" }, { type: "array", items: {} }],
    [
      { type: "array", prefixItems: [{ type: "string" }] },
      { type: "array", items: { anyOf: [{ type: "string" }] } },
    ],
    [
      { type: "string", format: "uri", pattern: "^h" },
      { type: "string", pattern: "^h" },
    ],
    [
      { type: "object", properties: { a: true }, required: ["a", "gone"], patternProperties: {} },
      { type: "object", properties: { a: {} }, required: ["a"] },
    ],
  ])("%j becomes %j", (schema, written) => {
    expect(property(schema, { geminiSubset: true })).toEqual(written)
  })
})

describe("strict mode", () => {
  it("closes objects, requires every key, and lets null stand for what was optional", () => {
    const [tool] = toProviderTools([spec(object({ a: { type: "string" }, b: { type: "integer", description: "B", default: 3 } }, ["a"]))], { strict: true })
    expect(tool).toEqual({
      name: "find",
      original: "find",
      description: "Does it.",
      strict: true,
      parameters: {
        type: "object",
        properties: { a: { type: "string" }, b: { description: "B", anyOf: [{ type: "integer" }, { type: "null" }] } },
        required: ["a", "b"],
        additionalProperties: false,
      },
    })
  })
  it.each([{ type: "object" }, { type: "object", additionalProperties: { type: "string" } }, { description: "anything" }])("is given up for a tool with %j", (schema) => {
    expect(toProviderTools([spec(object({ q: schema }))], { strict: true })[0]).toMatchObject({ strict: false, parameters: object({ q: schema }) })
  })
})

describe("a union at the root", () => {
  it("becomes one object that takes every branch", () => {
    const schema = {
      oneOf: [{ $ref: "#/$defs/A" }, object({ kind: { const: "b" }, y: { type: "string" } }, ["kind"])],
      $defs: { A: object({ kind: { const: "a" }, x: { type: "integer" } }, ["kind", "x"]) },
    }
    expect(emitted(schema, { rootMustBeObject: true })).toEqual({
      type: "object",
      properties: { kind: { anyOf: [{ const: "a" }, { const: "b" }] }, x: { type: "integer" }, y: { type: "string" } },
      required: ["kind"],
    })
  })
})

describe("names", () => {
  const names = (...originals: string[]) =>
    toProviderTools(
      originals.map((name) => spec({}, name)),
      { namePattern: "^[a-zA-Z][a-zA-Z0-9_-]{0,31}$" },
    ).map(({ name }) => name)
  it("that fit stay, others never take their place", () => {
    const [dotted, plain, slashed] = names("a.b", "a_b", "a/b")
    expect([plain, dotted?.startsWith("a_b_"), slashed?.startsWith("a_b_"), dotted === slashed]).toEqual(["a_b", true, true, false])
    expect(names("server.find")).toEqual(["server_find"])
  })
  it("are always unique and fit, whatever they were", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.oneof(fc.string({ maxLength: 40 }), fc.stringMatching(/^[ab._/]{1,3}$/), fc.constant("n".repeat(80)), fc.constant("查询")), { maxLength: 12 }),
        (originals) => {
          const given = names(...originals)
          expect(new Set(given).size).toBe(originals.length)
          for (const name of given) expect(name).toMatch(/^[a-zA-Z][a-zA-Z0-9_-]{0,31}$/)
        },
      ),
      { seed: 20260302 },
    )
  })
})

const leaf = fc.constantFrom<JsonSchema>(
  { type: "string" },
  { type: "integer", minimum: 2 },
  { type: ["string", "null"] },
  { const: "a" },
  { enum: ["a", "b"] },
  { type: "boolean" },
  { $ref: "#/$defs/D" },
  {},
)
const { schema } = fc.letrec<{ schema: JsonSchema }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leaf,
    fc.record({ type: fc.constant("array"), items: tie("schema") }),
    fc.record({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }) }),
    fc.record({ allOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }) }),
    fc.record({ type: fc.constant("object"), properties: fc.dictionary(fc.constantFrom("a", "b", "items"), tie("schema")), required: fc.constantFrom([], ["a"]) }),
  ),
}))
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<unknown>("a", "b", "z", 1, 2, 3, true, null),
    fc.array(tie("value"), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom("a", "b", "items"), tie("value"), { maxKeys: 3 }),
  ),
}))

describe("any schema whatever", () => {
  it.each<SchemaProfile>([
    { noRefs: true },
    { noAllOf: true },
    { noTypeArrays: true },
    { geminiSubset: true },

    { noRefs: true, noAllOf: true, noTypeArrays: true },
  ])("still takes what it took, under %j", (profile) => {
    fc.assert(
      fc.property(schema, fc.dictionary(fc.constantFrom("a", "b", "items"), value), (root, args) => {
        const whole = {
          type: "object",
          properties: { a: root },
          ...(JSON.stringify(root).includes("anyOf") ? root : {}),
          $defs: { D: { type: "array", items: { $ref: "#/$defs/D" } } },
        } as JsonSchema
        fc.pre(whole.type === "object" && validate(whole, args).length === 0)
        expect(validate(emitted(whole, profile), args)).toEqual([])
      }),
      { seed: 20260302, numRuns: 200 },
    )
  })
  it("still takes the arguments of each branch when a root union becomes one object", () => {
    const closed = fc.dictionary(fc.constantFrom("a", "b", "items"), schema).map((properties) => ({ type: "object", properties, additionalProperties: false }))
    fc.assert(
      fc.property(fc.array(closed, { minLength: 1, maxLength: 3 }), fc.dictionary(fc.constantFrom("a", "b", "items"), value), (anyOf, args) => {
        const whole = { anyOf, $defs: { D: { type: "array", items: { $ref: "#/$defs/D" } } } }
        fc.pre(validate(whole, args).length === 0)
        expect(validate(emitted(whole, { rootMustBeObject: true }), args)).toEqual([])
      }),
      { seed: 20260302, numRuns: 200 },
    )
  })
})
