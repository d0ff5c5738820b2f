import { describe, expect, expectTypeOf, test } from "vitest"
import { z } from "zod"
import type { Schema, SchemaOutput } from "../../src/contract/schema.ts"
import { jsonSchema, jsonSchemaOf, uncheckedKeywords, validate } from "../../src/infrastructure/json/json-schema.ts"

describe("jsonSchemaOf", () => {
  test("says the schema of zod without its noise", () => {
    const schema = z.object({ days: z.int().min(1), city: z.string().describe("Where"), more: z.array(z.int()).optional(), minimum: z.int().default(3) })
    expect(jsonSchemaOf(schema)).toEqual({
      type: "object",
      properties: {
        days: { type: "integer", minimum: 1 },
        city: { type: "string", description: "Where" },
        more: { type: "array", items: { type: "integer" } },
        minimum: { type: "integer", default: 3 },
      },
      required: ["days", "city"],
    })
  })

  test("keeps a property that is named $schema", () => {
    expect(jsonSchemaOf(jsonSchema({ $schema: "x", properties: { $schema: { type: "string" } } }))).toEqual({ properties: { $schema: { type: "string" } } })
  })

  test("refuses a schema that JSON Schema cannot express, and what is no schema", () => {
    const failure = expect.objectContaining({ code: "schema_invalid", hint: expect.stringContaining("jsonSchema(") })
    expect(() => jsonSchemaOf(z.object({ at: z.date() }))).toThrow(failure)
    expect(() => jsonSchemaOf({} as Schema)).toThrow(failure)
  })
})

describe("jsonSchema", () => {
  const schema = jsonSchema<{ a: number }>({ type: "object", properties: { a: { type: "number" } }, required: ["a"] })

  test("is a schema that checks", () => {
    expect(validate(schema, { a: 1 })).toEqual({ value: { a: 1 } })
    expect(validate(schema, { a: "x" })).toEqual({ issues: [{ message: 'expected number, received "x"', path: ["a"] }] })
    expect(validate(schema, 1)).toEqual({ issues: [{ message: "expected object, received 1", path: [] }] })
  })

  test("has the type it was given", () => {
    expectTypeOf<SchemaOutput<typeof schema>>().toEqualTypeOf<{ a: number }>()
  })
})

test("validate runs any Standard Schema, also one that answers later", async () => {
  expect(validate(z.object({ a: z.string().transform(Number) }), { a: "1" })).toEqual({ value: { a: 1 } })
  const later = z.string().refine(async (text) => text === "yes", "no")
  expect(await validate(later, "yes")).toEqual({ value: "yes" })
})

describe("uncheckedKeywords", () => {
  test("names what is passed over, and nothing else", () => {
    expect(
      uncheckedKeywords({
        $schema: "x",
        title: "t",
        type: "object",
        properties: { format: { type: "string", format: "email" }, dependentRequired: { anyOf: [{ if: {} }] }, p: { pattern: "(a+)+" }, q: { pattern: "^a$" } },
        patternProperties: { "^x": {} },
        $defs: { a: { contains: {} }, b: { $ref: "https://example.com/b" }, c: { $ref: "#/$defs/a" } },
        default: { unevaluatedItems: 1 },
      }),
    ).toEqual(["$ref", "contains", "format", "if", "pattern", "patternProperties"])
  })

  test("finds nothing in what zod usually says, and comes back from a schema that holds itself", () => {
    expect(uncheckedKeywords(jsonSchemaOf(z.object({ a: z.enum(["x"]), b: z.array(z.union([z.string(), z.null()])) })))).toEqual([])
    const circle: Record<string, unknown> = { type: "object" }
    circle.properties = { self: circle }
    expect(uncheckedKeywords(circle)).toEqual([])
  })
})
