import { describe, expect, test } from "vitest"
import type { FoldedEvent } from "../../src/contract/event.ts"
import { apply } from "../../src/orchestration/apply.ts"
import { folded, LIMITS, START, stamped } from "../support/states.ts"

const usage = { inputTokens: 10, outputTokens: 5, cachedTokens: 2, reasoningTokens: 1, cost: 0.5 }
const action = (...names: string[]): FoldedEvent => ({
  type: "model_end",
  reading: { type: "action", text: "", calls: names.map((name, index) => ({ id: `c${index + 1}`, name, arguments: "{}" })) },
  reasoning: "",
  finish: "tool_calls",
  usage,
  estimatedTokens: 0,
  notes: [],
})
const check = (callId: string, more: Partial<Extract<FoldedEvent, { type: "tool_check" }>> = {}): FoldedEvent => ({
  type: "tool_check",
  callId,
  tool: "t",
  key: `t ${callId}`,
  hints: {},
  allowRepeats: false,
  retries: 0,
  repairs: [],
  verdict: { type: "run" },
  ...more,
})
const started = (callId: string, attempt = 1): FoldedEvent => ({ type: "tool_start", callId, tool: "t", attempt, idempotencyKey: `r1:${callId}` })
const done = (callId: string, text: string): FoldedEvent => ({ type: "tool_end", callId, tool: "t", outcome: { type: "ok", text, context: null, handoff: null } })
const turnEnd: FoldedEvent = { type: "turn_end", turn: 1, context: {}, removed: [] }

