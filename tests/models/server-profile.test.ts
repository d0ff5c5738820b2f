// A server that refuses a form is asked once in the next one; what worked is remembered by the model instance, and nothing else is.
import { afterEach, describe, expect, test } from "vitest"
import type { ServerForms } from "../../src/capability/models/server-profile.ts"
import { FIRST_FORMS, nextForms } from "../../src/capability/models/server-profile.ts"
import type { ModelRequest } from "../../src/contract/model.ts"
import { openai } from "../../src/doors/openai.ts"
import type { ModelServer } from "../support/model-server.ts"
import { callTool, chunkedAnswer, delta, event, jsonAnswer, reply, say, startModelServer } from "../support/model-server.ts"
import { ask, GET_ORDER, request } from "./ask.ts"

const refuse = (message: string, status = 400) => jsonAnswer({ error: { message, type: "invalid_request_error" } }, { status })
const CALLED: ModelRequest["messages"] = [
  { role: "user", content: "Where is it?" },
  { role: "assistant", content: "", calls: [{ id: "c1", name: "get_order", arguments: "{}", extra: { extra_content: { google: { thought_signature: "s" } } } }] },
  { role: "tool", callId: "c1", content: "" },
  { role: "assistant", content: "Let me see." },
]

describe("what a refusal changes", () => {
  const cases: [said: string, change: Partial<ServerForms>, request?: Partial<ModelRequest>, forms?: Partial<ServerForms>][] = [
    [
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      { maxTokens: "max_completion_tokens" },
      { settings: { maxTokens: 5 } },
    ],
    [
      "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
      { without: ["temperature"] },
      { settings: { temperature: 0.2 } },
    ],
    ["Unrecognized request argument supplied: seed", { without: ["seed"] }, { settings: { seed: 1, topP: 0.5 } }],
    [
      '[{"type":"extra_forbidden","loc":["body","reasoning_effort"],"msg":"Extra inputs are not permitted"}]',
      { without: ["reasoning_effort"] },
      { settings: { reasoningEffort: "low" } },
    ],
    ["Unknown parameter: 'stream_options'.", { without: ["stop", "stream_options"] }, { stream: true }, { without: ["stop"] }],
    ["'response_format' of type 'json_schema' is not supported", { output: "json_object" }, { output: {} }],
    ["response_format is not supported", { output: "prompt" }, { output: {} }, { output: "json_object" }],
    ["deepseek-reasoner does not support this tool_choice", { toolChoice: "auto" }, { tools: [GET_ORDER], settings: { toolChoice: "required" } }],
    ["unknown field: tool_choice", { toolChoice: "absent" }, { tools: [GET_ORDER] }],
    ["unknown field: tool_choice", { toolChoice: "absent" }, { tools: [GET_ORDER], settings: { toolChoice: "required" } }, { toolChoice: "auto" }],
    ["Invalid value for 'content': expected a string, got null.", { emptyContent: "empty" }, { messages: CALLED }],
    ["messages: text content blocks: content must be non-empty", { emptyContent: "absent" }, { messages: CALLED }, { emptyContent: "empty" }],
    ["System role not supported", { instructionsRole: "user" }],
    ["Unsupported role 'system'; use 'developer'. The system role is not supported by this model.", { instructionsRole: "developer" }],
    ["Conversation roles must alternate user/assistant/user/assistant/...", { history: { alternate: true, firstRoleUser: true } }],
    ["Conversation roles must alternate user/assistant/user/assistant/...", { instructionsRole: "user" }, {}, { history: { alternate: true } }],
    ["System message must be at the beginning.", { notes: "in_instructions" }],
    ["The first message must be from the user", { history: { firstRoleUser: true } }, { messages: CALLED }],
    [
      "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant: the last message must be user or tool",
      { history: { lastRoleNotAssistant: true } },
      { messages: CALLED },
    ],
    ["Tool call id was c1 but must be a-z, A-Z, 0-9, with a length of 9.", { history: { callIdPattern: "^[a-zA-Z0-9]{9}$" } }, { messages: CALLED }],
    ["The `reasoning_content` in the thinking mode must be passed back to the API.", { history: { reasoning: "required_in_tool_turns" } }, { messages: CALLED }],
    ["Unknown name extra_content: not permitted", { history: { keepExtraContent: false } }, { messages: CALLED }],
    ["tool message content must not be empty", { history: { nonEmptyToolResult: true } }, { messages: CALLED }],
    [
      "Invalid schema for function 'get_order': $ref is not allowed",
      { schema: { ...FIRST_FORMS.schema, noRefs: true, noAllOf: true, noTypeArrays: true } },
      { tools: [GET_ORDER] },
    ],
    [
      "Invalid schema for function 'get_order': anyOf is not allowed",
      { schema: { ...FIRST_FORMS.schema, noRefs: true, geminiSubset: true } },
      { tools: [GET_ORDER] },
      { schema: { ...FIRST_FORMS.schema, noRefs: true } },
    ],
    ["streaming is not supported with tools", { streaming: "without_tools" }, { tools: [GET_ORDER] }],
    ["stream is not supported", { streaming: "never" }],
  ]
  test.each(cases.map(([said, change, asked = {}, forms = {}]) => ({ said, change, asked, forms })))("$said", ({ said, change, asked, forms }) => {
    const failure = { code: "invalid_request", message: said, retryable: false } as const
    expect(nextForms({ ...FIRST_FORMS, ...forms }, request(asked), { failure, said, streamed: true })).toEqual({ change, note: expect.any(String) })
  })

  test.each([
    "max_tokens must be at most 4096",
    "temperature must be between 0 and 2",
    "Invalid 'messages[1].content': string too long",
    "This model does not support tools",
    "Provider returned error",
  ])("nothing: %s", (said) => {
    const failure = { code: "invalid_request", message: said, retryable: false } as const
    const everything = request({ messages: CALLED, tools: [GET_ORDER], output: {}, settings: { maxTokens: 9, temperature: 3 } })
    expect(nextForms(FIRST_FORMS, everything, { failure, said, streamed: false })).toBeNull()
  })

  test("nothing, when the failure is about something else than the request", () => {
    const failure = { code: "rate_limit", message: "", retryable: true } as const
    expect(nextForms(FIRST_FORMS, request(), { failure, said: "System role not supported", streamed: false })).toBeNull()
  })
})

