// Every key from every source, and which source wins.
import type { ConfigKey, ConfigSource, LoadedConfig } from "hello-agents/config"
import { environmentSource, jsonSource, limitsOf, loadConfig, localeSource, serversOf, settingsOf } from "hello-agents/config"
import { describe, expect, expectTypeOf, it } from "vitest"
import { variableOf } from "../../src/infrastructure/config/keys.ts"
import { asVariable, at, grouped, KEYS, sample } from "./samples.ts"

const SHORT: Partial<Record<ConfigKey, string>> = { "llm.base_url": "LLM_BASE_URL", "llm.api_key": "LLM_API_KEY", "llm.model": "LLM_MODEL" }

type Given = { explicit?: object; variables?: Record<string, string>; file?: object; service?: object }
interface Place {
  readonly name: string
  readonly has: (key: ConfigKey) => boolean
  readonly put: (key: ConfigKey, value: unknown) => Given
  readonly origin: (key: ConfigKey) => string
}

/** The strongest first. */
const PLACES: readonly Place[] = [
  { name: "explicit", has: () => true, put: (key, value) => ({ explicit: grouped(key, value) }), origin: () => "explicit" },
  { name: "HELLO_AGENTS_*", has: () => true, put: (key, value) => ({ variables: { [variableOf(key)]: asVariable(value) } }), origin: variableOf },
  { name: "LLM_*", has: (key) => key in SHORT, put: (key, value) => ({ variables: { [SHORT[key] ?? ""]: asVariable(value) } }), origin: (key) => SHORT[key] ?? "" },
  { name: "file", has: () => true, put: (key, value) => ({ file: grouped(key, value) }), origin: (key) => `settings.json:${key.includes(".") ? 3 : 2}` },
  { name: "service", has: () => true, put: (key, value) => ({ service: { [key]: value } }), origin: () => "service" },
]

function load({ explicit, variables = {}, file, service }: Given): Promise<LoadedConfig> {
  const sources: (ConfigSource | (() => object))[] = [environmentSource(variables)]
  if (file !== undefined) sources.push(jsonSource("settings.json", () => JSON.stringify(file, null, 2)))
  if (service !== undefined) sources.push({ name: "service", read: async () => ({ ...service }) })
  return loadConfig({ explicit: { ...explicit }, sources: sources as ConfigSource[] })
}

describe("every key", () => {
  it("has a variable of its own", () => {
    expect(KEYS.map((key) => `${key} ${variableOf(key)}`)).toEqual([
      "llm.base_url HELLO_AGENTS_LLM_BASE_URL",
      "llm.api_key HELLO_AGENTS_LLM_API_KEY",
      "llm.model HELLO_AGENTS_LLM_MODEL",
      "llm.fallback_models HELLO_AGENTS_LLM_FALLBACK_MODELS",
      "llm.protocol HELLO_AGENTS_LLM_PROTOCOL",
      "llm.temperature HELLO_AGENTS_LLM_TEMPERATURE",
      "llm.top_p HELLO_AGENTS_LLM_TOP_P",
      "llm.max_tokens HELLO_AGENTS_LLM_MAX_TOKENS",
      "llm.seed HELLO_AGENTS_LLM_SEED",
      "llm.reasoning_effort HELLO_AGENTS_LLM_REASONING_EFFORT",
      "llm.timeout_ms HELLO_AGENTS_LLM_TIMEOUT_MS",
      "llm.context_window HELLO_AGENTS_LLM_CONTEXT_WINDOW",
      "run.max_turns HELLO_AGENTS_RUN_MAX_TURNS",
      "run.max_tokens HELLO_AGENTS_RUN_MAX_TOKENS",
      "run.max_cost HELLO_AGENTS_RUN_MAX_COST",
      "run.max_ms HELLO_AGENTS_RUN_MAX_MS",
      "store.folder HELLO_AGENTS_STORE_FOLDER",
      "local.model_file HELLO_AGENTS_LOCAL_MODEL_FILE",
      "local.threads HELLO_AGENTS_LOCAL_THREADS",
      "debug.step_by_step HELLO_AGENTS_DEBUG_STEP_BY_STEP",
      "debug.log_level HELLO_AGENTS_DEBUG_LOG_LEVEL",
      "language HELLO_AGENTS_LANGUAGE",
    ])
  })

  const single = PLACES.flatMap((place) => KEYS.filter(place.has).map((key) => ({ key, place, from: place.name })))
  it.each(single)("$key from $from", async ({ key, place }) => {
    for (const which of [0, 1] as const) {
      const { value, origins } = await load(place.put(key, sample(key, which)))
      expect(at(value, key)).toEqual(sample(key, which))
      expect(origins).toEqual({ ...Object.fromEntries(KEYS.map((other) => [other, "default"])), [key]: place.origin(key) })
    }
  })
})

describe("the stronger source wins", () => {
  const pairs = PLACES.flatMap((strong, height) => PLACES.slice(height + 1).map((weak) => ({ strong, weak, over: `${strong.name} over ${weak.name}` })))
  it("for all pairs of sources", () => expect(pairs).toHaveLength(10))
  it.each(pairs)("$over, for every key that both can say", async ({ strong, weak }) => {
    const keys = KEYS.filter((key) => strong.has(key) && weak.has(key))
    expect(keys.length).toBeGreaterThanOrEqual(3)
    for (const key of keys) {
      for (const [first, second] of [
        [0, 1],
        [1, 0],
      ] as const) {
        const given = [weak.put(key, sample(key, second)), strong.put(key, sample(key, first))]
        const { value, origins } = await load({ ...given[0], ...given[1], variables: { ...given[0]?.variables, ...given[1]?.variables } })
        expect([key, at(value, key), origins[key]]).toEqual([key, sample(key, first), strong.origin(key)])
      }
    }
  })
})

