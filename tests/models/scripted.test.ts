// The scripted model: what a test writes is what the runtime gets.
import { describe, expect, it } from "vitest"
import { call, fail, hang, say, scripted, think, together } from "../../src/capability/models/scripted.ts"
import type { ModelEvent, ModelRequest } from "../../src/contract/model.ts"
import type { Model } from "../../src/contract/ports.ts"

function request(change: Partial<ModelRequest> = {}): ModelRequest {
  return { instructions: "", notes: "", messages: [], tools: [], settings: {}, output: null, stream: false, signal: new AbortController().signal, ...change }
}

async function ask(model: Model, change: Partial<ModelRequest> = {}): Promise<ModelEvent[]> {
  const events: ModelEvent[] = []
  for await (const event of model.ask(request(change))) events.push(event)
  return events
}

describe("a scripted model", () => {
  it("gives its replies in order", async () => {
    const model = scripted([call("get_order", { order_id: "A1001" }), say("It was shipped.")])
    expect([await ask(model), await ask(model)]).toEqual([
      [{ type: "reply", reply: { text: "", reasoning: "", calls: [{ id: "call_1_1", name: "get_order", arguments: '{"order_id":"A1001"}' }], finish: "tool_calls", usage: null } }],
      [{ type: "reply", reply: { text: "It was shipped.", reasoning: "", calls: [], finish: "stop", usage: null } }],
    ])
  })

  it("joins thoughts, text and several calls, raw arguments and given ids included, into one reply", async () => {
    const usage = { inputTokens: 12, outputTokens: 3 }
    const model = scripted([together(think("Two orders."), say("Let me look."), call("a", "{broken", { id: "x" }), call("b", {}, { id: "x", usage, finish: "length" }))])
    expect(await ask(model)).toEqual([
      {
        type: "reply",
        reply: {
          text: "Let me look.",
          reasoning: "Two orders.",
          calls: [
            { id: "x", name: "a", arguments: "{broken" },
            { id: "x", name: "b", arguments: "{}" },
          ],
          finish: "length",
          usage: { inputTokens: 12, outputTokens: 3, cachedTokens: 0, reasoningTokens: 0, cost: "unknown" },
        },
      },
    ])
  })

  it("says how many replies were scripted when it is asked once too often", async () => {
    const model = scripted([say("once")], { name: "tester" })
    await ask(model)
    expect(await ask(model)).toEqual([
      {
        type: "failure",
        failure: {
          code: "invalid_request",
          message: 'The model "tester" was asked for reply 2, but only 1 reply is scripted.',
          retryable: false,
          hint: "Add the missing reply to scripted([…]), or find out why the agent asked once more.",
        },
      },
    ])
  })

  it("fails as written, worth repeating or not by the code unless said", async () => {
    const model = scripted([fail({ code: "rate_limit", waitMs: 50 }), fail({ code: "auth" }), fail({ code: "auth", retryable: true, message: "try again" })])
    expect([await ask(model), await ask(model), await ask(model)].flat()).toEqual([
      { type: "failure", failure: { code: "rate_limit", message: "scripted rate_limit", retryable: true, waitMs: 50 } },
      { type: "failure", failure: { code: "auth", message: "scripted auth", retryable: false } },
      { type: "failure", failure: { code: "auth", message: "try again", retryable: true } },
    ])
  })

  it("can compute a reply from the request, and reports a function that throws", async () => {
    const model = scripted([
      ({ messages }, index) => say(`${index}: ${messages.length} messages`),
      () => {
        throw new Error("no such order")
      },
    ])
    const messages = [{ role: "user", content: "hello" }] as const
    expect(await ask(model, { messages })).toMatchObject([{ type: "reply", reply: { text: "0: 1 messages" } }])
    expect(await ask(model)).toMatchObject([{ type: "failure", failure: { retryable: false, message: 'The function for reply 2 of "scripted" threw: no such order' } }])
  })

  it("streams in pieces whose sum is the reply, and never splits a character", async () => {
    const text = `a${"🚚".repeat(20)}到货了`
    const events = await ask(scripted([together(think("hm"), say(text))]), { stream: true })
    const pieces = events.flatMap((event) => (event.type === "text" ? [event.text] : []))
    expect(pieces.length).toBeGreaterThan(2)
    expect(pieces.filter((piece) => /\p{Surrogate}/u.test(piece))).toEqual([])
    expect(pieces.join("")).toBe(text)
    expect(events[0]).toEqual({ type: "reasoning", text: "hm" })
    expect(events.at(-1)).toMatchObject({ type: "reply", reply: { text } })
  })

  it("can break off in the middle of a streamed text", async () => {
    expect(await ask(scripted([fail({ code: "network", partial: "It was" })]), { stream: true })).toEqual([
      { type: "text", text: "It was" },
      { type: "failure", failure: { code: "network", message: "scripted network", retryable: true } },
    ])
  })

  it("records what it was asked, as it was then", async () => {
    const model = scripted([say("a"), say("b")])
    const messages = [{ role: "user", content: "one" } as const]
    await ask(model, { messages })
    messages.push({ role: "user", content: "two" } as never)
    await ask(model, { messages })
    expect(model.requests.map((one) => one.messages.map((message) => message.content))).toEqual([["one"], ["one", "two"]])
  })

  it("has a cursor per instance", async () => {
    const replies = [say("first"), say("second")]
    const [a, b] = [scripted(replies), scripted(replies)]
    await ask(a)
    expect(await ask(b)).toMatchObject([{ reply: { text: "first" } }])
    expect(await ask(a)).toMatchObject([{ reply: { text: "second" } }])
  })

  it("ends without a reply when the request is aborted: before, in the middle, and while it hangs", async () => {
    expect(await ask(scripted([say("late")]), { signal: AbortSignal.abort() })).toEqual([])
    const controller = new AbortController()
    const events: ModelEvent[] = []
    for await (const event of scripted([say("a long text that comes in many pieces")]).ask(request({ stream: true, signal: controller.signal }))) {
      events.push(event)
      controller.abort()
    }
    expect(events).toEqual([{ type: "text", text: "a long t" }])
    const waiting = new AbortController()
    const hanging = ask(scripted([hang()]), { signal: waiting.signal })
    waiting.abort()
    expect(await hanging).toEqual([])
  })
})
