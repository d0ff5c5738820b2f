// A small package in a temporary folder, with faults planted in it, to see that a checker turns red.
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { onTestFinished } from "vitest"

export const root: string = fileURLToPath(new URL("../..", import.meta.url))

const manifest = { name: "hello-agents", type: "module", exports: { ".": "./dist/index.js" }, dependencies: { zod: "*" } }

/** Writes the files (path: text) beside a package.json and the house's tsconfig.json; gone when the test is over. */
export function plant(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), "planted-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  cpSync(join(root, "tsconfig.json"), join(folder, "tsconfig.json"))
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
  for (const [path, text] of Object.entries({ "package.json": JSON.stringify(manifest), ...files })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return folder
}
