// Streams beyond the corpus: any way the network cuts them, events read without a parser, calls in pieces.
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { chatStream } from "../../src/capability/models/chat-stream.ts"
import { deltaTemplate } from "../../src/capability/models/delta-template.ts"
import { sseReader } from "../../src/capability/models/sse.ts"
import type { ModelEvent } from "../../src/contract/model.ts"
import { delta, event } from "../support/model-server.ts"
import { hear } from "./ask.ts"
import { streamRows } from "./wire-corpus.ts"

function readStream(chunks: readonly string[], broken?: unknown) {
  const events: ModelEvent[] = []
  const stream = chatStream({ price: { input: 1, cachedInput: 0.5, output: 2 }, originalName: (name) => name }, (event) => events.push(event))
  for (const chunk of chunks) if (!stream.push(chunk)) break
  const outcome = stream.end(broken)
  return { ...hear(events), outcome, reply: outcome.type === "reply" ? outcome.reply : null, events }
}

function decoded(reads: readonly Uint8Array[]): string[] {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  return reads.map((bytes) => decoder.decode(bytes, { stream: true }))
}

describe("however the network cuts a stream", () => {
  const texts = streamRows.filter(({ context, reads }) => context.level !== "http" && reads.reduce((sum, { length }) => sum + length, 0) < 10_000)
  const words = ["Hello", " wor", "ld\n", '"q"', "\\", "é🦊", " ", "\t"].map((content) => delta({ content })).join("")
  const streams = [
    ...texts.map(({ id, reads }) => ({ id, bytes: Buffer.concat(reads) })),
    { id: "CRLF with several data lines", bytes: Buffer.from('data: {"choices":\r\ndata: [{"delta":{"content":"a"},\r\ndata: "finish_reason":"stop"}]}\r\n\r\n') },
    { id: "escapes", bytes: Buffer.from(words + delta({}, "stop") + event("[DONE]")) },
  ]

  test.each(streams)("$id gives the same reply and the same text", ({ bytes }) => {
    const { outcome, text, reasoning } = readStream(decoded([bytes]))
    const cuts = fc.array(fc.nat({ max: bytes.length }), { maxLength: 12 })
    fc.assert(
      fc.property(cuts, (places) => {
        const at = [0, ...places.sort((a, b) => a - b), bytes.length]
        const pieces = at.slice(1).map((end, i) => bytes.subarray(at[i], end))
        expect(readStream(decoded(pieces))).toMatchObject({ outcome, text, reasoning })
      }),
      { seed: 7, numRuns: 60 },
    )
    const single = Array.from(bytes, (byte) => new Uint8Array([byte]))
    expect(readStream(decoded(single))).toMatchObject({ outcome, text, reasoning })
  })
})

describe("text", () => {
  test("of one read leaves as one event", () => {
    const { events } = readStream([delta({ content: "a" }) + delta({ content: "b" }) + delta({ content: "c" }), delta({ content: "d" })])
    expect(events).toEqual([
      { type: "text", text: "abc" },
      { type: "text", text: "d" },
    ])
  })
  test("and reasoning keep their order", () => {
    const { events } = readStream([delta({ reasoning_content: "r1" }) + delta({ reasoning_content: "r2" }) + delta({ content: "t1" }) + delta({ reasoning: "r3" })])
    expect(events).toEqual([
      { type: "reasoning", text: "r1r2" },
      { type: "text", text: "t1" },
      { type: "reasoning", text: "r3" },
    ])
  })
  test("of events that differ in nothing else is the same with and without a parser", () => {
    const piece = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom('"', "\\", "\\n", '"content":"', "\n", "data: ", "\u2028", "}"))
    const shape = fc.constantFrom(
      (content: string) => delta({ content }),
      (content: string) => event({ choices: [{ delta: { role: "assistant", content, tool_calls: null }, index: 0 }], usage: null }),
      (content: string) => event({ type: "content", choices: [{ delta: { content } }] }),
      (content: string) => delta({ content }).replaceAll("\n", "\r\n"),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), shape, (pieces, write) => {
        const texts = pieces.map((text) => text.toWellFormed())
        expect(readStream([texts.map(write).join("") + delta({}, "stop")]).text).toBe(texts.join(""))
      }),
      { seed: 11, numRuns: 300 },
    )
  })
  test("is not looked for in an event that says more than text", () => {
    const more = (content: string, finish: string | null) => event({ choices: [{ delta: { content }, finish_reason: finish }] })
    expect(readStream([more("a", null) + more("b", "length") + more("c", "length") + event("[DONE]")]).reply).toMatchObject({ text: "abc", finish: "length" })
  })
})

