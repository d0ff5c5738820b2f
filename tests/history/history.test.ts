import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { textOf } from "../../src/contract/message.ts"
import type { Message } from "../../src/contract/message.ts"
import { checkedHistory, countCalls, growingHistory, renumberCalls } from "../../src/infrastructure/history/history.ts"
import type { HistoryProfile } from "../../src/infrastructure/history/history.ts"
import { brokenHistory, historyFault, wholeHistory } from "./arbitrary.ts"
import { corpusRows, jsValue } from "./corpus.ts"
import { runHistoryRow } from "./wire.ts"
import type { HistoryInput } from "./wire.ts"

const SEED = { seed: 20260302, numRuns: 1_000 }
const user = (content: string): Message => ({ role: "user", content })
const says = (content: string): Message => ({ role: "assistant", content })
const asks = (...ids: string[]): Message => ({ role: "assistant", content: "", calls: ids.map((id) => ({ id, name: "find", arguments: "{}" })) })
const result = (callId: string, content: string): Message => ({ role: "tool", callId, content })
const LOST = "No result was recorded for this call."

describe("the corpus of histories", () => {
  const describeValue = (kind: string): string => {
    const value = jsValue(kind)
    return value instanceof Error ? value.message : value instanceof Map ? JSON.stringify([...value].map(([key, set]) => [key, [...(set as Set<string>)]])) : kind
  }
  it.each(corpusRows<HistoryInput, { profile: HistoryProfile }>("history"))("$id", ({ input, context, verdict }) => {
    expect(verdict(runHistoryRow(input, context.profile, describeValue))).toEqual({ pass: true, exact: true })
  })
})

describe("a history that is valid", () => {
  it("comes back as the same array", () => {
    fc.assert(
      fc.property(wholeHistory, (messages) => {
        expect(checkedHistory(messages)).toBe(messages)
      }),
      SEED,
    )
  })
  it("keeps a tool result that is empty", () => {
    const messages = [user("Go"), asks("c1"), result("c1", "")]
    expect(checkedHistory(messages)).toBe(messages)
  })
})

describe("calls and their results", () => {
  it("stand together, results in call order", () => {
    expect(checkedHistory([asks("a", "b"), result("b", "2"), user("Next"), result("a", "1")])).toEqual([asks("a", "b"), result("a", "1"), result("b", "2"), user("Next")])
  })
  it("drop results without a call and second results", () => {
    expect(checkedHistory([result("x", "early"), asks("a"), result("a", "first"), result("a", "again"), result("y", "ghost")])).toEqual([asks("a"), result("a", "first")])
  })
  it("fill a lost result with a sentence", () => {
    expect(checkedHistory([asks("a", "b"), result("b", "2")])).toEqual([asks("a", "b"), result("a", LOST), result("b", "2")])
  })
  it("rename a repeated id together with its result", () => {
    expect(checkedHistory([asks("a"), result("a", "1"), asks("a"), result("a", "2"), asks("a_2"), result("a_2", "3")])).toEqual([
      asks("a"),
      result("a", "1"),
      asks("a_2"),
      result("a_2", "2"),
      asks("a_2_2"),
      result("a_2_2", "3"),
    ])
  })
  it("take the results of one id asked twice in a turn in their order", () => {
    expect(checkedHistory([asks("", ""), result("", "1"), result("", "2")])).toEqual([asks("call", "call_2"), result("call", "1"), result("call_2", "2")])
  })
  it("give no late result of an id to the call that used it before", () => {
    expect(checkedHistory([asks("a"), asks("a"), result("a", "late")])).toEqual([asks("a"), result("a", LOST), asks("a_2"), result("a_2", "late")])
  })
})

