// The package as a stranger gets it: packed, installed in an empty folder, imported, compiled against, started.
import { execFileSync, spawnSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { publint } from "publint"
import { formatMessage } from "publint/utils"
import { afterAll, beforeAll, expect, test } from "vitest"

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

test("its command starts", () => {
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
