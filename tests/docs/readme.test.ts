// What a newcomer reads first is true: commands, output, code, loop, minutes, doors, exit codes; in English, and the same in Chinese.
import { execFileSync, spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { beforeAll, describe, expect, onTestFinished, test } from "vitest"
import { build } from "../../scripts/build.mjs"
import { measure } from "../../scripts/budgets.mjs"
import { EXIT } from "../../src/cli/exit-codes.ts"
import { blockAfter, codeBlocks, document, headingLevels, root, tableRows } from "./documents.ts"

const LINES_PER_HOUR = 500
const english = document("README.md")
const chinese = document("README.zh-CN.md")
const manifest = JSON.parse(document("package.json").text) as { scripts: Record<string, string>; exports: Record<string, string> }

/** What differs from run to run. */
function steady(output: string): readonly string[] {
  const lines = output.split("\n").map((line) =>
    line
      .replace(/\d+(\.\d+)? (ms|s)\b/g, "N $2")
      .replace(/(trace show) \S+/, "$1 ID")
      .trimEnd(),
  )
  return lines.filter((line) => line !== "" && !line.startsWith("building dist"))
}

describe("the commands", () => {
  test("npm run demo is the command line on the order example, and prints what the README shows", { timeout: 200_000 }, () => {
    expect(manifest.scripts["demo"]).toBe('node scripts/build.mjs && node dist/cli/main.js run --agent examples/order-support/agent.ts "Where is order A1001?"')
    if (!build()) throw new Error("the program could not be built")
    const folder = mkdtempSync(join(tmpdir(), "hello-agents-readme-"))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const words = ["dist/cli/main.js", "run", "--agent", "examples/order-support/agent.ts", "Where is order A1001?"]
    const env = { PATH: process.env["PATH"], NO_COLOR: "1", npm_lifecycle_event: "demo", HOME: folder, HELLO_AGENTS_STORE_FOLDER: folder }
    const { status, stdout, stderr } = spawnSync(process.execPath, words, { cwd: root, encoding: "utf8", env })
    const shown = steady(codeBlocks(english).find(({ language }) => language === "text")?.code ?? "")
    expect(status).toBe(0)
    expect([...steady(stderr), ...steady(stdout)].sort()).toEqual([...shown].sort())
  })

  test("the first agent is asked as the README says", { timeout: 200_000 }, () => {
    if (!build()) throw new Error("the program could not be built")
    const folder = mkdtempSync(join(tmpdir(), "hello-agents-readme-"))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const command =
      codeBlocks(english)
        .find(({ code }) => code.includes("examples/first-agent/agent.ts"))
        ?.code.trim() ?? "false"
    const env = { PATH: process.env["PATH"], HOME: folder, HELLO_AGENTS_STORE_FOLDER: folder }
    expect(execFileSync("sh", ["-c", command], { cwd: root, encoding: "utf8", env, stdio: ["ignore", "pipe", "ignore"] })).toBe("get_stock (article desk lamp) says: 4\n")
  })
})

test.each(["examples/first-agent/agent.ts", "examples/first-agent/ask.ts"])("the code of %s is the file, and the type check covers it", (file) => {
  expect(blockAfter(english, `[${file}]`)).toBe(readFileSync(join(root, file), "utf8"))
  expect((JSON.parse(document("tsconfig.json").text) as { include: string[] }).include).toContain("examples")
})

test("the loop in five lines is what loop.ts does, in this order", () => {
  const loop = document("src/orchestration/loop.ts").text
  const steps = [...english.text.matchAll(/^(\d)\. `([^`]+)`/gm)].map(([, number, step]) => [Number(number), step] as const)
  expect(steps).toEqual([
    [1, "decide(state)"],
    [2, "perform(action, state)"],
    [3, "write(state, batch, world)"],
    [4, "apply(state, event)"],
    [5, "world.publish(event)"],
  ])
  const places = steps.map(([, step = ""]) => loop.indexOf(step))
  expect(places.every((place) => place > 0)).toBe(true)
  expect([...places].sort((a, b) => a - b)).toEqual(places)
  expect(loop).toContain('action.type === "rest"')
})

describe("what to read", () => {
  let measured: ReturnType<typeof measure>
  beforeAll(() => {
    measured = measure()
  }, 60_000)
  const minutes = (lines: number): number => (lines * 60) / LINES_PER_HOUR
  const scope = (start: string): number => minutes(measured.scopes.find(({ name }) => name.startsWith(start))?.lines ?? 0)
  const listed = tableRows(english).flatMap(([file = "", time = ""]) => {
    const path = /^\[(src\/[^\]]+)\]/.exec(file)?.[1]
    return path === undefined ? [] : [{ path, time: Number(time) }]
  })

  test("every file is there, and its minutes are right within a minute", () => {
    const all = listed.map(({ path, time }) => ({ path, said: time, right: minutes(measured.files.find(({ name }) => name === path)?.lines ?? Number.NaN) }))
    expect(all.filter(({ said, right }) => !(Math.abs(said - right) <= 1))).toEqual([])
    expect(listed.length).toBe(17)
  })

  test("the trunk takes three quarters of an hour, the thin runtime three hours, the core what the README says", () => {
    const [trunk, all] = [listed.slice(0, 4), listed].map((rows) => rows.reduce((sum, { time }) => sum + time, 0))
    expect(scope("trunk")).toBeLessThan(50)
    expect(scope("thin runtime")).toBeLessThan(190)
    expect(Math.abs((trunk ?? 0) - scope("trunk"))).toBeLessThanOrEqual(2)
    expect(Math.abs((all ?? 0) - scope("thin runtime"))).toBeLessThanOrEqual(6)
    const hours = Number(/(\d+) hours\. Most of it/.exec(english.text)?.[1])
    expect(Math.abs(hours - scope("core") / 60)).toBeLessThanOrEqual(1)
  })
})

test("every door of the package is in the table, and no other", () => {
  const doors = Object.keys(manifest.exports).flatMap((path) => (path === "./package.json" ? [] : [`hello-agents${path.slice(1)}`]))
  const inTable = tableRows(english).flatMap(([first = ""]) => /^`(hello-agents(?:\/[a-z0-9-]+)?)`$/.exec(first)?.[1] ?? [])
  expect([...inTable].sort()).toEqual([...doors].sort())
})

test("every command that --help names is in the table, and no other", { timeout: 200_000 }, () => {
  if (!build()) throw new Error("the program could not be built")
  const help = (...words: readonly string[]): readonly string[] => {
    const text = execFileSync(process.execPath, ["dist/cli/main.js", ...words, "--help"], { cwd: root, encoding: "utf8" })
    return [...(text.split("\nCommands:\n")[1] ?? "").matchAll(/^ {2}([a-z]+)/gm)].flatMap(([, name = ""]) => (name === "help" ? [] : [name]))
  }
  const commands = help().flatMap((name) => (name === "trace" ? help("trace").map((under) => `trace ${under}`) : [name]))
  const inTable = tableRows(english).flatMap(([first = ""]) => /^`hello-agents ([a-z ]+)`$/.exec(first)?.[1] ?? [])
  expect(inTable).toEqual(commands)
})

test("every exit code is in the table, and no other", () => {
  const codes = tableRows(english).flatMap(([first = ""]) => (/^\d+$/.test(first) ? [Number(first)] : []))
  expect(codes).toEqual([...new Set<number>(Object.values(EXIT))].sort((a, b) => a - b))
})

describe("in Chinese", () => {
  test("the same headings, code, tables and links", () => {
    expect(headingLevels(chinese)).toEqual(headingLevels(english))
    expect(codeBlocks(chinese)).toEqual(codeBlocks(english))
    const marks = (text: string): readonly string[] => [...text.matchAll(/`[^`\n]+`/g)].map(([mark]) => mark)
    const firstCells = (rows: ReturnType<typeof tableRows>): readonly string[] => rows.map(([first = ""]) => first)
    expect(firstCells(tableRows(chinese))).toEqual(firstCells(tableRows(english)))
    const withoutCode = (text: string): string => text.replace(/^```[\s\S]*?^```$/gm, "")
    expect([...new Set(marks(withoutCode(chinese.text)))].sort()).toEqual([...new Set(marks(withoutCode(english.text)))].sort())
  })

  test("minutes are the same", () => {
    const times = (rows: ReturnType<typeof tableRows>): readonly string[] => rows.flatMap(([file = "", time = ""]) => (file.startsWith("[src/") ? [time] : []))
    expect(times(tableRows(chinese))).toEqual(times(tableRows(english)))
  })

  test("every line of prose is Chinese", () => {
    const prose = chinese.text.replace(/^```[\s\S]*?^```$/gm, "").replace(/\[[^\]]*\]\([^)]*\)/g, "")
    const foreign = prose.split("\n").filter((line) => line.length > 25 && !/\p{Script=Han}/u.test(line) && !/^\|/.test(line))
    expect(foreign).toEqual([])
  })
})
