// The package as a stranger gets it: packed, installed in an empty folder, imported, compiled against, used from the command line.
import { execFileSync, spawnSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { publint } from "publint"
import { formatMessage } from "publint/utils"
import { afterAll, beforeAll, describe, expect, test } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { exports: Record<string, string> }
const doors = Object.keys(manifest.exports)
  .filter((path) => path !== "./package.json")
  .map((path) => `hello-agents${path.slice(1)}`)

const folder = mkdtempSync(join(tmpdir(), "installed-"))
const packed = join(folder, "packed")
const user = join(folder, "user")
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function run(command: string, args: readonly string[], cwd = user): string {
  return execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })
}

beforeAll(() => {
  mkdirSync(packed)
  mkdirSync(user)
  run(process.execPath, ["scripts/build.mjs"], root)
  run("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", packed], root)
  writeFileSync(join(user, "package.json"), JSON.stringify({ name: "user", private: true, type: "module" }))
  const tarball = join(packed, readdirSync(packed)[0] ?? "")
  run("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", tarball])
})

test("the tarball holds the built package, its licence and its README, and nothing else", () => {
  const files = run("tar", ["-tzf", readdirSync(packed)[0] ?? ""], packed)
    .trim()
    .split("\n")
  expect(files.filter((file) => !/^package\/(dist\/.+\.(js|d\.ts)|package\.json|README(\.zh-CN)?\.md|LICENSE)$/.test(file))).toEqual([])
  expect(files).toContain("package/LICENSE")
})

test("every door opens on plain Node", () => {
  const script = `for (const door of ${JSON.stringify(doors)}) console.log(door, Object.keys(await import(door)).length > 0)`
  expect(run(process.execPath, ["--input-type=module", "--eval", script]).trim().split("\n")).toEqual(doors.map((door) => `${door} true`))
})

test("its types hold for a user's file, without skipping the check of the declarations themselves", () => {
  const typed = join(user, "typed")
  mkdirSync(join(typed, "node_modules"), { recursive: true })
  for (const name of ["zod", "valibot", "@types"]) symlinkSync(join(root, "node_modules", name), join(typed, "node_modules", name))
  cpSync(join(root, "tests/types/usage.ts"), join(typed, "usage.ts"))
  writeFileSync(join(typed, "package.json"), JSON.stringify({ type: "module" }))
  writeFileSync(join(typed, "doors.ts"), doors.map((door, index) => `export * as door${index} from "${door}"`).join("\n"))
  const strict = {
    target: "es2023",
    lib: ["es2023"],
    module: "nodenext",
    types: ["node"],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
  }
  // The declarations of zod and valibot are not ours to check: without skipping, only the doors are compiled.
  for (const [file, skipLibCheck] of [
    ["usage.ts", true],
    ["doors.ts", false],
  ] as const) {
    writeFileSync(join(typed, "tsconfig.json"), JSON.stringify({ compilerOptions: { ...strict, skipLibCheck }, files: [file] }))
    const result = spawnSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", "."], { cwd: typed, encoding: "utf8" })
    expect(result.stdout).toBe("")
  }
})

/** An agent that needs nothing but the package. `types` is what TypeScript has more than JavaScript. */
const agentFile = (types: string): string => `import { agent, jsonSchema, tool } from "hello-agents"
const getStock = tool({
  name: "get_stock",
  description: "Tells how many pieces of an article are in stock.",
  input: jsonSchema${types}({ type: "object", properties: { article: { type: "string", description: 'such as "desk lamp"' } }, required: ["article"] }),
  hints: { readOnly: true },
  execute: ({ article }) => (article === "desk lamp" ? 4 : 0),
})
export default agent({ name: "stock", instructions: "You answer questions about the stock.", tools: [getStock] })
`
const QUESTION = 'How many pieces of "desk lamp" are in stock?'
const ANSWER = "get_stock (article desk lamp) says: 4"

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}
/** The installed command with nothing of this project's environment. */
function command(words: readonly string[], input = ""): Ended {
  const env = { PATH: process.env["PATH"], HOME: folder, NO_COLOR: "1" }
  const { status, stdout, stderr } = spawnSync(join(user, "node_modules/.bin/hello-agents"), words, { cwd: user, encoding: "utf8", env, input })
  return { code: status, out: stdout, err: stderr }
}

