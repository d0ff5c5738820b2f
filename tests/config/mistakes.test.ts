// What is refused, and how the message says it: the key, where it stands, what would be right. Secrets are in no message.
import { HelloAgentsError } from "hello-agents"
import type { ConfigOptions } from "hello-agents/config"
import { describeConfig, environmentSource, jsonSource, loadConfig, maskSecret, maskUrl } from "hello-agents/config"
import { describe, expect, it } from "vitest"
import { ruleOf, variableOf } from "../../src/infrastructure/config/keys.ts"
import { grouped, KEYS, sample } from "./samples.ts"

const SECRET = "sk-proj-4f9a8b7c6d5e4f3a2b1c"

async function refusal(options: ConfigOptions): Promise<{ code: string; message: string }> {
  const error: unknown = await loadConfig(options).then(
    () => null,
    (reason: unknown) => reason,
  )
  if (!(error instanceof HelloAgentsError)) throw new Error(`not refused: ${String(error)}`)
  expect(error.hint).not.toBe("")
  return { code: error.code, message: error.message }
}
const file = (text: string) => ({ sources: [jsonSource("app.json", () => text)] })
const variables = (environment: Record<string, string>) => ({ sources: [environmentSource(environment)] })
const invalid = (...messages: readonly string[]) => ({ code: "config_invalid", message: messages.join("\n") })

describe("an unknown key", () => {
  it.each([
    ['{\n  "llm": {\n    "temprature": 1\n  }\n}', "llm.temprature (app.json:3) is not a key; the nearest is llm.temperature"],
    ['{ "llm": { "baseUrl": "http://a" } }', "llm.baseUrl (app.json:1) is not a key; the nearest is llm.base_url"],
    ['{ "lmm": { "model": "m" } }', "lmm.model (app.json:1) is not a key; the nearest is llm.model"],
    ['{ "model": "m" }', "model (app.json:1) is not a key; the nearest is llm.model"],
    [
      '{ "run": { "model": 1 },\n "llm": { "modell": 1 } }',
      "run.model (app.json:1) is not a key; the nearest is llm.model\nllm.modell (app.json:2) is not a key; the nearest is llm.model",
    ],
    ['{ "llm": 3 }', "llm (app.json:1) is a group of keys such as llm.base_url, and cannot have a value itself"],
    ['{ "__proto__": { "model": "m" } }', "__proto__.model (app.json:1) is not a key; the nearest is llm.model"],
    ['{ "toString": 1 }', expect.stringMatching(/^toString \(app\.json:1\) is not a key; the nearest is /)],
  ])("in a file: %s", async (text, message) => {
    expect(await refusal(file(text))).toEqual({ code: "config_invalid", message })
  })

  it("in the environment is named as a variable", async () => {
    expect(await refusal(variables({ HELLO_AGENTS_LLM_TEMPRATURE: "1", HELLO_AGENTS: "x", PATH: "/bin" }))).toEqual(
      invalid("HELLO_AGENTS_LLM_TEMPRATURE is not a key; the nearest is HELLO_AGENTS_LLM_TEMPERATURE"),
    )
  })

  it("as an argument", async () => {
    expect(await refusal({ explicit: { llm: { topp: 1 } } })).toEqual(invalid("llm.topp (explicit) is not a key; the nearest is llm.top_p"))
  })

  it.each(KEYS)("one letter too many in %s: that key is the nearest", async (key) => {
    expect((await refusal({ explicit: grouped(`${key}s` as typeof key, 1) })).message).toBe(`${key}s (explicit) is not a key; the nearest is ${key}`)
    const variable = `${variableOf(key)}S`
    expect((await refusal(variables({ [variable]: "1" }))).message).toBe(`${variable} is not a key; the nearest is ${variableOf(key)}`)
  })
})

