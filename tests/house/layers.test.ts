import { expect, test } from "vitest"
import { checkLayers } from "../../scripts/layers.mjs"
import { plant } from "./plant.ts"

test("every import of the house points downwards", () => {
  const { modules, broken } = checkLayers()
  expect(broken).toEqual([])
  expect(modules).toBeGreaterThan(30)
}, 30_000)

test("each broken rule is found and named", () => {
  const folder = plant({
    "src/contract/tool.ts": "export type Tool = string",
    "src/contract/upwards.ts": `import { run } from "../interface/run.ts"\nexport const a = run`,
    "src/contract/package.ts": `import { z } from "zod"\nexport const schema = z.string()`,
    "src/infrastructure/one.ts": `import type { Two } from "./two.ts"\nexport type One = Two`,
    "src/infrastructure/two.ts": `import type { One } from "./one.ts"\nexport type Two = One | string`,
    "src/infrastructure/store/file-store.ts": `import { readFileSync } from "node:fs"\nexport const read = readFileSync`,
    "src/capability/memory/window.ts": "export const window = 1",
    "src/capability/tools/sibling.ts": `import { window } from "../memory/window.ts"\nexport const a = window`,
    "src/capability/tools/upwards-by-type.ts": `import type { Loop } from "../../orchestration/loop.ts"\nexport type A = Loop`,
    "src/orchestration/loop.ts": "export type Loop = string",
    "src/orchestration/io.ts": `import { readFileSync } from "node:fs"\nexport const read = readFileSync`,
    "src/interface/run.ts": `import { read } from "../infrastructure/store/file-store.ts"\nexport const run = read`,
    "src/interface/lost.ts": `import { gone } from "./gone.ts"\nexport const a = gone`,
    "src/interface/opens-a-door.ts": `import { read } from "../doors/stores.ts"\nexport const a = read`,
    "src/elsewhere/file.ts": "export const a = 1",
    "src/evals/starts-cli.ts": `import { main } from "../cli/main.ts"\nexport const a = main`,
    "src/doors/stores.ts": `export { read } from "../infrastructure/store/file-store.ts"`,
    "src/index.ts": `export { run } from "./interface/run.ts"\nexport type { Tool } from "./contract/tool.ts"`,
    "src/cli/main.ts": `import { run } from "hello-agents"\nimport { read } from "hello-agents/stores"\nimport { window } from "../capability/memory/window.ts"\nexport const main = [run, read, window]`,
  })
  const found = checkLayers(folder).broken.map((line) => line.replace(/\S*node_modules\/zod\/\S+/, "zod").replaceAll("src/", ""))
  expect(found).toEqual(
    [
      "contract-and-orchestration-do-no-io: contract/package.ts → zod",
      "contract-and-orchestration-do-no-io: orchestration/io.ts → fs",
      "contract-imports-downwards: contract/upwards.ts → interface/run.ts",
      "capability-imports-downwards: capability/tools/upwards-by-type.ts → orchestration/loop.ts",
      "core-depends-on-no-package: contract/package.ts → zod",
      "enter-through-the-doors: cli/main.ts → capability/memory/window.ts",
      "every-file-has-a-layer: elsewhere/file.ts",
      "every-import-resolves: interface/lost.ts → ./gone.ts",
      "interface-imports-downwards: interface/opens-a-door.ts → doors/stores.ts",
      "no-cycles: infrastructure/one.ts → infrastructure/two.ts",
      "nothing-imports-cli: evals/starts-cli.ts → cli/main.ts",
      "only-doors-name-adapters: interface/run.ts → infrastructure/store/file-store.ts",
      "root-door-runs-anywhere: index.ts → fs",
      "siblings-do-not-know-each-other: capability/tools/sibling.ts → capability/memory/window.ts",
    ].sort(),
  )
}, 30_000)

test("a checker that read nothing is an error, not a success", () => {
  expect(() => checkLayers(plant({ "src/empty.txt": "" }))).toThrow(/read 0 modules|did not run/)
}, 30_000)