describe("what is remembered", () => {
  let server: ModelServer
  afterEach(() => server.close())
  const model = () => openai({ baseUrl: server.baseUrl, model: "m" })

  test("several refusals in one call are answered one after the other, and none is met again", async () => {
    const strict = (asked: { body: Record<string, unknown> }) => {
      const { body } = asked
      if ("max_tokens" in body) return refuse("Use 'max_completion_tokens' instead of 'max_tokens'")
      if ("temperature" in body) return refuse("Unsupported parameter: 'temperature'")
      if ("seed" in body) return refuse("Unknown parameter: 'seed'")
      return jsonAnswer({ choices: [{ message: { content: "Fine." }, finish_reason: "stop" }] })
    }
    server = await startModelServer((asked) => strict(asked))
    const own = model()
    const settings = { maxTokens: 9, temperature: 1, seed: 2, topP: 0.5 }
    expect(await ask(own, { settings })).toMatchObject({
      notes: [expect.stringContaining("max_completion_tokens"), expect.stringContaining("temperature"), expect.stringContaining("seed")],
      reply: { text: "Fine." },
    })
    expect(await ask(own, { settings })).toMatchObject({ notes: [], reply: { text: "Fine." } })
    expect(server.requests).toHaveLength(5)
    expect(server.requests[4]?.body).toMatchObject({ max_completion_tokens: 9, top_p: 0.5 })
  })

  test("another model instance starts anew", async () => {
    server = await startModelServer([refuse("System role not supported"), say("one"), say("two")])
    await ask(model())
    await ask(model())
    expect(server.requests.map(({ body }) => (body as { messages: { role: string }[] }).messages[0]?.role)).toEqual(["system", "user", "system"])
  })

  test("a form that did not lead to a reply is forgotten", async () => {
    server = await startModelServer([refuse("System role not supported"), jsonAnswer({ error: { message: "busy" } }, { status: 503 }), say("two")])
    const own = model()
    expect((await ask(own)).failure).toMatchObject({ code: "overloaded" })
    await ask(own)
    expect(server.requests.map(({ body }) => (body as { messages: { role: string }[] }).messages[0]?.role)).toEqual(["system", "user", "system"])
  })

  test("calls at the same time learn independently", async () => {
    server = await startModelServer(({ body }, index) => {
      if ("max_tokens" in body) return refuse("Use 'max_completion_tokens'")
      if ("seed" in body) return refuse("Unknown parameter: 'seed'")
      const answer = reply({ text: "Fine." })
      return typeof answer === "function" ? answer({ ...emptyRequest, body }, index) : answer
    })
    const own = model()
    await Promise.all([ask(own, { settings: { maxTokens: 9 } }), ask(own, { settings: { seed: 9 } })])
    const before = server.requests.length
    await ask(own, { settings: { maxTokens: 9, seed: 9 } })
    expect(server.requests.length - before).toBe(1)
  })

  test("a server that refuses everything is asked a few times only", async () => {
    const words = [
      "Use 'max_completion_tokens'",
      "Unknown parameter: 'seed'",
      "Unknown parameter: 'temperature'",
      "System role not supported",
      "must alternate",
      "tool_choice unknown",
      "$ref schema",
      "$ref schema",
      "Unknown parameter: 'stop'",
      "Unknown parameter: 'top_p'",
    ]
    server = await startModelServer((_, index) => refuse(words[index] ?? "no"))
    const heard = await ask(model(), { tools: [GET_ORDER], settings: { maxTokens: 9, seed: 9, temperature: 1, stop: ["x"], topP: 1 } })
    expect(heard.failure).toMatchObject({ code: "invalid_request" })
    expect(server.requests).toHaveLength(9)
  })

  test("an error inside a stream is a refusal like any other", async () => {
    const inStream = {
      pieces: ['HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\ndata: {"error":{"message":"stream is not supported with tools","code":400}}\n\n'],
      after: "close",
    } as const
    server = await startModelServer([inStream, callTool("get_order", {}), callTool("get_order", {})])
    const own = model()
    expect(await ask(own, { stream: true, tools: [GET_ORDER] })).toMatchObject({ notes: [expect.stringContaining("streaming with tools")], reply: { finish: "tool_calls" } })
    await ask(own, { stream: true, tools: [GET_ORDER] })
    expect(server.requests.map(({ body }) => body.stream ?? false)).toEqual([true, false, false])
  })
})

describe("a server that has begun to answer", () => {
  test("is not asked again for an error that sounds like a refusal", async () => {
    const server = await startModelServer([chunkedAnswer([delta({ content: "Half" }), event({ error: { message: "stream is not supported", code: 400 } })])])
    const heard = await ask(openai({ baseUrl: server.baseUrl, model: "m" }), { stream: true })
    expect(heard).toMatchObject({ text: "Half", notes: [], failure: { message: "HTTP 400: stream is not supported" } })
    expect(server.requests).toHaveLength(1)
    await server.close()
  })
})

const emptyRequest = { method: "POST", path: "", headers: {}, text: "", connection: 0 }
