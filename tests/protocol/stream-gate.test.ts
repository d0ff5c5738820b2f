// What a reader sees while a reply streams in.
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { readReply } from "../../src/capability/protocol/read-reply.ts"
import { createStreamGate } from "../../src/capability/protocol/stream-gate.ts"
import { corpusTexts, mutatedText } from "./texts.ts"

const SEED = 20260101
const RUNS = Number(process.env["READER_RUNS"] ?? 2_000)
const TIMEOUT_MS = Math.max(120_000, RUNS * 10)

function shownOf(parts: readonly string[]): string {
  const gate = createStreamGate()
  const shown = parts.map((part) => gate.push(part)).join("") + gate.end()
  expect(gate.shown).toBe(shown)
  return shown
}

/** What is shown after each character. */
function steps(text: string): readonly string[] {
  const gate = createStreamGate()
  return [...text].map((char) => gate.push(char))
}

describe("the stream gate", () => {
  it("lets prose through at once, whatever it is made of", () => {
    for (const text of ["Oslo is *nice*: {3} [a](b) `x` — 今天 a<b? no. 5 > 3", "Line one\nLine two\n", "x = {\n 1}"]) {
      expect(shownOf([...text])).toBe(text)
    }
    expect(steps("x<b c")).toEqual(["x", "", "", "<b ", "c"])
    expect(steps("x\nAct now")).toEqual(["x", "\n", "", "", "", "", "Act n", "o", "w"])
  })

  it.each([
    ["Hermes", 'Let me see.\n<tool_call>{"name": "run"}</tool_call> after', "Let me see.\n"],
    ["Mistral", "Let me see. [TOOL_CALLS]run{}", "Let me see. "],
    ["fenced call", 'Look:\n```json\n{"name": "run"}\n```', "Look:\n"],
    ["bare call", '{"name": "run", "arguments": {}}', ""],
    ["Python list", "[run(command='x')]", ""],
    ["label", "I look.\nAction: run\nAction Input: {}", "I look.\n"],
    ["Chinese label", "行动：run", ""],
    ["harmony", "<|channel|>analysis<|message|>x", ""],
    ["made-up result", "Fine.\n<tool_response>x", "Fine.\n"],
    ["thought", "Thought: hm, and more\nand more", ""],
    ["thought and action", "Thought: hm\nAction: run", ""],
    ["thought and answer", "Thought: hm\nFinal Answer: It is\n42: yes", "It is\n42: yes"],
    ["bold answer", "**Thought:** hm\n**Final Answer:** **42**", "**42**"],
    ["Chinese answer", "思考：想\n最终答案：四十二", "四十二"],
    ["answer and next question", "Final Answer: 42\nQuestion: more?", "42\n"],
    ["thinking", "<think>a <b> c\nAction: x</think>\n\nIt is 42.", "It is 42."],
    ["answer of blanks", "Final Answer: \r\n", ""],
    ["thinking, brackets", "[THINK]a[/THINK]42", "42"],
    ["thinking, then labels", "<think>a</think>\nThought: b\nFinal Answer: 42", "42"],
    ["a tag that is talked about", "Write `<tool_call>` first", "Write `<tool_call>` first"],
    ["code", "```ts\nconst a = {}\n```\nDone", "```ts\nconst a = {}\n```\nDone"],
    ["JSON in a fence", '```json\n{"city": "Oslo"}\n```', '```json\n{"city": "Oslo"}\n```'],
    ["JSON answer", '{"city": "Oslo"}', '{"city": "Oslo"}'],
    ["undecided to the end", "a\nActio", "a\nActio"],
  ])("holds back what is not for the reader: %s", (_, text, shown) => {
    expect(shownOf([...text])).toBe(shown)
  })

  it("says whether something is held", () => {
    const gate = createStreamGate()
    const held = ["x", "<", "b", " ", "<tool_call>", "x"].map((part) => [gate.push(part), gate.held])
    expect(held).toEqual([
      ["x", false],
      ["", true],
      ["", true],
      ["<b ", false],
      ["", true],
      ["", true],
    ])
  })

  it(
    "shows the same however the reply is cut into pieces",
    () => {
      fc.assert(
        fc.property(mutatedText, fc.array(fc.integer({ min: 1, max: 25 }), { minLength: 1, maxLength: 20 }), (text, sizes) => {
          const parts: string[] = []
          for (let at = 0, index = 0; at < text.length; index++) {
            const size = sizes[index % sizes.length] ?? 1
            parts.push(text.slice(at, at + size))
            at += size
          }
          const shown = shownOf(parts)
          expect(shown).toBe(shownOf([text]))
          expect(shown).toBe(shownOf([...text]))
        }),
        { seed: SEED, numRuns: RUNS },
      )
    },
    TIMEOUT_MS,
  )

  it("never shows the markup of a call in the corpus, and for most answers nothing has to be taken back", () => {
    const tools = ["run", "search", "get_weather", "lookup", "write_file", "set_flags", "multiply", "pages", "ping"].map((name) => ({
      name,
      description: "",
      schema: {},
      examples: [],
    }))
    const takenBack = corpusTexts.filter((text) => {
      const { reading } = readReply({ text, reasoning: "", calls: [], finish: "stop", usage: null }, tools)
      const shown = shownOf([...text]).trim()
      if (reading.type === "action") expect(shown).not.toMatch(/<[|｜/]?(?:tool|function|think)|Action/)
      return reading.type !== "unknown" && !reading.text.startsWith(shown)
    })
    expect(takenBack).toEqual(["The user wants the total, 12 + 30.\n</think>\nThe total is 42.", "I added them up.\nAnswer: The sum is 8"])
  })
})
