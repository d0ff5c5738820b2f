// What holds for every reply, however broken.
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { ToolSpec } from "../../src/contract/model.ts"
import { readReply } from "../../src/capability/protocol/read-reply.ts"
import { nearestNames, resolveToolName } from "../../src/infrastructure/names.ts"
import { mutatedText } from "./texts.ts"

const SEED = 20260101
const RUNS = Number(process.env["READER_RUNS"] ?? 4_000)
const TIMEOUT_MS = Math.max(120_000, RUNS * 10)
const tools: readonly ToolSpec[] = ["run", "get_weather", "search"].map((name) => ({
  name,
  description: "",
  schema: { type: "object", properties: { command: { type: "string" }, city: { type: "string" }, query: {} }, required: ["command"] },
  examples: [],
}))

describe("readReply", () => {
  it(
    "never throws, reads the same twice, and gives a consistent reading",
    () => {
      fc.assert(
        fc.property(mutatedText, fc.constantFrom("stop", "length", "tool_calls"), fc.boolean(), (text, finish, hasTools) => {
          const reply = { text, reasoning: "", calls: [], finish, usage: null } as const
          const { reading, notes } = readReply(reply, hasTools ? tools : [])
          expect(readReply(reply, hasTools ? tools : [])).toEqual({ reading, notes, reasoning: expect.any(String) })
          if (reading.type === "action") expect(reading.calls.every((call) => call.name !== "" && typeof call.arguments === "string")).toBe(true)
          if (reading.type === "final") expect(reading.text.trim()).not.toBe("")
          if (reading.type === "final") expect(finish).not.toBe("length")
          expect(reading.text).toBe(reading.text.trim())
        }),
        { seed: SEED, numRuns: RUNS },
      )
    },
    TIMEOUT_MS,
  )

  it("takes plain prose as it is", () => {
    const word = fc.constantFrom("Oslo", "is", "a", "city", "今天", "晴", "1,200", "(see", "below)", "x=2", "it's", "*very*", "50%", "—", "run", "search")
    const prose = fc.array(fc.tuple(word, fc.constantFrom(" ", ", ", ". ", "\n", "\n\n", "\n- ", "\n1. ")), { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(prose, (words) => {
        const text = words.flat().join("").trim()
        expect(readReply({ text, reasoning: "", calls: [], finish: "stop", usage: null }, tools).reading).toEqual({ type: "final", text })
      }),
      { seed: SEED, numRuns: 1_000 },
    )
  })
})

describe("names", () => {
  const known = ["get_weather", "getWeatherNow", "search", "Files_read", "Mail_read"]
  it.each([
    ["search", "search"],
    ["Search", "search"],
    [" search ", "search"],
    ["search:", "search"],
    ["search()", "search"],
    ["functions.search:0", "search"],
    ["functions::search", "search"],
    ["tool.search", "search"],
    ["default_api.search", "search"],
    ["`search`", "search"],
    ["search<|channel|>commentary", "search"],
    ["search<|constrain|>json", "search"],
    ["get-weather", "get_weather"],
    ["getWeather", "get_weather"],
    ["Get Weather", "get_weather"],
    ["FILES_READ", "Files_read"],
    ["read", null],
    ["serch", null],
    ["searches", null],
    ["", null],
    ["functions.", null],
  ])("%j stands for %j", (written, name) => {
    expect(resolveToolName(written, known)).toBe(name)
  })
  it("decides nothing between two names that differ in nothing that counts, but takes an exact one", () => {
    expect(resolveToolName("get-weather", ["get_weather", "getWeather"])).toBeNull()
    expect(resolveToolName("getWeather", ["get_weather", "getWeather"])).toBe("getWeather")
  })
  it("takes a name as it is even if it looks like a prefix", () => {
    expect(resolveToolName("functions.search", ["functions.search", "search"])).toBe("functions.search")
  })
  it("finds the nearest, shared segments first", () => {
    expect(nearestNames("serch", known, 1)).toEqual(["search"])
    expect(nearestNames("read", known, 2)).toEqual(["Mail_read", "Files_read"])
    expect(nearestNames("weather", known, 2)).toEqual(["get_weather", "getWeatherNow"])
    expect(nearestNames("x", [])).toEqual([])
  })
  it("never throws on any text", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), fc.array(fc.string({ maxLength: 100 }), { maxLength: 5 }), (written, names) => {
        const name = resolveToolName(written, names)
        expect(name === null || names.includes(name)).toBe(true)
        expect(nearestNames(written, names).length).toBe(Math.min(3, names.length))
      }),
      { seed: SEED, numRuns: 2_000 },
    )
  })
})
