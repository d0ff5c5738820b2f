import { describe, expect, test } from "vitest"
import { z } from "zod"
import type { StoredEvent } from "../../src/contract/event.ts"
import { cancel, fork, send } from "../../src/doors/runs.ts"
import { memoryStore } from "../../src/doors/stores.ts"
import { call, hang, say, scripted, together } from "../../src/doors/testing.ts"
import type { ScriptedStep } from "../../src/doors/testing.ts"
import { agent, resume, resumeStream, run, tool } from "../../src/index.ts"
import { resumeRun } from "../../src/interface/resume.ts"
import { stillClock } from "../support/resume-law.ts"

function bank(steps: readonly ScriptedStep[], more: { expires?: number } = {}) {
  const paid: unknown[] = []
  const pay = tool({
    name: "pay",
    description: "…",
    input: z.object({ amount: z.number(), to: z.string().default("shop") }),
    approval: ({ amount }) => amount > 100,
    approvalExpiresMs: more.expires,
    execute: (args) => {
      paid.push(args)
      return `paid ${args.amount}`
    },
  })
  const ask = tool({ name: "ask_boss", description: "…", execute: (_, { later }) => later("May we?") })
  const model = scripted(steps)
  return { clerk: agent({ name: "clerk", instructions: "", tools: [pay, ask], model }), paid, model, store: memoryStore() }
}
const results = (messages: readonly { role: string; content: unknown }[]) => messages.flatMap((message) => (message.role === "tool" ? [message.content] : []))

describe("an approval", () => {
  test("pauses the run; what is shown is exactly what runs, after repair", async () => {
    const { clerk, paid, store } = bank([call("pay", "{'amount': '250',}"), say("Paid.")])
    const paused = await run(clerk, "pay", { store, runId: "r" })
    expect(paused).toMatchObject({
      ok: false,
      status: "waiting",
      answer: "",
      waiting: [{ id: "c1", reason: "approval", tool: "pay", arguments: { amount: 250 }, expiresAt: null }],
    })
    expect(paid).toEqual([])
    expect(await resume(clerk, "r", { store, answers: [{ id: "c1", type: "approve" }] })).toMatchObject({ ok: true, answer: "Paid." })
    expect(paid).toEqual([{ amount: 250, to: "shop" }])
  })
  test("below the threshold of its predicate asks nobody", async () => {
    const { clerk, paid } = bank([call("pay", { amount: 5 }), say("Paid.")])
    expect(await run(clerk, "pay")).toMatchObject({ ok: true })
    expect(paid).toHaveLength(1)
  })
  test("can be rejected with a reason, which the model is told", async () => {
    const { clerk, paid, store } = bank([call("pay", { amount: 250 }), say("Not paid.")])
    await run(clerk, "pay", { store, runId: "r" })
    const result = await resume(clerk, "r", { store, answers: [{ id: "c1", type: "reject", reason: "too much" }] })
    expect(result).toMatchObject({ ok: true, answer: "Not paid." })
    expect(results(result.messages)).toEqual(["Not run: a person rejected this call. Reason: too much"])
    expect(paid).toEqual([])
  })
  test("can be given with edited arguments, which are checked again", async () => {
    const { clerk, paid, store } = bank([call("pay", { amount: 250 }), say("Paid.")])
    await run(clerk, "pay", { store, runId: "r" })
    expect(await resume(clerk, "r", { store, answers: [{ id: "c1", type: "approve", arguments: { amount: 120, to: "Li" } }] })).toMatchObject({ ok: true })
    expect(paid).toEqual([{ amount: 120, to: "Li" }])
    const bad = bank([call("pay", { amount: 250 }), say("?")])
    await run(bad.clerk, "pay", { store: bad.store, runId: "r" })
    const result = await resume(bad.clerk, "r", { store: bad.store, answers: [{ id: "c1", type: "approve", arguments: { amount: "lots" } }] })
    expect(results(result.messages)[0]).toContain("amount")
    expect(bad.paid).toEqual([])
  })
  test("of several in one turn: each is answered by its id; the run goes on with the last", async () => {
    const { clerk, paid, store } = bank([together(call("pay", { amount: 200 }), call("pay", { amount: 7 }), call("pay", { amount: 300 })), say("Done.")])
    const paused = await run(clerk, "pay", { store, runId: "r" })
    expect(paused.status === "waiting" && paused.waiting.map(({ id }) => id)).toEqual(["c1", "c3"])
    expect(paid).toEqual([{ amount: 7, to: "shop" }])
    const half = await resume(clerk, "r", { store, answers: [{ id: "c3", type: "approve" }] })
    expect(half).toMatchObject({ status: "waiting", waiting: [{ id: "c1" }] })
    expect(await resume(clerk, "r", { store, answers: [{ id: "c1", type: "reject", reason: "no" }] })).toMatchObject({ ok: true, answer: "Done." })
    expect(paid).toEqual([
      { amount: 7, to: "shop" },
      { amount: 300, to: "shop" },
    ])
  })
  test("that comes after its time counts as a rejection", async () => {
    const { clerk, paid, store } = bank([call("pay", { amount: 250 }), say("Too late.")], { expires: 60_000 })
    const paused = await run(clerk, "pay", { store, runId: "r" })
    const expiresAt = paused.status === "waiting" && paused.waiting[0]?.reason === "approval" ? paused.waiting[0].expiresAt : null
    const late = { ...stillClock, now: () => (expiresAt ?? 0) + 1 }
    const result = await resumeRun(clerk, "r", { options: { store, answers: [{ id: "c1", type: "approve" }] }, clock: late, owned: false }).result
    expect(results(result.messages)).toEqual(["Not run: the approval came after its time had run out."])
    expect(paid).toEqual([])
  })
  test("an answer to something that was not asked is refused, and says what was", async () => {
    const { clerk, store } = bank([call("pay", { amount: 250 })])
    await run(clerk, "pay", { store, runId: "r" })
    await expect(resume(clerk, "r", { store, answers: [{ id: "c9", type: "approve" }] })).rejects.toMatchObject({ code: "input_invalid", hint: "It waits for: c1." })
  })
  test("a paused run that is resumed without answers is given back as it is", async () => {
    const { clerk, store, model } = bank([call("pay", { amount: 250 })])
    await run(clerk, "pay", { store, runId: "r" })
    expect(await resume(clerk, "r", { store })).toMatchObject({ status: "waiting", waiting: [{ id: "c1" }] })
    expect(model.requests).toHaveLength(1)
  })
})

