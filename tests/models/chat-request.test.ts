// The JSON that a server is sent: whole bodies, and that what was said before is never written differently.
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { chatWriter } from "../../src/capability/models/chat-request.ts"
import type { ServerForms } from "../../src/capability/models/server-profile.ts"
import { FIRST_FORMS } from "../../src/capability/models/server-profile.ts"
import type { Message } from "../../src/contract/message.ts"
import type { ModelRequest, ToolSpec } from "../../src/contract/model.ts"
import { GET_ORDER, request } from "./ask.ts"

function body(changes: Partial<ModelRequest>, forms: Partial<ServerForms> = {}, streamed = false): { messages: Record<string, unknown>[]; [key: string]: unknown } {
  return JSON.parse(chatWriter("m")(request(changes), { ...FIRST_FORMS, ...forms }, streamed).body)
}

const MESSAGES: readonly Message[] = [
  { role: "user", content: "Where is order 10001?" },
  { role: "assistant", content: "", calls: [{ id: "c1", name: "get_order", arguments: '{"order_id":"10001"}' }], reasoning: "Look it up." },
  { role: "tool", callId: "c1", content: "shipped" },
  { role: "assistant", content: "It was shipped." },
  { role: "user", content: "Thanks" },
]
const WIRE = [
  { role: "system", content: "Be short." },
  { role: "user", content: "Where is order 10001?" },
  { role: "assistant", content: null, tool_calls: [{ id: "c1", type: "function", function: { name: "get_order", arguments: '{"order_id":"10001"}' } }] },
  { role: "tool", tool_call_id: "c1", content: "shipped" },
  { role: "assistant", content: "It was shipped." },
  { role: "user", content: "Thanks" },
]

describe("a request", () => {
  test("carries all settings by the names of the API", () => {
    const settings = { temperature: 0.1, topP: 0.9, maxTokens: 50, stop: ["END"], seed: 3, reasoningEffort: "low", toolChoice: "required" } as const
    expect(body({ messages: MESSAGES, tools: [GET_ORDER], settings }, {}, true)).toEqual({
      model: "m",
      messages: WIRE,
      tools: [{ type: "function", function: { name: "get_order", description: "Looks up one order", parameters: GET_ORDER.schema } }],
      tool_choice: "required",
      temperature: 0.1,
      top_p: 0.9,
      max_tokens: 50,
      stop: ["END"],
      seed: 3,
      reasoning_effort: "low",
      stream: true,
      stream_options: { include_usage: true },
    })
  })

  test("has nothing in it that was not asked for", () => {
    expect(body({ instructions: "" })).toEqual({ model: "m", messages: [{ role: "user", content: "Where is order 10001?" }] })
  })

  test("sends images as URLs, whatever they were given as", () => {
    const parts = [
      { type: "text", text: "What is this?" },
      { type: "image", image: "data:image/gif;base64,R0lG" },
      { type: "image", image: new URL("https://pictures.example/a.png") },
      { type: "image", image: new Uint8Array([1, 2, 3]), mediaType: "image/webp" },
    ] as const
    expect(body({ messages: [{ role: "user", content: parts }] }).messages[1]).toEqual({
      role: "user",
      content: [
        { type: "text", text: "What is this?" },
        { type: "image_url", image_url: { url: "data:image/gif;base64,R0lG" } },
        { type: "image_url", image_url: { url: "https://pictures.example/a.png" } },
        { type: "image_url", image_url: { url: "data:image/webp;base64,AQID" } },
      ],
    })
  })

  test("gives a provider its own fields of a call back", () => {
    const calls = [{ id: "c1", name: "get_order", arguments: "{}", extra: { extra_content: { google: { thought_signature: "abc" } } } }]
    const messages: Message[] = [
      { role: "user", content: "x" },
      { role: "assistant", content: "", calls },
      { role: "tool", callId: "c1", content: "y" },
    ]
    expect(body({ messages }).messages[2]).toMatchObject({ tool_calls: [{ id: "c1", extra_content: { google: { thought_signature: "abc" } } }] })
    expect(body({ messages }, { history: { keepExtraContent: false } }).messages[2]).toEqual({
      role: "assistant",
      content: null,
      tool_calls: [{ id: "c1", type: "function", function: { name: "get_order", arguments: "{}" } }],
    })
  })

  test("knows tools by names that servers take, in the history and in a forced choice, and finds the own name again", () => {
    const tool: ToolSpec = { ...GET_ORDER, name: "orders.look up" }
    const calls = [{ id: "c1", name: tool.name, arguments: "{}" }]
    const messages: Message[] = [
      { role: "user", content: "x" },
      { role: "assistant", content: "", calls },
      { role: "tool", callId: "c1", content: "y" },
    ]
    const written = chatWriter("m")(request({ messages, tools: [tool], settings: { toolChoice: { tool: tool.name } } }), FIRST_FORMS, false)
    const sent = JSON.parse(written.body)
    const name = sent.tools[0].function.name
    expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    expect(sent.messages[2].tool_calls[0].function.name).toBe(name)
    expect(sent.tool_choice).toEqual({ type: "function", function: { name } })
    expect(written.originalName(name)).toBe(tool.name)
    expect(written.originalName("unknown")).toBe("unknown")
  })
})

test("a call has the server's name of its tool in every request, whatever tools were offered before", () => {
  const tools = [
    { ...GET_ORDER, name: "a_b" },
    { ...GET_ORDER, name: "a.b" },
  ]
  const calls = [{ id: "c1", name: "a.b", arguments: "{}" }]
  const messages: Message[] = [
    { role: "user", content: "x" },
    { role: "assistant", content: "", calls },
    { role: "tool", callId: "c1", content: "y" },
  ]
  const write = chatWriter("m")
  const sent = (offered: readonly ToolSpec[]) => JSON.parse(write(request({ messages, tools: offered }), FIRST_FORMS, false).body)
  const nameIn = (body: ReturnType<typeof sent>) => body.messages[2].tool_calls[0].function.name
  expect(nameIn(sent([GET_ORDER]))).toBe("a_b")
  const both = sent(tools)
  expect(nameIn(both)).toBe(both.tools[1].function.name)
  expect(nameIn(both)).not.toBe("a_b")
  expect(nameIn(sent([GET_ORDER]))).toBe("a_b")
})

