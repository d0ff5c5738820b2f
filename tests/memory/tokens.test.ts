import { describe, expect, it } from "vitest"
import { estimateMessageTokens, estimateTokens } from "../../src/infrastructure/tokens.ts"

describe("estimated tokens", () => {
  it.each([
    ["", 0],
    ["a".repeat(42), 10],
    ["中".repeat(4), 3],
    ["中文字体 and words", 6],
  ])("of %j are %i", (text, tokens) => {
    expect(estimateTokens(text)).toBe(tokens)
  })
  it("of a message count its calls, its thoughts and its pictures", () => {
    expect(
      estimateMessageTokens({
        role: "user",
        content: [
          { type: "text", text: "a".repeat(42) },
          { type: "image", image: "data:" },
        ],
      }),
    ).toBe(814)
    expect(estimateMessageTokens({ role: "assistant", content: "", reasoning: "a".repeat(42), calls: [{ id: "c1", name: "find", arguments: "a".repeat(42) }] })).toBe(33)
  })
  it("of 2 MB cost little", () => {
    const text = `${"中".repeat(1_000_000)}${"a".repeat(1_000_000)}`
    estimateTokens(text)
    const started = performance.now()
    expect(estimateTokens(text)).toBe(988_096)
    expect(performance.now() - started).toBeLessThan(5_000)
  })
})
