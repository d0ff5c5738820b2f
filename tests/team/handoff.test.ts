import { describe, expect, test } from "vitest"
import { z } from "zod"
import { memoryStore } from "../../src/doors/stores.ts"
import { call, say, scripted, together } from "../../src/doors/testing.ts"
import type { ScriptedStep } from "../../src/doors/testing.ts"
import { resume, run, stream, team, tool } from "../../src/index.ts"

const Desk = z.object({ customer: z.string(), order: z.string().optional() })
const note = tool({
  name: "note_order",
  description: "…",
  context: Desk,
  input: z.object({ order: z.string() }),
  execute: ({ order }, { result }) => result("noted", { context: { order } }),
})
const to = (name: string, reason?: string) => call(`transfer_to_${name}`, reason === undefined ? {} : { reason })

/** One model for all: each says its own lines, told apart by the instructions it is given. */
function desk(lines: Record<string, readonly ScriptedStep[]>) {
  const used: Record<string, number> = {}
  const asked: { agent: string; instructions: string; tools: readonly string[] }[] = []
  const model = scripted(
    Array.from(
      { length: 40 },
      (): ScriptedStep => (request, index) => {
        const agent = Object.keys(lines).find((name) => request.instructions.includes(`You are ${name}.`)) ?? ""
        asked.push({ agent, instructions: request.instructions, tools: request.tools.map(({ name }) => name) })
        const nth = used[agent] ?? 0
        used[agent] = nth + 1
        const step = lines[agent]?.[nth] ?? lines[agent]?.at(-1) ?? say("")
        return typeof step === "function" ? step(request, index) : step
      },
    ),
  )
  const agents = team(
    { context: Desk, model },
    {
      triage: { instructions: "You are triage.", handoffs: ["billing", "support"], tools: [note] },
      billing: {
        instructions: ({ customer, order }) => `You are billing. ${customer} ${order ?? "-"}`,
        handoffDescription: "refunds, invoices",
        handoffs: ["triage"],
        output: z.object({ refunded: z.boolean() }),
      },
      support: { instructions: "You are support." },
    },
  )
  return { agents, asked, model }
}
const li = { context: { customer: "Li" } }

describe("a handoff", () => {
  test("switches the agent in the one loop; the result says who spoke last and has its output", async () => {
    const { agents, asked } = desk({ triage: [to("billing", "money")], billing: [say('{"refunded":true}')] })
    const result = await run(agents.triage, "I want my money", li)
    expect(result).toMatchObject({ ok: true, agent: "billing", output: { refunded: true } })
    if (result.ok && result.agent === "billing") result.output.refunded satisfies boolean
    expect(asked.map(({ agent }) => agent)).toEqual(["triage", "billing"])
    expect(result.messages[2]).toEqual({ role: "tool", callId: "c1", content: "Handed over to billing." })
  })
  test("is offered as a tool that says what the other is for", async () => {
    const { agents, asked, model } = desk({ triage: [say("hello")] })
    await run(agents.triage, "hi", li)
    expect(asked[0]?.tools).toEqual(["note_order", "transfer_to_billing", "transfer_to_support"])
    expect(model.requests[0]?.tools[1]?.description).toContain("billing (refunds, invoices)")
  })
  test("lets siblings finish and keep their results; context set in the same turn is seen by the next agent", async () => {
    const { agents, asked } = desk({ triage: [together(call("note_order", { order: "A1" }), to("billing"))], billing: [say('{"refunded":false}')] })
    const result = await run(agents.triage, "refund A1", li)
    expect(result.messages.flatMap((message) => (message.role === "tool" ? [message.content] : []))).toEqual(["noted", "Handed over to billing."])
    expect(asked[1]?.instructions).toBe("You are billing. Li A1")
  })
  test("of several in one reply the first in call order wins and the others are answered so", async () => {
    const { agents, asked } = desk({ triage: [together(to("support"), to("billing"), to("support"))], support: [say("Support here.")] })
    const result = await run(agents.triage, "help", li)
    expect(result).toMatchObject({ ok: true, agent: "support", answer: "Support here." })
    expect(asked.map(({ agent }) => agent)).toEqual(["triage", "support"])
    expect(result.messages.flatMap((message) => (message.role === "tool" ? [message.content] : []))).toEqual([
      "Handed over to support.",
      "Not made: the conversation was handed over by an earlier call of this reply.",
      "Not made: the conversation was handed over by an earlier call of this reply.",
    ])
  })
  test("to an agent that does not exist is answered exactly, and the run goes on", async () => {
    const { agents } = desk({ triage: [to("sales"), say("I stay.")] })
    const result = await run(agents.triage, "help", li)
    expect(result).toMatchObject({ ok: true, answer: "I stay.", agent: "triage" })
    expect(result.messages[2]?.content).toContain('there is no tool named "transfer_to_sales"')
  })
  test("each transfer is an event with its reason", async () => {
    const { agents } = desk({ triage: [to("support", "a question about parcels")], support: [say("Yes?")] })
    const live = stream(agents.triage, "help", li)
    const turns: (string | undefined)[][] = []
    for await (const event of live) if (event.type === "turn_end") turns.push([event.handoff, event.reason])
    expect(turns).toEqual([["support", "a question about parcels"]])
  })
})

