// What is wrong with the settings is said before any request, without ever showing a key.
import { afterEach, describe, expect, test, vi } from "vitest"
import { openai } from "../../src/doors/openai.ts"
import type { OpenAIOptions } from "../../src/doors/openai.ts"
import { HelloAgentsError } from "../../src/infrastructure/errors.ts"
import type { ModelServer } from "../support/model-server.ts"
import { say, startModelServer } from "../support/model-server.ts"
import { ask } from "./ask.ts"

function refusalOf(options: OpenAIOptions): HelloAgentsError {
  try {
    openai(options)
  } catch (error) {
    if (error instanceof HelloAgentsError) return error
    throw error
  }
  throw new Error("accepted")
}

const RIGHT = { baseUrl: "http://localhost:1/v1", model: "m" }

describe("refused", () => {
  test("no model", () => {
    vi.stubEnv("LLM_MODEL", "")
    expect(refusalOf({ baseUrl: RIGHT.baseUrl })).toMatchObject({ code: "model_missing", hint: expect.stringContaining("LLM_MODEL") })
  })
  test("no server", () => {
    vi.stubEnv("LLM_BASE_URL", "")
    expect(refusalOf({ model: "m" })).toMatchObject({ code: "model_missing", hint: expect.stringContaining("LLM_BASE_URL") })
  })
  test.each<[string, OpenAIOptions]>([
    ["an address that is no URL", { baseUrl: "localhost" }],
    ["an address of another kind", { baseUrl: "ftp://models.example/v1" }],
    ["an address with a password", { baseUrl: "http://me:secret99@models.example/v1" }],
    ["a key with a line end inside", { apiKey: "secret99\nsecret99" }],
    ["a key with a curly quote", { apiKey: "“secret99”" }],
    ["a header that cannot be sent", { headers: { "x team": "a" } }],
    ["a header value that cannot be sent", { headers: { "x-team": "a\r\nb: c" } }],
    ["a timeout of 0", { timeoutMs: 0 }],
    ["a window that is no number", { contextWindow: Number.NaN }],
    ["a negative price", { price: { input: -1, output: 1 } }],
    ["an unknown transport", { transport: "curl" as "node" }],
  ])("%s", (_, options) => {
    const error = refusalOf({ ...RIGHT, ...options })
    expect(error).toMatchObject({ code: "config_invalid", hint: expect.stringMatching(/./) })
    expect(`${error.message} ${error.hint}`).not.toContain("secret99")
  })
})

describe("accepted", () => {
  let server: ModelServer
  afterEach(() => server?.close())

  test("the environment, where no option says otherwise; it is read when the model is made", async () => {
    server = await startModelServer([say("one"), say("two")])
    vi.stubEnv("LLM_BASE_URL", `${server.baseUrl}/`)
    vi.stubEnv("LLM_API_KEY", " env-key-1 \n")
    vi.stubEnv("LLM_MODEL", "env-model")
    const first = openai()
    const second = openai({ model: "own-model", apiKey: "own-key-1" })
    vi.unstubAllEnvs()
    await ask(first)
    await ask(second)
    expect([first.name, second.name]).toEqual(["env-model", "own-model"])
    expect(server.requests.map(({ headers, body, path }) => [headers.authorization, body.model, path])).toEqual([
      ["Bearer env-key-1", "env-model", "/v1/chat/completions"],
      ["Bearer own-key-1", "own-model", "/v1/chat/completions"],
    ])
  })

  test("no key: no authorization is sent", async () => {
    server = await startModelServer([say("one")])
    await ask(openai({ baseUrl: server.baseUrl, model: "m", apiKey: "" }))
    expect(server.requests[0]?.headers).not.toHaveProperty("authorization")
  })

  test.each(["/v1", "/v1/", "/v1/chat/completions", "/v1///"])("an address that ends in %s, with its query", async (path) => {
    server = await startModelServer([say("one")])
    await ask(openai({ baseUrl: `${new URL(server.baseUrl).origin}${path}?api-version=3`, model: "m" }))
    expect(server.requests[0]?.path).toBe("/v1/chat/completions?api-version=3")
  })

  test("a context window is passed on", () => {
    expect(openai({ ...RIGHT, contextWindow: 4096 })).toMatchObject({ name: "m", contextWindow: 4096 })
    expect(openai(RIGHT)).not.toHaveProperty("contextWindow")
  })

  test("a dated table knows the price of some models; the others cost unknown, never 0", async () => {
    server = await startModelServer([say("one"), say("two")])
    const prices = { date: "2026-12-01", models: { known: { input: 1, output: 2 } } }
    const cost = async (model: string) => (await ask(openai({ baseUrl: server.baseUrl, model, prices }))).reply?.usage?.cost
    expect(await cost("known")).toBe((20 * 1 + 10 * 2) / 1_000_000)
    expect(await cost("other")).toBe("unknown")
  })
  test("a price makes costs known", async () => {
    server = await startModelServer([say("one")])
    const { reply } = await ask(openai({ baseUrl: server.baseUrl, model: "m", price: { input: 1, output: 2 } }))
    expect(reply?.usage?.cost).toBe((20 * 1 + 10 * 2) / 1_000_000)
  })
})
