// The order example with a model of one's own, as the README says it: the built program, three variables, a server on this machine that plays the task.
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { resume } from "hello-agents"
import { foldEvents } from "hello-agents/runs"
import { fileStore } from "hello-agents/stores"
import { say as scriptedSay, scripted } from "hello-agents/testing"
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest"
import support from "../../examples/order-support/agent.ts"
import { build } from "../../scripts/build.mjs"
import type { Ended, Place } from "../config/program.ts"
import { makePlace } from "../config/program.ts"
import type { Answer, ModelServer, SeenRequest, ServerAnswer } from "../support/model-server.ts"
import { bodyAnswer, callTool, jsonAnswer, reply, say, startModelServer } from "../support/model-server.ts"

const AGENT = fileURLToPath(new URL("../../examples/order-support/agent.ts", import.meta.url))
const KEY = "sk-test-0123456789abcdef"
const QUESTION = "Where is order A1001?"
const SLOW = { timeout: 30_000 }

let place: Place
let server: ModelServer | null = null
beforeAll(() => {
  if (!build()) throw new Error("the program could not be built")
}, 180_000)
beforeEach(() => {
  place = makePlace()
})
afterEach(async () => {
  place.remove()
  await server?.close()
  server = null
})

async function serve(answers: Parameters<typeof startModelServer>[0]): Promise<string> {
  server = await startModelServer(answers)
  return server.baseUrl
}
function demo(baseUrl: string): Promise<Ended> {
  return place.run(["run", "--agent", AGENT, QUESTION], { LLM_BASE_URL: baseUrl, LLM_API_KEY: KEY, LLM_MODEL: "shop-model" })
}
/** A server that answers whole, whether it is asked for a stream or not. */
function unstreamed(answer: Answer): Answer {
  return (request, index) => (typeof answer === "function" ? answer({ ...request, body: { ...request.body, stream: false } }, index) : answer)
}
const task: readonly Answer[] = [callTool("get_order", { order_id: "A1001" }), say("A1001 was shipped on 2025-01-16 with SF Express.")]
const store = () => fileStore(join(place.folder, ".hello-agents/runs"))

describe("LLM_BASE_URL, LLM_API_KEY and LLM_MODEL are all that a real model needs", SLOW, () => {
  it.each<[string, readonly Answer[]]>([
    ["streamed", task],
    ["plain", task.map(unstreamed)],
  ])("%s: the tool runs, its result goes back, the answer is on stdout", async (_, answers) => {
    const { code, out, err } = await demo(await serve(answers))
    expect([code, out]).toEqual([0, "A1001 was shipped on 2025-01-16 with SF Express.\n"])
    expect(err.split("\n")[0]).toBe("model   shop-model (from LLM_MODEL, LLM_BASE_URL, LLM_API_KEY)")
    expect(err).toContain('→ get_order {"order_id":"A1001"}')
    expect(err).toMatch(/done {4}2 model calls, 1 tool calls, \d+\.\d s, 60 tokens/)
    const seen = (server?.requests ?? []).map(({ path, headers, body }) => [path, headers["authorization"], body["model"], body["stream"]])
    expect(seen).toEqual([1, 2].map(() => ["/v1/chat/completions", `Bearer ${KEY}`, "shop-model", true]))
    const sentBack = ((server?.requests[1]?.body["messages"] ?? []) as { role: string; content: string }[]).at(-1)
    expect(sentBack).toMatchObject({ role: "tool", content: expect.stringContaining('"status":"shipped"') })
  })

  it.each<[string, readonly Answer[]]>([
    ["arguments in a code fence", [callTool("get_order", '```json\n{"order_id": "A1001",}\n```'), say("done")]],
    ["a call written as text", [say('<tool_call>{"name":"get_order","arguments":{"order_id":"A1001"}}</tool_call>'), say("done")]],
    ["an empty reply first", [reply({}), callTool("get_order", { order_id: "A1001" }), say("done")]],
    [
      "a server that is busy once",
      [jsonAnswer({ error: { message: "busy" } }, { status: 503, headers: { "retry-after": "0" } }), callTool("get_order", { order_id: "A1001" }), say("done")],
    ],
  ])("a worse model gets there too: %s", async (_, answers) => {
    const { code, out, err } = await demo(await serve(answers))
    expect([code, out]).toEqual([0, "done\n"])
    expect(err).toContain('← get_order {"order_id":"A1001","customer_id":"C001"')
  })
})

