import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { FoldedEvent, StoredEvent } from "../../src/contract/event.ts"
import type { Span } from "../../src/doors/trace.ts"
import { buildSpans, renderTimeline, renderWaterfall, textWidth } from "../../src/doors/trace.ts"
import {
  modelCalls,
  modelFail,
  modelSays,
  modelStart,
  pauseFor,
  reopened,
  resume,
  runEnd,
  runStart,
  SMALL_RUN,
  START,
  stored,
  toolCheck,
  toolFailed,
  toolOk,
  toolStart,
  turnEnd,
  usage,
} from "./sample-run.ts"

/** One line per span: indent, type, name, start–end in ms, status. */
function outline(span: Span, depth = 0): string[] {
  const line = `${"  ".repeat(depth)}${span.type} ${span.name} ${span.startMs - START}–${span.endMs - START} ${span.status}`
  return [line, ...span.children.flatMap((child) => outline(child, depth + 1))]
}

describe("the tree of a run", () => {
  it("has turns, model attempts, waits, tool calls and pauses, each where it happened", () => {
    expect(outline(buildSpans(SMALL_RUN))).toEqual([
      "run triage 0–65441 ok",
      "  rule no_cards 0–0 ok",
      "  turn 1 10–1413 ok",
      "    model demo 10–810 ok",
      "    tool find_order 812–1112 ok",
      "    tool weather 812–1412 failed",
      "  turn 2 1420–64932 ok",
      "    model demo 1420–1820 failed",
      "    wait  1820–2320 ok",
      "    model demo 2320–2720 ok",
      "    tool refund 2721–2721 failed",
      "    pause waiting 2722–64730 ok",
      "    tool refund 64731–64931 ok",
      "  turn 3 64940–65441 ok",
      "    model demo 64940–65440 ok",
    ])
  })

  it("says of the run what it was asked, what it answered, and what it used", () => {
    expect(buildSpans(SMALL_RUN).attributes).toEqual({
      runId: "order-7",
      agent: "triage",
      input: "订单 7 的退款在哪里？ Where is my refund?",
      answer: "您的 10 元退款已在路上。Your refund of 10 is on its way.",
      stop: { reason: "final", code: "final", message: "", hint: "" },
      forkedFrom: null,
      turns: 3,
      modelCalls: 4,
      toolCalls: 3,
      usage: { inputTokens: 3_904, outputTokens: 106, cachedTokens: 3_504, reasoningTokens: 0, cost: "unknown", unreported: 0 },
      pausedMs: 62_008,
      disclaimer: "",
    })
  })

  it("says of a tool call its arguments, repairs and outcome; edited arguments take the place of the model's", () => {
    const tools = buildSpans(SMALL_RUN).children.flatMap((turn) => turn.children.filter((child) => child.type === "tool"))
    expect(tools.map(({ id, attributes }) => ({ id, ...attributes, outcome: attributes.outcome?.type }))).toEqual([
      { id: "tool-7", callId: "c1", tool: "find_order", attempt: 1, executed: true, arguments: '{"id": 7}', repairs: ["id: text to number"], outcome: "ok" },
      { id: "tool-8", callId: "c2", tool: "weather", attempt: 1, executed: true, arguments: '{"city":"Paris"}', repairs: [], outcome: "failed" },
      { id: "tool-17", callId: "c4", tool: "refund", attempt: 0, executed: false, arguments: "{}", repairs: [], outcome: "failed" },
      { id: "tool-21", callId: "c3", tool: "refund", attempt: 1, executed: true, arguments: '{"order":7,"amount":10}', repairs: [], outcome: "ok" },
    ])
  })

  it("adds up known costs, and knows none when one is unknown or a server did not report", () => {
    const costs = (second: FoldedEvent): unknown =>
      buildSpans(
        stored([
          [0, runStart("a", "")],
          [0, modelStart(1)],
          [1, modelCalls([], usage(1, 1, 0, 0.5))],
          [1, modelStart(2)],
          [2, second],
        ]),
      ).attributes.usage
    expect(costs(modelSays("", usage(2, 2, 0, 0.25)))).toMatchObject({ inputTokens: 3, cost: 0.75, unreported: 0 })
    expect(costs(modelSays("", usage(2, 2)))).toMatchObject({ inputTokens: 3, cost: "unknown", unreported: 0 })
    expect(costs(modelSays("", null))).toMatchObject({ inputTokens: 1, cost: "unknown", unreported: 1 })
  })

  it("of a reply that could not be used is a failed model span with what the model was told", () => {
    const reading = { type: "unknown", text: "<tool", feedback: "That was half a call." } as const
    const run = buildSpans(
      stored([
        [0, runStart("a", "")],
        [0, modelStart(1)],
        [9, { type: "model_end", reading, reasoning: "", finish: "stop", usage: null, estimatedTokens: 1, notes: [] }],
        [9, modelStart(2)],
        [20, modelSays("done", null)],
        [20, runEnd("final", "done")],
      ]),
    )
    expect(outline(run)).toEqual(["run a 0–20 ok", "  turn 1 0–9 failed", "    model demo 0–9 failed", "  turn 2 9–20 ok", "    model demo 9–20 ok"])
    expect(run.children[0]?.children[0]?.error).toBe("That was half a call.")
  })

  it("shows rejected and otherwise answered calls as not run", () => {
    const asked = [
      [0, runStart("a", "")],
      [0, modelStart(1)],
      [1, modelCalls([["c1", "pay", "{}"]], null)],
      [1, toolCheck("c1", "pay", { type: "ask", question: "?", arguments: {}, expiresAt: null })],
      [2, pauseFor("c1", "?")],
    ] as const
    const rejected = buildSpans(stored([...asked, [50, { type: "answer_given", id: "c1", answer: { type: "reject", reason: "too much" } }], [51, resume], [52, turnEnd(1)]]))
    expect(outline(rejected).slice(3)).toEqual(["    pause waiting 2–51 ok", "    tool pay 50–50 failed"])
    expect(rejected.children[0]?.children.at(-1)?.error).toBe("reject: too much")
    const outcome = { type: "ok", text: "paid", context: null, handoff: null } as const
    const happened = buildSpans(stored([...asked, [50, { type: "answer_given", id: "c1", answer: { type: "happened", outcome } }], [51, resume]]))
    expect(happened.children[0]?.children.at(-1)).toMatchObject({ type: "tool", name: "pay", status: "ok", attributes: { executed: false, outcome } })
  })

  it("of a call whose answer comes later has no end until the answer is given", () => {
    const later = [
      [0, runStart("a", "")],
      [0, modelStart(1)],
      [1, modelCalls([["c1", "poll", "{}"]], null)],
      [2, toolStart("c1", "poll")],
      [3, { type: "tool_end", callId: "c1", tool: "poll", outcome: { type: "later", text: "" } }],
      [3, pauseFor("c1", "?")],
    ] as const
    const run = buildSpans(
      stored([
        ...later,
        [50, { type: "answer_given", id: "c1", answer: { type: "reply", text: "42" } }],
        [50, { type: "message_given", message: { role: "user", content: "and?" } }],
        [51, resume],
      ]),
    )
    expect(outline(run).slice(3)).toEqual(["    tool poll 2–3 unfinished", "    pause waiting 3–51 ok", "    tool poll 50–50 ok"])
  })

  it("of a run that ended twice shows the time between as a pause, and the last end as its end", () => {
    const twice = [
      [0, runStart("a", "")],
      [0, modelStart(1)],
      [10, modelSays("", null)],
      [10, runEnd("max_turns")],
      [900, reopened],
      [900, modelStart(2)],
      [910, modelSays("x", null)],
      [910, runEnd("final", "x")],
    ] as const
    expect(outline(buildSpans(stored(twice)))).toEqual([
      "run a 0–910 ok",
      "  turn 1 0–10 ok",
      "    model demo 0–10 ok",
      "  pause ended 10–900 ok",
      "  turn 2 900–910 ok",
      "    model demo 900–910 ok",
    ])
    expect(outline(buildSpans(stored(twice.slice(0, 4))))[0]).toBe("run a 0–10 failed")
  })

  it("of a run that ended stays ended when it is delivered again", () => {
    const run = buildSpans(
      stored([
        [0, runStart("a", "")],
        [0, modelStart(1)],
        [10, modelSays("x", null)],
        [10, runEnd("final", "x")],
        [500, resume],
      ]),
    )
    expect(outline(run)).toEqual(["run a 0–500 ok", "  turn 1 0–10 ok", "    model demo 0–10 ok"])
  })

  it("of no events is an empty run", () => {
    expect(outline(buildSpans([]))).toEqual([`run  ${-START}–${-START} unfinished`])
  })
})

