// What a user writes, as a test of inference: it is compiled against the sources and against the built package, and never run.
// Each `@ts-expect-error` is a mistake that the compiler has to find; where it finds none, that line is the error.
import { agent, jsonSchema, run, stream, tool } from "hello-agents"
import type { Agent, AnyAgent, End, Rest } from "hello-agents"
import { openai } from "hello-agents/openai"
import { fileStore } from "hello-agents/stores"
import { call, say, scripted } from "hello-agents/testing"
import * as v from "valibot"
import { z } from "zod"

declare const orders: {
  get(id: string, options: { signal: AbortSignal }): Promise<{ id: string; status: string }>
  refund(id: string, amount: number, options: { idempotencyKey: string }): Promise<void>
}

// A tool, an agent, an answer.
const getOrder = tool({
  name: "get_order",
  description: "Finds one order by its number. Call it before you state anything about an order.",
  input: z.object({ order_id: z.string().describe("for example A1001") }),
  hints: { readOnly: true },
  execute: ({ order_id }, { signal }) => {
    order_id satisfies string
    return orders.get(order_id, { signal })
  },
})
const support = agent({ name: "support", model: openai(), instructions: "You answer questions about orders.", tools: [getOrder] })
const first = await run(support, "Where is A1001?")
console.log(first.ok ? first.answer : first.status)
if (first.status === "stopped") console.error(first.stop.reason, first.stop.hint)

// Read along, then go on with the same history and a picture.
const live = stream(support, "Where is A1001?")
for await (const event of live) if (event.type === "text_delta") process.stdout.write(event.text)
const { messages } = await live.result
await run(support, [
  ...messages,
  {
    role: "user",
    content: [
      { type: "text", text: "Is this it?" },
      { type: "image", image: new URL("https://shop.example/p.png") },
    ],
  },
])

// Context variables: one schema gives the type in tools, instructions and result.
const Desk = z.object({ customer: z.string(), order: z.string().optional(), language: z.enum(["en", "zh"]).default("en") })
const refund = tool({
  name: "refund",
  description: "Pays an order back. Only for orders that get_order calls paid.",
  input: z.object({ order_id: z.string(), amount: z.number().describe("in yuan") }),
  context: Desk,
  approval: ({ amount }) => amount > 100,
  execute: async ({ order_id, amount }, { context, idempotencyKey, result }) => {
    context.language satisfies "en" | "zh"
    await orders.refund(order_id, amount, { idempotencyKey })
    return result(`${amount} paid back to ${context.customer}`, { context: { order: order_id } })
  },
})
const billing = agent({
  name: "billing",
  context: Desk,
  model: [openai({ model: "large" }), openai({ model: "small" })],
  instructions: (context) => `You help ${context.customer} with money. Answer in ${context.language}.`,
  tools: [getOrder, refund],
  output: z.object({ refunded: z.boolean() }),
  limits: { turns: 6 },
})
// A caller may leave out what has a default; the result has it.
const outcome = await run(billing, "Refund A1001, 250 yuan", { context: { customer: "Li" }, store: fileStore(".runs") })
outcome.context.language satisfies "en" | "zh"
if (outcome.ok) outcome.output.refunded satisfies boolean
else if (outcome.status === "waiting") for (const open of outcome.waiting) console.log(open.id, open.reason === "approval" ? open.arguments : open.reason)
else console.error(outcome.stop.reason)

// A test of an own agent needs no network and no mocks.
const model = scripted([call("get_order", { order_id: "A1001" }), say("It is on its way.")])
const tested = await run(support, "Where is A1001?", { model })
if (tested.ok) tested.output satisfies string

// Lists of tools, tools without input, plain JSON Schema, functions over any agent, a registry, options that may be undefined.
const stock = ["north", "south"].map((name) => tool({ name, description: `Stock in the ${name} store.`, input: z.object({ sku: z.string() }), execute: ({ sku }) => sku.length }))
agent({ name: "stock", instructions: "", context: Desk, tools: [...stock, refund] })
tool({ name: "now", description: "The time.", execute: () => new Date().toISOString() })
tool({ name: "raw", description: "Takes JSON Schema.", input: jsonSchema<{ a: string }>({ type: "object" }), execute: ({ a }) => a.length })
async function ask<C, E extends End, I>(someone: Agent<C, E, I>, question: string, ...rest: Rest<I>) {
  return run(someone, question, ...rest)
}
await ask(billing, "x", { context: { customer: "Li" } })
await ask(support, "x")
const registry: Record<string, AnyAgent> = { billing, support }
const handler = (question: string, signal?: AbortSignal, runId?: string) => run(support, question, { signal, runId })
void [registry, handler]

// What the compiler must refuse.
// @ts-expect-error the context is missing
await run(billing, "x")
// @ts-expect-error a context key that the schema does not have
await run(billing, "x", { context: { customer: "Li", ordr: "A1001" } })
// @ts-expect-error an option that run does not have
await run(support, "x", { contxt: {} })
// @ts-expect-error refund reads the customer, and this agent has no context
agent({ name: "bad", instructions: "", tools: [refund] })
// @ts-expect-error refund reads the customer, and this context has only a city
agent({ name: "bad", instructions: "", context: z.object({ city: z.string() }), tools: [refund] })
// @ts-expect-error the tool writes a context key that its schema does not have
tool({ name: "r", description: "", context: Desk, execute: (_, { result }) => result("x", { context: { ordr: "A1" } }) })
// @ts-expect-error a tool without context has nothing to change
tool({ name: "r", description: "", execute: (_, { result }) => result("x", { context: { order: "A1" } }) })
// @ts-expect-error it hands over to an agent that it does not declare
tool({ name: "r", description: "", execute: (_, { handoff }) => handoff("billing") })
// @ts-expect-error valibot's schemas cannot say their JSON Schema without its converter
tool({ name: "v", description: "", input: v.object({ a: v.string() }), execute: ({ a }) => a })
// @ts-expect-error an argument that the input schema does not have
tool({ name: "r", description: "", input: z.object({ a: z.string() }), execute: ({ b }) => b })
// @ts-expect-error the output exists only when ok
first.output
// @ts-expect-error the output's type is the agent's schema
if (outcome.ok) outcome.output.refundd
