import { describe, expect, it } from "vitest"
import {
  buildSpans,
  cutToWidth,
  fitToWidth,
  formatCost,
  formatDuration,
  formatTokens,
  oneLine,
  redactEvents,
  renderTimeline,
  renderWaterfall,
  textWidth,
} from "../../src/doors/trace.ts"
import { modelCalls, modelFail, modelSays, modelStart, runEnd, runStart, SMALL_RUN, stored, toolFailed, toolStart, usage } from "./sample-run.ts"

describe("the waterfall", () => {
  it("shows a run of 100 columns", () => {
    expect(renderWaterfall(buildSpans(SMALL_RUN))).toBe(`order-7                      2026-01-01 00:00:00 UTC                          duration        tokens
triage                       █████████████████████████████████████████████  1 min 05 s     3,904→106
  订单 7 的退款在哪里？ Where is my refund?
  rule at input              █                                                    0 ms
    no_cards: pass
  turn 1 · triage            ███████████████                                     1.4 s
    handoff to refunds · context: order
    demo                     █████████                                          800 ms      1,204→56
      → find_order(), weather() · I look it up.
    find_order()                     ████                                       300 ms
      {"id": 7} (repaired: id: text to number) → Order 7, paid, refund asked
    weather()                        ███████                                    600 ms
      {"city":"Paris"} → ✗ The weather service did not answer within 600 ms.
  turn 2 · refunds                          ████████████████████████        1 min 04 s
    demo                                    █████                               400 ms
      ✗ overloaded: The server is busy.
    back-off                                    ┄┄┄┄┄┄                          500 ms
      overloaded
    demo, attempt 2                                   █████                     400 ms      1,300→20
      → refund(), refund()
    refund()                                              █                       0 ms
      {} (not run) → ✗ Argument "order" is missing.
    waiting for approval                                  ┄┄┄┄┄┄┄┄          1 min 02 s
      c3: Run refund? → approve
    refund()                                                      ██            200 ms
      {"order":7,"amount":10} → 已退款 10 元
  turn 3 · refunds                                                  ██████      501 ms
    demo                                                            ██████      500 ms      1,400→30
      → 您的 10 元退款已在路上。Your refund of 10 is on its way.

final · 3 turns, 4 model calls, 3 tool calls · 1 min 05 s, 1 min 02 s of it waiting
3,904 tokens in (3,504 cached), 106 out · cost unknown
→ 您的 10 元退款已在路上。Your refund of 10 is on its way.
`)
  })

  it("shows it in Chinese in 80 columns", () => {
    expect(renderWaterfall(buildSpans(SMALL_RUN), { width: 80, language: "zh" })).toBe(`order-7                2026-01-01 00:00:00 UTC                耗时          词元
triage                 ███████████████████████████████  1 min 05 s     3,904→106
  订单 7 的退款在哪里？ Where is my refund?
  规则 input           █                                      0 ms
    no_cards: pass
  第 1 轮 · triage     ███████████                           1.4 s
    移交给 refunds · 上下文: order
    demo               ██████                               800 ms      1,204→56
      → find_order(), weather() · I look it up.
    find_order()             ██                             300 ms
      {"id": 7} (已修复: id: text to number) → Order 7, paid, refund asked
    weather()                █████                          600 ms
      {"city":"Paris"} → ✗ The weather service did not answer within 600 ms.
  第 2 轮 · refunds              █████████████████      1 min 04 s
    demo                         ████                       400 ms
      ✗ overloaded: The server is busy.
    退避等待                        ┄┄┄┄                    500 ms
      overloaded
    demo，第 2 次尝试                   ███                 400 ms      1,300→20
      → refund(), refund()
    refund()                               █                  0 ms
      {} (未执行) → ✗ Argument "order" is missing.
    等待批准                               ┄┄┄┄┄┄       1 min 02 s
      c3: Run refund? → approve
    refund()                                    ██          200 ms
      {"order":7,"amount":10} → 已退款 10 元
  第 3 轮 · refunds                               ████      501 ms
    demo                                          ████      500 ms      1,400→30
      → 您的 10 元退款已在路上。Your refund of 10 is on its way.

完成 · 3 轮，4 次模型调用，3 次工具调用 · 1 min 05 s, 其中等待 1 min 02 s
输入 3,904 词元（缓存 3,504），输出 106 · 费用未知
→ 您的 10 元退款已在路上。Your refund of 10 is on its way.
`)
  })

  it("shows a run that waits for a person", () => {
    const page = renderWaterfall(buildSpans(SMALL_RUN.slice(0, 18)))
    expect(page.slice(page.indexOf("    waiting for"))).toBe(`    waiting for approval                                                 ┄        0 ms
      c3: Run refund?

waiting · 2 turns, 3 model calls, 2 tool calls · 2.7 s
2,504 tokens in (2,204 cached), 76 out · cost unknown
`)
  })

  it("says what is not a language model, and breaks its totals where a narrow terminal ends", () => {
    const events = stored([
      [0, runStart("a", "hi")],
      [0, modelStart(1, 1, "demo model: not an LLM")],
      [5, modelSays("hello", usage(1_000, 100, 0, 0.0125))],
      [5, runEnd("final", "hello")],
    ])
    expect(renderWaterfall(buildSpans(events), { width: 60 })).toBe(`order-7                2026-01-01…    duration        tokens
a                      ███████████        5 ms     1,000→100
  hi
  turn 1 · a           ███████████        5 ms
    demo               ███████████        5 ms     1,000→100
      → hello

final · 1 turn, 1 model call, 0 tool calls · 5 ms
1,000 tokens in (0 cached), 100 out · cost 0.013
demo model: not an LLM
→ hello
`)
  })

  it("shows errors in red with their message, and says what to do", () => {
    const events = stored([
      [0, runStart("support", "hi")],
      [0, modelStart(1)],
      [400, modelFail("overloaded", "The server is busy.")],
      [900, modelStart(1, 2)],
      [1_000, modelCalls([["c1", "lookup", "{}"]], usage(120_000, 5))],
      [1_000, toolStart("c1", "lookup")],
      [2_000, toolFailed("c1", "lookup", "No such order.")],
      [2_000, runEnd("max_turns")],
    ])
    const red = renderWaterfall(buildSpans(events), { color: true })
      .split("\n")
      .filter((line) => line.includes("\u001b[31m"))
    expect(red.map((line) => line.replace(/█+/, "█").replace(/ {2,}/g, " "))).toEqual([
      "\u001b[1msupport \u001b[0m \u001b[31m█\u001b[0m 2.0 s 120k→5",
      " demo \u001b[31m█ \u001b[0m 400 ms",
      "\u001b[31m ✗ overloaded: The server is busy.\u001b[0m",
      " lookup() \u001b[31m █\u001b[0m 1.0 s",
      "\u001b[31m {} → ✗ No such order.\u001b[0m",
      "\u001b[31mstopped: max_turns\u001b[0m · 1 turn, 2 model calls, 1 tool call · 2.0 s",
      "\u001b[31m✗ The run made 2 model calls without a final answer.\u001b[0m",
    ])
  })
})

