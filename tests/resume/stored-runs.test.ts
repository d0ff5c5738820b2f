import { describe, expect, test } from "vitest"
import { z } from "zod"
import { listRuns, replayRun, runAnswered } from "../../src/doors/runs.ts"
import { memoryStore } from "../../src/doors/stores.ts"
import { call, fail, say, scripted, together } from "../../src/doors/testing.ts"
import { agent, run, team, tool } from "../../src/index.ts"
import { startRun } from "../../src/interface/runner.ts"
import { stillClock } from "../support/resume-law.ts"

const paid: number[] = []
const pay = tool({
  name: "pay",
  description: "…",
  input: z.object({ amount: z.number() }),
  approval: ({ amount }) => amount > 100,
  execute: ({ amount }) => {
    paid.push(amount)
    return `paid ${amount}`
  },
})
const look = tool({
  name: "look",
  description: "…",
  context: z.object({ seen: z.string().optional() }),
  execute: (_, { result }) => result("a lot ".repeat(900), { context: { seen: "yes" } }),
})
const clerk = (model: ReturnType<typeof scripted>) => agent({ name: "clerk", instructions: "", context: z.object({ seen: z.string().optional() }), tools: [pay, look], model })

describe("a run whose questions a function answers", () => {
  test("goes on to its end, however often it asks", async () => {
    paid.length = 0
    const store = memoryStore()
    const asked: string[] = []
    const model = scripted([call("pay", { amount: 200 }), together(call("pay", { amount: 300 }), call("pay", { amount: 400 })), say("Done.")])
    const result = await runAnswered(clerk(model), "pay", {
      store,
      answer: (question) => {
        asked.push(question.id)
        return question.id === "c3" ? { id: question.id, type: "reject", reason: "enough" } : { id: question.id, type: "approve" }
      },
    })
    expect(result).toMatchObject({ ok: true, answer: "Done." })
    expect(asked).toEqual(["c1", "c2", "c3"])
    expect(paid).toEqual([200, 300])
  })
  test("is given back waiting when nobody answers", async () => {
    const result = await runAnswered(clerk(scripted([call("pay", { amount: 200 })])), "pay", { store: memoryStore(), answer: () => null })
    expect(result).toMatchObject({ status: "waiting", waiting: [{ id: "c1" }] })
  })
})

describe("listing runs", () => {
  async function filled() {
    const store = memoryStore()
    let now = 1_000
    const clock = { ...stillClock, now: () => now++ }
    const begin = (runId: string, steps: Parameters<typeof scripted>[0], more: object = {}) =>
      startRun(clerk(scripted(steps)), "go", { options: { store, runId, ...more }, clock, owned: false }).result
    await begin("a", [say("one")])
    await begin("b", [call("pay", { amount: 200 })])
    await begin("c", [say("two")], { thread: { id: "t" } })
    await begin("d", [say(""), say("")])
    await begin("e", [say("three")])
    return store
  }
  test("newest first, with what they are; logs of threads are no runs", async () => {
    const { runs, next } = await listRuns(await filled())
    expect(runs.map(({ runId, status, thread }) => [runId, status, thread])).toEqual([
      ["e", "final", null],
      ["d", "unknown_output", null],
      ["c", "final", "t"],
      ["b", "paused", null],
      ["a", "final", null],
    ])
    expect(next).toBeNull()
  })
  test("by status, agent, thread and time", async () => {
    const store = await filled()
    const ids = async (filter: Parameters<typeof listRuns>[1]) => (await listRuns(store, filter)).runs.map(({ runId }) => runId)
    expect(await ids({ status: "paused" })).toEqual(["b"])
    expect(await ids({ thread: "t" })).toEqual(["c"])
    expect(await ids({ agent: "nobody" })).toEqual([])
    const [newest] = (await listRuns(store)).runs
    expect(await ids({ since: newest?.startedAt })).toEqual(["e"])
  })
  test("page by page, none twice and none left out", async () => {
    const store = await filled()
    const seen: string[] = []
    let after: string | undefined
    do {
      const page = await listRuns(store, { limit: 2, after, status: "final" })
      seen.push(...page.runs.map(({ runId }) => runId))
      after = page.next ?? undefined
    } while (after !== undefined)
    expect(seen).toEqual(["e", "c", "a"])
  })
})

describe("playing a run again", () => {
  test("asks no model and runs no tool, and comes to the same history", async () => {
    const store = memoryStore()
    const script = scripted([
      call("look", {}),
      together(call("pay", { amount: 5 }), call("nope", {})),
      fail({ code: "server_error" }),
      call("pay", { amount: 5 }),
      call("pay", { amount: 5 }),
      say("Done."),
    ])
    const first = await startRun(clerk(script), "go", { options: { store, runId: "r" }, clock: stillClock, owned: false }).result
    expect(first.ok).toBe(true)
    paid.length = 0
    const { result, difference } = await replayRun(clerk(scripted([])), "r", { store })
    expect(difference).toBeNull()
    expect(result).toMatchObject({ ok: true, answer: "Done.", context: { seen: "yes" } })
    expect(paid).toEqual([])
  })
  test("shows where today's agent leaves the record", async () => {
    const store = memoryStore()
    await run(clerk(scripted([call("pay", { amount: 5 }), say("Done.")])), "go", { store, runId: "r" })
    const stricter = agent({ name: "clerk", instructions: "", tools: [tool({ name: "pay", description: "…", input: z.object({ amount: z.number().max(3) }), execute: () => "" })] })
    const { difference } = await replayRun(stricter, "r", { store })
    expect(difference).toMatchObject({ at: 2, recorded: { content: "paid 5" }, replayed: { content: expect.stringContaining("amount") } })
  })
  test("holds across a handoff", async () => {
    const store = memoryStore()
    const desk = (model: ReturnType<typeof scripted>) => team({ model }, { a: { instructions: "", handoffs: ["b"] }, b: { instructions: "" } }).a
    await run(desk(scripted([call("transfer_to_b", {}), say("B here.")])), "go", { store, runId: "r" })
    expect(await replayRun(desk(scripted([])), "r", { store })).toMatchObject({ difference: null, result: { ok: true, agent: "b", answer: "B here." } })
  })
})