const WORDS = {
  en: {
    asking: "asking the model",
    thread: "thread  ",
    noFile: "none is needed",
    unset: "not set",
    ready: "Ready.",
    asked: "asked",
    turn: "turn 1",
    over: "had ended",
    missing: "there is no such file",
  },
  zh: {
    asking: "询问模型",
    thread: "对话    ",
    noFile: "没有也可以",
    unset: "未设置",
    ready: "一切就绪。",
    asked: "提问",
    turn: "第 1 轮",
    over: "早已结束",
    missing: "没有这个文件",
  },
} as const

describe.each(["en", "zh"] as const)("its command, --language %s", (language) => {
  const words = WORDS[language]
  const speak = (args: readonly string[], input?: string): Ended => command(["--language", language, ...args], input)

  test.each(["stock.js", "stock.ts"])("runs %s: the answer on stdout, progress on stderr", (file) => {
    writeFileSync(join(user, file), agentFile(file.endsWith(".ts") ? "<{ article: string }>" : ""))
    const { code, out, err } = speak(["run", "--agent", file, QUESTION])
    expect([code, out]).toEqual([0, `${ANSWER}\n`])
    expect(err).toContain(words.asking)
    expect(err).toContain('→ get_stock {"article":"desk lamp"}')
  })

  test("lists, shows and takes up again the run that --json tells of", () => {
    writeFileSync(join(user, "stock.js"), agentFile(""))
    const made = speak(["run", "--json", "--agent", "stock.js", QUESTION])
    const result = JSON.parse(made.out) as { readonly runId: string }
    expect([made.code, result]).toMatchObject([0, { ok: true, status: "final", answer: ANSWER, agent: "stock" }])

    const listed = speak(["trace", "ls"])
    expect([listed.code, listed.err]).toEqual([0, ""])
    expect(listed.out).toContain(words.asked)
    expect(listed.out).toContain(result.runId)

    const shown = speak(["trace", "show", result.runId])
    expect([shown.code, shown.err]).toEqual([0, ""])
    for (const part of [words.turn, '{"article":"desk lamp"} → 4', ANSWER]) expect(shown.out).toContain(part)

    const resumed = speak(["resume", result.runId, "--agent", "stock.js"])
    expect([resumed.code, resumed.out]).toEqual([0, `${ANSWER}\n`])
    expect(resumed.err).toContain(words.over)
  })

  test("chats over a pipe: one answer a line", () => {
    writeFileSync(join(user, "stock.js"), agentFile(""))
    const { code, out, err } = speak(["chat", "--agent", "stock.js"], `${QUESTION}\nHow many pieces of "sofa" are in stock?\n`)
    expect([code, out]).toEqual([0, `${ANSWER}\nget_stock (article sofa) says: 0\n`])
    expect(err).toContain(words.thread)
  })

  test("shows its settings and that all is there", () => {
    const config = speak(["config"])
    expect([config.code, config.err]).toEqual([0, expect.stringContaining(words.noFile)])
    expect(config.out.split("\n").find((line) => line.startsWith("llm.model "))).toContain(words.unset)
    const doctor = speak(["doctor"])
    expect([doctor.code, doctor.err]).toEqual([0, ""])
    expect(doctor.out).toContain(words.ready)
    expect(doctor.out).not.toContain("✗")
  })

  test("refuses an agent file that is not there", () => {
    const { code, out, err } = speak(["run", "--agent", "gone.js", QUESTION])
    expect([code, out]).toEqual([2, ""])
    expect(err).toContain("--agent gone.js")
    expect(err).toContain(words.missing)
  })
})

test("its command starts with npx", () => {
  expect(run("npx", ["--no-install", "hello-agents", "--help"])).toContain("hello-agents")
})

test("brings at most five other packages", () => {
  const installed = run("npm", ["ls", "--omit=dev", "--all", "--parseable"])
    .trim()
    .split("\n")
    .filter((path) => path.includes("node_modules"))
  expect(installed.map((path) => path.replace(/^.*node_modules\//, ""))).toContain("hello-agents")
  expect(installed.length).toBeLessThanOrEqual(6)
})

test("publint has nothing to say", async () => {
  const { messages, pkg } = await publint({ pkgDir: root, strict: true })
  expect(messages.map((message) => formatMessage(message, pkg))).toEqual([])
})