describe("where instructions and notes stand", () => {
  const asked = { notes: "Today is Monday.", messages: [{ role: "user", content: "Hi" }] } satisfies Partial<ModelRequest>
  test("notes are a second system message after the instructions", () => {
    expect(body(asked).messages).toEqual([
      { role: "system", content: "Be short." },
      { role: "system", content: "Today is Monday." },
      { role: "user", content: "Hi" },
    ])
  })
  test("or the end of the instructions", () => {
    expect(body(asked, { notes: "in_instructions" }).messages).toEqual([
      { role: "system", content: "Be short.\n\nToday is Monday." },
      { role: "user", content: "Hi" },
    ])
  })
  test("both may have to go into the first message of the user", () => {
    expect(body(asked, { instructionsRole: "user" }).messages).toEqual([{ role: "user", content: "Be short.\n\nToday is Monday.\n\nHi" }])
    const parts = [{ type: "image", image: "data:," }] as const
    expect(body({ ...asked, messages: [{ role: "user", content: parts }] }, { instructionsRole: "user" }).messages[0]?.content).toMatchObject([
      { type: "text" },
      { type: "image_url" },
    ])
    expect(body({ ...asked, messages: [{ role: "assistant", content: "Hello!" }] }, { instructionsRole: "user" }).messages).toHaveLength(2)
  })
  test("the role can be developer", () => {
    expect(body(asked, { instructionsRole: "developer" }).messages.map(({ role }) => role)).toEqual(["developer", "developer", "user"])
  })
})

describe("an output schema", () => {
  const output = { type: "object", properties: { total: { type: "number" } } }
  test("constrains the server where it can be constrained", () => {
    expect(body({ output })).toMatchObject({ messages: [{ content: "Be short." }, {}], response_format: { type: "json_schema", json_schema: { name: "answer", schema: output } } })
  })
  test("stands in the prompt beside json_object, and alone at last", () => {
    const prompt = { role: "system", content: `Be short.\n\nGive the final answer as JSON that fits this JSON Schema, and nothing else:\n${JSON.stringify(output)}` }
    expect(body({ output }, { output: "json_object" })).toMatchObject({ messages: [prompt, {}], response_format: { type: "json_object", schema: output } })
    const last = body({ output }, { output: "prompt" })
    expect(last.messages[0]).toEqual(prompt)
    expect(last).not.toHaveProperty("response_format")
  })
  test("does not constrain a server that is to call tools: many could not call any more", () => {
    expect(body({ output, tools: [GET_ORDER] })).not.toHaveProperty("response_format")
    expect(body({ output, tools: [GET_ORDER], settings: { toolChoice: "none" } })).toHaveProperty("response_format")
  })
})

describe("forms of messages", () => {
  test.each([
    ["null", { role: "assistant", content: null }],
    ["empty", { role: "assistant", content: "" }],
    ["absent", { role: "assistant" }],
  ] as const)("content of a message that only calls: %s", (emptyContent, expected) => {
    const { tool_calls: calls, ...rest } = body({ messages: MESSAGES }, { emptyContent }).messages[2] ?? {}
    expect(calls).toHaveLength(1)
    expect(rest).toEqual(expected)
  })
  test("reasoning is sent only to a server that demands it back", () => {
    expect(body({ messages: MESSAGES }, { history: { reasoning: "required_in_tool_turns" } }).messages[2]).toMatchObject({ reasoning_content: "Look it up." })
    expect(body({ messages: MESSAGES }).messages[2]).not.toHaveProperty("reasoning_content")
  })
  test("parameters that a server does not know are left out", () => {
    expect(body({ settings: { seed: 1, temperature: 0 } }, { without: ["seed", "stream_options"] }, true)).toMatchObject({ temperature: 0, stream: true })
    expect(Object.keys(body({ settings: { seed: 1 } }, { without: ["seed", "stream_options"] }, true))).toEqual(["model", "messages", "stream"])
  })
})

test("a broken history is mended before it is sent", () => {
  const messages: Message[] = [
    { role: "user", content: "x" },
    { role: "assistant", content: "", calls: [{ id: "c1", name: "a", arguments: "{}" }] },
    { role: "user", content: "y" },
  ]
  expect(body({ messages }).messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool", "user"])
})

test("a history that grows is written as an extension of what was sent before (prompt caches)", () => {
  const turn = fc.record({ question: fc.string({ unit: "binary" }), answer: fc.string({ minLength: 1 }) }).map(({ question, answer }): Message[] => [
    { role: "user", content: `q${question.toWellFormed()}` },
    { role: "assistant", content: `a${answer}` },
  ])
  fc.assert(
    fc.property(fc.array(turn, { minLength: 1, maxLength: 8 }), (turns) => {
      const write = chatWriter("m")
      let before = ""
      for (let count = 1; count <= turns.length; count++) {
        const messages = turns.slice(0, count).flat()
        const text = write(request({ messages, tools: [GET_ORDER] }), FIRST_FORMS, false).body
        expect(JSON.parse(text).messages).toEqual([{ role: "system", content: "Be short." }, ...messages])
        expect(text.startsWith(before)).toBe(true)
        before = text.slice(0, text.lastIndexOf('],"tools":'))
      }
    }),
    { seed: 5 },
  )
})
