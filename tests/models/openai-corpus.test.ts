// Every stream and every plain answer of the corpus, read by the pure reader and through a real socket over both transports.
import { afterEach, describe, expect, test } from "vitest"
import { chatStream } from "../../src/capability/models/chat-stream.ts"
import { openai } from "../../src/doors/openai.ts"
import type { ModelServer } from "../support/model-server.ts"
import { bodyAnswer, chunkedAnswer, startModelServer } from "../support/model-server.ts"
import { ask } from "./ask.ts"
import type { StreamRow } from "./wire-corpus.ts"
import { inCorpusWords, responseRows, streamRows } from "./wire-corpus.ts"

const EXACT_SHARE = 0.95

let server: ModelServer | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

function readPurely(row: StreamRow): object {
  const stream = chatStream({ price: null, originalName: (name) => name }, () => {})
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  for (const bytes of row.reads) stream.push(decoder.decode(bytes, { stream: true }))
  const broken = row.context.end === "reset" ? Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" }) : undefined
  const outcome = stream.end(broken)
  return inCorpusWords(outcome.type === "reply" ? { reply: outcome.reply, failure: null } : { reply: null, failure: outcome.failure })
}

describe("streams, read purely", () => {
  const rows = streamRows.filter(({ context }) => context.level !== "http")
  test.each(rows)("$id: $why", (row) => {
    expect(row.verdict(readPurely(row))).toMatchObject({ pass: true })
  })
  test("almost all are read exactly as preferred", () => {
    const exact = rows.filter((row) => row.verdict(readPurely(row)).exact === true)
    expect(exact.length / rows.length).toBeGreaterThanOrEqual(EXACT_SHARE)
  })
})

describe.each(["node", "fetch"] as const)("through a socket, over %s", (transport) => {
  const model = () => openai({ baseUrl: server?.baseUrl, model: "m", transport })

  test.each(streamRows)("stream $id: $why", async (row) => {
    // A stream without one event is asked again: by an empty body.
    server = await startModelServer([chunkedAnswer(row.reads, { headers: row.context.headers, after: row.context.end === "reset" ? "reset" : "keep" }), bodyAnswer("")])
    expect(row.verdict(inCorpusWords(await ask(model(), { stream: true })))).toMatchObject({ pass: true })
  })

  test.each(responseRows)("plain $id: $why", async (row) => {
    const { status, headers, body } = row.input
    server = await startModelServer([bodyAnswer(body, { status, headers })])
    expect(row.verdict(inCorpusWords(await ask(model())))).toMatchObject({ pass: true })
  })
})
