// Checks the layers with dependency-cruiser, and that it looked at all: with a compiler it does not know it finds no file and is content.
import { spawnSync } from "node:child_process"
import { readdirSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const { layers, beside, doors } = createRequire(import.meta.url)("./layers.cjs")
const known = new RegExp(`${doors}|^src/(${[...layers, ...beside].join("|")})/`)

/**
 * Every broken rule in `folder`, as `rule: from → to`, sorted, and the number of modules that were read.
 * Throws if not every source file was read.
 */
export function checkLayers(folder = root) {
  const command = [join(root, "node_modules/dependency-cruiser/bin/dependency-cruise.mjs"), "--config", join(root, ".dependency-cruiser.cjs"), "--output-type", "json", "src"]
  const { stdout, stderr } = spawnSync(process.execPath, command, { cwd: folder, encoding: "utf8", maxBuffer: 1 << 28 })
  if (!stdout.startsWith("{")) throw new Error(`dependency-cruiser did not run: ${stderr || stdout}`)
  const { modules, summary } = JSON.parse(stdout)
  const read = new Set(modules.map((module) => module.source))
  const files = readdirSync(join(folder, "src"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => `src/${file.replaceAll("\\", "/")}`)
  const unread = files.filter((file) => !read.has(file))
  if (read.size === 0 || unread.length > 0) throw new Error(`dependency-cruiser read ${read.size} modules and passed over ${unread.slice(0, 5).join(", ")}`)
  const broken = summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`)
  const homeless = files.filter((file) => !known.test(file)).map((file) => `every-file-has-a-layer: ${file}`)
  return { modules: modules.length, broken: [...broken, ...homeless].sort() }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { modules, broken } = checkLayers()
  console.log(broken.length > 0 ? broken.join("\n") : `${modules} modules keep to their layers`)
  process.exitCode = broken.length > 0 ? 1 : 0
}
