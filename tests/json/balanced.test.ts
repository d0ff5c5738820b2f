import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { balancedEnd } from "../../src/infrastructure/json/balanced.ts"

describe("balancedEnd", () => {
  test.each([
    "{}",
    "[]",
    '{"a":"}"}',
    '{"a":"\\"}"}',
    '[{"a":[1,{"b":"]"}]}]',
    "{'a': 'it's }', 'b': ']'}",
    "{“a”: “x}”}",
    '｛"a"：［1］｝',
    '{ // it\'s "so\n "a": 1 /* } */ }',
    '{"url": http://host/x}',
    '{"x": "she said "}" twice"}'.replace('"}"', '"yes"'),
  ])("finds the end of %s", (text) => {
    expect(balancedEnd(text, 0)).toBe(text.length)
    expect(balancedEnd(`- ${text} tail }]`, 2)).toBe(text.length + 2)
  })

  test.each(["{", '{"a":1', '{"a":"}', "{'a': '}", '{"a":[1}', "[}", "{ /* }", "{ // }", "abc", ""])("%s never closes", (text) => {
    expect(balancedEnd(text, 0)).toBe(-1)
  })

  test("is right for every JSON object, and -1 for every cut of it", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 }), (value) => {
        const text = JSON.stringify(value)
        expect(balancedEnd(`${text} {"`, 0)).toBe(text.length)
        const ends = Array.from(text, (_char, end) => balancedEnd(text.slice(0, end), 0))
        expect(ends.filter((end) => end !== -1)).toEqual([])
      }),
      { seed: 7, numRuns: 200 },
    )
  })
})