describe("what a wrong setting looks like", SLOW, () => {
  const json = (status: number, message: string, code: string) => jsonAnswer({ error: { message, code } }, { status })
  it.each<[string, Answer, number, string, string, RegExp]>([
    ["a wrong key", json(401, `Incorrect API key provided: ${KEY}`, "invalid_api_key"), 1, "auth", "  Check LLM_API_KEY.", /HTTP 401: Incorrect API key provided/],
    [
      "an unknown model",
      json(404, "The model `shop-model` does not exist", "model_not_found"),
      1,
      "not_found",
      "  Check LLM_MODEL.",
      /HTTP 404: The model `shop-model` does not exist/,
    ],
    ["a wrong path", json(404, "404 page not found", ""), 1, "not_found", "  Check LLM_BASE_URL: it usually ends in /v1.", /HTTP 404/],
    [
      "a web page",
      bodyAnswer("<!doctype html><title>Welcome</title>", { headers: { "content-type": "text/html" } }),
      1,
      "bad_response",
      "  Check LLM_BASE_URL: what answers there may be no model server.",
      /web page \(HTML\), not JSON/,
    ],
  ])("%s: one line names the setting, exit code 3, the run is on disk", async (_, answer, asked, stopCode, remedy, cause) => {
    const ended = await demo(await serve(answersForEver(answer)))
    expectOneClearLine(ended, remedy, cause)
    expect(server?.requests).toHaveLength(asked)
    await expectRunIntact(stopCode)
  })

  it("a server that is down: asked three times, then the same", async () => {
    const url = await serve([])
    await server?.close()
    server = null
    expectOneClearLine(await demo(url), "  Check LLM_BASE_URL: is the server running there?", /after 3 tries: The model server refused the connection: connect ECONNREFUSED/)
    await expectRunIntact("network")
  })

  function answersForEver(answer: Answer): (request: SeenRequest, index: number) => ServerAnswer {
    return (request, index) => (typeof answer === "function" ? answer(request, index) : answer)
  }

  function expectOneClearLine({ code, out, err }: Ended, remedy: string, cause: RegExp): void {
    expect([code, out]).toEqual([3, ""])
    const lines = err.split("\n").slice(1)
    expect(lines.filter((line) => line.includes("LLM_"))).toEqual([remedy])
    expect(lines[lines.indexOf(remedy) - 1]).toMatch(/^no answer \(model_unavailable\): The model did not answer/)
    expect(lines[lines.indexOf(remedy) - 1]).toMatch(cause)
    expect(err).not.toContain(KEY)
    expect(err).not.toContain("    at ")
  }

  /** Every event is there to its end, the history is valid, nothing secret is in it, and the run goes on where it stopped once the model answers. */
  async function expectRunIntact(stopCode: string): Promise<void> {
    const [kept, ...others] = await store().list()
    const runId = kept?.runId ?? ""
    expect(others).toEqual([])
    const events = await store().read(runId)
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
    expect([events[0]?.type, events.at(-1)?.type]).toEqual(["run_start", "run_end"])
    expect(JSON.stringify(events)).not.toContain(KEY)
    const state = foldEvents(events)
    expect(state?.status).toMatchObject({ type: "stopped", stop: { reason: "model_unavailable", code: stopCode } })
    expect(state?.messages).toEqual([{ role: "user", content: QUESTION }])
    const resumed = await resume(support, runId, { store: store(), model: scripted([scriptedSay("It is on its way.")]) })
    expect([resumed.ok, resumed.answer]).toEqual([true, "It is on its way."])
  }
})