describe("a wrong value", () => {
  it.each([
    [{ "llm.temperature": "hot" }, 'llm.temperature (explicit) must be a number from 0 up to 2, not the text "hot"'],
    [{ "llm.temperature": "0.5" }, 'llm.temperature (explicit) must be a number from 0 up to 2, not the text "0.5"'],
    [{ "llm.temperature": 2.1 }, "llm.temperature (explicit) must be a number from 0 up to 2, not 2.1"],
    [{ "llm.top_p": 0 }, "llm.top_p (explicit) must be a number above 0 up to 1, not 0"],
    [{ "llm.max_tokens": 1.5 }, "llm.max_tokens (explicit) must be a whole number from 1, not 1.5"],
    [{ "run.max_turns": 0 }, "run.max_turns (explicit) must be a whole number from 1, not 0"],
    [{ "run.max_cost": Number.NaN }, "run.max_cost (explicit) must be a number above 0, not NaN"],
    [{ "llm.model": "  " }, "llm.model (explicit) must be text, not empty text"],
    [{ "llm.model": ["m"] }, "llm.model (explicit) must be text, not a list"],
    [{ "llm.fallback_models": "a,b" }, 'llm.fallback_models (explicit) must be a list of texts, not the text "a,b"'],
    [{ "llm.fallback_models": ["a", 1] }, "llm.fallback_models (explicit) must be a list of texts, not a list"],
    [{ "llm.protocol": "xml" }, 'llm.protocol (explicit) must be one of auto, native, text, not the text "xml"'],
    [{ "debug.step_by_step": 1 }, "debug.step_by_step (explicit) must be true or false, not 1"],
    [{ "store.folder": {} }, "store.folder (explicit) must be a path, not an object"],
    [{ language: "de" }, 'language (explicit) must be one of en, zh, not the text "de"'],
    [{ "llm.base_url": "host" }, "llm.base_url (explicit) must be an address that begins with http:// or https://, without user name and password, not this text"],
    [{ "llm.api_key": 12345678 }, "llm.api_key (explicit) must be text, not a number"],
  ])("%j", async (explicit, message) => {
    expect(await refusal({ explicit })).toEqual({ code: "config_invalid", message })
  })

  it.each(KEYS)("an object is no value for %s, wherever it stands", async (key) => {
    const { message } = await refusal({ explicit: { [key]: {} }, sources: [jsonSource("app.json", () => JSON.stringify({ [key]: {} }))] })
    expect(message.split("\n").map((line) => line.replace(/ must be .*/, ""))).toEqual([`${key} (explicit)`, `${key} (app.json:1)`])
  })

  it.each(KEYS.filter((key) => !["text", "path", "list"].includes(ruleOf(key).type)))("text that is no %s, in the environment", async (key) => {
    expect((await refusal(variables({ [variableOf(key)]: "maybe" }))).message).toMatch(new RegExp(`^${key} \\(${variableOf(key)}\\) must be .*, not (this text|the text "maybe")$`))
  })

  it.each(["http://user:pass@host/v1", "file:///etc/passwd", "localhost:11434"])("%s is no address of a server", async (url) => {
    const { message } = await refusal(variables({ LLM_BASE_URL: url }))
    expect(message).toMatch(/^llm\.base_url \(LLM_BASE_URL\) must be an address/)
    expect(message).not.toContain(url)
  })

  it("is refused even where a stronger source has a good one: it would come to light some other day", async () => {
    expect(await refusal({ explicit: { language: "en" }, ...file('{ "language": 1 }') })).toEqual(invalid("language (app.json:1) must be one of en, zh, not 1"))
  })

  it.each(KEYS)("%s: its good values are not refused", async (key) => {
    for (const which of [0, 1] as const) await loadConfig({ explicit: grouped(key, sample(key, which)) })
  })
})

describe("a file that is no settings", () => {
  it.each([
    ['{\n "a": 1\n "b": 2 }', "app.json:3 is not valid JSON"],
    [`{ "llm": { "api_key": ${SECRET} } }`, "app.json is not valid JSON"],
    [`{ "llm": { "api_key": "${SECRET}", } }`, "app.json:1 is not valid JSON"],
    ["", "app.json is not valid JSON"],
    ["[]", "app.json must hold a JSON object"],
    ["null", "app.json must hold a JSON object"],
  ])("%s", async (text, message) => {
    expect(await refusal(file(text))).toEqual({ code: "config_invalid", message })
  })

  it("may begin with a byte order mark", async () => {
    expect((await loadConfig(file('\ufeff{ "language": "zh" }'))).value.language).toBe("zh")
  })
})

describe("secrets", () => {
  /** Any six letters in a row of its inside: more than a mask may show. */
  const inside = Array.from({ length: SECRET.length - 9 }, (_, index) => SECRET.slice(index + 3, index + 9))
  const leaks = (text: string) => inside.filter((piece) => text.includes(piece))

  it.each<[string, ConfigOptions]>([
    ["under a misspelt key", { explicit: { llm: { apikey: SECRET } } }],
    ["under a misspelt variable", variables({ HELLO_AGENTS_LLM_APIKEY: SECRET })],
    ["in a list", { explicit: { llm: { api_key: [SECRET] } } }],
    ["as a temperature", { explicit: { llm: { temperature: SECRET } } }],
    ["as an address", { explicit: { llm: { base_url: SECRET } } }],
    ["in an address", variables({ LLM_BASE_URL: `https://me:${SECRET}@host/v1` })],
    ["in a broken file", file(`{ "llm": { "api_key": ${SECRET} } }`)],
    ["as the whole file", file(`"${SECRET}"`)],
  ])("do not appear in errors: %s", async (_, options) => {
    const error: unknown = await loadConfig(options).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(HelloAgentsError)
    const { message, hint, cause, stack } = error as HelloAgentsError
    expect(leaks([message, hint, String(cause), stack].join("\n"))).toEqual([])
  })

  it("are masked where a configuration is described", async () => {
    const described = describeConfig(await loadConfig({ explicit: { llm: { api_key: SECRET, model: "m", base_url: `https://host/v1?code=${SECRET}` } } }))
    expect(described.slice(0, 3)).toEqual([
      { key: "llm.base_url", value: "https://host/v1?…", usual: null, origin: "explicit" },
      { key: "llm.api_key", value: "sk-…1c", usual: null, origin: "explicit" },
      { key: "llm.model", value: "m", usual: null, origin: "explicit" },
    ])
    expect(leaks(JSON.stringify(described))).toEqual([])
  })

  it.each([
    ["", "…"],
    ["short", "…"],
    ["exactly15letter", "…"],
    ["sk-1234567890abc", "sk-…bc"],
  ])("%s is shown as %s", (secret, shown) => expect(maskSecret(secret)).toBe(shown))

  it("leaves an address without a query alone", () => expect(maskUrl("http://localhost:11434/v1")).toBe("http://localhost:11434/v1"))
})
