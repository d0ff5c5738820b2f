// Cassettes: a recorded model call comes back the same, without the model.
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import type { CassetteFile } from "../../src/capability/models/cassette.ts"
import { record, replay } from "../../src/capability/models/cassette.ts"
import { cassette } from "../../src/capability/models/cassette-file.ts"
import { call, fail, hang, say, scripted, think, together } from "../../src/capability/models/scripted.ts"
import type { Message } from "../../src/contract/message.ts"
import type { ModelEvent, ModelRequest } from "../../src/contract/model.ts"
import type { Model } from "../../src/contract/ports.ts"

function request(messages: readonly Message[], change: Partial<ModelRequest> = {}): ModelRequest {
  return { instructions: "Help.", notes: "", messages, tools: [], settings: {}, output: null, stream: false, signal: new AbortController().signal, ...change }
}
const user = (content: string): Message => ({ role: "user", content })

async function ask(model: Model, asked: ModelRequest): Promise<ModelEvent[]> {
  const events: ModelEvent[] = []
  for await (const event of model.ask(asked)) events.push(event)
  return events
}

function inMemory(): CassetteFile & { text: string } {
  const file = {
    text: "",
    read: () => file.text,
    append: (line: string) => {
      file.text += line
    },
  }
  return file
}
/** What a replay says when it has no recording. */
async function missOf(model: Model, asked: ModelRequest): Promise<string> {
  const [event, ...rest] = await ask(model, asked)
  expect(rest).toEqual([])
  expect(event).toMatchObject({ type: "failure", failure: { code: "invalid_request", retryable: false } })
  return event?.type === "failure" ? event.failure.message : ""
}

describe("a recorded conversation", () => {
  it("comes back the same: replies, failures, attempts", async () => {
    const file = inMemory()
    const replies = [call("get_order", { order_id: "A1001" }), fail({ code: "overloaded" }), together(think("hm"), say("Shipped.")), say("Shipped, I said.")]
    const requests = [[user("Where?")], [user("Again?")], [user("Again?")], [user("Again?")]].map((messages) => request(messages))
    const live = record(scripted(replies, { name: "live", contextWindow: 8000 }), file)
    expect([live.name, live.contextWindow]).toEqual(["live", 8000])
    const recorded: ModelEvent[][] = []
    for (const one of requests) recorded.push(await ask(live, one))
    const played: ModelEvent[][] = []
    const model = replay(file)
    for (const one of requests) played.push(await ask(model, one))
    expect(played).toEqual(recorded)
    expect(
      file.text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line).attempt),
    ).toEqual([1, 1, 2, 3])
  })

  it("is streamed when somebody reads along, though it was recorded without", async () => {
    const file = inMemory()
    await ask(record(scripted([together(think("hm"), say("Shipped."))]), file), request([user("Where?")]))
    const events = await ask(replay(file), request([user("Where?")], { stream: true }))
    expect(events.map((event) => event.type)).toEqual(["reasoning", "text", "reply"])
  })

  it("is found again with other call ids, other machine times and other UUIDs, but not with other words", async () => {
    const file = inMemory()
    const turn = (id: string, content: string): Message[] => [
      user("Where?"),
      { role: "assistant", content: "", calls: [{ id, name: "now", arguments: "{}" }] },
      { role: "tool", callId: id, content },
    ]
    await ask(record(scripted([say("ok")]), file), request(turn("call_9", "at 2025-01-16T10:20:30.123Z in 123e4567-e89b-12d3-a456-426614174000")))
    expect(await ask(replay(file), request(turn("c1", "at 2026-02-01T00:00:00.000Z in 00000000-e89b-12d3-a456-426614174000")))).toMatchObject([{ type: "reply" }])
    expect(await missOf(replay(file), request(turn("c1", "at 2025-01-16 10:21")))).toContain("messages.2.content")
  })

  it("lets a team take out what else differs from run to run", async () => {
    const file = inMemory()
    const options = { normalise: (text: string) => text.replace(/run-\d+/, "run-N") }
    await ask(record(scripted([say("ok")]), file, options), request([user("run-1")]))
    expect(await ask(replay(file, options), request([user("run-2")]))).toMatchObject([{ type: "reply" }])
  })

  it("compares pictures by their bytes", async () => {
    const file = inMemory()
    const picture = (...bytes: number[]): Message[] => [
      {
        role: "user",
        content: [
          { type: "text", text: "This?" },
          { type: "image", image: new Uint8Array(bytes) },
        ],
      },
    ]
    await ask(record(scripted([say("ok")]), file), request(picture(1, 2, 3)))
    expect(await ask(replay(file), request(picture(1, 2, 3)))).toMatchObject([{ type: "reply" }])
    expect(await missOf(replay(file), request(picture(1, 2, 4)))).toContain("messages.0.images.0")
  })
})

