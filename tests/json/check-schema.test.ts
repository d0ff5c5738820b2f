import { describe, expect, test } from "vitest"
import type { SchemaProblem } from "../../src/infrastructure/json/check-schema.ts"
import { checkSchema } from "../../src/infrastructure/json/check-schema.ts"
import { safePattern } from "../../src/infrastructure/json/safe-pattern.ts"

const problem = (path: string, expected: string, received: string): SchemaProblem => ({ path, expected, received })

describe("what a schema says is checked", () => {
  test.each<[unknown, readonly unknown[], readonly unknown[]]>([
    [{ type: "integer" }, [1, -2, 3.0, 10n, "2398471005512340017"], [1.5, "1", Number.NaN, true]],
    [{ type: "number" }, [1, 1.5], ["1", Number.POSITIVE_INFINITY, Number.NaN]],
    [{ type: ["string", "null"] }, ["a", null], [1, [], {}]],
    [{ type: "string", nullable: true }, ["a", null], [1]],
    [{ type: "array" }, [[]], [{}, "[]"]],
    [{ type: "object" }, [{}], [[], null]],
    [{ enum: ["a", 1, { b: [1] }] }, ["a", 1, { b: [1] }], ["A", "1", { b: [2] }]],
    [{ const: null }, [null], [0, ""]],
    [{ minLength: 2, maxLength: 3 }, ["ab", "abc", "😀😀", 5], ["a", "abcd", "😀"]],
    [{ pattern: "^a+$" }, ["aa"], ["b", ""]],
    [{ minimum: 1, maximum: 3 }, [1, 3, "0"], [0, 4, "2398471005512340017"]],
    [{ exclusiveMinimum: 1, exclusiveMaximum: 3 }, [2], [1, 3]],
    [{ minimum: 1, exclusiveMinimum: true }, [2], [1]],
    [{ multipleOf: 0.1 }, [0.3, 7], [0.25]],
    [{ items: { type: "integer" }, minItems: 1, maxItems: 2 }, [[1], [1, 2]], [[], [1, 2, 3], ["1"]]],
    [
      { uniqueItems: true },
      [[1, 2]],
      [
        [
          { a: 1, b: 2 },
          { b: 2, a: 1 },
        ],
      ],
    ],
    [{ prefixItems: [{ type: "string" }], items: { type: "integer" } }, [["a", 1], []], [["a", "b"], [1]]],
    [{ items: [{ type: "string" }] }, [["a", 1]], [[1]]],
    [{ properties: { a: { type: "integer" } }, required: ["a"] }, [{ a: 1, b: 2 }], [{}, { a: "1" }]],
    [{ properties: { a: {} }, additionalProperties: false }, [{ a: 1 }, {}], [{ b: 1 }]],
    [{ properties: { a: {} }, additionalProperties: false, patternProperties: { "^x": {} } }, [{ x1: 1 }], []],
    [{ additionalProperties: { type: "integer" } }, [{ a: 1 }], [{ a: "1" }]],
    [{ minProperties: 1, maxProperties: 1 }, [{ a: 1 }], [{}, { a: 1, b: 2 }]],
    [{ anyOf: [{ type: "integer" }, { type: "string" }] }, [1, "a"], [true]],
    [{ oneOf: [{ type: "integer" }, { minimum: 5 }] }, [1, 5.5], [6]],
    [{ allOf: [{ minimum: 1 }, { maximum: 2 }] }, [1, 2], [0, 3]],
    [{ not: { type: "string" } }, [1], ["a"]],
    [{ $defs: { a: { type: "integer" } }, items: { $ref: "#/$defs/a" } }, [[1]], [["a"]]],
    [{ definitions: { "a/b": { $ref: "#/definitions/c" }, c: { const: 1 } }, $ref: "#/definitions/a~1b" }, [1], [2]],
    [{ properties: { next: { $ref: "#" }, v: { type: "integer" } } }, [{ next: { next: { v: 1 } } }], [{ next: { next: { v: "1" } } }]],
    [true, [1, null], []],
    [false, [], [1, null]],
  ])("%j", (schema, fitting, others) => {
    for (const value of fitting) expect({ value, problems: checkSchema(schema, value) }).toEqual({ value, problems: [] })
    for (const value of others) expect({ value, problems: checkSchema(schema, value).length }).not.toEqual({ value, problems: 0 })
  })
})