describe("a missing end", () => {
  it("is closed by the next start, so steps that nobody closed no longer add up to 244 % of the run", () => {
    const starts = [0, 1_200, 4_400]
    const events = stored([[0, runStart("a", "")], ...starts.map((at, index) => [at, modelStart(index + 1)] as const), [10_000, runEnd("max_turns")]])
    const closedByTheLastEvent = starts.reduce((sum, at) => sum + 10_000 - at, 0) / 10_000
    expect(closedByTheLastEvent).toBe(2.44)
    const run = buildSpans(events)
    expect(outline(run)).toEqual([
      "run a 0–10000 failed",
      "  turn 1 0–1200 unfinished",
      "    model demo 0–1200 unfinished",
      "  turn 2 1200–4400 unfinished",
      "    model demo 1200–4400 unfinished",
      "  turn 3 4400–10000 unfinished",
      "    model demo 4400–10000 unfinished",
    ])
    expect(run.children.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0)).toBe(10_000)
  })

  it("of a killed process is where the next process took over; its tool call runs again as a span of its own", () => {
    const events = stored([
      [0, runStart("a", "")],
      [0, modelStart(1)],
      [5, modelCalls([["c1", "read", "{}"]], null)],
      [5, toolCheck("c1", "read")],
      [6, toolStart("c1", "read")],
      [90, resume],
      [91, toolStart("c1", "read", 2)],
      [95, toolOk("c1", "read", "x")],
    ])
    expect(outline(buildSpans(events))).toEqual([
      "run a 0–95 unfinished",
      "  turn 1 0–95 unfinished",
      "    model demo 0–5 ok",
      "    tool read 6–90 unfinished",
      "    tool read 91–95 ok",
    ])
  })

  it("of a call that a log in disorder starts between two attempts is not counted as back-off too", () => {
    const events = stored([
      [0, runStart("a", "")],
      [0, modelStart(1)],
      [5, modelFail("timeout", "")],
      [6, toolStart("c1", "read")],
      [90, modelStart(1, 2)],
    ])
    expect(outline(buildSpans(events)).slice(2)).toEqual(["    model demo 0–5 failed", "    tool read 6–90 unfinished", "    model demo 90–90 unfinished"])
  })

  it("of a run that still goes on is its last event, whatever time it is now", () => {
    expect(outline(buildSpans(SMALL_RUN.slice(0, 7)))).toEqual([
      "run triage 0–812 unfinished",
      "  rule no_cards 0–0 ok",
      "  turn 1 10–812 unfinished",
      "    model demo 10–810 ok",
      "    tool find_order 812–812 unfinished",
    ])
  })
})