describe("secrets", () => {
  const secret = "sk-abcdefghijklmnop1234"

  it("are not in the file, and the conversation with the hidden ones can be replayed", async () => {
    const file = inMemory()
    const turn = (argument: string): Message[] => [
      user(`my key is ${secret}`),
      { role: "assistant", content: "", calls: [{ id: "c1", name: "save", arguments: `{"key":"${argument}"}` }] },
      { role: "tool", callId: "c1", content: "ok" },
    ]
    const live = record(scripted([call("save", { key: secret }), say("saved")]), file)
    await ask(live, request([user(`my key is ${secret}`)]))
    await ask(live, request(turn(secret)))
    expect(file.text).not.toContain(secret)
    const model = replay(file)
    const [first] = await ask(model, request([user(`my key is ${secret}`)]))
    const argument = first?.type === "reply" ? JSON.parse(first.reply.calls[0]?.arguments ?? "{}").key : ""
    expect(argument).toBe("[hidden]")
    expect(await ask(model, request(turn(argument)))).toMatchObject([{ type: "reply", reply: { text: "saved" } }])
  })
})

describe("a miss", () => {
  it("is a failure that names the nearest recorded request and the first difference", async () => {
    const file = inMemory()
    const live = record(scripted([say("a"), say("b")]), file)
    await ask(live, request([user("Where is A1001?")]))
    await ask(live, request([user("What is the weather?"), user("In Paris?")], { instructions: "Other." }))
    expect(await missOf(replay(file), request([user("Where is A1002?")]))).toBe(
      'This request was not recorded. The nearest is recording 1 of 2; it differs first in messages.0.content: recorded "Where is A1001?", asked "Where is A1002?".',
    )
  })

  it("says so when the request is known but was asked less often", async () => {
    const file = inMemory()
    await ask(record(scripted([say("a")]), file), request([user("Hi")]))
    const model = replay(file)
    await ask(model, request([user("Hi")]))
    expect(await missOf(model, request([user("Hi")]))).toBe("This request was recorded for 1 attempt, and is now asked for attempt 2.")
  })

  it("of an empty, broken or mixed cassette says which", async () => {
    expect(await missOf(replay(inMemory()), request([user("Hi")]))).toBe("This request was not recorded: the cassette is empty.")
    const broken = inMemory()
    broken.text = '\n{"v":1'
    expect(await missOf(replay(broken), request([user("Hi")]))).toBe("The cassette cannot be used: line 2 is not JSON")
    const foreign = inMemory()
    foreign.text = '{"v":2}'
    expect(await missOf(replay(foreign), request([user("Hi")]))).toBe("The cassette cannot be used: line 1 is not a recording of this version")
    const mixed = inMemory()
    await ask(record(scripted([fail({ code: "overloaded" })], { name: "big" }), mixed), request([user("Hi")]))
    await ask(record(scripted([say("small")], { name: "small" }), mixed), request([user("Hi")]))
    expect(await missOf(replay(mixed), request([user("Hi")]))).toBe("The cassette cannot be used: it holds recordings of big and small; say which with { name }")
    expect(await ask(replay(mixed, { name: "small" }), request([user("Hi")]))).toMatchObject([{ type: "reply", reply: { text: "small" } }])
    expect(await ask(replay(mixed, { name: "big" }), request([user("Hi")]))).toMatchObject([{ type: "failure", failure: { code: "overloaded" } }])
  })
})

describe("recording", () => {
  it("writes nothing for a call that was interrupted", async () => {
    const file = inMemory()
    const controller = new AbortController()
    const asked = ask(record(scripted([hang()]), file), request([user("Hi")], { signal: controller.signal }))
    controller.abort()
    expect(await asked).toEqual([])
    expect(file.text).toBe("")
  })

  it("fails the call when the file cannot be written, instead of losing it silently", async () => {
    const file: CassetteFile = { read: () => "", append: () => Promise.reject(new Error("disk full")) }
    expect(await ask(record(scripted([say("a")]), file), request([user("Hi")]))).toMatchObject([
      { type: "failure", failure: { message: "The cassette could not be written: disk full", retryable: false } },
    ])
  })

  it("replaces an older recording of the same request", async () => {
    const file = inMemory()
    await ask(record(scripted([say("old")]), file), request([user("Hi")]))
    await ask(record(scripted([say("new")]), file), request([user("Hi")]))
    expect(await ask(replay(file), request([user("Hi")]))).toMatchObject([{ reply: { text: "new" } }])
  })
})

describe("a cassette on disk", () => {
  it("has one JSON line per model call, in a folder that is made for it; without it a replay fails", async () => {
    const folder = await mkdtemp(join(tmpdir(), "cassette-"))
    try {
      const path = join(folder, "new", "talk.jsonl")
      expect(await missOf(replay(cassette(path)), request([user("Hi")]))).toContain("The cassette cannot be used: ENOENT")
      await ask(record(scripted([say("a")]), cassette(path)), request([user("Hi")]))
      const lines = (await readFile(path, "utf8")).split("\n")
      expect(lines.map((line) => (line ? Object.keys(JSON.parse(line)) : line))).toEqual([["v", "key", "attempt", "model", "request", "end"], ""])
      expect(await ask(replay(cassette(path)), request([user("Hi")]))).toMatchObject([{ type: "reply", reply: { text: "a" } }])
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
