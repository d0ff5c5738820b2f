import { describe, expect, test } from "vitest"
import { z } from "zod"
import type { RunEvent } from "../../src/contract/event.ts"
import { agent, HelloAgentsError, run, stream, tool } from "../../src/index.ts"
import { call, fail, hang, say, scripted, together } from "../../src/doors/testing.ts"

const orders: Record<string, string> = { A1001: "shipped", A1002: "awaiting payment" }
const getOrder = tool({
  name: "get_order",
  description: "Looks up one order by its number.",
  input: z.object({ order_id: z.string() }),
  hints: { readOnly: true },
  execute: ({ order_id }) => orders[order_id] ?? "there is no such order",
})
const support = agent({ name: "support", instructions: "You answer questions about orders.", tools: [getOrder] })
/** Event types in order; how text was cut into deltas does not matter. */
const types = (events: readonly RunEvent[]): string[] => events.map(({ type }) => type).filter((type, index, all) => type !== "text_delta" || all[index - 1] !== type)

async function watch(live: AsyncIterable<RunEvent>): Promise<RunEvent[]> {
  const events: RunEvent[] = []
  for await (const event of live) events.push(event)
  return events
}

describe("a run that ends well", () => {
  test("gives the answer, the messages and the usage", async () => {
    const usage = { inputTokens: 10, outputTokens: 5 }
    const model = scripted([call("get_order", { order_id: "A1001" }, { usage }), say("It was shipped.", { usage })])
    const result = await run(support, "Where is A1001?", { model, runId: "r1" })
    expect(result).toEqual({
      runId: "r1",
      ok: true,
      status: "final",
      agent: "support",
      answer: "It was shipped.",
      output: "It was shipped.",
      context: {},
      messages: [
        { role: "user", content: "Where is A1001?" },
        { role: "assistant", content: "", calls: [{ id: "c1", name: "get_order", arguments: '{"order_id":"A1001"}' }] },
        { role: "tool", callId: "c1", content: "shipped" },
        { role: "assistant", content: "It was shipped." },
      ],
      usage: { inputTokens: 20, outputTokens: 10, cachedTokens: 0, reasoningTokens: 0, cost: "unknown", unreported: 0 },
    })
  })
  test("the whole list of its events, in order", async () => {
    const live = stream(support, "Where is A1001?", { model: scripted([call("get_order", { order_id: "A1001" }), say("It was shipped.")]) })
    expect(types(await watch(live))).toEqual([
      "run_start",
      "model_start",
      "model_end",
      "tool_check",
      "tool_start",
      "tool_end",
      "turn_end",
      "model_start",
      "text_delta",
      "model_end",
      "run_end",
    ])
  })
  test("run and stream come to the same end", async () => {
    const script = () => scripted([together(say("Let me look."), call("get_order", { order_id: "A1001" })), call("get_order", { order_id: "A1002" }), say("Both found.")])
    const plain = await run(support, "Both?", { model: script(), runId: "same" })
    const live = stream(support, "Both?", { model: script(), runId: "same" })
    const events = await watch(live)
    expect(await live.result).toEqual(plain)
    const text = events.flatMap((event) => (event.type === "text_delta" ? [event.text] : [])).join("")
    expect(text).toBe("Let me look.Both found.")
  })
  test("a conversation needs no store: the messages of one run begin the next", async () => {
    const first = await run(support, "Where is A1001?", { model: scripted([call("get_order", { order_id: "A1001" }), say("Shipped.")]) })
    const model = scripted([call("get_order", { order_id: "A1002" }), say("Not paid yet.")])
    const second = await run(support, [...first.messages, { role: "user", content: "And A1002?" }], { model })
    expect(second.messages).toHaveLength(8)
    expect(second.messages.flatMap((message) => (message.role === "tool" ? [message.callId] : []))).toEqual(["c1", "c2"])
    expect(model.requests[0]?.messages).toHaveLength(5)
  })
  test("calls of one turn run at once, their results stand in call order", async () => {
    const order: string[] = []
    const slow = tool({
      name: "slow",
      description: "…",
      input: z.object({ n: z.number() }),
      execute: async ({ n }) => {
        for (let turn = 0; turn < 3 - n; turn++) await Promise.resolve()
        order.push(`end ${n}`)
        return `result ${n}`
      },
    })
    const model = scripted([together(call("slow", { n: 0 }), call("slow", { n: 1 }), call("slow", { n: 2 })), say("done")])
    const result = await run(agent({ name: "a", instructions: "", tools: [slow], model }), "go")
    expect(order).toEqual(["end 2", "end 1", "end 0"])
    expect(result.messages.flatMap((message) => (message.role === "tool" ? [message.content] : []))).toEqual(["result 0", "result 1", "result 2"])
  })
})