describe("a template", () => {
  test("reads the event it has learnt, with another text", () => {
    const template = deltaTemplate()
    template.learn('{"delta":{"content":"a"}}', "\n")
    expect(template.read('data: {"delta":{"content":"long text"}}\n\ndata', 0)).toBe("long text")
    expect(template.end()).toBe(41)
  })
  test.each([
    ["an escape", 'data: {"delta":{"content":"a\\"b"}}\n\n'],
    ["another shape", 'data: {"delta":{"content":"a"},"x":1}\n\n'],
    ["half an event", 'data: {"delta":{"content":"a"'],
    ["a raw line end in the text", 'data: {"delta":{"content":"a\nb"}}\n\n'],
  ])("leaves %s to the parser", (_, chunk) => {
    const template = deltaTemplate()
    template.learn('{"delta":{"content":"a"}}', "\n")
    expect(template.read(chunk, 0)).toBeNull()
  })
  test.each(['{"content":"x","delta":{"content":"a"}}', '{"delta":{"content":["a"]}}', '{"a":"x\\"content","delta":{}}', "{}"])("learns nothing from %s", (data) => {
    const template = deltaTemplate()
    template.learn(data, "\n")
    expect(template.read(`data: ${data}\n\n`, 0)).toBeNull()
  })
  test("gives a server up that pads its events", () => {
    const template = deltaTemplate()
    for (let i = 0; i < 30; i++) template.learn(`{"delta":{"content":"a"},"pad":"${"x".repeat(i)}"}`, "\n")
    template.learn('{"delta":{"content":"a"}}', "\n")
    expect(template.read('data: {"delta":{"content":"b"}}\n\n', 0)).toBeNull()
  })
})

describe("calls", () => {
  const piece = (call: object) => delta({ tool_calls: [call] })
  const calls = (...pieces: object[]) => readStream([pieces.map(piece).join("") + delta({}, "tool_calls")]).reply?.calls

  test("without id and index are told apart by their names", () => {
    expect(calls({ function: { name: "find", arguments: '{"q":1}' } }, { function: { name: "save", arguments: '{"q":' } }, { function: { arguments: "2}" } })).toEqual([
      { id: "call_1", name: "find", arguments: '{"q":1}' },
      { id: "call_2", name: "save", arguments: '{"q":2}' },
    ])
  })
  test("without id, at an index that is stuck, begin when the one before is finished", () => {
    expect(
      calls({ index: 0, function: { name: "find", arguments: '{"q":1}' } }, { index: 0, function: { name: "find", arguments: '{"q":2}' } })?.map(({ arguments: text }) => text),
    ).toEqual(['{"q":1}', '{"q":2}'])
  })
  test("with an id that changes and a name that is repeated are one until its arguments are finished", () => {
    expect(calls({ index: 0, id: "a", function: { name: "find", arguments: '{"q":"}' } }, { index: 0, id: "b", function: { name: "find", arguments: '"}' } })).toEqual([
      { id: "a", name: "find", arguments: '{"q":"}"}' },
    ])
  })
  test("that begin with an empty object get their arguments later", () => {
    expect(calls({ index: 0, id: "a", function: { name: "find", arguments: "{}" } }, { index: 0, function: { arguments: '{"q":1}' } })).toEqual([
      { id: "a", name: "find", arguments: '{"q":1}' },
    ])
  })
  test("with the same id twice get ids of their own", () => {
    expect(
      calls({ index: 0, id: "a", function: { name: "find", arguments: "{}" } }, { index: 1, id: "a", function: { name: "save", arguments: "{}" } })?.map(({ id }) => id),
    ).toEqual(["a", "a_2"])
  })
  test("keep the fields a provider wants back, from any piece", () => {
    expect(calls({ index: 0, id: "a", function: { name: "find", arguments: "{}" }, extra_content: { s: 1 } }, { index: 0, other: true })).toEqual([
      { id: "a", name: "find", arguments: "{}", extra: { extra_content: { s: 1 }, other: true } },
    ])
  })
  test("of the old kind are put together, and not counted beside the new kind", () => {
    expect(
      readStream([delta({ function_call: { name: "find", arguments: '{"q"' } }), delta({ function_call: { arguments: ":1}" } }), delta({}, "function_call")]).reply,
    ).toMatchObject({ finish: "tool_calls", calls: [{ name: "find", arguments: '{"q":1}' }] })
    expect(
      readStream([delta({ tool_calls: [{ index: 0, id: "a", function: { name: "find", arguments: "{}" } }], function_call: { name: "find", arguments: "{}" } }), delta({}, "stop")])
        .reply?.calls,
    ).toHaveLength(1)
  })
  test("half written when [DONE] comes are incomplete", () => {
    expect(readStream([piece({ index: 0, id: "a", function: { name: "find", arguments: '{"q":"\\' } }) + event("[DONE]")]).outcome).toMatchObject({
      type: "failure",
      failure: { code: "incomplete", retryable: true },
    })
  })
})

