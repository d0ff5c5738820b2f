import { spawnSync } from "node:child_process"
import { cpSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { plant, root } from "./plant.ts"

const faults: Record<string, string> = {
  "correctness/noUnusedVariables": "function nobody(): void {}\n",
  "nursery/noFloatingPromises": "async function slow(): Promise<void> {}\nexport function start(): void {\n  slow()\n}\n",
  "style/noDefaultExport": "export default function named(): void {}\n",
  "style/noNonNullAssertion": "export function first(list: string[]): string {\n  return list[0]!\n}\n",
  "style/useImportType": `import { Tool } from "./tool.ts"\n\nexport type Named = Tool\n`,
  "style/useNodejsImportProtocol": `import { readFileSync } from "fs"\n\nexport const read = readFileSync\n`,
  "suspicious/noConsole": "export function say(): void {\n  console.log(1)\n}\n",
  "suspicious/noExplicitAny": "export function wide(value: any): void {\n  wide(value)\n}\n",
}

/** What biome says of the files, as `file: rule`, sorted. */
function check(files: Record<string, string>): string[] {
  const folder = plant(files)
  cpSync(join(root, "biome.json"), join(folder, "biome.json"))
  const command = [join(root, "node_modules/@biomejs/biome/bin/biome"), "check", "--reporter=json", "--max-diagnostics=none", "src"]
  const { stdout } = spawnSync(process.execPath, command, { cwd: folder, encoding: "utf8" })
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: { category: string; location: { path: string } }[] }
  return [...new Set(diagnostics.map(({ category, location }) => `${location.path}: ${category}`))].sort()
}

test("each fault is found and named, and a clean file is left alone", () => {
  const file = (rule: string): string => `src/${rule.replace("/", "-").toLowerCase()}.ts`
  const planted = Object.fromEntries(Object.entries(faults).map(([rule, text]) => [file(rule), text]))
  const others = {
    "src/clean.ts": "export const limit = 3\n",
    "src/unformatted.ts": "export const limit = 3;\n",
    "src/CamelCase.ts": "export const limit = 3\n",
    "src/tool.ts": "export type Tool = string\n",
  }
  expect(check({ ...planted, ...others })).toEqual(
    [...Object.keys(faults).map((rule) => `${file(rule)}: lint/${rule}`), "src/CamelCase.ts: lint/style/useFilenamingConvention", "src/unformatted.ts: format"].sort(),
  )
}, 30_000)
