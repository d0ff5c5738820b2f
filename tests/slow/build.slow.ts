import { spawnSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { plant, root } from "../house/plant.ts"

/** A small package with the house's build script; its node_modules is its own, so that it has its own memory of builds. */
function smallPackage(): { folder: string; build: () => { ok: boolean; said: string } } {
  const folder = plant({
    "src/index.ts": "export const one: number = 1\n",
    "src/cli/main.ts": `#!/usr/bin/env node\nimport { one } from "../index.ts"\nconsole.log(one)\n`,
  })
  for (const path of ["scripts/build.mjs", "tsconfig.build.json"]) cpSync(join(root, path), join(folder, path))
  rmSync(join(folder, "node_modules"))
  mkdirSync(join(folder, "node_modules"))
  for (const name of ["typescript", "@types", "undici-types"]) symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name))
  const build = (): { ok: boolean; said: string } => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(folder, "scripts/build.mjs")], { encoding: "utf8" })
    return { ok: status === 0, said: `${stdout}${stderr}`.replace(/\d+\.\d s/, "N s") }
  }
  return { folder, build }
}

test("builds when something changed and says nothing when nothing did", () => {
  const { folder, build } = smallPackage()
  expect(build()).toEqual({ ok: true, said: "building dist … N s\n" })
  expect(build()).toEqual({ ok: true, said: "" })
  expect(statSync(join(folder, "dist/cli/main.js")).mode & 0o111).toBe(0o111)

  writeFileSync(join(folder, "src/extra.ts"), "export const two: number = 2\n")
  expect(build()).toEqual({ ok: true, said: "building dist … N s\n" })
  rmSync(join(folder, "src/extra.ts"))
  build()
  expect(existsSync(join(folder, "dist/extra.js"))).toBe(false)

  rmSync(join(folder, "dist"), { recursive: true })
  expect(build()).toEqual({ ok: true, said: "building dist … N s\n" })
  expect(spawnSync(join(folder, "dist/cli/main.js"), { encoding: "utf8" }).stdout).toBe("1\n")
})

test("a mistake is shown, and is still there the next time", () => {
  const { folder, build } = smallPackage()
  writeFileSync(join(folder, "src/index.ts"), `export const one: number = "1"\n`)
  for (const _ of [1, 2]) expect(build()).toEqual({ ok: false, said: expect.stringContaining("src/index.ts(1,14): error TS2322") })
})

test("the lock of a builder that was killed keeps nobody waiting", () => {
  const { folder, build } = smallPackage()
  const gone = spawnSync(process.execPath, ["--version"]).pid
  mkdirSync(join(folder, "node_modules/.cache/hello-agents"), { recursive: true })
  writeFileSync(join(folder, "node_modules/.cache/hello-agents/build.lock"), String(gone))
  expect(build()).toEqual({ ok: true, said: "building dist … N s\n" })
})
