// Raw answers of a real server (tests/fixtures/recordings), replayed byte for byte from a socket. What each leads to stands in the README there.
import { readFileSync } from "node:fs"
import { afterEach, describe, expect, test } from "vitest"
import type { ModelRequest } from "../../src/contract/model.ts"
import { openai } from "../../src/doors/openai.ts"
import type { ModelServer, ServerAnswer } from "../support/model-server.ts"
import { say, startModelServer } from "../support/model-server.ts"
import { ask, GET_ORDER } from "./ask.ts"

function recorded(name: string): ServerAnswer {
  return { pieces: [readFileSync(new URL(`../fixtures/recordings/llama-cpp-python/${name}.response.http`, import.meta.url))], after: "keep" }
}

let server: ModelServer
afterEach(() => server.close())

describe.each(["node", "fetch"] as const)("over %s", (transport) => {
  async function play(names: readonly string[]) {
    server = await startModelServer([...names.map(recorded), say("the script went on")])
    const model = openai({ baseUrl: server.baseUrl, model: "smollm2", transport })
    return (changes: Partial<ModelRequest> = {}) => ask(model, changes)
  }
  const body = (index: number) => server.requests[index]?.body as { messages: { role: string; content?: unknown }[]; [key: string]: unknown }
  const TOOLS = { tools: [GET_ORDER] }
  const ONE_CALL: ModelRequest["messages"] = [
    { role: "user", content: "Where is order 10001?" },
    { role: "assistant", content: "", calls: [{ id: "c1", name: "get_order", arguments: '{"order_id":"10001"}' }] },
    { role: "tool", callId: "c1", content: '{"status":"shipped"}' },
  ]

  test("plain: an answer with its usage", async () => {
    const heard = await (await play(["plain"]))({ settings: { temperature: 0, seed: 7, maxTokens: 16 } })
    expect(heard.reply).toMatchObject({ text: "Awesome, I'm glad to have you here.", finish: "stop", usage: { inputTokens: 15, outputTokens: 12, cost: "unknown" } })
    expect(body(0)).toMatchObject({ model: "smollm2", temperature: 0, seed: 7, max_tokens: 16 })
  })

  test("plain-streamed: an answer whose usage is unknown, not 0", async () => {
    const heard = await (await play(["plain-streamed"]))({ stream: true })
    expect(heard.text).toBe(heard.reply?.text)
    expect(heard.reply).toMatchObject({ text: expect.stringMatching(/^Awesome, /), finish: expect.stringMatching(/^(stop|length)$/), usage: null })
  })

  test.each(["tools-auto", "tool-forced"])("%s: one call, of the right name, although an old function_call stands beside it", async (name) => {
    const heard = await (await play([name]))({ ...TOOLS, settings: name === "tool-forced" ? { toolChoice: { tool: "get_order" } } : {} })
    expect(heard.reply).toMatchObject({ text: "", finish: "tool_calls", calls: [{ name: "get_order", arguments: '{ "order_id": ""}' }] })
    expect(body(0).tool_choice).toEqual(name === "tool-forced" ? { type: "function", function: { name: "get_order" } } : "auto")
  })

  test("tool-forced-streamed: one call whose arguments are joined", async () => {
    const heard = await (await play(["tool-forced-streamed"]))({ ...TOOLS, stream: true, settings: { toolChoice: { tool: "get_order" } } })
    expect(heard.reply?.calls).toHaveLength(1)
    expect(heard.reply).toMatchObject({ text: "", finish: "tool_calls", calls: [{ name: "get_order" }] })
    expect(JSON.parse(heard.reply?.calls[0]?.arguments ?? "")).toEqual({ order_id: expect.any(String) })
  })

  test("tool-forced-cut: the arguments stay cut, for the argument ladder to refuse", async () => {
    const heard = await (await play(["tool-forced-cut"]))(TOOLS)
    expect(heard.reply).toMatchObject({ finish: "tool_calls", calls: [{ name: "get_order", arguments: '{ "order_' }] })
  })

  test("tools-no-choice: tool_choice is always sent with tools, and never without", async () => {
    const asking = await play(["tools-no-choice", "plain"])
    const heard = await asking(TOOLS)
    await asking()
    expect(heard.reply).toMatchObject({ text: "The answer is: 10001", usage: { inputTokens: 19 } })
    expect(server.requests.map(({ body }) => body.tool_choice)).toEqual(["auto", undefined])
  })

  test("tool-required: named as what the server cannot do, `auto` is tried and remembered", async () => {
    const asking = await play(["tool-required", "tools-auto", "tools-auto"])
    const required = { ...TOOLS, settings: { toolChoice: "required" as const } }
    expect(await asking(required)).toMatchObject({ notes: ["tool_choice `required` was refused; `auto` is sent instead"], reply: { calls: [{ name: "get_order" }] } })
    expect(await asking(required)).toMatchObject({ notes: [], reply: { finish: "tool_calls" } })
    expect(server.requests.map(({ body }) => body.tool_choice)).toEqual(["required", "auto", "auto"])
  })

  test("tools-auto-streamed: asked again unstreamed, once; the next turn at once", async () => {
    const asking = await play(["tools-auto-streamed", "tools-auto", "tools-auto"])
    const first = await asking({ ...TOOLS, stream: true })
    expect(first).toMatchObject({ notes: [expect.stringContaining("without one event"), expect.stringContaining("streaming with tools")], reply: { finish: "tool_calls" } })
    await asking({ ...TOOLS, stream: true })
    expect(server.requests.map(({ body }) => body.stream ?? false)).toEqual([true, false, false])
  })

  test("history-content-empty-streamed: the same with a history", async () => {
    const asking = await play(["history-content-empty-streamed", "history-content-empty"])
    const heard = await asking({ ...TOOLS, stream: true, messages: ONE_CALL })
    expect(heard.reply).toMatchObject({ finish: "tool_calls", calls: [{ name: "get_order", arguments: expect.stringContaining("```") }] })
  })

  test("context-overflow: named, not repeated", async () => {
    expect((await (await play(["context-overflow"]))()).failure).toMatchObject({ code: "context_length", retryable: false })
    expect(server.requests).toHaveLength(1)
  })

  test("context-overflow-streamed: the plain question names the error", async () => {
    const asking = await play(["context-overflow-streamed", "context-overflow"])
    expect((await asking({ ...TOOLS, stream: true })).failure).toMatchObject({ code: "context_length", retryable: false })
    expect(server.requests).toHaveLength(2)
  })

  test('history-content-null: `""` is sent instead, once and from then on; the note says which message', async () => {
    const asking = await play(["history-content-null", "history-content-empty", "history-content-empty"])
    const first = await asking({ ...TOOLS, instructions: "", messages: ONE_CALL })
    expect(first).toMatchObject({ notes: ['`content: null` of message 1 (assistant, with calls) was refused; `""` is sent instead'], reply: { finish: "tool_calls" } })
    expect(await asking({ ...TOOLS, instructions: "", messages: ONE_CALL })).toMatchObject({ notes: [] })
    expect(server.requests.map(({ body }) => (body as { messages: { content?: unknown }[] }).messages[1]?.content)).toEqual([null, "", ""])
  })

  test("history-content-absent: an error from the server's template is understood, too", async () => {
    const asking = await play(["history-content-absent", "history-content-empty"])
    const heard = await asking({ ...TOOLS, messages: ONE_CALL })
    expect(heard).toMatchObject({ notes: [expect.stringContaining('`""` is sent instead')], reply: { finish: "tool_calls" } })
  })

  test("developer-role: instructions go as system", async () => {
    await (await play(["plain"]))()
    expect(body(0).messages[0]).toEqual({ role: "system", content: "Be short." })
  })

  test("developer-role, refused: not asked again in a form that was not used", async () => {
    expect((await (await play(["developer-role"]))()).failure).toMatchObject({ code: "invalid_request", retryable: false })
    expect(server.requests).toHaveLength(1)
  })

  test("json-schema: refused; `json_object` with the schema in the prompt and in `schema`, remembered", async () => {
    const schema = GET_ORDER.schema
    const asking = await play(["json-schema", "json-object", "json-object"])
    const heard = await asking({ output: schema })
    expect(heard).toMatchObject({ notes: [expect.stringContaining("`json_object` with the schema in the prompt")], reply: { text: '{ "order_id": ",10001" }' } })
    await asking({ output: schema })
    expect(server.requests.map(({ body }) => body.response_format)).toEqual([
      { type: "json_schema", json_schema: { name: "answer", schema } },
      { type: "json_object", schema },
      { type: "json_object", schema },
    ])
    expect(body(1).messages[0]).toEqual({
      role: "system",
      content: `Be short.\n\nGive the final answer as JSON that fits this JSON Schema, and nothing else:\n${JSON.stringify(schema)}`,
    })
  })

  test("bad-parameter: a validation error as 500 is neither retried nor asked in another form", async () => {
    expect((await (await play(["bad-parameter"]))({ settings: { maxTokens: 16 } })).failure).toMatchObject({ code: "invalid_request", retryable: false })
    expect(server.requests).toHaveLength(1)
  })

  test("max-completion-tokens is silently ignored there, so max_tokens is sent first", async () => {
    await (await play(["max-completion-tokens"]))({ settings: { maxTokens: 8 } })
    expect(body(0)).toMatchObject({ max_tokens: 8 })
    expect(body(0)).not.toHaveProperty("max_completion_tokens")
  })

  test("text-protocol: the text comes whole, token by token", async () => {
    const heard = await (await play(["text-protocol"]))({ stream: true, settings: { stop: ["Observation:"], maxTokens: 64 } })
    expect(heard.reply?.text).toMatch(/^Thought: I/)
    expect(heard.text).toBe(heard.reply?.text)
    expect(body(0)).toMatchObject({ stop: ["Observation:"] })
  })

  test("unknown-path: the base URL is named", async () => {
    expect((await (await play(["unknown-path"]))()).failure).toMatchObject({ code: "not_found", retryable: false, hint: expect.stringContaining("LLM_BASE_URL") })
  })
})
