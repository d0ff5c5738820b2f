import { describe, expect, test } from "vitest"
import type { ModelFailure } from "../../src/contract/model.ts"
import type { State } from "../../src/contract/state.ts"
import { digest } from "../../src/infrastructure/digest.ts"
import { decide } from "../../src/orchestration/decide.ts"
import { callAt, inTools, LIMITS, stateWith } from "../support/states.ts"

const ok = { type: "ok", text: "shipped", context: null, handoff: null } as const
const waiting = { type: "waiting", reason: "approval", question: "Run refund?", arguments: { amount: 250 }, expiresAt: null } as const
const asking = (changes: Partial<Extract<State["phase"], { type: "model" }>>): State =>
  stateWith({ phase: { type: "model", modelIndex: 0, failures: [], shortened: null, ...changes } })
const failure = (changes: Partial<ModelFailure> = {}): ModelFailure => ({ code: "server_error", message: "boom", retryable: true, ...changes })

describe("decide asks the model", () => {
  test("a new run asks the first model", () => {
    expect(decide(stateWith({}))).toEqual({ type: "model", modelIndex: 0, attempt: 1, wait: null })
  })
  test("a retryable failure is asked again after a growing, jittered wait", () => {
    expect(decide(asking({ failures: [failure()] }))).toEqual({ type: "model", modelIndex: 0, attempt: 2, wait: { ms: 500, jitter: true } })
    expect(decide(asking({ failures: [failure(), failure()] }))).toEqual({ type: "model", modelIndex: 0, attempt: 3, wait: { ms: 1000, jitter: true } })
  })
  test("a wait that the server named is kept to the letter", () => {
    expect(decide(asking({ failures: [failure({ code: "rate_limit", waitMs: 1_000 })] }))).toMatchObject({ wait: { ms: 1_000, jitter: false } })
  })
  test("after the last retry the fallback model is tried, afresh", () => {
    expect(decide(asking({ failures: [failure(), failure(), failure()] }))).toEqual({ type: "model", modelIndex: 1, attempt: 1, wait: null })
  })
  test("what cannot get better is not retried: the fallback comes at once", () => {
    expect(decide(asking({ failures: [failure({ code: "auth", retryable: false })] }))).toMatchObject({ modelIndex: 1, attempt: 1 })
  })
  test("a server that wants an hour counts as away", () => {
    expect(decide(asking({ failures: [failure({ waitMs: 3_600_000 })] }))).toMatchObject({ modelIndex: 1, attempt: 1 })
  })
  test("when every model has failed the run stops as model_unavailable with the code and hint of the last", () => {
    const action = decide(asking({ modelIndex: 1, failures: [failure({ code: "auth", retryable: false, hint: "LLM_API_KEY" })] }))
    expect(action).toMatchObject({ type: "stop", stop: { reason: "model_unavailable", code: "auth", hint: "LLM_API_KEY", message: "None of 2 models answered: boom" } })
  })
  test("a context-length error shortens the history once; the second one is final for that model", () => {
    expect(decide(asking({ failures: [failure({ code: "context_length", retryable: false })] }))).toEqual({ type: "shorten", because: "context_length" })
    expect(decide(asking({ shortened: "context_length", failures: [failure({ code: "context_length", retryable: false })] }))).toMatchObject({ type: "model", modelIndex: 1 })
  })
})

describe("decide keeps the limits", () => {
  test.each([
    ["turns", { turn: 10 }, "max_turns", "max_turns"],
    ["tokens", { budgetTokens: 500, limits: { ...LIMITS, tokens: 500 } }, "budget", "tokens"],
    ["cost", { usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0, cost: 2 }, limits: { ...LIMITS, cost: 1.5 } }, "budget", "cost"],
    ["working time", { activeMs: 9_000, limits: { ...LIMITS, ms: 9_000 } }, "budget", "ms"],
    ["unusable replies", { unknownReplies: 2 }, "unknown_output", "unknown_output"],
  ] as const)("%s", (_what, changes, reason, code) => {
    expect(decide(stateWith(changes))).toMatchObject({ type: "stop", stop: { reason, code } })
  })
  test("one unusable reply is no reason to stop", () => {
    expect(decide(stateWith({ unknownReplies: 1 }))).toMatchObject({ type: "model" })
  })
  test("an unknown cost is not a cost of 0 and not a reason to stop", () => {
    expect(
      decide(stateWith({ usage: { inputTokens: 9, outputTokens: 9, cachedTokens: 0, reasoningTokens: 0, cost: "unknown" }, limits: { ...LIMITS, cost: 0.01 } })),
    ).toMatchObject({ type: "model" })
  })
  test("a history over its limit is shortened before the model is asked, once per call", () => {
    expect(decide(stateWith({ messageTokens: 200_000 }))).toEqual({ type: "shorten", because: "limit" })
    expect(decide({ ...asking({ shortened: "limit" }), messageTokens: 200_000 })).toMatchObject({ type: "model" })
  })
})