describe("whatever the events", () => {
  const callId = fc.constantFrom("c1", "c2", "c3")
  const turn = fc.integer({ min: 1, max: 4 })
  const text = fc.oneof(fc.string({ unit: "binary", maxLength: 12 }), fc.constantFrom("订单\n退款", "\u001b[2J\u009b1m", "👩‍👩‍👧 ok"))
  const event: fc.Arbitrary<FoldedEvent> = fc.oneof(
    fc.tuple(turn, fc.integer({ min: 1, max: 3 })).map(([number, attempt]) => modelStart(number, attempt)),
    fc.tuple(callId, text).map(([id, args]) => modelCalls([[id, "tool", args]], usage(5, 1), args)),
    text.map((answer) => modelSays(answer, null)),
    text.map((message) => modelFail("timeout", message)),
    callId.map((id) => toolCheck(id, "tool")),
    callId.map((id) => toolCheck(id, "tool", { type: "refuse", outcome: { type: "failed", text: "no", retryable: false } })),
    callId.map((id) => toolStart(id, "tool")),
    fc.tuple(callId, text).map(([id, result]) => toolOk(id, "tool", result)),
    fc.tuple(callId, text).map(([id, result]) => toolFailed(id, "tool", result)),
    turn.map((number) => turnEnd(number, {}, number === 2 ? "other" : undefined)),
    callId.map((id) => pauseFor(id, "?")),
    callId.map((id): FoldedEvent => ({ type: "answer_given", id, answer: { type: "reject", reason: "" } })),
    fc.constantFrom(resume, reopened),
    fc.constantFrom<FoldedEvent>(runEnd("final", "x"), runEnd("max_turns"), { type: "run_abort", reason: "" }),
    fc.constantFrom<FoldedEvent>({ type: "guardrail_end", point: "input", rule: "r", verdict: "stop", reason: "x" }, { type: "history_edit", by: "p", because: "edit", edits: [] }),
  )
  const log: fc.Arbitrary<StoredEvent[]> = fc.array(fc.tuple(fc.integer({ min: -20, max: 100 }), event), { maxLength: 60 }).map((entries) => {
    let at = 0
    const timed = entries.map(([gap, folded]) => {
      at += gap
      return [at, folded] as const
    })
    return stored([[0, runStart("a", "question")], ...timed])
  })
  const everyRun = (check: (events: StoredEvent[]) => void): void => fc.assert(fc.property(log, check), { numRuns: 1_500, seed: 7 })

  const length = ({ startMs, endMs }: Span): number => endMs - startMs
  /** Time covered by spans that may run side by side. */
  function covered(spans: readonly Span[]): number {
    let sum = 0
    let until = Number.NEGATIVE_INFINITY
    for (const { startMs, endMs } of spans.toSorted((left, right) => left.startMs - right.startMs)) {
      sum += Math.max(0, endMs - Math.max(until, startMs))
      until = Math.max(until, endMs)
    }
    return sum
  }
  function everySpan(span: Span, check: (span: Span) => void): void {
    check(span)
    for (const child of span.children) everySpan(child, check)
  }

  it("a parent covers its children, steps that follow each other never overlap, and together they never exceed it", () => {
    everyRun((events) => {
      everySpan(buildSpans(events), (parent) => {
        expect(parent.endMs).toBeGreaterThanOrEqual(parent.startMs)
        for (const child of parent.children) {
          expect(child.startMs).toBeGreaterThanOrEqual(parent.startMs)
          expect(child.endMs).toBeLessThanOrEqual(parent.endMs)
          if (child.type === "tool") continue
          for (const other of parent.children) if (other !== child) expect(Math.min(child.endMs, other.endMs) - Math.max(child.startMs, other.startMs)).toBeLessThanOrEqual(0)
        }
        const tools = parent.children.filter(({ type }) => type === "tool")
        const sequential = parent.children.filter(({ type }) => type !== "tool")
        expect(sequential.reduce((sum, child) => sum + length(child), 0) + covered(tools)).toBeLessThanOrEqual(length(parent))
      })
    })
  })

  it("the run lasts from its first to its latest event, and every start is one span with an id of its own", () => {
    everyRun((events) => {
      const run = buildSpans(events)
      expect([run.startMs, run.endMs]).toEqual([events[0]?.at, Math.max(...events.map(({ at }) => at))])
      const spans: Span[] = []
      everySpan(run, (span) => spans.push(span))
      expect(new Set(spans.map(({ id }) => id)).size).toBe(spans.length)
      expect(spans.filter(({ type }) => type === "model")).toHaveLength(events.filter(({ type }) => type === "model_start").length)
      expect(spans.filter((span) => span.type === "tool" && span.attributes.executed)).toHaveLength(events.filter(({ type }) => type === "tool_start").length)
    })
  })

  it("the waterfall and the list keep to their width and send nothing to the terminal but text", () => {
    everyRun((events) => {
      const pages = [
        renderWaterfall(buildSpans(events), { width: 80 }),
        renderWaterfall(buildSpans(events), { width: 100, language: "zh" }),
        renderTimeline(events, { width: 100 }),
      ]
      for (const [index, page] of pages.entries()) {
        expect(page).not.toMatch(/[^\P{Cc}\n]/u)
        for (const line of page.split("\n")) expect(textWidth(line)).toBeLessThanOrEqual(index === 0 ? 80 : 100)
      }
    })
  })

  it("thirty thousand spans are built in one pass", () => {
    const turns = Array.from({ length: 10_000 }, (_, index) => index)
    const events = stored([
      [0, runStart("a", "")],
      ...turns.flatMap(
        (index) =>
          [
            [index * 10, modelStart(index + 1)],
            [index * 10 + 5, modelCalls([[`c${index}`, "t", "{}"]], usage(1, 1))],
            [index * 10 + 5, toolStart(`c${index}`, "t")],
            [index * 10 + 9, toolOk(`c${index}`, "t", "x")],
            [index * 10 + 9, turnEnd(index + 1)],
          ] as const,
      ),
    ])
    const began = performance.now()
    const run = buildSpans(events)
    expect(performance.now() - began).toBeLessThan(10_000)
    expect([run.children.length, run.attributes.toolCalls]).toEqual([10_000, 10_000])
  })
})