describe("what a model wrote", () => {
  const call = (name: string, args: unknown): Message => ({ role: "assistant", content: "", calls: [{ id: "a", name, arguments: args as string }] })
  const mended = (message: Message) => {
    const [first] = checkedHistory([message])
    return first?.role === "assistant" ? first.calls?.[0] : undefined
  }
  it.each([
    ['{"q": "x', '{"raw":"{\\"q\\": \\"x"}'],
    ["[1]", '{"raw":"[1]"}'],
    ["null", '{"raw":"null"}'],
    ["", "{}"],
    [" ", "{}"],
    [{ q: 1 }, '{"q":1}'],
    [[1], '{"raw":[1]}'],
    [null, "{}"],
  ])("as arguments %j becomes %j", (given, stored) => {
    expect(mended(call("find", given))).toEqual({ id: "a", name: "find", arguments: stored })
  })
  it.each([
    ["get_order:", "get_order_"],
    ["", "unknown_tool"],
    ["n".repeat(70), "n".repeat(64)],
    [undefined, "unknown_tool"],
  ])("as name %j becomes %j", (given, stored) => {
    expect(mended(call(given as string, "{}"))).toEqual({ id: "a", name: stored, arguments: "{}" })
  })
  it("is left out when it is empty", () => {
    const empty = { role: "assistant", content: " \n", reasoning: "hm", calls: [] } as const
    expect(checkedHistory([user("Hi"), empty, user("There?")])).toEqual([user("Hi"), user("There?")])
  })
  it("keeps what a provider wants back with a call", () => {
    const signed: Message = { role: "assistant", content: "", calls: [{ id: "a", name: "find", arguments: "x", extra: { signature: "s" } }] }
    expect(mended(signed)).toEqual({ id: "a", name: "find", arguments: '{"raw":"x"}', extra: { signature: "s" } })
  })
  it("loses no text but halves of characters", () => {
    expect(checkedHistory([user("a\ud83eb"), { role: "user", content: [{ type: "text", text: "\udd8a" }] }])).toEqual([
      user("a\ufffdb"),
      { role: "user", content: [{ type: "text", text: "\ufffd" }] },
    ])
  })
  it("may come with null where text belongs", () => {
    const stored = [
      { role: "assistant", content: null, calls: [{ id: "a", name: "find", arguments: "{}" }] },
      { role: "assistant", content: null, calls: null },
    ] as unknown as Message[]
    expect(checkedHistory(stored)).toEqual([asks("a"), result("a", LOST)])
  })
})

describe("what a server demands", () => {
  it("ids of a form: others are renamed by their place", () => {
    expect(checkedHistory([asks("c1", "abcdefgh1"), result("c1", "1"), result("abcdefgh1", "2")], { callIdPattern: "^[a-zA-Z0-9]{9}$" })).toEqual([
      asks("c00000001", "abcdefgh1"),
      result("c00000001", "1"),
      result("abcdefgh1", "2"),
    ])
  })
  it("alternation: neighbours are joined, a pin stays", () => {
    const messages: Message[] = [says("Hello"), user("One"), { role: "user", content: [{ type: "text", text: "Two" }], pinned: true }, says("A"), says("B")]
    expect(checkedHistory(messages, { alternate: true })).toEqual([
      { role: "user", content: "[The conversation begins with the assistant.]", notice: true },
      says("Hello"),
      {
        role: "user",
        content: [
          { type: "text", text: "One" },
          { type: "text", text: "Two" },
        ],
        pinned: true,
      },
      says("A\n\nB"),
    ])
  })
  it("a person's message last", () => {
    expect(checkedHistory([user("Hi"), says("Hello")], { lastRoleNotAssistant: true }).at(-1)).toEqual({ role: "user", content: "Please go on.", notice: true })
  })
  it("words in every result", () => {
    expect(checkedHistory([asks("a"), result("a", " ")], { nonEmptyToolResult: true })).toEqual([asks("a"), result("a", "No data.")])
  })
  it("no fields it does not know", () => {
    const messages: Message[] = [{ role: "assistant", content: "x", reasoning: "r", calls: [{ id: "a", name: "find", arguments: "{}", extra: { s: 1 } }] }, result("a", "1")]
    expect(checkedHistory(messages, { reasoning: "forbidden", keepExtraContent: false })).toEqual([{ ...asks("a"), content: "x" }, result("a", "1")])
  })
})

