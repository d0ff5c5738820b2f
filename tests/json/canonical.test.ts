import { expect, test } from "vitest"
import { canonicalJson } from "../../src/infrastructure/json/canonical.ts"

test("the same value gives the same text, whatever the order of its keys", () => {
  expect(canonicalJson({ b: [1, { d: null, c: "x" }], a: undefined })).toBe('{"b":[1,{"c":"x","d":null}]}')
  expect(canonicalJson({ b: 1, a: { y: 1, x: 2 } })).toBe(canonicalJson({ a: { x: 2, y: 1 }, b: 1 }))
})

test("different values give different texts", () => {
  const values = [1, "1", true, "true", null, "null", [], {}, [1], { a: 1 }, { a: "1" }, { a: [1] }, 12345678901234567890n]
  expect(new Set(values.map(canonicalJson)).size).toBe(values.length)
})

test("what JSON cannot say does not break it", () => {
  const circle: Record<string, unknown> = { a: 1 }
  circle.self = circle
  expect([circle, undefined, 10n, { f: () => 1, d: new Date(0) }].map(canonicalJson)).toEqual(['{"a":1,"self":null}', "null", "10", '{"d":"1970-01-01T00:00:00.000Z","f":null}'])
  expect(canonicalJson(JSON.parse("[".repeat(5000) + "]".repeat(5000)))).toContain("null")
})
