import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { root } from "./plant.ts"

test("every door of the sources is a door of the package, and leads to what is built from it", () => {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { exports: Record<string, string> }
  const doors = readdirSync(join(root, "src/doors")).map((file) => file.replace(/\.ts$/, ""))
  expect(exports).toEqual({
    ".": "./dist/index.js",
    ...Object.fromEntries(doors.map((door) => [`./${door}`, `./dist/doors/${door}.js`])),
    "./package.json": "./package.json",
  })
})