const profile: fc.Arbitrary<HistoryProfile> = fc.record(
  {
    callIdPattern: fc.constantFrom("^[a-zA-Z0-9]{9}$", "^call_", "^c\\d+$"),
    nonEmptyToolResult: fc.boolean(),
    alternate: fc.boolean(),
    firstRoleUser: fc.boolean(),
    lastRoleNotAssistant: fc.boolean(),
    keepExtraContent: fc.boolean(),
    reasoning: fc.constantFrom("required_in_tool_turns" as const, "forbidden" as const),
  },
  { requiredKeys: [] },
)

describe("any history whatever", () => {
  it("becomes valid, once and for all, and keeps what people said", () => {
    fc.assert(
      fc.property(brokenHistory, profile, (messages, demands) => {
        const before = structuredClone(messages)
        const checked = checkedHistory(messages, demands)
        expect(historyFault(checked)).toBeNull()
        expect(checkedHistory(checked, demands)).toBe(checked)
        expect(messages).toEqual(before)
        const said = checked.flatMap((message) => (message.role === "user" ? [textOf(message.content)] : [])).join("\n\n")
        for (const message of messages) if (message.role === "user") expect(said).toContain(textOf(message.content).replace(/\p{Surrogate}/gu, "\ufffd"))
      }),
      SEED,
    )
  })
  it("stays valid when it is cut anywhere, handed on and cut again", () => {
    fc.assert(
      fc.property(wholeHistory, fc.nat(60), fc.nat(60), (messages, from, to) => {
        const aborted = checkedHistory([...messages.slice(0, to), user("Go on")])
        const handed = checkedHistory([...aborted, asks("c1"), result("c1", "Transferred.")].slice(from))
        expect([historyFault(aborted), historyFault(handed)]).toEqual([null, null])
      }),
      SEED,
    )
  })
  it("is checked step by step as it is checked at once", () => {
    fc.assert(
      fc.property(brokenHistory, brokenHistory, (first, second) => {
        const check = growingHistory()
        const growing: Message[] = []
        for (const message of first) {
          growing.push(message)
          expect(check(growing)).toEqual(checkedHistory(growing))
        }
        expect(check(second)).toEqual(checkedHistory(second))
      }),
      SEED,
    )
  })
})

describe("calls from outside", () => {
  it("are numbered anew, with their results", () => {
    const messages = renumberCalls([user("Go"), asks("x", "x"), result("x", "1"), result("x", "2"), says("Ok"), asks("c9"), result("c9", "3")], 4)
    expect(messages).toEqual([user("Go"), asks("c4", "c5"), result("c4", "1"), result("c5", "2"), says("Ok"), asks("c6"), result("c6", "3")])
    expect(countCalls(messages)).toBe(3)
  })
  it("stay as they are when they are numbered already", () => {
    fc.assert(
      fc.property(wholeHistory, (messages) => {
        expect(renumberCalls(messages)).toBe(messages)
      }),
      SEED,
    )
  })
  it("are valid and counted from one, whatever came in", () => {
    fc.assert(
      fc.property(brokenHistory, (messages) => {
        const renumbered = renumberCalls(messages)
        const ids = renumbered.flatMap((message) => (message.role === "assistant" ? (message.calls ?? []).map((call) => call.id) : []))
        expect([historyFault(renumbered), ids]).toEqual([null, Array.from({ length: countCalls(messages) }, (_, index) => `c${index + 1}`)])
      }),
      SEED,
    )
  })
})

describe("the cost", () => {
  it("of a check of 40,000 repeated ids grows with their number, not with its square", () => {
    const messages = Array.from({ length: 40_000 }, () => asks("a"))
    const started = performance.now()
    expect(checkedHistory(messages)).toHaveLength(80_000)
    expect(performance.now() - started).toBeLessThan(20_000)
  })
})
