import { expect, test } from "vitest"
import { textWriter } from "../../src/capability/models/text-writer.ts"

test("the text of a token is read with the eight tokens before it", () => {
  const asked: [readonly number[], readonly number[]][] = []
  const writer = textWriter((tokens, before) => {
    asked.push([tokens, before])
    return "x"
  }, [])
  for (let token = 1; token <= 11; token++) writer.push(token)
  expect(asked[2]).toEqual([[3], [1, 2]])
  expect(asked[10]).toEqual([[11], [3, 4, 5, 6, 7, 8, 9, 10]])
})

test("bytes that never become a character are shown as such, and hold nothing up", () => {
  const writer = textWriter((tokens) => "\uFFFD".repeat(tokens.length), [])
  const texts = Array.from({ length: 9 }, (_, token) => writer.push(token).text)
  expect(texts).toEqual(["", "", "", "", "", "", "", "\uFFFD".repeat(8), ""])
})

test("the start of a stop sequence is held until it is clear that it is none", () => {
  const writer = textWriter((tokens) => String.fromCodePoint(...tokens), ["aab", "b\nc"])
  const pieces = [..."xaaab"].map((letter) => writer.push(letter.charCodeAt(0)))
  expect(pieces.map(({ text }) => text)).toEqual(["x", "", "", "a", ""])
  expect(pieces.map(({ stopped }) => stopped)).toEqual([false, false, false, false, true])
})
