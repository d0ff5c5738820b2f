// `config`, `doctor`, `run` and `trace` of the built program: what a person sees, what a server gets, how the program ends.
import { existsSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { build } from "../../scripts/build.mjs"
import type { Answer, ModelServer } from "../support/model-server.ts"
import { callTool, jsonAnswer, say, startModelServer } from "../support/model-server.ts"
import type { Ended, Place } from "./program.ts"
import { makePlace, recorded } from "./program.ts"

const SECRET = "sk-proj-4f9a8b7c6d5e4f3a2b1c"
const SLOW = { timeout: 30_000 }

let place: Place
let server: ModelServer | null = null
/** Everything that any program of a test wrote. */
let written = ""
beforeAll(() => {
  if (!build()) throw new Error("the program could not be built")
}, 180_000)
beforeEach(() => {
  place = makePlace()
  written = ""
})
afterEach(async () => {
  place.remove()
  await server?.close()
  server = null
  // a mask shows its first three and last two letters
  for (let at = 3; at + 6 <= SECRET.length - 2; at++) expect(written).not.toContain(SECRET.slice(at, at + 6))
})

async function program(words: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const ended = await place.run(words, environment)
  written += ended.out + ended.err
  return ended
}
async function serve(answers: readonly Answer[]): Promise<string> {
  server = await startModelServer(answers)
  return server.baseUrl
}
const AGENT = `import { agent, tool, jsonSchema } from "hello-agents"
const look = tool({ name: "look", description: "Looks.", input: jsonSchema({ type: "object", properties: { at: { type: "string" } } }), hints: { readOnly: true }, execute: ({ at }) => "seen " + at })
export default agent({ name: "looker", instructions: "Look.", tools: [look] })
export const careful = agent({ name: "careful", instructions: "Look.", tools: [look], limits: { turns: 1 }, settings: { temperature: 0.9 } })
`

interface Report {
  readonly usable: boolean
  readonly exitCode: number
  readonly checks: readonly { readonly id: string; readonly status: string; readonly text: string; readonly remedy: string }[]
}
async function doctor(
  environment: Readonly<Record<string, string>> = {},
  more: readonly string[] = [],
): Promise<{ code: number | null; lines: (id: string) => readonly string[]; report: Report }> {
  const { code, out } = await program(["doctor", "--json", ...more], environment)
  const report = JSON.parse(out) as Report
  expect([report.exitCode, report.usable]).toEqual([code, code === 0])
  const lines = (id: string): readonly string[] =>
    report.checks.filter((check) => check.id === id).map(({ status, text, remedy }) => `${status}: ${text}${remedy === "" ? "" : ` → ${remedy}`}`)
  return { code, lines, report }
}

describe("config", SLOW, () => {
  it("prints every value with its origin, secrets masked, in both languages", async () => {
    place.put("hello-agents.config.json", { llm: { api_key: SECRET, model: "from-file", temperature: 0.25 }, language: "zh" })
    const environment = { LLM_MODEL: "from-llm", HELLO_AGENTS_LLM_TIMEOUT_MS: "500" }
    const chinese = await program(["config"], environment)
    const english = await program(["config", "--language", "en"], environment)
    expect([chinese.code, chinese.err, english.code, english.err]).toEqual([0, "配置文件：hello-agents.config.json\n", 0, "configuration file: hello-agents.config.json\n"])
    const rows = (out: string) =>
      out
        .trimEnd()
        .split("\n")
        .map((line) => line.split(/ {2,}/))
    expect(rows(english.out)).toEqual([
      ["llm.base_url", "–", "not set"],
      ["llm.api_key", "sk-…1c", "hello-agents.config.json:3"],
      ["llm.model", "from-llm", "LLM_MODEL"],
      ["llm.fallback_models", "–", "not set"],
      ["llm.protocol", "auto", "default"],
      ["llm.temperature", "0.25", "hello-agents.config.json:5"],
      ["llm.top_p", "–", "not set"],
      ["llm.max_tokens", "–", "not set"],
      ["llm.seed", "–", "not set"],
      ["llm.reasoning_effort", "–", "not set"],
      ["llm.timeout_ms", "500", "HELLO_AGENTS_LLM_TIMEOUT_MS"],
      ["llm.context_window", "–", "not set"],
      ["run.max_turns", "10", "default"],
      ["run.max_tokens", "–", "not set"],
      ["run.max_cost", "–", "not set"],
      ["run.max_ms", "–", "not set"],
      ["store.folder", ".hello-agents/runs", "default"],
      ["local.model_file", "–", "not set"],
      ["local.threads", "–", "not set"],
      ["debug.step_by_step", "false", "default"],
      ["debug.log_level", "info", "default"],
      ["language", "en", "--language"],
    ])
    const words: Record<string, string> = { default: "默认值", "not set": "未设置" }
    const translated = rows(english.out).map(([key, value, origin = ""]) => [key, value, words[origin] ?? origin])
    expect(rows(chinese.out)).toEqual([...translated.slice(0, -1), ["language", "zh", "hello-agents.config.json:7"]])
  })

  it("prints JSON, and takes the file that --config names", async () => {
    place.put("hello-agents.config.json", { llm: { model: "not this" } })
    place.put("other/settings.ts", `const turns: number = 3\nexport default { llm: { api_key: "${SECRET}" }, run: { max_turns: turns }, store: { folder: "runs" } }\n`)
    for (const words of [
      ["config", "--json", "--config", "other/settings.ts"],
      ["--config=other/settings.ts", "config", "--json"],
      ["config", "-c", "other/settings.ts", "--json"],
    ]) {
      const { code, out, err } = await program(words)
      const { file, values } = JSON.parse(out) as { file: string; values: Record<string, unknown> }
      expect([code, err, file]).toEqual([0, "", "other/settings.ts"])
      expect(values).toMatchObject({
        "llm.api_key": { value: "sk-…1c", origin: "other/settings.ts" },
        "llm.model": { value: null, origin: "default" },
        "run.max_turns": { value: 3, origin: "other/settings.ts" },
        "store.folder": { value: "other/runs", origin: "other/settings.ts" },
      })
    }
  })

  it.each<[string, Record<string, string>, readonly string[], string]>([
    [
      "an unknown key",
      { "hello-agents.config.json": '{\n"llm": { "temprature": 1, "key": "x" } }' },
      [],
      "error: llm.temprature (hello-agents.config.json:2) is not a key; the nearest is llm.temperature\n",
    ],
    ["a secret in the wrong place", { "hello-agents.config.json": `{ "llm": { "apikey": "${SECRET}", "temperature": "${SECRET}" } }` }, [], "error: llm.apikey"],
    ["broken JSON", { "hello-agents.config.json": `{ "llm": { "api_key": ${SECRET} } }` }, [], "error: hello-agents.config.json is not valid JSON\n"],
    ["a broken module", { "hello-agents.config.ts": "export default { llm: " }, [], "error: --config "],
    ["a file that is not there", {}, ["--config", "gone.json"], "error: --config gone.json: there is no such file\n"],
  ])("ends with 2 for %s", async (_, files, more, message) => {
    for (const [name, text] of Object.entries(files)) place.put(name, text)
    const { code, out, err } = await program(["config", ...more])
    expect([code, out]).toEqual([2, ""])
    expect(err.startsWith(message), err).toBe(true)
  })
})

describe("doctor", SLOW, () => {
  it("is short and friendly to a person without any configuration, in English", async () => {
    const { code, out, err } = await program(["doctor"])
    expect([code, err]).toEqual([0, ""])
    const lines = out.trimEnd().split("\n")
    expect(lines[0]).toBe(`✓ Node ${process.versions.node}`)
    expect(lines).toContain("✓ no configuration file (hello-agents.config.json); none is needed")
    expect(lines).toContain("✓ model: demo (not an LLM: no LLM_MODEL is set, so the built-in demo model answers)")
    expect(lines).toContain("    → your own: set LLM_BASE_URL, LLM_MODEL and, where the server wants one, LLM_API_KEY")
    expect(lines).toContain("✓ runs are kept in .hello-agents/runs")
    expect(lines).toContain("✓ language: English (default)")
    expect(lines.at(-1)).toBe('Ready. Try: hello-agents run --agent FILE "your question"')
    expect(out).not.toContain("✗")
    expect(lines.filter((line) => !/localhost|to use it/.test(line)).length).toBeLessThan(12)
    expect(existsSync(join(place.folder, ".hello-agents"))).toBe(false)
  })

  it("and in Chinese, as the locale says", async () => {
    const { code, out } = await program(["doctor"], { LANG: "zh_CN.UTF-8" })
    expect(code).toBe(0)
    expect(out).toContain("✓ 模型：demo（不是大模型：没有设置 LLM_MODEL，由内置演示模型回答）\n    → 换成自己的模型：")
    expect(out).toContain("✓ 语言：中文（LANG）")
    expect(out.trimEnd().split("\n").at(-1)).toBe('一切就绪。试试：hello-agents run --agent 文件 "你的问题"')
    // marks, names and versions aside, it is Chinese throughout
    for (const line of out.split("\n").filter((text) => /^[✓!✗] (?!Node)/.test(text))) expect(line).toMatch(/\p{Script=Han}/u)
  })

  it("names the model, where it comes from, that a key is there, and that the server has the model", async () => {
    const url = await serve([recorded("models")])
    place.put("hello-agents.config.json", { llm: { base_url: url } })
    const { code, lines } = await doctor({ LLM_API_KEY: SECRET, HELLO_AGENTS_LLM_MODEL: "smollm2" })
    expect(code).toBe(0)
    expect(lines("config")).toEqual(["ok: configuration file: hello-agents.config.json"])
    expect(lines("model")).toEqual(["ok: model: smollm2 (from HELLO_AGENTS_LLM_MODEL, hello-agents.config.json:3, LLM_API_KEY)"])
    expect(lines("key")).toEqual(["ok: key: llm.api_key is set (LLM_API_KEY)"])
    expect(lines("server")).toEqual([`ok: server: ${url} answers and has smollm2`])
    expect(server?.requests.map(({ method, path, headers }) => [method, path, headers["authorization"]])).toEqual([["GET", "/v1/models", `Bearer ${SECRET}`]])
  })

  it.each<[string, Answer, number, string]>([
    ["does not list the model", recorded("models"), 0, "warning: server: URL answers, but does not list gpt → set LLM_MODEL to one that it has: smollm2"],
    [
      "gives no list",
      recorded("unknown-path"),
      0,
      "warning: server: URL answers, but gives no list of models (404, Not Found); the model's name was not checked → if runs fail, look at the address: most servers want /v1 at its end",
    ],
    [
      "refuses the key",
      jsonAnswer({ error: { message: `wrong key ${SECRET}` } }, { status: 401 }),
      2,
      "failed: server: URL refuses the key (401) → set LLM_API_KEY to the key of this server",
    ],
    [
      "fails",
      jsonAnswer({ error: { message: `cannot use ${SECRET}` } }, { status: 503 }),
      3,
      "failed: server: URL fails (503, cannot use …) → try again later, or look at the server's own log",
    ],
  ])("says so when the server %s", async (_, answer, exit, line) => {
    const url = await serve([answer])
    const { code, lines } = await doctor({ LLM_BASE_URL: url, LLM_MODEL: "gpt", LLM_API_KEY: SECRET })
    expect([code, lines("server")]).toEqual([exit, [line.replace("URL", url)]])
  })

  it("ends with 3 if the server cannot be reached, in both languages", async () => {
    const url = await serve([])
    await server?.close()
    server = null
    const environment = { LLM_BASE_URL: url, LLM_MODEL: "gpt" }
    const english = await doctor(environment)
    expect([english.code, english.lines("server")]).toEqual([3, [`failed: server: ${url} cannot be reached (ECONNREFUSED) → is it running, and is LLM_BASE_URL right?`]])
    expect(english.lines("key")).toEqual(["ok: key: none is set; a server on this machine may need none"])
    const chinese = await program(["doctor", "--language", "zh"], environment)
    expect(chinese.code).toBe(3)
    expect(chinese.out).toContain(`✗ 服务：无法连接 ${url}（ECONNREFUSED）\n    → 它在运行吗？LLM_BASE_URL 对吗？\n`)
    expect(chinese.out.trimEnd().split("\n").at(-1)).toBe("模型服务目前不可用：请看标有 ✗ 的一行。")
  })

  it("ends with 2 if the configuration is wrong, and still looks at the rest", async () => {
    place.put("hello-agents.config.json", { llm: { modle: SECRET }, language: "zh" })
    const { code, lines } = await doctor()
    expect(code).toBe(2)
    expect(lines("config")).toEqual(["failed: llm.modle (hello-agents.config.json:3) is not a key; the nearest is llm.model → All keys, with their values: hello-agents config"])
    expect(lines("node")).toEqual([`ok: Node ${process.versions.node}`])
    expect((await program(["doctor"], { HELLO_AGENTS_LANGUAGE: "zh" })).out).toContain("暂时不可用")
  })

  it("ends with 2 if a model is named but no server", async () => {
    const { code, lines } = await doctor({ LLM_MODEL: "gpt" })
    expect([code, lines("model")]).toEqual([2, ['failed: No model server is named → Set LLM_BASE_URL, or pass { baseUrl: "http://localhost:11434/v1" }.']])
  })

  it("ends with 2 if runs cannot be kept", async () => {
    place.put("taken", "a file")
    const { code, lines } = await doctor({ HELLO_AGENTS_STORE_FOLDER: "taken/runs" })
    expect([code, lines("store")]).toEqual([2, [expect.stringMatching(/^failed: runs cannot be kept in taken\/runs \(ENOTDIR\) → make it writable/)]])
  })

  it("points to a key that is there under another name, without its value", async () => {
    const { code, lines } = await doctor({ OPENAI_API_KEY: SECRET })
    expect([code, lines("key")]).toEqual([
      0,
      ["warning: key: OPENAI_API_KEY is set, but only LLM_API_KEY is read → to use it: LLM_API_KEY=$OPENAI_API_KEY, with the LLM_BASE_URL and LLM_MODEL that belong to it"],
    ])
  })
})

describe("run takes from the configuration", SLOW, () => {
  const body = (index: number) => server?.requests[index]?.body

  it("model, settings, fallbacks, store, language; the environment and the command line over it", async () => {
    const url = await serve([say("one"), say("two"), say("three")])
    place.put("agent.ts", AGENT)
    place.put("hello-agents.config.json", {
      llm: { base_url: url, api_key: SECRET, model: "from-file", temperature: 0.25, max_tokens: 77 },
      store: { folder: "kept" },
      language: "zh",
    })
    const first = await program(["run", "--agent", "agent.ts", "hello"])
    expect([first.code, first.out]).toEqual([0, "one\n"])
    expect(first.err).toContain("模型    from-file (来自 hello-agents.config.json:5, hello-agents.config.json:3, hello-agents.config.json:4)")
    expect(body(0)).toMatchObject({ model: "from-file", temperature: 0.25, max_tokens: 77 })
    expect(server?.requests[0]?.headers["authorization"]).toBe(`Bearer ${SECRET}`)

    const second = await program(["run", "--agent", "agent.ts", "hello", "--language", "en"], { LLM_MODEL: "from-llm", HELLO_AGENTS_LLM_TEMPERATURE: "0.5" })
    expect(second.err).toContain("model   from-llm (from LLM_MODEL, hello-agents.config.json:3, hello-agents.config.json:4)")
    expect(body(1)).toMatchObject({ model: "from-llm", temperature: 0.5, max_tokens: 77 })

    await program(["run", "--agent", "agent.ts#careful", "hello", "--model", "from-flag"], { LLM_MODEL: "from-llm" })
    expect(body(2)).toMatchObject({ model: "from-flag", temperature: 0.9, max_tokens: 77 })

    expect(existsSync(join(place.folder, ".hello-agents"))).toBe(false)
    const listed = await program(["trace", "ls", "--json"])
    expect([listed.code, (JSON.parse(listed.out) as unknown[]).length]).toEqual([0, 3])
    expect((JSON.parse((await program(["trace", "ls", "--json", "--store", "other"])).out) as unknown[]).length).toBe(0)
  })

  it("no model for an agent that brings its own, unless the command line names one", async () => {
    const url = await serve([say("own"), say("flagged")])
    const own = `openai({ baseUrl: "${url}", model: "own" })`
    place.put(
      "agent.ts",
      `import { agent } from "hello-agents"\nimport { openai } from "hello-agents/openai"\nexport default agent({ name: "a", instructions: "", model: ${own} })\n`,
    )
    place.put("hello-agents.config.json", { llm: { base_url: url, model: "from-file" } })
    const first = await program(["run", "--agent", "agent.ts", "hello"])
    const second = await program(["run", "--agent", "agent.ts", "hello", "-m", "flagged"])
    expect([first.out, second.out]).toEqual(["own\n", "flagged\n"])
    expect(first.err).toContain("model   own (named by the agent)")
    expect(second.err).toContain("model   flagged (from --model, hello-agents.config.json:3)")
    expect([body(0)?.["model"], body(1)?.["model"]]).toEqual(["own", "flagged"])
  })

  it("the models to fall back to, on the same server", async () => {
    const url = await serve([jsonAnswer({ error: { message: "no such model", code: "model_not_found" } }, { status: 404 }), say("from the second")])
    place.put("agent.ts", AGENT)
    const { code, out } = await program(["run", "--agent", "agent.ts", "hello", "--quiet"], {
      LLM_BASE_URL: url,
      LLM_MODEL: "big",
      HELLO_AGENTS_LLM_FALLBACK_MODELS: "small, tiny",
    })
    expect([code, out, server?.requests.map(({ body: asked }) => asked.model)]).toEqual([0, "from the second\n", ["big", "small"]])
  })

  it.each<[string, readonly string[], string, number]>([
    ["a cap of the configuration", [], "agent.ts", 2],
    ["the agent's own, where it is tighter", [], "agent.ts#careful", 1],
    ["the command line over both", ["--max-turns", "3"], "agent.ts#careful", 3],
  ])("limits: %s", async (_, flags, agent, turns) => {
    const url = await serve(["a", "b", "c", "d"].map((where) => callTool("look", { at: where })))
    place.put("agent.ts", AGENT)
    place.put("hello-agents.config.json", { llm: { base_url: url, model: "m" }, run: { max_turns: 2 } })
    const { code, err } = await program(["run", "--agent", agent, "look", ...flags])
    expect([code, server?.requests.length]).toEqual([4, turns])
    expect(err).toContain("max_turns")
  })

  it("how much is said", async () => {
    place.put("agent.ts", AGENT)
    const quiet = await program(["run", "--agent", "agent.ts", "look at x"], { HELLO_AGENTS_DEBUG_LOG_LEVEL: "error" })
    expect([quiet.code, quiet.err]).toEqual([0, ""])
    const failing = (level: string) => program(["run", "--agent", "gone.ts", "x"], { HELLO_AGENTS_DEBUG_LOG_LEVEL: level })
    expect((await failing("info")).err).not.toContain("    at ")
    expect((await failing("debug")).err).toContain("    at ")
  })

  it("nothing that is wrong: it ends with 2 before the first event", async () => {
    place.put("agent.ts", AGENT)
    const { code, out, err } = await program(["run", "--agent", "agent.ts", "x"], { HELLO_AGENTS_RUN_MAX_TURNS: "many" })
    expect([code, out]).toEqual([2, ""])
    expect(err).toContain('run.max_turns (HELLO_AGENTS_RUN_MAX_TURNS) must be a whole number from 1, not the text "many"')
    expect(existsSync(join(place.folder, ".hello-agents"))).toBe(false)
  })

  it("the language of the help", async () => {
    place.put("hello-agents.config.json", { language: "zh" })
    expect((await program(["--help"])).out).toContain("运行团队自己能掌控的智能体")
    expect((await program(["--help", "--language", "en"])).out).toContain("Run agents that a team can own")
  })
})
