// What a person can do to a run from outside, at the edges: a step whose arguments were edited, and a paused run that is cancelled.
import { agent, jsonSchema, resume, run, tool } from "hello-agents"
import { cancel, foldEvents, threadRuns, waitingFor } from "hello-agents/runs"
import { memoryStore } from "hello-agents/stores"
import { call, say, scripted } from "hello-agents/testing"
import { expect, test } from "vitest"

const pay = tool({
  name: "pay",
  description: "Pays.",
  input: jsonSchema<{ amount: number }>({ type: "object", properties: { amount: { type: "number" } }, required: ["amount"] }),
  approval: ({ amount }) => amount > 10,
  execute: () => "paid",
})

test("a step whose edited arguments are refused is used up: nothing that was not shown runs", async () => {
  const store = memoryStore()
  const payer = agent({ name: "payer", instructions: "", tools: [pay], model: scripted([call("pay", { amount: 1 }), say("done")]) })
  const first = await run(payer, "pay", { store, step: true })
  const atTool = await resume(payer, first.runId, { store, answers: [{ id: "step", type: "step" }] })
  expect(atTool).toMatchObject({ status: "waiting", waiting: [{ reason: "step", next: "tool" }] })
  const answers = [{ id: "c1", type: "approve", arguments: { amount: "much" } } as const, { id: "step", type: "step" } as const]
  expect(await resume(payer, first.runId, { store, answers })).toMatchObject({ status: "waiting", waiting: [{ reason: "step", next: "model" }] })
})

test("a paused run that is cancelled has ended: its thread is free, and its waiting is no working time", async () => {
  const store = memoryStore()
  const payer = agent({ name: "payer", instructions: "", tools: [pay], model: scripted([call("pay", { amount: 11 }), say("done")]) })
  const { runId } = await run(payer, "pay", { store, thread: { id: "t" } })
  const paused = foldEvents(await store.read(runId))
  expect(paused === null ? [] : waitingFor(paused)).toEqual([{ id: "c1", reason: "approval", tool: "pay", arguments: { amount: 11 }, expiresAt: null }])

  await cancel(store, runId, "not needed")
  const ended = foldEvents(await store.read(runId))
  expect(ended?.status).toMatchObject({ type: "stopped", stop: { reason: "aborted", message: "The run was cancelled: not needed." } })
  expect(ended?.activeMs).toBe(paused?.activeMs)
  expect(ended?.messages.at(-1)).toEqual({ role: "tool", callId: "c1", content: "Not run: the run ended before this call began." })

  const next = await run(payer, "and now?", { store, thread: { id: "t", whenBusy: "refuse" } })
  expect([next.answer, await threadRuns(store, "t")]).toEqual(["done", [runId, next.runId]])
  await expect(cancel(store, runId)).rejects.toMatchObject({ code: "run_ended" })
})