describe("a run that does not end well", () => {
  test("has an empty answer, a reason and a hint; the fallback text is a field of its own", async () => {
    const cautious = agent({ name: "cautious", instructions: "", tools: [getOrder], fallback: "Please call us." })
    const endless = scripted(Array.from({ length: 20 }, (_, n) => call("get_order", { order_id: `A${n}` })))
    const result = await run(cautious, "go", { model: endless, limits: { turns: 3 } })
    expect(result).toMatchObject({ ok: false, status: "stopped", answer: "", fallback: "Please call us.", stop: { reason: "max_turns" } })
    if (result.status === "stopped") expect(result.stop.hint).toContain("limits.turns")
    expect(endless.requests).toHaveLength(3)
  })
  test("an empty reply is asked again, once; then it is unknown_output", async () => {
    const model = scripted([say(""), say("  \n")])
    const result = await run(support, "go", { model })
    expect(result).toMatchObject({ ok: false, answer: "", stop: { reason: "unknown_output" } })
    expect(model.requests).toHaveLength(2)
  })
  test("the same call with the same result: told the 3rd time, answered unexecuted the 4th, stopped the 5th", async () => {
    let runs = 0
    const count = () => {
      runs++
      return "nothing"
    }
    const find = tool({ name: "find", description: "…", input: z.object({ q: z.string() }), execute: () => count() })
    const model = scripted(Array.from({ length: 9 }, () => call("find", { q: "x" })))
    const result = await run(agent({ name: "a", instructions: "", tools: [find], model }), "go")
    expect(result).toMatchObject({ ok: false, stop: { reason: "repeated_call" } })
    expect(runs).toBe(3)
    expect(model.requests).toHaveLength(5)
    const told = result.messages.flatMap((message) => (message.role === "tool" ? [message.content] : []))
    expect(told[2]).toContain("same result 3 times")
    expect(told[3]).toContain("Not run")
  })
  test("of six identical calls in one reply three run; only a later reply can stop the run", async () => {
    let runs = 0
    const count = () => {
      runs++
      return "nothing"
    }
    const find = tool({ name: "find", description: "…", input: z.object({ q: z.string() }), execute: () => count() })
    const six = together(...Array.from({ length: 6 }, () => call("find", { q: "x" })))
    const result = await run(agent({ name: "a", instructions: "", tools: [find], model: scripted([six, say("I found nothing.")]) }), "go")
    expect(runs).toBe(3)
    expect(result).toMatchObject({ ok: true, answer: "I found nothing." })
  })
  test("a failing model is retried, then its fallback answers", async () => {
    const clock = { ...fakeClock() }
    const broken = scripted([fail({ code: "server_error" }), fail({ code: "server_error" }), fail({ code: "server_error" })], { name: "broken" })
    const spare = scripted([say("Here I am.")], { name: "spare" })
    const { startRun } = await import("../../src/interface/runner.ts")
    const result = await startRun(support, "go", { options: { model: [broken, spare] }, clock, owned: false }).result
    expect(result).toMatchObject({ ok: true, answer: "Here I am." })
    expect(clock.waits).toEqual([500, 1000])
  })
  test("when no model answers the run says which setting to look at", async () => {
    const model = scripted([fail({ code: "auth", message: "401: wrong key", hint: "Check LLM_API_KEY." })])
    const result = await run(support, "go", { model })
    expect(result).toMatchObject({ ok: false, stop: { reason: "model_unavailable", code: "auth", hint: "Check LLM_API_KEY." } })
    expect(model.requests).toHaveLength(1)
  })
  test("a tool can end the run", async () => {
    const pay = tool({
      name: "pay",
      description: "…",
      execute: () => {
        throw new HelloAgentsError("fatal_tool_error", "the books do not balance")
      },
    })
    const result = await run(agent({ name: "a", instructions: "", tools: [pay], model: scripted([call("pay", {})]) }), "go")
    expect(result).toMatchObject({ ok: false, stop: { reason: "fatal_tool_error" } })
  })
})