describe("apply", () => {
  test("a log begins with run_start", () => {
    expect(() => apply(null, stamped([turnEnd])[0] ?? never())).toThrow("run_start")
  })
  test("the open turn enters history whole, results in call order", () => {
    const before = folded(START, action("a", "b"), check("c1"), check("c2"), started("c1"), started("c2"), done("c2", "second"), done("c1", "first"))
    expect(before.messages).toHaveLength(1)
    const after = folded(START, action("a", "b"), check("c1"), check("c2"), started("c1"), started("c2"), done("c2", "second"), done("c1", "first"), turnEnd)
    expect(after.messages.slice(1)).toEqual([
      {
        role: "assistant",
        content: "",
        calls: [
          { id: "c1", name: "a", arguments: "{}" },
          { id: "c2", name: "b", arguments: "{}" },
        ],
      },
      { role: "tool", callId: "c1", content: "first" },
      { role: "tool", callId: "c2", content: "second" },
    ])
    expect(after).toMatchObject({ turn: 1, calls: 2, phase: { type: "model" } })
  })
  test("usage adds up; a server that does not say makes the cost unknown and the budget an estimate", () => {
    const state = folded(START, action("a"), done("c1", "x"), turnEnd, { ...action("b"), usage: null, estimatedTokens: 70 } as FoldedEvent)
    expect(state).toMatchObject({ usage: { inputTokens: 10, outputTokens: 5, cost: "unknown" }, unreported: 1, budgetTokens: 85 })
  })
  test("an unusable reply and its feedback enter history; an empty reply adds only the feedback", () => {
    const unknown = (text: string): FoldedEvent => ({ ...action(), reading: { type: "unknown", text, feedback: "Say it again." } }) as FoldedEvent
    expect(folded(START, unknown("mmh")).messages.slice(1)).toEqual([
      { role: "assistant", content: "mmh" },
      { role: "user", content: "Say it again.", notice: true },
    ])
    expect(folded(START, unknown(""), unknown("")).messages).toHaveLength(3)
    expect(folded(START, unknown(""), unknown("")).unknownReplies).toBe(2)
    expect(folded(START, unknown(""), action("a")).unknownReplies).toBe(0)
  })
  test("a run that ends with calls under way keeps a valid history and says what is not known", () => {
    const state = folded(START, action("a", "b", "c"), check("c1"), check("c2"), check("c3"), started("c1"), started("c2"), done("c1", "first"), {
      type: "run_end",
      stop: { reason: "aborted", code: "aborted", message: "", hint: "" },
      answer: "",
    })
    expect(state.messages.slice(2)).toEqual([
      { role: "tool", callId: "c1", content: "first" },
      { role: "tool", callId: "c2", content: "Unknown: the run ended while this call was under way. It may have happened; check before you repeat it." },
      { role: "tool", callId: "c3", content: "Not run: the run ended before this call began." },
    ])
  })
  test("a failed call that may be repeated is ready again while attempts are left", () => {
    const failed: FoldedEvent = { type: "tool_end", callId: "c1", tool: "t", outcome: { type: "failed", text: "Error", retryable: true } }
    const stage = (...events: FoldedEvent[]) => {
      const { phase } = folded(START, action("a"), check("c1", { retries: 1, hints: { readOnly: true } }), ...events)
      return phase.type === "tools" ? phase.calls[0]?.stage.type : null
    }
    expect(stage(started("c1"), failed)).toBe("ready")
    expect(stage(started("c1"), failed, started("c1", 2), failed)).toBe("done")
  })
  test("context changes merge at the end of the turn, into a new frozen object", () => {
    const before = folded(START, action("a"))
    const after = folded(START, action("a"), done("c1", "x"), { type: "turn_end", turn: 1, context: { order: "A1" }, removed: ["old"] })
    expect(before.context).toEqual({})
    expect(after.context).toEqual({ order: "A1" })
    expect(Object.isFrozen(after.context)).toBe(true)
  })
  test("working time leaves out the gaps before what comes from outside", () => {
    const events = stamped([START, action("a"), { type: "run_abort", reason: "x" }])
    const [start, end, abort] = events
    if (start === undefined || end === undefined || abort === undefined) return never()
    let state = apply(null, start)
    state = apply(state, { ...end, at: start.at + 40 })
    state = apply(state, { ...abort, at: start.at + 90_000_000 })
    expect(state.activeMs).toBe(40)
    expect(state.status).toEqual({ type: "aborting", reason: "x" })
  })
  test("edits name places in the history as it was", () => {
    const input = ["one", "two", "three", "four"].map((content) => ({ role: "user" as const, content }))
    const state = folded({ ...START, input } as FoldedEvent, {
      type: "history_edit",
      by: "prune",
      because: "limit",
      edits: [
        { at: 0, remove: 1, insert: [] },
        { at: 2, remove: 1, insert: [{ role: "user", content: "3" }] },
      ],
    })
    expect(state.messages.map(({ content }) => content)).toEqual(["two", "3", "four"])
    expect(state.phase).toMatchObject({ type: "model", shortened: "limit" })
  })
  test("the 3rd identical result tells the model; the digest of another result starts anew", () => {
    const turn = (text: string): FoldedEvent[] => [action("a"), check("c1", { key: "same" }), started("c1"), done("c1", text), turnEnd]
    const last = (...texts: string[]) => folded(START, ...texts.flatMap(turn)).messages.at(-1)?.content
    expect(last("no", "no")).toBe("no")
    expect(last("no", "no", "no")).toMatch(/^no\n\[Notice: .*same result 3 times/)
    expect(last("no", "no", "yes")).toBe("yes")
  })
  test("resuming is not reopening: an ended run stays ended unless asked", () => {
    const ended: FoldedEvent = { type: "run_end", stop: { reason: "max_turns", code: "max_turns", message: "", hint: "" }, answer: "" }
    const resume = (reopen: boolean): FoldedEvent => ({ type: "run_resume", reopen, limits: { ...LIMITS, turns: 20 }, guarded: [] })
    expect(folded(START, ended, resume(false)).status.type).toBe("stopped")
    expect(folded(START, ended, resume(true))).toMatchObject({ status: { type: "running" }, limits: { turns: 20 }, repeats: {}, unknownReplies: 0 })
  })
  test("an answer is judged by the question it names; an unknown one changes nothing", () => {
    const asked = check("c1", { verdict: { type: "ask", question: "Run t?", arguments: {}, expiresAt: null } })
    const paused: FoldedEvent = { type: "run_pause", waiting: [{ id: "c1", reason: "approval", question: "Run t?", arguments: {}, expiresAt: null }] }
    const stage = (id: string) => {
      const state = folded(START, action("a"), asked, paused, { type: "answer_given", id, answer: { type: "approve", arguments: null } })
      return [state.status.type, state.phase.type === "tools" && state.phase.calls[0]?.stage.type]
    }
    expect(stage("c1")).toEqual(["running", "ready"])
    expect(stage("c9")).toEqual(["paused", "waiting"])
  })
  test("state survives a JSON round trip after every event", () => {
    const events = stamped([START, action("a", "b"), check("c1"), check("c2"), started("c1"), started("c2"), done("c1", "1"), done("c2", "2"), turnEnd])
    let straight = apply(null, events[0] ?? never())
    let packed = structuredClone(straight)
    for (const event of events.slice(1)) {
      straight = apply(straight, event)
      packed = apply(JSON.parse(JSON.stringify(packed)), event)
      expect(packed).toEqual(straight)
    }
  })
})

function never(): never {
  throw new Error("unreachable")
}