describe("the value", () => {
  it("has defaults where nothing is set", async () => {
    const { value, origins } = await loadConfig()
    const unset = undefined
    expect(value).toEqual({
      llm: {
        baseUrl: unset,
        apiKey: unset,
        model: unset,
        fallbackModels: unset,
        protocol: "auto",
        temperature: unset,
        topP: unset,
        maxTokens: unset,
        seed: unset,
        reasoningEffort: unset,
        timeoutMs: unset,
        contextWindow: unset,
      },
      run: { maxTurns: unset, maxTokens: unset, maxCost: unset, maxMs: unset },
      store: { folder: ".hello-agents/runs" },
      local: { modelFile: unset, threads: unset },
      debug: { stepByStep: false, logLevel: "info" },
      language: "en",
    })
    expect(new Set(Object.values(origins))).toEqual(new Set(["default"]))
  })

  it("is typed by the table of keys", async () => {
    const { value } = await loadConfig()
    expectTypeOf(value.llm.baseUrl).toEqualTypeOf<string | undefined>()
    expectTypeOf(value.llm.protocol).toEqualTypeOf<"auto" | "native" | "text">()
    expectTypeOf(value.llm.reasoningEffort).toEqualTypeOf<"minimal" | "low" | "medium" | "high" | undefined>()
    expectTypeOf(value.llm.fallbackModels).toEqualTypeOf<readonly string[] | undefined>()
    expectTypeOf(value.run.maxTurns).toEqualTypeOf<number | undefined>()
    expectTypeOf(value.debug.stepByStep).toEqualTypeOf<boolean>()
    expectTypeOf(value.language).toEqualTypeOf<"en" | "zh">()
  })

  it("cannot be changed", async () => {
    const { value } = await loadConfig({ explicit: { llm: { fallback_models: ["a"] } } })
    expect(() => Object.assign(value.llm, { model: "other" })).toThrow(TypeError)
    expect(() => (value.llm.fallbackModels as string[]).push("b")).toThrow(TypeError)
  })

  it("has the forms that models and runs take, with nothing in them that is not set", async () => {
    const { value } = await loadConfig({
      explicit: {
        llm: { base_url: "http://a.example/v1", api_key: "k", model: "big", fallback_models: ["small", "tiny"], temperature: 0, seed: 3, timeout_ms: 9, context_window: 4096 },
        run: { max_turns: 3, max_cost: 0.5 },
      },
    })
    const server = { baseUrl: "http://a.example/v1", apiKey: "k", timeoutMs: 9, contextWindow: 4096 }
    expect(serversOf(value)).toEqual(["big", "small", "tiny"].map((model) => ({ ...server, model })))
    expect(settingsOf(value)).toStrictEqual({ temperature: 0, seed: 3 })
    expect(limitsOf(value)).toStrictEqual({ turns: 3, cost: 0.5 })
  })
})

describe("a source", () => {
  it("may leave a key unset: null in a file, an empty variable", async () => {
    const { value } = await load({ variables: { HELLO_AGENTS_LLM_MODEL: " ", LLM_MODEL: "" }, file: { llm: { model: null } }, service: { "llm.model": "m" } })
    expect(value.llm.model).toBe("m")
  })

  it("may be a plain function, and its errors are its own", async () => {
    const remote = async () => ({ run: { max_turns: 4 } })
    const { value, origins } = await loadConfig({ sources: [remote] })
    expect([value.run.maxTurns, origins["run.max_turns"]]).toEqual([4, "remote"])
    const down = () => Promise.reject(new Error("the service is down"))
    await expect(loadConfig({ sources: [down] })).rejects.toThrow("the service is down")
  })

  it("is read again by reload: a new value, while the old one stays", async () => {
    let model = "first"
    let variables: Record<string, string> = {}
    const before = await loadConfig({ sources: [() => environmentSource(variables).read(), () => ({ llm: { model } })] })
    model = "second"
    variables = { HELLO_AGENTS_RUN_MAX_TURNS: "2" }
    const after = await before.reload()
    expect([before.value.llm.model, before.value.run.maxTurns]).toEqual(["first", undefined])
    expect([after.value.llm.model, after.value.run.maxTurns]).toEqual(["second", 2])
    model = "third"
    expect((await after.reload()).value.llm.model).toBe("third")
  })

  it("belongs to one configuration: two live side by side", async () => {
    const [one, two] = await Promise.all([load({ variables: { LLM_MODEL: "one" } }), load({ variables: { LLM_MODEL: "two" }, file: { llm: { temperature: 1 } } })])
    expect([one.value.llm.model, one.value.llm.temperature]).toEqual(["one", undefined])
    expect([two.value.llm.model, two.value.llm.temperature]).toEqual(["two", 1])
    expect((await one.reload()).value.llm.model).toBe("one")
  })
})

it.each([
  [{ LANG: "zh_CN.UTF-8" }, "zh", "LANG"],
  [{ LC_ALL: "en_US.UTF-8", LANG: "zh_CN.UTF-8" }, "en", "LC_ALL"],
  [{ LC_ALL: "", LC_MESSAGES: "zh", LANG: "en_US" }, "zh", "LC_MESSAGES"],
  [{ LANG: "de_DE.UTF-8" }, "en", "default"],
  [{ LANG: "zhuang" }, "en", "default"],
  [{}, "en", "default"],
])("the locale %j speaks %s", async (environment, language, origin) => {
  const { value, origins } = await loadConfig({ sources: [localeSource(environment)] })
  expect([value.language, origins.language]).toEqual([language, origin])
})
