// What can happen between us and a server, played by a real socket; the same suite over both transports.
import { once } from "node:events"
import { createServer } from "node:net"
import { brotliCompressSync, gzipSync } from "node:zlib"
import { afterEach, describe, expect, test } from "vitest"
import { openai } from "../../src/doors/openai.ts"
import type { Answer, ModelServer, ServerAnswer } from "../support/model-server.ts"
import { bodyAnswer, chunkedAnswer, delta, event, hang, jsonAnswer, reply, say, startModelServer } from "../support/model-server.ts"
import { ask, eventsOf, GET_ORDER, request } from "./ask.ts"

let server: ModelServer
afterEach(async () => {
  await server?.close()
})

const start = async (...script: Answer[]): Promise<void> => {
  server = await startModelServer(script)
}
const hello = { choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }] }
const helloReply = { text: "Hello", reasoning: "", calls: [], finish: "stop", usage: null }

describe.each(["node", "fetch"] as const)("over %s", (transport) => {
  const model = (options: Parameters<typeof openai>[0] = {}) => openai({ baseUrl: server.baseUrl, apiKey: "key-12345678", model: "m", transport, ...options })

  describe("a plain request", () => {
    test("is posted as JSON with the key, and answered by one event", async () => {
      await start(reply({ text: "Shipped.", usage: { prompt_tokens: 12, completion_tokens: 3 } }))
      const heard = await ask(model({ headers: { "X-Team": "a" } }))
      expect(heard.events).toEqual([
        {
          type: "reply",
          reply: { text: "Shipped.", reasoning: "", calls: [], finish: "stop", usage: { inputTokens: 12, outputTokens: 3, cachedTokens: 0, reasoningTokens: 0, cost: "unknown" } },
        },
      ])
      const [seen] = server.requests
      expect(seen).toMatchObject({
        method: "POST",
        path: "/v1/chat/completions",
        headers: { authorization: "Bearer key-12345678", "content-type": "application/json", "x-team": "a" },
      })
      expect(seen?.headers.host).toBe(new URL(server.baseUrl).host)
      expect(seen?.body).toEqual({
        model: "m",
        messages: [
          { role: "system", content: "Be short." },
          { role: "user", content: "Where is order 10001?" },
        ],
      })
    })

    test("may hold any character, in both directions", async () => {
      await start(say('价格 🦊 \u2028 "q"'))
      const heard = await ask(model(), { messages: [{ role: "user", content: "多少钱？🐻" }] })
      expect(heard.reply?.text).toBe('价格 🦊 \u2028 "q"')
      expect(server.requests[0]?.body.messages).toContainEqual({ role: "user", content: "多少钱？🐻" })
    })

    test("is read across many reads, white space of keep-alives before it included", async () => {
      const bytes = Buffer.from(`\n\n   ${JSON.stringify({ ...hello, note: "🦊".repeat(50) })}`)
      await start(
        chunkedAnswer(
          [...bytes].map((byte) => new Uint8Array([byte])),
          { headers: { "content-type": "application/json" } },
        ),
      )
      expect((await ask(model())).reply).toEqual(helloReply)
    })

    test.each([
      ["gzip", gzipSync],
      ["br", brotliCompressSync],
    ] as const)("answered in %s, though nobody asked for it, is unpacked", async (encoding, compress) => {
      await start(bodyAnswer(compress(JSON.stringify(hello)), { headers: { "content-encoding": encoding } }))
      expect((await ask(model())).reply).toEqual(helloReply)
    })

    test("answered by a stream is read as one", async () => {
      await start(bodyAnswer(delta({ content: "Hello" }) + delta({}, "stop") + event("[DONE]"), { headers: { "content-type": "text/event-stream" } }))
      expect((await ask(model())).reply).toEqual(helloReply)
    })

    test("whose body breaks off before its announced length has no answer", async () => {
      await start(bodyAnswer(JSON.stringify(hello), { headers: { "content-length": "500" }, after: "close" }))
      expect((await ask(model())).failure).toMatchObject({ code: "network", retryable: true })
    })

    test("whose connection is reset in the body has no answer", async () => {
      await start(chunkedAnswer(['{"choices":[{"index":0,"message":{"content":"Half'], { after: "reset" }))
      expect((await ask(model())).failure).toMatchObject({ code: "network", retryable: true })
    })

    test("with an empty body is an empty response", async () => {
      await start(bodyAnswer(""))
      expect((await ask(model())).failure).toMatchObject({ code: "empty_response", retryable: true })
    })

    test("answered by an error is reported once, with the time the server asks for", async () => {
      await start(jsonAnswer({ error: { message: "slow down", type: "rate_limit_error" } }, { status: 429, headers: { "retry-after": "7" } }))
      expect((await ask(model())).events).toEqual([{ type: "failure", failure: { code: "rate_limit", message: "HTTP 429: slow down", retryable: true, waitMs: 7000 } }])
    })

    test("that is sent elsewhere is not followed: the setting is named", async () => {
      await start(bodyAnswer("", { status: 307, headers: { location: "https://elsewhere.example/v1" } }))
      expect((await ask(model())).failure).toMatchObject({ retryable: false, hint: expect.stringContaining("LLM_BASE_URL") })
      expect(server.requests).toHaveLength(1)
    })

    test("never shows its key, even if the server repeats it", async () => {
      await start(jsonAnswer({ error: { message: "key key-12345678 is not valid" } }, { status: 401 }))
      const { failure } = await ask(model())
      expect(failure).toMatchObject({ code: "auth", retryable: false })
      expect(JSON.stringify(failure)).not.toContain("12345678")
    })
  })

  describe("a connection", () => {
    test("is used again by the next request", async () => {
      await start(say("one"), say("two"), say("three"))
      const own = model()
      for (const stream of [false, true, false]) await ask(own, { stream })
      // fetch may open a second one while it tidies up the first.
      const connections = transport === "node" ? [1, 1, 1] : [1, expect.toBeOneOf([1, 2]), expect.toBeOneOf([1, 2])]
      expect(server.requests.map(({ connection }) => connection)).toEqual(connections)
    })

    test("is one of many when many runs ask at once", async () => {
      let asked = 0
      let all: () => void = () => {}
      const together = new Promise<void>((resolve) => (all = resolve))
      const tcp = createServer((socket) => {
        socket.on("data", async () => {
          if (++asked === 40) all()
          await together
          socket.write(bodyAnswer(JSON.stringify(hello)).pieces[0] as Uint8Array)
        })
      })
      tcp.listen(0, "127.0.0.1")
      await once(tcp, "listening")
      const { port } = tcp.address() as { port: number }
      const own = openai({ baseUrl: `http://127.0.0.1:${port}/v1`, model: "m", transport })
      const heard = await Promise.all(Array.from({ length: 40 }, () => ask(own)))
      expect(heard.map(({ reply }) => reply)).toEqual(Array.from({ length: 40 }, () => helloReply))
      tcp.close()
    })

    test("that the server has closed meanwhile costs nothing: the request is sent again, once", async () => {
      await start(say("one"), { pieces: [], after: "reset" }, say("two"))
      const own = model()
      await ask(own)
      expect((await ask(own)).reply?.text).toBe("two")
      expect(server.requests).toHaveLength(3)
    })

    test("that is reset every time is a failure after the second", async () => {
      const reset: ServerAnswer = { pieces: [], after: "reset" }
      await start(say("one"), reset, reset, reset)
      const own = model()
      await ask(own)
      expect((await ask(own)).failure).toMatchObject({ code: "network", retryable: true })
      expect(server.requests).toHaveLength(3)
    })

    test("that is new and reset is a failure at once", async () => {
      await start({ pieces: [], after: "reset" }, say("never"))
      expect((await ask(model())).failure).toMatchObject({ code: "network", retryable: true })
      expect(server.requests).toHaveLength(1)
    })

    test("that nobody accepts is a failure", async () => {
      await start()
      const own = model()
      await server.close()
      server = await startModelServer([])
      expect((await ask(own)).failure).toMatchObject({ code: "network", retryable: true })
    })

    test("that speaks no HTTP is a failure", async () => {
      await start({ pieces: ["SSH-2.0-OpenSSH_9\r\n"], after: "close" })
      expect((await ask(model())).failure).not.toBeNull()
    })
  })

  describe("silence", () => {
    test("before the first byte ends the call", async () => {
      await start(hang())
      expect((await ask(model({ timeoutMs: 60 }))).failure).toMatchObject({ code: "timeout", retryable: true })
    })

    test("between two reads ends the call, and text came before", async () => {
      await start(chunkedAnswer([delta({ content: "Half" })], { after: "hang" }))
      const heard = await ask(model({ timeoutMs: 400 }), { stream: true })
      expect(heard).toMatchObject({ text: "Half", failure: { code: "timeout", retryable: true } })
    })

    test("is broken by comments, however long the answer takes", async () => {
      const waits = Array.from({ length: 8 }, () => [{ waitMs: 100 }, ": working\n\n"]).flat()
      await start(chunkedAnswer([...waits, delta({ content: "Hello" }), delta({}, "stop"), event("[DONE]")]))
      expect((await ask(model({ timeoutMs: 700 }), { stream: true })).reply).toEqual(helloReply)
    })

    test("after [DONE] is not waited for", async () => {
      await start(chunkedAnswer([delta({ content: "Hello" }), delta({}, "stop"), event("[DONE]")], { after: "hang" }))
      expect((await ask(model({ timeoutMs: 5_000 }), { stream: true })).reply).toEqual(helloReply)
    })

    test("after the finish reason is a whole answer all the same", async () => {
      await start(chunkedAnswer([delta({ content: "Hello" }), delta({}, "stop")], { after: "hang" }))
      expect((await ask(model({ timeoutMs: 400 }), { stream: true })).reply).toEqual(helloReply)
    })
  })

  describe("a streamed request", () => {
    test("asks for usage and hands text and reasoning on as they come", async () => {
      await start(reply({ text: "It was shipped yesterday.", reasoning: "Look it up.", usage: { prompt_tokens: 9, completion_tokens: 4 } }))
      const heard = await ask(model(), { stream: true })
      expect(server.requests[0]?.body).toMatchObject({ stream: true, stream_options: { include_usage: true } })
      expect(heard).toMatchObject({ text: "It was shipped yesterday.", reasoning: "Look it up.", reply: { finish: "stop", usage: { inputTokens: 9, outputTokens: 4 } } })
      expect(heard.events.filter(({ type }) => type === "text").length).toBeGreaterThan(0)
    })

    test("shows text before the stream is over", async () => {
      await start(chunkedAnswer([delta({ content: "First" }), { waitMs: 100 }, delta({ content: " second" }), delta({}, "stop"), event("[DONE]")]))
      const heard = await ask(model(), { stream: true })
      expect(heard.events.map((event) => (event.type === "text" ? event.text : event.type))).toEqual(["First", " second", "reply"])
    })

    test("without one event is asked again unstreamed, once; with tools so are the next turns", async () => {
      await start(chunkedAnswer([]), reply({ calls: [{ name: "get_order", arguments: "{}" }] }), say("It was shipped."), chunkedAnswer([delta({ content: "Hi" }, "stop")]))
      const own = model()
      const first = await ask(own, { stream: true, tools: [GET_ORDER] })
      expect(first.notes).toEqual([
        "the stream ended without one event; asked again unstreamed",
        "streaming with tools does not work on this server; it is asked unstreamed when tools are sent",
      ])
      expect(first.reply?.calls).toMatchObject([{ name: "get_order", arguments: "{}" }])
      const second = await ask(own, { stream: true, tools: [GET_ORDER] })
      expect(second).toMatchObject({ text: "It was shipped.", notes: [] })
      await ask(own, { stream: true })
      expect(server.requests.map(({ body }) => body.stream ?? false)).toEqual([true, false, false, true])
    })

    test("without one event twice tells what the plain answer says, and remembers nothing", async () => {
      await start(
        chunkedAnswer([]),
        jsonAnswer({ error: { message: "maximum context length is 4096 tokens", code: "context_length_exceeded" } }, { status: 400 }),
        chunkedAnswer([delta({ content: "Hi" }, "stop")]),
      )
      const own = model()
      expect((await ask(own, { stream: true, tools: [GET_ORDER] })).failure).toMatchObject({ code: "context_length", retryable: false })
      await ask(own, { stream: true, tools: [GET_ORDER] })
      expect(server.requests.map(({ body }) => body.stream ?? false)).toEqual([true, false, true])
    })

    test("answered by a web page names the setting", async () => {
      await start(bodyAnswer("<!doctype html><title>Sign in</title>", { headers: { "content-type": "text/html" } }))
      expect((await ask(model(), { stream: true })).failure).toMatchObject({
        code: "bad_response",
        retryable: false,
        message: expect.stringContaining("Sign in"),
        hint: expect.stringContaining("LLM_BASE_URL"),
      })
    })

    test("answered by a status is a failure like any other", async () => {
      await start(jsonAnswer({ error: { message: "overloaded" } }, { status: 503 }))
      expect((await ask(model(), { stream: true })).failure).toMatchObject({ code: "overloaded", retryable: true })
    })
  })

  describe("leaving", () => {
    const endless = () => chunkedAnswer([delta({ content: "Half" })], { after: "hang" })
    const closed = async (): Promise<void> => {
      while (server.open().includes(1)) await new Promise((resolve) => setImmediate(resolve))
    }

    test("by the signal ends the iteration without an event and closes the connection", async () => {
      await start(endless())
      const controller = new AbortController()
      const seen: string[] = []
      for await (const event of model().ask(request({ stream: true, signal: controller.signal }))) {
        seen.push(event.type)
        controller.abort()
      }
      expect(seen).toEqual(["text"])
      await closed()
    })

    test("by the signal before the first byte, too", async () => {
      const controller = new AbortController()
      server = await startModelServer(() => {
        controller.abort()
        return { pieces: [], after: "hang" }
      })
      expect(await eventsOf(model().ask(request({ signal: controller.signal })))).toEqual([])
      await closed()
    })

    test("by a signal that was aborted before asks nobody", async () => {
      await start(say("never"))
      expect(await eventsOf(model().ask(request({ signal: AbortSignal.abort() })))).toEqual([])
      expect(server.requests).toEqual([])
    })

    test("the loop early closes the connection", async () => {
      await start(endless())
      for await (const _ of model().ask(request({ stream: true }))) break
      await closed()
    })
  })
})

describe("a transport of one's own", () => {
  test("is given the request and answers for the server; what it throws is a failure", async () => {
    const asked: string[] = []
    const model = openai({
      baseUrl: "http://models.example/v1/",
      model: "m",
      transport: async ({ url, method, timeoutMs }) => {
        asked.push(`${method} ${url} ${timeoutMs}`)
        if (asked.length > 1) throw Object.assign(new Error("nope"), { code: "ECONNREFUSED" })
        return { status: 200, headers: {}, text: async () => JSON.stringify(hello), read: async () => {}, cancel: () => {} }
      },
    })
    expect((await ask(model)).reply).toEqual(helloReply)
    expect((await ask(model)).failure).toMatchObject({ code: "network", retryable: true })
    expect(asked[0]).toBe("POST http://models.example/v1/chat/completions 60000")
  })
})