describe("ping-pong", () => {
  test("the third consecutive transfer inside one pair is not made; a person resumes the run with a message", async () => {
    const store = memoryStore()
    const { agents } = desk({ triage: [to("billing"), to("billing"), say("I will do it myself.")], billing: [to("triage"), to("triage")] })
    const stopped = await run(agents.triage, "help", { ...li, store, runId: "pp" })
    expect(stopped).toMatchObject({ ok: false, answer: "", stop: { reason: "handoff_loop", hint: expect.stringContaining("person") } })
    expect(stopped.messages.filter(({ role }) => role === "tool")).toHaveLength(3)
    const resumed = await resume(agents.triage, "pp", { store, input: "Triage, please answer yourself." })
    expect(resumed).toMatchObject({ ok: true, answer: "I will do it myself." })
  })
  test("a long chain through several agents is none", async () => {
    const model = scripted(["b", "c", "d", "a"].map((name): ScriptedStep => to(name)).concat([say("done")]))
    const agents = team(
      { model },
      { a: { instructions: "", handoffs: ["b"] }, b: { instructions: "", handoffs: ["c"] }, c: { instructions: "", handoffs: ["d"] }, d: { instructions: "", handoffs: ["a"] } },
    )
    expect(await run(agents.a, "go")).toMatchObject({ ok: true, agent: "a", answer: "done" })
  })
})

describe("a thread", () => {
  test("goes on with the agent that spoke last", async () => {
    const store = memoryStore()
    const thread = { id: "t1" }
    const { agents, asked } = desk({ triage: [to("support")], support: [say("Which order?"), say("It was shipped.")] })
    await run(agents.triage, "help", { ...li, store, thread })
    const second = await run(agents.triage, "A1", { ...li, store, thread })
    expect(second).toMatchObject({ ok: true, agent: "support", answer: "It was shipped." })
    expect(asked.map(({ agent }) => agent)).toEqual(["triage", "support", "support"])
    expect(second.messages[0]).toEqual({ role: "user", content: "help" })
  })
})

describe("a team is refused when it is made", () => {
  test("with a handoff to a name it has not", () => {
    expect(() => team({}, { a: { instructions: "", handoffs: ["b"] as never } })).toThrow(expect.objectContaining({ code: "agent_invalid", hint: expect.stringContaining("a") }))
  })
  test("with an agent that hands over to itself", () => {
    expect(() => team({}, { a: { instructions: "", handoffs: ["a"] } })).toThrow(expect.objectContaining({ code: "agent_invalid" }))
  })
})
