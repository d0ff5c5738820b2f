import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { expect, test } from "vitest"
import { plant, root } from "./plant.ts"

test("a file, an export and a type that nobody uses are found", () => {
  const folder = plant({
    "src/index.ts": `import { used } from "./capability/used.ts"\nexport const run: number = used`,
    "src/capability/used.ts": "export const used = 1\nexport const unusedExport = 2\nexport type UnusedType = string",
    "src/capability/unused-file.ts": "export const nobody = 3",
  })
  const { stdout } = spawnSync(process.execPath, [join(root, "node_modules/knip/bin/knip.js"), "--directory", folder, "--config", join(root, "knip.json"), "--reporter", "json"], {
    encoding: "utf8",
  })
  const { issues } = JSON.parse(stdout) as { issues: { file: string; files: unknown[]; exports: { name: string }[]; types: { name: string }[] }[] }
  const found = issues.flatMap(({ file, files, exports, types }) => [...(files.length > 0 ? [file] : []), ...[...exports, ...types].map(({ name }) => `${file}#${name}`)])
  expect(found.filter((name) => name.startsWith("src/")).sort()).toEqual([
    "src/capability/unused-file.ts",
    "src/capability/used.ts#UnusedType",
    "src/capability/used.ts#unusedExport",
  ])
}, 60_000)
