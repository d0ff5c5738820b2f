import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Message } from "../../src/contract/message.ts"
import { pruneHistory } from "../../src/capability/memory/prune.ts"
import { checkedHistory } from "../../src/infrastructure/history/history.ts"
import { estimateMessageTokens } from "../../src/infrastructure/tokens.ts"
import { historyFault, wholeHistory } from "../history/arbitrary.ts"

const SEED = { seed: 20260302, numRuns: 1_000 }
const user = (content: string, flags: { pinned?: boolean; notice?: boolean } = {}): Message => ({ role: "user", content, ...flags })
const says = (content: string): Message => ({ role: "assistant", content })
const asks = (id: string): Message => ({ role: "assistant", content: "", calls: [{ id, name: "find", arguments: "{}" }] })
const result = (callId: string, content: string): Message => ({ role: "tool", callId, content })
const tokensOf = (messages: readonly Message[]): number => messages.reduce((sum, message) => sum + estimateMessageTokens(message), 0)

const ferry = [user("Find the ferry."), asks("c1"), result("c1", "at 9"), says("At 9.")]
const back = [user("And back?"), asks("c2"), result("c2", "at 17"), says("At 17.")]
const thanks = [user("Thanks, again")]

describe("a limit of messages", () => {
  it("changes nothing while it is kept", () => {
    const messages = [...ferry, ...back]
    expect(pruneHistory(messages, { maxMessages: 8, maxTokens: 10_000 })).toBe(messages)
    expect(pruneHistory(messages, { maxMessages: null, maxTokens: null })).toBe(messages)
  })
  it("takes whole exchanges, oldest first, and no more than it must", () => {
    const messages = [...ferry, ...back, ...thanks]
    expect(pruneHistory(messages, { maxMessages: 8, maxTokens: null })).toEqual([...back, ...thanks])
    expect(pruneHistory(messages, { maxMessages: 4, maxTokens: null })).toEqual(thanks)
  })
  it("leaves the current exchange whole, however long", () => {
    expect(pruneHistory([...ferry, ...back], { maxMessages: 2, maxTokens: null })).toEqual(back)
  })
  it("keeps pinned messages of what goes, in their place", () => {
    expect(pruneHistory([user("My number is 7.", { pinned: true }), says("Noted."), ...ferry, ...thanks], { maxMessages: 2, maxTokens: null })).toEqual([
      user("My number is 7.", { pinned: true }),
      ...thanks,
    ])
  })
  it("does not take the runtime's own notice for a new exchange", () => {
    const current = [...back, user("Use the format.", { notice: true }), says("At 17:05.")]
    expect(pruneHistory([...ferry, ...current], { maxMessages: 3, maxTokens: null })).toEqual(current)
  })
  it("counts what stands before the first question as the oldest exchange", () => {
    expect(pruneHistory([says("Hello, I am a bot."), ...thanks], { maxMessages: 1, maxTokens: null })).toEqual(thanks)
  })
})

describe("a limit of tokens", () => {
  it("takes whole exchanges first", () => {
    expect(pruneHistory([...ferry, ...back, ...thanks], { maxMessages: null, maxTokens: tokensOf([...back, ...thanks]) })).toEqual([...back, ...thanks])
  })
  it("then gives up results of the current exchange, oldest first, with their length, calls and results together", () => {
    const current = [user("Go"), asks("c1"), result("c1", "x".repeat(4_000)), asks("c2"), result("c2", "y".repeat(4_000))]
    const limit = tokensOf(current) - 500
    expect(pruneHistory([...ferry, ...current], { maxMessages: null, maxTokens: limit })).toEqual([
      user("Go"),
      asks("c1"),
      result("c1", "[This result was left out to save room; it had 4000 characters.]"),
      asks("c2"),
      result("c2", "y".repeat(4_000)),
    ])
  })
  it("never makes a short result longer", () => {
    expect(pruneHistory(back, { maxMessages: null, maxTokens: 1 })).toBe(back)
  })
})

describe("any history", () => {
  it("stays valid, keeps pins and the current exchange, and is within its limits where that can be", () => {
    fc.assert(
      fc.property(wholeHistory, fc.option(fc.nat(20), { nil: null }), fc.option(fc.nat(600), { nil: null }), (messages, maxMessages, maxTokens) => {
        const before = structuredClone(messages)
        const pruned = pruneHistory(messages, { maxMessages, maxTokens })
        expect(historyFault(pruned)).toBeNull()
        expect(checkedHistory(pruned)).toBe(pruned)
        expect(pruneHistory(pruned, { maxMessages, maxTokens })).toEqual(pruned)
        expect(messages).toEqual(before)
        const start = messages.findLastIndex((message) => message.role === "user")
        const stays = messages.filter((message, index) => (message.role === "user" && message.pinned === true) || index >= start)
        const unlimited = (message: Message) => (message.role === "tool" ? { ...message, content: "" } : message)
        for (const message of stays) expect(pruned.map(unlimited)).toContainEqual(unlimited(message))
        if (maxMessages !== null) expect(pruned.length).toBeLessThanOrEqual(Math.max(maxMessages, stays.length))
        if (maxTokens !== null) expect(tokensOf(pruned)).toBeLessThanOrEqual(Math.max(maxTokens, tokensOf(stays)))
      }),
      SEED,
    )
  })
})