describe("decide handles the calls of a turn", () => {
  test("all are checked before any runs", () => {
    const asked = callAt({ type: "asked" })
    expect(decide(inTools(callAt({ type: "ready" }), asked))).toEqual({ type: "check_calls", calls: [asked] })
  })
  test("what may run runs", () => {
    const ready = callAt({ type: "ready" })
    expect(decide(inTools(ready, callAt(waiting)))).toEqual({ type: "run_calls", calls: [ready] })
  })
  test("when all are done the turn is closed", () => {
    expect(decide(inTools(callAt({ type: "done", outcome: ok })))).toEqual({ type: "close_turn", handoff: null })
  })
  test("a call that waits for a person pauses the run when its siblings are through", () => {
    expect(decide(inTools(callAt(waiting), callAt({ type: "done", outcome: ok })))).toEqual({
      type: "pause",
      waiting: [{ id: "c1", reason: "approval", question: "Run refund?", arguments: { amount: 250 }, expiresAt: null }],
    })
  })
  test("a call found started lost its process: it runs again only if that does no harm, else a person is asked", () => {
    const started = { type: "started", idempotencyKey: "r1:c1" } as const
    expect(decide(inTools(callAt(started, { hints: { readOnly: true } })))).toMatchObject({ type: "run_calls" })
    expect(decide(inTools(callAt(started, { hints: { idempotent: true } })))).toMatchObject({ type: "run_calls" })
    expect(decide(inTools(callAt(started)))).toMatchObject({ type: "pause", waiting: [{ reason: "unfinished" }] })
  })
  test("the same call with the same result for the fifth time stops the run", () => {
    const spent = inTools(callAt({ type: "done", outcome: ok }))
    spent.repeats = { [digest("get_order {}")]: { result: "x", count: 4 } }
    expect(decide(spent)).toMatchObject({ type: "stop", stop: { reason: "repeated_call" } })
  })
  test("a tool that is meant to be polled may repeat", () => {
    const polled = inTools(callAt({ type: "done", outcome: ok }, { allowRepeats: true }))
    polled.repeats = { [digest("get_order {}")]: { result: "x", count: 40 } }
    expect(decide(polled)).toMatchObject({ type: "close_turn" })
  })
  test("a tool that throws fatal_tool_error stops the run", () => {
    const fatal = { type: "failed", text: "Error: the books do not balance", retryable: false, fatal: "the books do not balance" } as const
    expect(decide(inTools(callAt({ type: "done", outcome: fatal })))).toMatchObject({
      type: "stop",
      stop: { reason: "fatal_tool_error", message: expect.stringContaining("the books do not balance") },
    })
  })
  test("the first handoff in call order wins; the third transfer inside one pair is not made", () => {
    const over = (agent: string) => callAt({ type: "done", outcome: { ...ok, handoff: { agent, reason: "money" } } })
    expect(decide(inTools(over("billing"), over("triage")))).toEqual({ type: "close_turn", handoff: { agent: "billing", reason: "money" } })
    const looping = inTools(over("billing"))
    looping.transfers = { pair: "billing ↔ support", count: 2 }
    expect(decide(looping)).toMatchObject({ type: "stop", stop: { reason: "handoff_loop" } })
  })
})

describe("decide ends and rests", () => {
  test("a final text stops the run with success", () => {
    expect(decide(stateWith({ phase: { type: "final", text: "Shipped." } }))).toMatchObject({ type: "stop", stop: { reason: "final" } })
  })
  test("a cancelled run stops as aborted, whatever it was doing", () => {
    expect(decide({ ...inTools(callAt({ type: "ready" })), status: { type: "aborting", reason: "by its caller" } })).toMatchObject({ type: "stop", stop: { reason: "aborted" } })
  })
  test("a run refused by a rule stops as guardrail", () => {
    expect(decide(stateWith({ status: { type: "refused", rule: "own orders only", reason: "not yours" } }))).toMatchObject({ type: "stop", stop: { reason: "guardrail" } })
  })
  test.each(["paused", "stopped"] as const)("a %s run rests", (type) => {
    const status = type === "paused" ? { type, waiting: [] } : { type, stop: { reason: "final", code: "final", message: "", hint: "" } as const, answer: "x", fallback: null }
    expect(decide(stateWith({ status }))).toEqual({ type: "rest" })
  })
  test("deciding changes nothing and gives the same answer twice", () => {
    const state = inTools(callAt({ type: "ready" }))
    const before = JSON.stringify(state)
    expect(decide(state)).toEqual(decide(state))
    expect(JSON.stringify(state)).toBe(before)
  })
})