describe("a tool that answers later", () => {
  test("waits as for a person; the reply becomes its result", async () => {
    const { clerk, store } = bank([call("ask_boss", {}), say("The boss agreed.")])
    expect(await run(clerk, "ask", { store, runId: "r" })).toMatchObject({ status: "waiting", waiting: [{ id: "c1", reason: "input", question: "May we?" }] })
    const result = await resume(clerk, "r", { store, answers: [{ id: "c1", type: "reply", value: { agreed: true } }] })
    expect(results(result.messages)).toEqual(['{"agreed":true}'])
    expect(result).toMatchObject({ ok: true, answer: "The boss agreed." })
  })
})

describe("a call whose process died", () => {
  async function orphan() {
    const desk = bank([call("pay", { amount: 5 }), say("Paid.")])
    const whole = memoryStore()
    await run(desk.clerk, "pay", { store: whole, runId: "r" })
    const events = await whole.read("r")
    const cut = events.findIndex(({ type }) => type === "tool_start") + 1
    await desk.store.append("r", 0, structuredClone(events.slice(0, cut)), { durable: true })
    desk.paid.length = 0
    return { ...desk, again: { ...desk, clerk: agent({ name: "clerk", instructions: "", tools: desk.clerk.definition.tools as never, model: scripted([say("Went on.")]) }) } }
  }
  test("is asked about, with its idempotency key, and never repeated by itself", async () => {
    const { again, paid, store } = await orphan()
    expect(await resume(again.clerk, "r", { store })).toMatchObject({ status: "waiting", waiting: [{ id: "c1", reason: "unfinished", idempotencyKey: "r:c1" }] })
    expect(paid).toEqual([])
  })
  test.each([
    [{ type: "retry" } as const, "paid 5", 1],
    [{ type: "happened", result: "paid by hand" } as const, "paid by hand", 0],
    [{ type: "did_not_happen" } as const, "This call did not happen: the run was interrupted before it took effect.", 0],
  ])("answer %j", async (answer, told, times) => {
    const { again, paid, store } = await orphan()
    await resume(again.clerk, "r", { store })
    const result = await resume(again.clerk, "r", { store, answers: [{ id: "c1", ...answer }] })
    expect(result).toMatchObject({ ok: true, answer: "Went on." })
    expect(results(result.messages)).toEqual([told])
    expect(paid).toHaveLength(times)
  })
})

