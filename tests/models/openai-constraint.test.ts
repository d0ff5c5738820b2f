// The text protocol over a real socket, constrained where the server can be: the constraint is derived from the tools' schemas and sent, and the reply is read as ever.
import { afterEach, describe, expect, test } from "vitest"
import { z } from "zod"
import { openai } from "../../src/doors/openai.ts"
import { agent, run, tool } from "../../src/index.ts"
import type { ModelServer } from "../support/model-server.ts"
import { say, startModelServer } from "../support/model-server.ts"

let server: ModelServer | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

const getOrder = tool({ name: "get_order", description: "Looks up one order.", input: z.object({ order_id: z.string() }), execute: ({ order_id }) => `${order_id} was shipped` })
const support = agent({ name: "support", instructions: "You answer questions.", protocol: "text", tools: [getOrder] })
const bodies = (): Record<string, unknown>[] => (server?.requests ?? []).map(({ body }) => (typeof body === "string" ? JSON.parse(body) : body) as Record<string, unknown>)

describe("a server that can be constrained", () => {
  test("by a grammar gets one that knows the tools", async () => {
    server = await startModelServer([say('Thought: look\nAction: get_order\nAction Input: {"order_id": "A1"}'), say("Thought: known\nFinal Answer: A1 was shipped.")])
    const model = openai({ baseUrl: server.baseUrl, model: "m", constraint: "grammar" })
    expect(await run(support, "Where is A1?", { model })).toMatchObject({ ok: true, answer: "A1 was shipped." })
    const [first] = bodies()
    expect(first?.["tools"]).toBeUndefined()
    expect(first?.["grammar"]).toContain('"Action: " ( "get_order"')
  })
  test("by a JSON Schema is asked for the JSON form", async () => {
    server = await startModelServer([say('{"thought":"look","action":"get_order","arguments":{"order_id":"A1"}}'), say('{"thought":"known","final":"A1 was shipped."}')])
    const model = openai({ baseUrl: server.baseUrl, model: "m", constraint: "json_schema" })
    expect(await run(support, "Where is A1?", { model })).toMatchObject({ ok: true, answer: "A1 was shipped." })
    expect(JSON.stringify(bodies()[0]?.["response_format"])).toContain('"const":"get_order"')
  })
  test("and ignores it is read and checked all the same", async () => {
    server = await startModelServer([say("It was probably shipped."), say("Yes.")])
    const model = openai({ baseUrl: server.baseUrl, model: "m", constraint: "grammar" })
    expect(await run(support, "Where is A1?", { model })).toMatchObject({ ok: false, answer: "", stop: { reason: "unknown_output" } })
  })
})
