// Runs written out by hand, with fixed times. `at` counts milliseconds from the start of the run.
import type { FoldedEvent, ResolvedLimits, StoredEvent } from "../../src/contract/event.ts"
import type { Usage } from "../../src/contract/model.ts"

export const START = 1_767_225_600_000
const LIMITS: ResolvedLimits = { turns: 10, tokens: null, cost: null, ms: null, messages: null, contextTokens: 100_000, callsPerReply: 128, callsAtOnce: 64 }

export function stored(entries: readonly (readonly [at: number, event: FoldedEvent])[]): StoredEvent[] {
  return entries.map(([at, event], index) => ({ v: 1, seq: index + 1, at: START + at, ...event }))
}

export function usage(inputTokens: number, outputTokens: number, cachedTokens = 0, cost: number | "unknown" = "unknown"): Usage {
  return { inputTokens, outputTokens, cachedTokens, reasoningTokens: 0, cost }
}

export function runStart(agent: string, input: string): FoldedEvent {
  return {
    type: "run_start",
    runId: "order-7",
    agent,
    input: [{ role: "user", content: input }],
    context: {},
    limits: LIMITS,
    guarded: [],
    models: { [agent]: ["demo"] },
    hash: "",
    step: false,
  }
}
export function modelStart(turn: number, attempt = 1, disclaimer?: string): FoldedEvent {
  return { type: "model_start", turn, model: "demo", modelIndex: 0, attempt, messages: turn, ...(disclaimer !== undefined && { disclaimer }) }
}
export function modelCalls(calls: readonly (readonly [id: string, name: string, args: string])[], used: Usage | null, text = ""): FoldedEvent {
  const reading = { type: "action", text, calls: calls.map(([id, name, args]) => ({ id, name, arguments: args })) } as const
  return { type: "model_end", reading, reasoning: "", finish: "tool_calls", usage: used, estimatedTokens: 0, notes: [] }
}
export function modelSays(text: string, used: Usage | null): FoldedEvent {
  return { type: "model_end", reading: { type: "final", text }, reasoning: "", finish: "stop", usage: used, estimatedTokens: 0, notes: [] }
}
export function modelFail(code: "overloaded" | "timeout", message: string): FoldedEvent {
  return { type: "model_fail", failure: { code, message, retryable: true }, notes: [] }
}
type Verdict = Extract<FoldedEvent, { type: "tool_check" }>["verdict"]
export function toolCheck(callId: string, tool: string, verdict: Verdict = { type: "run" }, repairs: readonly string[] = []): FoldedEvent {
  return { type: "tool_check", callId, tool, key: `${tool} ${callId}`, hints: {}, allowRepeats: false, retries: 0, verdict, repairs }
}
export function toolStart(callId: string, tool: string, attempt = 1): FoldedEvent {
  return { type: "tool_start", callId, tool, attempt, idempotencyKey: `order-7:${callId}` }
}
export function toolOk(callId: string, tool: string, text: string, handoff: string | null = null): FoldedEvent {
  return { type: "tool_end", callId, tool, outcome: { type: "ok", text, context: null, handoff: handoff === null ? null : { agent: handoff, reason: "" } } }
}
export function toolFailed(callId: string, tool: string, text: string): FoldedEvent {
  return { type: "tool_end", callId, tool, outcome: { type: "failed", text, retryable: false } }
}
export function turnEnd(turn: number, context: { readonly [key: string]: unknown } = {}, handoff?: string): FoldedEvent {
  return { type: "turn_end", turn, context, removed: [], ...(handoff !== undefined && { handoff }) }
}
export function runEnd(reason: "final" | "max_turns", answer = ""): FoldedEvent {
  const message = reason === "final" ? "" : "The run made 2 model calls without a final answer."
  return { type: "run_end", stop: { reason, code: reason, message, hint: reason === "final" ? "" : "Raise limits.turns." }, answer }
}
export function pauseFor(id: string, question: string): FoldedEvent {
  return { type: "run_pause", waiting: [{ id, reason: "approval", question, arguments: null, expiresAt: null }] }
}
export const resume: FoldedEvent = { type: "run_resume", reopen: false, limits: null, guarded: [] }
export const reopened: FoldedEvent = { type: "run_resume", reopen: true, limits: null, guarded: [] }

/** A small run with one of everything: concurrent tools, a failed tool, a repair, a retry after a back-off, an approval, a handoff. */
export const SMALL_RUN: StoredEvent[] = stored([
  [0, runStart("triage", "订单 7 的退款在哪里？ Where is my refund?")],
  [0, { type: "guardrail_end", point: "input", rule: "no_cards", verdict: "pass", reason: "" }],
  [10, modelStart(1)],
  [
    810,
    modelCalls(
      [
        ["c1", "find_order", '{"id": 7}'],
        ["c2", "weather", '{"city":"Paris"}'],
      ],
      usage(1_204, 56, 1_000),
      "I look it up.",
    ),
  ],
  [811, toolCheck("c1", "find_order", { type: "run" }, ["id: text to number"])],
  [811, toolCheck("c2", "weather")],
  [812, toolStart("c1", "find_order")],
  [812, toolStart("c2", "weather")],
  [1_112, toolOk("c1", "find_order", "Order 7, paid,\nrefund asked\u001b[31m")],
  [1_412, toolFailed("c2", "weather", "The weather service did not answer within 600 ms.")],
  [1_413, turnEnd(1, { order: 7 }, "refunds")],
  [1_420, modelStart(2)],
  [1_820, modelFail("overloaded", "The server is busy.")],
  [2_320, modelStart(2, 2)],
  [
    2_720,
    modelCalls(
      [
        ["c3", "refund", '{"order":7,"amount":12.5}'],
        ["c4", "refund", "{}"],
      ],
      usage(1_300, 20, 1_204),
    ),
  ],
  [2_721, toolCheck("c3", "refund", { type: "ask", question: "Run refund?", arguments: { order: 7, amount: 12.5 }, expiresAt: null })],
  [2_721, toolCheck("c4", "refund", { type: "refuse", outcome: { type: "failed", text: 'Argument "order" is missing.', retryable: false } })],
  [2_722, pauseFor("c3", "Run refund?")],
  [64_722, { type: "answer_given", id: "c3", answer: { type: "approve", arguments: '{"order":7,"amount":10}' } }],
  [64_730, resume],
  [64_731, toolStart("c3", "refund")],
  [64_931, toolOk("c3", "refund", "已退款 10 元")],
  [64_932, turnEnd(2)],
  [64_940, modelStart(3)],
  [65_440, modelSays("您的 10 元退款已在路上。Your refund of 10 is on its way.", usage(1_400, 30, 1_300))],
  [65_441, runEnd("final", "您的 10 元退款已在路上。Your refund of 10 is on its way.")],
])