describe("a run that is cancelled", () => {
  test("stops soon, keeps a valid history, and tells model and tool", async () => {
    const controller = new AbortController()
    const seen: string[] = []
    const wait = tool({
      name: "wait",
      description: "…",
      execute: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            seen.push("tool told")
            reject(new Error("stopped"))
          })
          controller.abort()
        }),
    })
    const model = scripted([call("wait", {}), say("never")])
    const result = await run(agent({ name: "a", instructions: "", tools: [wait], model }), "go", { signal: controller.signal })
    expect(seen).toEqual(["tool told"])
    expect(result).toMatchObject({ ok: false, stop: { reason: "aborted" } })
    expect(result.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"])
    expect(model.requests).toHaveLength(1)
  })
  test("a model that ignores the cancellation is let go", async () => {
    const controller = new AbortController()
    const deaf = {
      name: "deaf",
      ask: () => ({
        [Symbol.asyncIterator]: () => ({
          next: () => {
            queueMicrotask(() => controller.abort())
            return new Promise<never>(() => {})
          },
        }),
      }),
    }
    expect(await run(support, "go", { model: deaf, signal: controller.signal })).toMatchObject({ ok: false, stop: { reason: "aborted" } })
  })
  test("leaving the loop of a stream early cancels the run", async () => {
    const live = stream(support, "go", { model: scripted([hang()]) })
    for await (const event of live) if (event.type === "model_start") break
    expect(await live.result).toMatchObject({ ok: false, stop: { reason: "aborted", message: expect.stringContaining("its reader left") } })
  })
  test("a signal that was aborted before the start ends the run without a model call", async () => {
    const model = scripted([say("x")])
    expect(await run(support, "go", { model, signal: AbortSignal.abort() })).toMatchObject({ ok: false, stop: { reason: "aborted" } })
    expect(model.requests).toHaveLength(0)
  })
})

describe("what is refused before the first event", () => {
  test("a run without a model names what to set", async () => {
    await expect(run(support, "go")).rejects.toMatchObject({ code: "model_missing", hint: expect.stringContaining("LLM_MODEL") })
  })
  test.each([
    ["an empty text", "  "],
    ["no messages", []],
  ])("%s", async (_what, input) => {
    await expect(run(support, input, { model: scripted([]) })).rejects.toMatchObject({ code: "input_invalid" })
  })
  test("a context that does not fit", async () => {
    const desk = agent({ name: "desk", instructions: "", context: z.object({ customer: z.string() }), model: scripted([]) })
    await expect(run(desk, "go", { context: { customer: 3 as unknown as string } })).rejects.toMatchObject({
      code: "context_invalid",
      message: expect.stringContaining("customer"),
    })
  })
  test("a limit that is no number", async () => {
    await expect(run(support, "go", { model: scripted([]), limits: { turns: Number.NaN } })).rejects.toMatchObject({ code: "config_invalid" })
  })
  test("a tool that does not exist cannot be disabled: the nearest name is given", async () => {
    await expect(run(support, "go", { model: scripted([]), tools: { disable: ["get_ordr"] } })).rejects.toMatchObject({
      code: "config_invalid",
      hint: expect.stringContaining("get_order"),
    })
  })
  test("a stream rejects the same way, through its iterator and its result", async () => {
    const live = stream(support, "go")
    await expect(watch(live)).rejects.toMatchObject({ code: "model_missing" })
    await expect(live.result).rejects.toMatchObject({ code: "model_missing" })
  })
})