describe("resuming", () => {
  test("a finished run gives its result; with something to say it is refused", async () => {
    const { clerk, store, model } = bank([say("Hello.")])
    await run(clerk, "hi", { store, runId: "r" })
    expect(await resume(clerk, "r", { store })).toMatchObject({ ok: true, answer: "Hello." })
    await expect(resume(clerk, "r", { store, input: "more" })).rejects.toMatchObject({ code: "run_ended" })
    expect(model.requests).toHaveLength(1)
  })
  test("an unknown run names the nearest", async () => {
    const { clerk, store } = bank([say("Hello.")])
    await run(clerk, "hi", { store, runId: "order-17" })
    await expect(resume(clerk, "order-71", { store })).rejects.toMatchObject({ code: "run_not_found", hint: expect.stringContaining("order-17") })
  })
  test("with another agent is refused", async () => {
    const { clerk, store } = bank([call("pay", { amount: 250 })])
    await run(clerk, "hi", { store, runId: "r" })
    await expect(resume(agent({ name: "other", instructions: "", model: scripted([]) }), "r", { store })).rejects.toMatchObject({ code: "agent_invalid" })
  })
  test("a run that hit its limit goes on with a new one, and its breakers start anew", async () => {
    const { clerk, store } = bank([call("pay", { amount: 1 }), call("pay", { amount: 2 }), say("Done.")])
    expect(await run(clerk, "pay", { store, runId: "r", limits: { turns: 1 } })).toMatchObject({ stop: { reason: "max_turns" } })
    expect(await resume(clerk, "r", { store, limits: { turns: 9 } })).toMatchObject({ ok: true, answer: "Done." })
  })
  test("the same run id started twice is one run", async () => {
    const { clerk, store, model } = bank([say("Hello.")])
    const first = await run(clerk, "hi", { store, runId: "r" })
    expect(await run(clerk, "hi", { store, runId: "r" })).toEqual(first)
    expect(model.requests).toHaveLength(1)
  })
  test("streams like a run", async () => {
    const { clerk, store } = bank([call("pay", { amount: 250 }), say("Paid.")])
    await run(clerk, "pay", { store, runId: "r" })
    const live = resumeStream(clerk, "r", { store, answers: [{ id: "c1", type: "approve" }] })
    const types: string[] = []
    for await (const event of live) types.push(event.type)
    expect(types).toEqual(["run_resume", "answer_given", "tool_start", "tool_end", "turn_end", "model_start", "text_delta", "model_end", "run_end"])
  })
})

describe("step mode", () => {
  test("pauses before each model call and each tool call; step, continue, edit, stop", async () => {
    const { clerk, paid, store } = bank([together(call("pay", { amount: 1 }), call("pay", { amount: 2 })), say("Done.")])
    const next = async (answers: Parameters<typeof resume>[2]["answers"]) => {
      const result = await resume(clerk, "r", { store, answers })
      return result.status === "waiting" && result.waiting[0]?.reason === "step" ? result.waiting[0].next : result.status
    }
    expect(await run(clerk, "pay", { store, runId: "r", step: true })).toMatchObject({ status: "waiting", waiting: [{ id: "step", reason: "step", next: "model" }] })
    expect(await next([{ id: "step", type: "step" }])).toBe("tool")
    expect(await next([{ id: "step", type: "step" }])).toBe("tool")
    expect(paid).toEqual([{ amount: 1, to: "shop" }])
    expect(
      await next([
        { id: "c2", type: "approve", arguments: { amount: 9 } },
        { id: "step", type: "step" },
      ]),
    ).toBe("model")
    expect(paid).toEqual([
      { amount: 1, to: "shop" },
      { amount: 9, to: "shop" },
    ])
    expect(await next([{ id: "step", type: "continue" }])).toBe("final")
  })
  test("can be stopped", async () => {
    const { clerk, store } = bank([say("x")])
    await run(clerk, "hi", { store, runId: "r", step: true })
    expect(await resume(clerk, "r", { store, answers: [{ id: "step", type: "stop" }] })).toMatchObject({ ok: false, stop: { reason: "aborted" } })
  })
})

