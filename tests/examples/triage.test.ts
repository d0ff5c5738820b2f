// The triage example: three agents, one conversation, the order number in a context that all share. Scripted models instead of language models.
import { resume, run } from "hello-agents"
import type { Model } from "hello-agents"
import { memoryStore } from "hello-agents/stores"
import type { ScriptedStep } from "hello-agents/testing"
import { call, say, scripted, together } from "hello-agents/testing"
import { describe, expect, it } from "vitest"
import triage from "../../examples/triage/agent.ts"

/** Who is asked, told apart by the instructions that each model call carries. */
function speaker(instructions: string): string {
  const lines = { triage: "find out what the customer wants", billing: "refund orders", support: "parcels and defects. Hand over what is about money" }
  return Object.entries(lines).find(([, words]) => instructions.includes(words))?.[0] ?? "nobody"
}

function desk(steps: readonly ScriptedStep[]): { model: Model; asked: () => readonly string[]; last: () => string } {
  const model = scripted(steps)
  return { model, asked: () => model.requests.map(({ instructions }) => speaker(instructions)), last: () => model.requests.at(-1)?.instructions ?? "" }
}
const note = (order: string) => call("note_order", { order })
const to = (name: string, reason: string) => call(`transfer_to_${name}`, { reason })

describe("triage", () => {
  it.each([
    ["My parcel A1001 has not come.", "Your parcel A1001 is in Wuhan.", "The order is A1001."],
    ["我的包裹 A1001 还没到。", "您的包裹 A1001 在武汉。", "The order is A1001."],
  ])("hands over to support, which knows the order: %s", async (question, answer, known) => {
    const { model, asked, last } = desk([together(note("a1001"), to("support", "a parcel")), say(answer)])
    expect(await run(triage, question, { model })).toMatchObject({ ok: true, agent: "support", answer, context: { order: "A1001" } })
    expect(asked()).toEqual(["triage", "support"])
    expect(last()).toContain(known)
  })

  it("asks for what it does not know, and hands nothing over", async () => {
    const { model, last } = desk([say("Which order is it?")])
    expect(await run(triage, "I need help", { model })).toMatchObject({ ok: true, agent: "triage", context: {} })
    expect(last()).toContain("No order is noted yet.")
  })
})

describe("a refund", () => {
  it.each([
    ["I want my money back for A1003.", "A1003 is refunded."],
    ["A1003 我要退款。", "A1003 已退款。"],
  ])("waits for a person, and is of the noted order: %s", async (question, answer) => {
    const store = memoryStore()
    const { model } = desk([together(note("A1003"), to("billing", "a refund")), call("refund_order", {}), say(answer)])
    const waiting = await run(triage, question, { model, store, runId: "refund" })
    expect(waiting).toMatchObject({ ok: false, status: "waiting", agent: "billing" })
    if (waiting.status !== "waiting") throw new Error("it should wait")
    const answers = waiting.waiting.map(({ id }) => ({ id, type: "approve" }) as const)
    const done = await resume(triage, "refund", { store, model, answers })
    expect(done).toMatchObject({ ok: true, agent: "billing", answer })
    expect(done.messages.filter(({ role }) => role === "tool").at(-1)?.content).toBe("Order A1003 is refunded.")
  })

  it("of no order is not made", async () => {
    const store = memoryStore()
    const { model } = desk([to("billing", "a refund"), call("refund_order", {}), say("Which order?")])
    const waiting = await run(triage, "I want my money back.", { model, store, runId: "none" })
    if (waiting.status !== "waiting") throw new Error("it should wait")
    const done = await resume(triage, "none", { store, model, answers: waiting.waiting.map(({ id }) => ({ id, type: "approve" }) as const) })
    expect(done.messages.filter(({ role }) => role === "tool").at(-1)?.content).toBe("No order is noted; ask for its number.")
  })
})

describe("a change of mind after the transfer", () => {
  it.each([
    ["A1001 is late, I want a refund.", "Wait, I meant A1003, and no refund: the lamp is broken.", "We send you a new lamp for A1003."],
    ["A1001 迟到了，我要退款。", "等等，是 A1003，不退款了：灯坏了。", "我们为 A1003 补寄一盏新灯。"],
  ])("goes to another agent with another order, on the same conversation: %s", async (first, second, answer) => {
    const store = memoryStore()
    const thread = { id: "customer" }
    const { model, asked, last } = desk([
      together(note("A1001"), to("billing", "a refund")),
      say("Shall I refund A1001?"),
      together(note("A1003"), to("support", "a defect, no refund")),
      say(answer),
    ])
    expect(await run(triage, first, { model, store, thread })).toMatchObject({ agent: "billing", context: { order: "A1001" } })
    const changed = await run(triage, second, { model, store, thread })
    expect(changed).toMatchObject({ ok: true, agent: "support", answer, context: { order: "A1003" } })
    expect(asked()).toEqual(["triage", "billing", "billing", "support"])
    expect(last()).toContain("The order is A1003.")
    expect(last()).not.toContain("A1001")
    expect(changed.messages.filter(({ role }) => role === "user").map(({ content }) => content)).toEqual([first, second])
  })
})