describe("the list of events", () => {
  it("has a line for each", () => {
    expect(renderTimeline(SMALL_RUN)).toBe(`    1         +0 ms  run_start      triage: 订单 7 的退款在哪里？ Where is my refund?
    2         +0 ms  guardrail_end  input no_cards: pass
    3        +10 ms  model_start    demo, turn 1, attempt 1, 1 messages
    4       +810 ms  model_end      1,204→56 action: find_order({"id": 7}), weather({"city":"Paris"…
    5       +811 ms  tool_check     c1 find_order: run
    6       +811 ms  tool_check     c2 weather: run
    7       +812 ms  tool_start     c1 find_order, attempt 1
    8       +812 ms  tool_start     c2 weather, attempt 1
    9        +1.1 s  tool_end       c1 find_order: ok, Order 7, paid, refund asked
   10        +1.4 s  tool_end       c2 weather: failed, The weather service did not answer within 6…
   11        +1.4 s  turn_end       turn 1, handoff to refunds
   12        +1.4 s  model_start    demo, turn 2, attempt 1, 2 messages
   13        +1.8 s  model_fail     overloaded: The server is busy.
   14        +2.3 s  model_start    demo, turn 2, attempt 2, 2 messages
   15        +2.7 s  model_end      1,300→20 action: refund({"order":7,"amount":12.5}), refund({})
   16        +2.7 s  tool_check     c3 refund: ask
   17        +2.7 s  tool_check     c4 refund: refuse, Argument "order" is missing.
   18        +2.7 s  run_pause      c3 approval: Run refund?
   19   +1 min 05 s  answer_given   c3: approve
   20   +1 min 05 s  run_resume
   21   +1 min 05 s  tool_start     c3 refund, attempt 1
   22   +1 min 05 s  tool_end       c3 refund: ok, 已退款 10 元
   23   +1 min 05 s  turn_end       turn 2
   24   +1 min 05 s  model_start    demo, turn 3, attempt 1, 3 messages
   25   +1 min 05 s  model_end      1,400→30 final: 您的 10 元退款已在路上。Your refund of 10 is on…
   26   +1 min 05 s  run_end        final: 您的 10 元退款已在路上。Your refund of 10 is on its way.
`)
  })
})