describe("context variables", () => {
  const Desk = z.object({ customer: z.string(), order: z.string().optional(), language: z.enum(["en", "zh"]).default("en") })
  test("go from tool to instructions to result, with defaults filled in", async () => {
    const remember = tool({
      name: "remember",
      description: "…",
      context: Desk,
      input: z.object({ order: z.string() }),
      execute: ({ order }, { context, result }) => result(`noted for ${context.customer}`, { context: { order } }),
    })
    const model = scripted([call("remember", { order: "A1" }), say("Noted.")])
    const desk = agent({ name: "desk", context: Desk, instructions: ({ customer, order, language }) => `${customer} ${order ?? "-"} ${language}`, tools: [remember], model })
    const result = await run(desk, "go", { context: { customer: "Li" } })
    expect(result.context).toEqual({ customer: "Li", order: "A1", language: "en" })
    expect(model.requests.map(({ instructions }) => instructions)).toEqual(["Li - en", "Li A1 en"])
  })
  test("the caller's object is copied: neither side sees the other's changes", async () => {
    const bag = agent({ name: "bag", context: z.object({ list: z.array(z.string()) }), instructions: "", model: scripted([say("ok")]) })
    const mine = { list: ["a"] }
    const result = await run(bag, "go", { context: mine })
    mine.list.push("b")
    expect(result.context).toEqual({ list: ["a"] })
  })
})

describe("structured output", () => {
  const Verdict = z.object({ refunded: z.boolean(), amount: z.number() })
  const judge = (model: ReturnType<typeof scripted>) => agent({ name: "judge", instructions: "", output: Verdict, model })
  test("a valid answer is typed", async () => {
    const result = await run(judge(scripted([say('{"refunded":true,"amount":3}')])), "go")
    expect(result).toMatchObject({ ok: true, output: { refunded: true, amount: 3 } })
    if (result.ok) result.output.refunded satisfies boolean
  })
  test("an invalid one is sent back with the exact error", async () => {
    const model = scripted([say('{"refunded":"perhaps","amount":3}'), say('{"refunded":false,"amount":3}')])
    const result = await run(judge(model), "go")
    expect(result).toMatchObject({ ok: true, output: { refunded: false } })
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({ role: "user", notice: true, content: expect.stringMatching(/refunded.*boolean/) })
  })
  test("two invalid ones stop the run", async () => {
    expect(await run(judge(scripted([say("I refunded it."), say("Really.")])), "go")).toMatchObject({ ok: false, answer: "", stop: { reason: "unknown_output" } })
  })
})

describe("readers", () => {
  test("get every event; one that throws disturbs nobody", async () => {
    const seen: RunEvent[] = []
    const readers = [
      () => {
        throw new Error("broken reader")
      },
      (event: RunEvent) => void seen.push(event),
    ]
    const result = await run(support, "go", { model: scripted([say("Hello there, how are you?")]), readers })
    expect(result.ok).toBe(true)
    expect(types(seen)).toEqual(["run_start", "model_start", "text_delta", "model_end", "run_end"])
    expect(seen.flatMap((event) => (event.type === "text_delta" ? [event.text] : [])).join("")).toBe("Hello there, how are you?")
  })
  test("a reader that never returns does not hold the run", async () => {
    const result = await run(support, "go", { model: scripted([say("Hello.")]), readers: [() => new Promise<never>(() => {}) as never] })
    expect(result.ok).toBe(true)
  })
})

describe("isolation", () => {
  test("a thousand runs of one agent at once never see each other", async () => {
    const echo = tool({
      name: "echo",
      description: "…",
      input: z.object({ text: z.string() }),
      execute: async ({ text }) => {
        await Promise.resolve()
        return text
      },
    })
    const shared = agent({ name: "shared", instructions: "", tools: [echo] })
    const results = await Promise.all(
      Array.from({ length: 1000 }, (_, n) =>
        run(shared, `secret-${n}`, { model: scripted([call("echo", { text: `secret-${n}` }), (request) => say(`answer ${JSON.stringify(request.messages.at(-1))}`)]) }),
      ),
    )
    for (const [n, result] of results.entries()) {
      expect(result.answer).toContain(`secret-${n}"`)
      expect(
        JSON.stringify(result.messages)
          .match(/secret-\d+/g)
          ?.every((found) => found === `secret-${n}`),
      ).toBe(true)
    }
  })
})

function fakeClock() {
  const waits: number[] = []
  return { waits, now: () => 0, random: () => 0.5, newId: () => "r1", wait: async (ms: number) => void waits.push(ms) }
}
