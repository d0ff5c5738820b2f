// The configuration file: where it is looked for, its forms, and reading it again.
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { configFileSource, findConfigFile, loadConfig } from "hello-agents/config"
import { afterEach, beforeEach, describe, expect, it } from "vitest"

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "hello-agents-config-"))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function put(path: string, text: string): string {
  const full = join(root, path)
  mkdirSync(dirname(full), { recursive: true })
  writeFileSync(full, text)
  return full
}

describe("is looked for", () => {
  it.each([
    [".git/HEAD", ""],
    [".git", "gitdir: elsewhere"],
    ["package.json", '{ "workspaces": ["packages/*"] }'],
  ])("upwards to the root of the repository, known by %s", (mark, text) => {
    put(mark, text)
    mkdirSync(join(root, "packages/app/src"), { recursive: true })
    expect(findConfigFile(join(root, "packages/app/src"))).toBeNull()
    const outer = put("hello-agents.config.json", "{}")
    expect(findConfigFile(join(root, "packages/app/src"))).toBe(outer)
    const inner = put("packages/app/hello-agents.config.ts", "")
    expect(findConfigFile(join(root, "packages/app/src"))).toBe(inner)
    expect(findConfigFile(root)).toBe(outer)
  })

  it("no further than that root", () => {
    put("hello-agents.config.json", "{}")
    put("repository/.git/HEAD", "")
    expect(findConfigFile(join(root, "repository"))).toBeNull()
  })

  it("only in the folder itself where there is no repository, so that nobody else's file is taken", () => {
    const here = put("hello-agents.config.json", "{}")
    put("app/package.json", "{ not json")
    expect(findConfigFile(join(root, "app"))).toBeNull()
    expect(findConfigFile(root)).toBe(here)
  })

  it("and two in one folder are one too many", () => {
    put("hello-agents.config.json", "{}")
    put("hello-agents.config.mjs", "")
    expect(() => findConfigFile(root)).toThrow(
      expect.objectContaining({ code: "config_invalid", message: expect.stringContaining("hello-agents.config.json and hello-agents.config.mjs") }),
    )
  })
})

describe("a file", () => {
  it("in JSON: origins name file and line, as seen from the working directory", async () => {
    const path = put("conf/app.json", '{\n  "llm": {\n    "model": "m",\n    "temperature": 0 },\n  "run.max_turns": 3\n}')
    const { value, origins } = await loadConfig({ sources: [configFileSource(path, { from: root })] })
    expect([value.llm.model, value.llm.temperature, value.run.maxTurns]).toEqual(["m", 0, 3])
    expect([origins["llm.model"], origins["llm.temperature"], origins["run.max_turns"]]).toEqual(["conf/app.json:3", "conf/app.json:4", "conf/app.json:5"])
  })

  it("means its paths from its own folder", async () => {
    const path = put("conf/app.json", '{ "store": { "folder": "../runs" }, "local": { "model_file": "/models/a.gguf" } }')
    const { value } = await loadConfig({ sources: [configFileSource(path, { from: root })] })
    expect([value.store.folder, value.local.modelFile]).toEqual(["runs", "/models/a.gguf"])
  })

  it("is read again by reload, in JSON and as a module", async () => {
    const paths = [put("a.json", '{ "llm": { "model": "old" } }'), put("b.mjs", "export default { run: { max_turns: 1 } }")] as const
    const before = await loadConfig({ sources: paths.map((path) => configFileSource(path, { from: root })) })
    put("a.json", '{ "llm": { "model": "new" } }')
    put("b.mjs", "export default { run: { max_turns: 2 } }")
    // two writes within one tick of the file system's clock look alike
    utimesSync(paths[1], new Date(), new Date(Date.now() + 5_000))
    const after = await before.reload()
    expect([before.value.llm.model, before.value.run.maxTurns]).toEqual(["old", 1])
    expect([after.value.llm.model, after.value.run.maxTurns, after.origins["run.max_turns"]]).toEqual(["new", 2, "b.mjs"])
  })

  it("is imported by whoever can import it", async () => {
    const path = put("c.ts", "")
    const importFile = async (asked: string) => ({ default: { llm: { model: `from ${asked === path ? "c.ts" : asked}` } } })
    expect((await loadConfig({ sources: [configFileSource(path, { importFile })] })).value.llm.model).toBe("from c.ts")
  })

  it.each([
    ["gone.json", null, "There is no configuration file gone.json"],
    ["gone.mjs", null, "There is no configuration file gone.mjs"],
    ["folder.json", "folder", "folder.json cannot be read (EISDIR)"],
    ["none.mjs", "export const model = 1", "none.mjs must export its settings"],
    ["list.mjs", "export default []", "list.mjs must export its settings"],
  ])("that cannot be used is named: %s", async (name, text, message) => {
    if (text === "folder") mkdirSync(join(root, name))
    else if (text !== null) put(name, text)
    await expect(loadConfig({ sources: [configFileSource(join(root, name), { from: root })] })).rejects.toMatchObject({
      code: "config_invalid",
      message,
      hint: expect.stringMatching(/./),
    })
  })
})
