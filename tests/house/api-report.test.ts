import { existsSync, readFileSync } from "node:fs"
import { beforeAll, describe, expect, test } from "vitest"
import { apiReport, reportFile } from "../../scripts/api-report.mjs"
import { build } from "../../scripts/build.mjs"
import { plant } from "./plant.ts"

describe("the committed report on the public surface", () => {
  beforeAll(() => {
    expect(build(), "the sources must build").toBe(true)
  }, 60_000)

  test("says what the built package shows; `npm run api` writes it anew", () => {
    const committed = existsSync(reportFile) ? readFileSync(reportFile, "utf8") : ""
    expect(committed).toBe(apiReport())
  }, 30_000)
})

describe("a report", () => {
  const surface = (limit: string, result: string) =>
    plant({
      "package.json": JSON.stringify({ name: "planted", exports: { ".": "./dist/index.js", "./extra": "./dist/extra.js" } }),
      "dist/index.d.ts": `import type { Result } from "./result.js"\n/** Runs. */\nexport declare function run(limit: ${limit}): Result\nexport declare const turns = 10\n`,
      "dist/extra.d.ts": `export { run } from "./index.js"\nexport type { Unused } from "./result.js"\n`,
      "dist/result.d.ts": `export interface Result { ${result} }\nexport type Unused = string\n`,
    })

  test("shows names, kinds and declarations by door, each once, and the types behind them", () => {
    expect(apiReport(surface("number", "answer: string"))).toBe(
      [
        "# Public surface\n\nWritten by `npm run api`. Do not edit.\n",
        "## planted\n\n2 names\n",
        "run (function)\n\n```ts\nfunction run(limit: number): Result;\n```\n",
        "turns (constant)\n\n```ts\nconst turns = 10;\n```\n",
        "## planted/extra\n\n2 names\n",
        "Unused (type)\n\n```ts\ntype Unused = string;\n```\n",
        "run: see planted\n",
        "## Mentioned, not exported\n",
        "Result (interface)\n\n```ts\ninterface Result {\n    answer: string;\n}\n```\n",
      ].join("\n"),
    )
  })

  test("changes with a parameter, and with a type that is only mentioned", () => {
    const before = apiReport(surface("number", "answer: string"))
    expect(apiReport(surface("string", "answer: string"))).not.toBe(before)
    expect(apiReport(surface("number", "answer: string; ok: true"))).not.toBe(before)
  })

  test("is refused when a door leads nowhere", () => {
    const folder = plant({ "package.json": JSON.stringify({ name: "planted", exports: { ".": "./dist/index.js" } }) })
    expect(() => apiReport(folder)).toThrow("the door . leads to dist/index.d.ts, which is not there")
  })
})