describe("problems name the place, what was expected and what was received", () => {
  test.each<[unknown, unknown, readonly SchemaProblem[]]>([
    [{ type: ["integer", "null"] }, "a", [problem("", "integer or null", '"a"')]],
    [{ properties: { a: { items: { required: ["b"], properties: { b: { enum: ["x", "y"] } } } } } }, { a: [{}] }, [problem("a[0].b", 'one of "x", "y" (required)', "nothing")]],
    [{ anyOf: [{ type: "integer" }, { type: "boolean" }] }, "a", [problem("", "integer or boolean", '"a"')]],
    [
      {
        oneOf: [
          { properties: { kind: { const: "a" }, x: { type: "integer" } }, required: ["kind", "x"] },
          { properties: { kind: { const: "b" }, y: { type: "string" } }, required: ["kind", "y"] },
        ],
      },
      { kind: "b", y: 1 },
      [problem("y", "string", "1")],
    ],
    [{ properties: { a: {} }, additionalProperties: false }, { b: [1, 2] }, [problem("b", "no such property (there is a)", "an array of 2")]],
  ])("%j", (schema, value, problems) => {
    expect(checkSchema(schema, value)).toEqual(problems)
  })
})

describe("strange schemas", () => {
  test.each<[unknown]>([
    [null],
    [5],
    ["string"],
    [[]],
    [{ type: 5, required: "a", properties: null, items: 3, enum: "x", pattern: "(", anyOf: {}, minimum: "1" }],
    [{ type: "colour" }],
    [{ $ref: "#/nowhere" }],
    [{ $ref: "https://example.com/a" }],
  ])("%j says nothing", (schema) => {
    expect(checkSchema(schema, { a: 1 })).toEqual([])
  })

  test("a reference that leads back to itself says nothing", () => {
    expect(checkSchema({ $ref: "#" }, 1)).toEqual([])
    expect(checkSchema({ allOf: [{ $ref: "#" }, { $ref: "#" }], anyOf: [{ $ref: "#" }], type: "integer" }, 1)).toEqual([])
    expect(checkSchema({ $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" }, 1)).toEqual([])
  })

  test("one that doubles with every step ends as a problem", () => {
    const $defs = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`a${index}`, { allOf: [{ $ref: `#/$defs/a${index + 1}` }, { $ref: `#/$defs/a${index + 1}` }] }]))
    expect(checkSchema({ $defs, $ref: "#/$defs/a0" }, 1)).toContainEqual(problem("", "a simpler value (this one is too large or too deeply nested to be checked)", "1"))
  })

  test("so does a value that is nested without end", () => {
    const value = JSON.parse("[".repeat(10_000) + "]".repeat(10_000)) as unknown
    expect(checkSchema({ type: "array", items: { $ref: "#" } }, value).length).toBeGreaterThan(0)
  })
})

describe("patterns", () => {
  test.each(["(a+)+$", "^(a|a)*$", "(?:x*){20}", "(?=a)b", "(?<!a)b", "(a)\\1", "(?<n>a)\\k<n>", "("])("%s is not run", (pattern) => {
    expect(safePattern(pattern)).toBeUndefined()
  })

  test.each<[string, string, string]>([
    ["^[a-z+*]{2,8}-\\d+$", "ab-1", "ab-"],
    ["^(?:https?|ftp)://", "ftp://a", "x://a"],
    ["\\(\\)\\+", "()+", "()"],
    ["^\\p{L}+$", "é", "1"],
    ["[\\]()*]x", "]x", "x"],
  ])("%s is", (pattern, match, other) => {
    expect([safePattern(pattern)?.(match), safePattern(pattern)?.(other)]).toEqual([true, false])
  })

  test("text that would take long is left unchecked", () => {
    expect(safePattern("^\\s*\\s*\\s*x$")?.(" ".repeat(50_000))).toBeUndefined()
  })
})
