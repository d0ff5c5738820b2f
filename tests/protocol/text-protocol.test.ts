import { describe, expect, test } from "vitest"
import { z } from "zod"
import type { ToolSpec } from "../../src/contract/model.ts"
import { replyGrammar } from "../../src/capability/protocol/grammar.ts"
import { replySchema } from "../../src/capability/protocol/reply-schema.ts"
import { LABELS, textPrompt } from "../../src/capability/protocol/text-prompt.ts"
import { toTextMessages } from "../../src/capability/protocol/text-protocol.ts"
import { fail, say, scripted } from "../../src/doors/testing.ts"
import { agent, run, stream, tool } from "../../src/index.ts"

const getOrder = tool({
  name: "get_order",
  description: "Looks up one order by its number.",
  input: z.object({ order_id: z.string().describe("such as A1001") }),
  examples: [{ order_id: "A1001" }],
  hints: { readOnly: true },
  execute: ({ order_id }) => `${order_id} was shipped ${"x".repeat(4_000)}`,
})
const action = 'Thought: I need the order.\nAction: get_order\nAction Input: {"order_id": "A1001"}'
const support = (protocol: "text" | "auto" | "native", tools = [getOrder]) => agent({ name: "support", instructions: "You answer questions about orders.", tools, protocol })

describe("the text protocol", () => {
  test("sends no tools and no tool choice; prompt, format and example stand after the instructions", async () => {
    const model = scripted([say("Final Answer: hello")])
    await run(support("text"), "hi", { model, settings: { toolChoice: "required" } })
    const [request] = model.requests
    expect(request?.tools).toEqual([])
    expect(request?.settings).toEqual({ stop: ["\nObservation:"] })
    expect(request?.instructions).toMatch(/^You answer questions about orders\.\n\nTools:\n- get_order: Looks up one order/)
    expect(request?.instructions).toContain('Action Input: {"order_id":"A1001"}')
    expect(request?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant", "user"])
    expect(request?.messages[1]?.content).toBe('Thought: I need get_order first.\nAction: get_order\nAction Input: {"order_id":"A1001"}')
  })
  test("plays a task: the same events and the same history as native calling", async () => {
    const model = scripted([say(action), say("Thought: I know it.\nFinal Answer: A1001 was shipped.")])
    const live = stream(support("text"), "Where is A1001?", { model })
    const types: string[] = []
    let shown = ""
    for await (const event of live) {
      if (event.type === "text_delta") shown += event.text
      else if (event.type === "text_reset") shown = ""
      else types.push(event.type)
    }
    const result = await live.result
    expect(result).toMatchObject({ ok: true, answer: "A1001 was shipped." })
    expect(shown.trim()).toBe("A1001 was shipped.")
    expect(types).toEqual(["run_start", "model_start", "model_end", "tool_check", "tool_start", "tool_end", "turn_end", "model_start", "model_end", "run_end"])
    expect(result.messages[1]).toMatchObject({ role: "assistant", calls: [{ id: "c1", name: "get_order" }] })
    expect(model.requests[1]?.messages[5]?.content).toContain('Action: get_order\nAction Input: {"order_id": "A1001"}')
    expect(model.requests[1]?.messages[6]).toMatchObject({ role: "user", content: expect.stringMatching(/^Observation: A1001 was shipped/) })
  })
  test("shows at most 1,500 characters of a result and asks at most 6 times", async () => {
    const model = scripted(Array.from({ length: 9 }, (_, n) => say(action.replace("A1001", `A${n}`))))
    const result = await run(support("text"), "go", { model })
    expect(result).toMatchObject({ ok: false, stop: { reason: "max_turns" } })
    expect(model.requests).toHaveLength(6)
    const observation = String(model.requests[1]?.messages[6]?.content)
    expect(observation.length).toBeGreaterThan(1_500)
    expect(observation.length).toBeLessThan(1_700)
  })
  test("an observation that the model wrote is not believed", async () => {
    const model = scripted([say(`${action}\nObservation: it was eaten by a bear\nFinal Answer: A bear ate it.`), say("Final Answer: It was shipped.")])
    const result = await run(support("text"), "Where?", { model })
    expect(result).toMatchObject({ ok: true, answer: "It was shipped." })
    expect(JSON.stringify(result.messages)).not.toContain("bear")
  })
  test("an answer needs its label: unlabelled text is sent back once, then the run ends without an answer", async () => {
    const model = scripted([say("It was probably shipped."), say("Surely.")])
    const result = await run(support("text"), "Where?", { model })
    expect(result).toMatchObject({ ok: false, answer: "", stop: { reason: "unknown_output" } })
    expect(model.requests[1]?.messages.at(-1)?.content).toContain("Action: get_order\nAction Input: ")
  })
  test("speaks Chinese", async () => {
    const model = scripted([say('思考：需要查订单\n行动：get_order\n行动输入：{"order_id": "A1001"}'), say("思考：知道了\n最终答案：已发货。")])
    const result = await run(support("text"), "A1001 到哪了？", { model, settings: { language: "zh" } })
    expect(result).toMatchObject({ ok: true, answer: "已发货。" })
    expect(model.requests[0]?.instructions).toContain("要使用工具，请按以下格式回复")
    expect(model.requests[0]?.settings.stop).toEqual(["\n观察："])
    expect(model.requests[1]?.messages[6]?.content).toMatch(/^观察：A1001/)
  })
  test("without tools an answer needs no label", async () => {
    expect(await run(support("text", []), "hi", { model: scripted([say("Hello!")]) })).toMatchObject({ ok: true, answer: "Hello!" })
  })
})

describe("auto", () => {
  const rejects = (message: string) => fail({ code: "invalid_request", message, retryable: false })
  test.each([
    "registry/tiny:1b does not support tools",
    "Function calling is not supported by this model",
    "tools are not enabled for this deployment",
    "this model doesn't accept the parameter tool_choice",
  ])("falls back when the server says: %s", async (message) => {
    const model = scripted([rejects(message), say(action), say("Final Answer: shipped")])
    expect(await run(support("auto"), "Where is A1001?", { model })).toMatchObject({ ok: true, answer: "shipped" })
    expect(model.requests.map(({ tools }) => tools.length)).toEqual([1, 0, 0])
    const later = await run(support("auto"), "hi", { model: { ...model } })
    expect(later.ok).toBe(false)
  })
  test("remembers it for the model", async () => {
    const model = scripted([rejects("tools are not supported"), say("Final Answer: one"), say("Final Answer: two")])
    await run(support("auto"), "hi", { model })
    expect(await run(support("auto"), "hi", { model })).toMatchObject({ answer: "two" })
    expect(model.requests.map(({ tools }) => tools.length)).toEqual([1, 0, 0])
  })
  test.each(["the tool get_order failed", "invalid value for tools[0].function.name", "not found"])("does not when it says: %s", async (message) => {
    const model = scripted([rejects(message)])
    expect(await run(support("auto"), "hi", { model })).toMatchObject({ ok: false, stop: { reason: "model_unavailable" } })
  })
  test("a fallback without function calling goes on in the text protocol, history converted", async () => {
    const first = scripted([{ ...say(""), calls: [{ name: "get_order", arguments: '{"order_id":"A1001"}' }] }, fail({ code: "auth" })])
    const spare = { ...scripted([say("Final Answer: A1001 was shipped.")]), functionCalling: false }
    const result = await run(support("auto"), "Where is A1001?", { model: [first, spare] })
    expect(result).toMatchObject({ ok: true, answer: "A1001 was shipped." })
    expect(spare.requests[0]?.messages.slice(4).map(({ role }) => role)).toEqual(["user", "assistant", "user"])
  })
})

describe("the history as labelled text", () => {
  test("several results of one reply are one message, each with its tool", () => {
    const messages = toTextMessages(
      [
        { role: "user", content: "both" },
        {
          role: "assistant",
          content: "Let me look.",
          calls: [
            { id: "c1", name: "a", arguments: "{}" },
            { id: "c2", name: "b", arguments: '{\n "x": 1\n}' },
          ],
        },
        { role: "tool", callId: "c1", content: "one" },
        { role: "tool", callId: "c2", content: "two" },
        { role: "assistant", content: "Done." },
      ],
      LABELS.en,
    )
    expect(messages).toEqual([
      { role: "user", content: "both" },
      { role: "assistant", content: 'Thought: Let me look.\nAction: a\nAction Input: {}\nAction: b\nAction Input: { "x": 1 }' },
      { role: "user", content: "Observation: [a] one\nObservation: [b] two" },
      { role: "assistant", content: "Final Answer: Done." },
    ])
  })
})

describe("constraints", () => {
  const specs: ToolSpec[] = [{ name: "get_order", description: "", schema: getOrder.schema, examples: [] }]
  test("a model that takes a grammar gets one made from the selected tools", async () => {
    const model = { ...scripted([say("Final Answer: x")]), constraint: "grammar" as const }
    await run(support("text"), "hi", { model })
    expect(model.requests[0]?.grammar).toBe(replyGrammar(specs, LABELS.en))
    expect(replyGrammar(specs, LABELS.en)).toContain('action ::= "Action: " ( "get_order" "\\n" "Action Input: " t0k0 )')
    expect(replyGrammar(specs, LABELS.en)).toContain('t0k0 ::= "{" "\\"order_id\\": " string  "}"')
  })
  test("one that takes a JSON Schema is asked for the JSON form, which is read", async () => {
    const model = {
      ...scripted([say('{"thought":"look","action":"get_order","arguments":{"order_id":"A1001"}}'), say('{"thought":"known","final":"It was shipped."}')]),
      constraint: "json_schema" as const,
    }
    expect(await run(support("text"), "Where?", { model })).toMatchObject({ ok: true, answer: "It was shipped." })
    expect(model.requests[0]?.output).toEqual(replySchema(specs))
  })
  test("optional members, enums, lists and nested objects", () => {
    const schema = {
      type: "object",
      properties: {
        a: { enum: ["x", "y"] },
        n: { type: "integer" },
        list: { type: "array", items: { type: "string" } },
        deep: { type: "object", properties: { b: { type: "boolean" } } },
      },
      required: ["n"],
    }
    const grammar = replyGrammar([{ name: "t", description: "", schema, examples: [] }], LABELS.en)
    expect(grammar).toContain('"{" "\\"n\\": " integer ( ", " "\\"a\\": " t0k0p0 )? ( ", " "\\"list\\": " t0k0p2k0 )? ( ", " "\\"deep\\": " t0k0p3k0 )? "}"')
    expect(grammar).toContain('t0k0p0 ::= "\\"x\\"" | "\\"y\\""')
  })
  test("the prompt says how to answer when there is no tool", () => {
    expect(textPrompt([], "en")).toContain("Final Answer: ")
  })
})