describe("usage", () => {
  test("counts cached and reasoning tokens, and what they cost", () => {
    const usage = { prompt_tokens: 1_000_000, completion_tokens: 500_000, prompt_tokens_details: { cached_tokens: 400_000 }, completion_tokens_details: { reasoning_tokens: 7 } }
    expect(readStream([delta({ content: "a" }, "stop"), event({ choices: [], usage })]).reply?.usage).toEqual({
      inputTokens: 1_000_000,
      outputTokens: 500_000,
      cachedTokens: 400_000,
      reasoningTokens: 7,
      cost: 0.6 + 0.2 + 1,
    })
  })
  test.each([null, {}, { prompt_tokens: 0, completion_tokens: 0 }, "many"])("%j is no usage", (usage) => {
    expect(readStream([delta({ content: "a" }, "stop"), event({ choices: [], usage })]).reply?.usage).toBeNull()
  })
})

describe("an end", () => {
  test.each([
    ["nothing at all", [], { type: "silent" }],
    ["comments only", [": a\n\n"], { type: "silent" }],
    ["an answer without finish reason but with [DONE]", [delta({ content: "a" }), event("[DONE]")], { type: "reply", reply: { text: "a", finish: "unknown" } }],
    ["plain words", ["Internal error\n"], { type: "failure", failure: { code: "bad_response", message: expect.stringContaining("Internal error") } }],
    ["half an event", ['data: {"choices":[{"delta":{"con'], { type: "failure", failure: { code: "incomplete", retryable: true } }],
    ["half a document", ['{"choices":[{"mess'], { type: "failure", failure: { code: "incomplete", retryable: true } }],
    ["a keep-alive that is no comment", ["data: ping\n\n", delta({ content: "a" }, "stop")], { type: "reply", reply: { text: "a" } }],
    ["an error event in words", ["event: error\ndata: out of\ndata: memory\n\n"], { type: "failure", failure: { message: expect.stringContaining("memory") } }],
  ] as const)("%s", (_, chunks, outcome) => {
    expect(readStream(chunks).outcome).toMatchObject(outcome)
  })
  test("by a broken connection after the finish reason is a reply", () => {
    expect(readStream([delta({ content: "a" }, "stop")], new Error("reset")).outcome).toMatchObject({ type: "reply" })
  })
  test("by [DONE] makes the rest unwanted", () => {
    const stream = chatStream({ price: null, originalName: (name) => name }, () => {})
    expect([stream.push(delta({ content: "a" }, "stop")), stream.push(event("[DONE]"))]).toEqual([true, false])
  })
})

test("long lines cost time in proportion to their length, however small the pieces", () => {
  const time = (length: number) => {
    let data = 0
    const reader = sseReader({ event: (text) => (data = text.length), stray: () => {}, take: (_, at) => at })
    const start = performance.now()
    reader.push("data: ")
    for (let i = 0; i < length; i++) reader.push("x")
    reader.push("\n\n")
    expect(data).toBe(length)
    return performance.now() - start
  }
  time(10_000)
  expect(time(400_000)).toBeLessThan(10_000)
})
