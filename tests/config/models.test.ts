// What a server says when it is asked for its models, and the servers of this machine.
import { once } from "node:events"
import { createServer } from "node:net"
import { afterEach, describe, expect, it } from "vitest"
import { askModels } from "../../src/cli/ask-models.ts"
import { findLocalServers } from "../../src/cli/local-servers.ts"
import type { ModelServer, ServerAnswer } from "../support/model-server.ts"
import { bodyAnswer, hang, jsonAnswer, startModelServer } from "../support/model-server.ts"
import { recorded } from "./program.ts"

const KEY = "my-own-key-1234567890"
const servers: ModelServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})
async function serve(answer: ServerAnswer): Promise<ModelServer> {
  const server = await startModelServer(() => answer)
  servers.push(server)
  return server
}
const list = (...names: readonly string[]) => jsonAnswer({ object: "list", data: names.map((id) => ({ id, object: "model" })) })

describe("a server is asked for its models", () => {
  it.each<[string, ServerAnswer, object]>([
    ["a list, as a real server gave it", recorded("models"), { type: "models", names: ["smollm2"] }],
    ["404 with a detail, as a real server gave it", recorded("unknown-path"), { type: "no_list", status: 404, said: "Not Found" }],
    ["names under models", jsonAnswer({ models: [{ name: "qwen3:latest" }, { name: 1 }] }), { type: "models", names: ["qwen3:latest"] }],
    ["a bare list", jsonAnswer(["a", { id: "b" }, null]), { type: "models", names: ["a", "b"] }],
    ["an empty list", list(), { type: "models", names: [] }],
    ["a page", bodyAnswer("<html>hello</html>", { headers: { "content-type": "text/html" } }), { type: "no_list", status: 200, said: "" }],
    ["a refused key", jsonAnswer({ error: { message: `bad key ${KEY}` } }, { status: 401 }), { type: "key_refused", status: 401 }],
    ["no permission", jsonAnswer({ message: "no" }, { status: 403 }), { type: "key_refused", status: 403 }],
    ["its own fault, with our key in it", jsonAnswer({ error: `broken\n by\u001b ${KEY}` }, { status: 500 }), { type: "failing", status: 500, said: "broken by …" }],
    ["a fault without a word", bodyAnswer("", { status: 502 }), { type: "failing", status: 502, said: "" }],
  ])("%s", async (_, answer, expected) => {
    const server = await serve(answer)
    expect(await askModels({ baseUrl: server.baseUrl, apiKey: KEY, timeoutMs: 5_000 })).toEqual(expected)
    expect(server.requests.map(({ method, path, headers }) => [method, path, headers["authorization"]])).toEqual([["GET", "/v1/models", `Bearer ${KEY}`]])
  })

  it.each(["", "/", "/chat/completions", "/chat/completions/"])("at the right address, also with %j at its end", async (ending) => {
    const server = await serve(list("m"))
    await askModels({ baseUrl: `${server.baseUrl}${ending}?version=1`, timeoutMs: 5_000 })
    expect(server.requests.map(({ path, headers }) => [path, headers["authorization"]])).toEqual([["/v1/models?version=1", undefined]])
  })

  it("that is silent is left alone after the time given", async () => {
    const server = await serve(hang() as ServerAnswer)
    expect(await askModels({ baseUrl: server.baseUrl, timeoutMs: 100 })).toEqual({ type: "unreachable", why: "timeout" })
  })

  it("that stops in the middle of its list is left alone too", async () => {
    const server = await serve({ pieces: ['HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"data":['], after: "hang" })
    expect(await askModels({ baseUrl: server.baseUrl, timeoutMs: 100 })).toEqual({ type: "unreachable", why: "timeout" })
  })

  it("that is not there", async () => {
    expect(await askModels({ baseUrl: `http://127.0.0.1:${await freePort()}/v1`, timeoutMs: 5_000 })).toEqual({ type: "unreachable", why: "ECONNREFUSED" })
  })
})

describe("servers of this machine", () => {
  it("are found by their ports if they have a list of models, and get no key", async () => {
    const [ollama, other] = [await serve(list("qwen3", "llama")), await serve(bodyAnswer("hello"))]
    const port = (server: ModelServer): number => Number(new URL(server.baseUrl).port)
    const found = await findLocalServers([
      ["Ollama", port(ollama)],
      ["LM Studio", port(other)],
      ["vLLM", await freePort()],
    ])
    expect(found).toEqual([{ name: "Ollama", baseUrl: `http://localhost:${port(ollama)}/v1`, models: ["qwen3", "llama"] }])
    expect(ollama.requests.map(({ path, headers }) => [path, headers["authorization"]])).toEqual([["/v1/models", undefined]])
  })
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  server.close()
  await once(server, "close")
  return typeof address === "object" && address !== null ? address.port : 0
}