describe("text on a terminal", () => {
  it("counts cells, not characters", () => {
    expect(["abc", "订单", "ｆｕｌｌ", "한국", "é", "e\u0301", "👍", "a\u200bb", "…→█"].map(textWidth)).toEqual([3, 4, 8, 4, 1, 1, 2, 2, 3])
  })

  it("is cut and filled to exact cells", () => {
    expect(["订单退款", "ab订单", "abcdef", "abc", ""].map((text) => fitToWidth(text, 5))).toEqual(["订单…", "ab订…", "abcd…", "abc  ", "     "])
    expect(fitToWidth("7 s", 5, "right")).toBe("  7 s")
    expect(cutToWidth("订单", 4)).toBe("订单")
    expect(cutToWidth("订单", 0)).toBe("")
  })

  it("from outside cannot steer it", () => {
    expect(oneLine("a\u001b[31mred\u001b[0m\r\n\tb\u0007 \u009b2Jc\u202edlrow\ud83d")).toBe("ared b c dlrow")
  })
})

it("durations, tokens and costs are short and never wrong by rounding up to the next unit", () => {
  expect([0, 999, 1_000, 59_949, 59_950, 185_000, 3_599_600, 18_120_000, 172_799_999, 273_600_000].map(formatDuration)).toEqual([
    "0 ms",
    "999 ms",
    "1.0 s",
    "59.9 s",
    "1 min 00 s",
    "3 min 05 s",
    "1 h 00 min",
    "5 h 02 min",
    "2 d 0 h",
    "3 d 4 h",
  ])
  expect([usage(0, 0), usage(1_204, 56), usage(120_400, 99_999), null, { ...usage(0, 0), unreported: 2 }].map(formatTokens)).toEqual(["0→0", "1,204→56", "120k→99,999", "?", "?"])
  expect([0, 0.0000012, 0.0123, 0.5, 12.345].map(formatCost)).toEqual(["0", "0.0000012", "0.012", "0.50", "12.35"])
})

it("secrets are hidden in every text of an event, and also where only the key tells what a value is", () => {
  const events = stored([
    [0, runStart("a", "my key is sk-abcdefghijklmnop1234")],
    [1, modelCalls([["c1", "login", '{"password":"hunter2hunter2"}']], null)],
    [2, { type: "turn_end", turn: 1, context: { apiKey: "abcdef123456", city: "Paris", list: ["token: abcdef123456"] }, removed: [] }],
  ])
  const redacted = redactEvents(events)
  expect(JSON.stringify(redacted)).not.toMatch(/abcdef|hunter2/)
  expect(redacted[2]).toMatchObject({ type: "turn_end", context: { apiKey: "[hidden]", city: "Paris", list: ["token: [hidden]"] } })
  expect(redactEvents(SMALL_RUN)).toEqual(SMALL_RUN)
})