describe("another process", () => {
  test("cancels a run: it stops, also in the middle of a model call", async () => {
    const { clerk, store } = bank([hang()])
    const running = run(clerk, "hi", { store, runId: "r" })
    while ((await store.read("r")).length < 2) await new Promise((resolve) => setImmediate(resolve))
    await cancel(store, "r", "by the shift lead")
    expect(await running).toMatchObject({ ok: false, stop: { reason: "aborted", message: expect.stringContaining("by the shift lead") } })
  })
  test("gives a run a further message, which is read before the next model call", async () => {
    const { store } = bank([])
    const model = scripted([call("slow", {}), (request) => say(`I read: ${String(request.messages.at(-1)?.content)}`)])
    const slow = tool({ name: "slow", description: "…", execute: () => send(store, "r", "Make it two.") })
    const result = await run(agent({ name: "a", instructions: "", tools: [slow], model }), "one please", { store, runId: "r" })
    expect(result).toMatchObject({ ok: true, answer: "I read: Make it two." })
    expect(result.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user", "assistant"])
  })
  test("takes a run over: the first writer is refused and gives up", async () => {
    const { clerk, store } = bank([hang()])
    const running = run(clerk, "hi", { store, runId: "r" })
    while ((await store.read("r")).length < 2) await new Promise((resolve) => setImmediate(resolve))
    const seq = (await store.read("r")).length
    const takenOver: StoredEvent = { type: "run_resume", reopen: false, limits: null, guarded: [], v: 1, seq: seq + 1, at: 1 }
    await store.append("r", seq, [takenOver, { type: "run_abort", reason: "elsewhere", v: 1, seq: seq + 2, at: 1 }], { durable: true })
    await expect(running).rejects.toMatchObject({ code: "stale_writer" })
  })
})

describe("a fork", () => {
  test("goes on differently from a step; the origin is recorded and left as it was", async () => {
    const { clerk, store } = bank([call("pay", { amount: 1 }), say("One."), say("Another end.")])
    await run(clerk, "pay", { store, runId: "r" })
    const events = await store.read("r")
    const at = events.find(({ type }) => type === "turn_end")?.seq
    const copy = await fork(store, "r", { at, newId: "r-fork", edits: [{ at: 0, remove: 1, insert: [{ role: "user", content: "pay differently" }] }] })
    const result = await resume(clerk, copy, { store })
    expect(result).toMatchObject({ ok: true, runId: "r-fork", answer: "Another end." })
    expect(result.messages[0]).toEqual({ role: "user", content: "pay differently" })
    expect(await store.read("r")).toEqual(events)
    expect((await store.read("r-fork")).find(({ type }) => type === "run_fork")).toMatchObject({ from: { runId: "r", seq: at } })
  })
})

describe("a thread", () => {
  test("two messages at once are never interleaved: the second waits, or is refused", async () => {
    const { clerk, store, model } = bank([say("One."), say("Two.")])
    const thread = { id: "t" }
    const [first, second] = await Promise.all([run(clerk, "a", { store, thread }), run(clerk, "b", { store, thread })])
    expect([first.answer, second.answer].sort()).toEqual(["One.", "Two."])
    expect(model.requests[1]?.messages).toHaveLength(3)
  })
  test("that waits for a person refuses the next message if told to", async () => {
    const { clerk, store } = bank([call("pay", { amount: 250 })])
    await run(clerk, "a", { store, thread: { id: "t" } })
    await expect(run(clerk, "b", { store, thread: { id: "t", whenBusy: "refuse" } })).rejects.toMatchObject({
      code: "thread_busy",
      message: expect.stringContaining("waits for a person"),
    })
  })
  test("needs a store", async () => {
    await expect(run(bank([]).clerk, "a", { thread: { id: "t" } })).rejects.toMatchObject({ code: "config_invalid" })
  })
})
