// Judges the built package on a corpus of real-world failure inputs: `npm run -s corpus -- [FOLDER] [--verbose]` (default: the project's fixtures).
// Reads FOLDER/all/<kind>.jsonl; absent kinds are skipped. Fails on any failed row and where fewer than 92 % of a kind are matched exactly.
import { existsSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

const EXACT_SHARE = 0.92
const KINDS = ["arguments", "tool_call", "text_tool_call", "react", "sse", "response", "history", "schema", "http", "loop"]
const fixtures = fileURLToPath(new URL("../tests/fixtures/corpus", import.meta.url))
const verbose = process.argv.includes("--verbose")
const folder = resolve(process.argv.slice(2).find((word) => !word.startsWith("--")) ?? fixtures)

const { default: adapter } = await import(new URL("../tests/corpus/adapter.mjs", import.meta.url).href)
const { judge, expandRepeats } = await import(pathToFileURL(join(fixtures, "verify/compare.mjs")).href)

let bad = 0
const total = { rows: 0, pass: 0, exact: 0 }
for (const kind of KINDS) {
  const file = join(folder, "all", `${kind}.jsonl`)
  if (!existsSync(file)) continue
  const rows = readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
  const counts = { rows: 0, pass: 0, exact: 0, fail: 0, crash: 0, skip: 0 }
  for (const row of rows) {
    const outcome = await judged(kind, row)
    if (outcome.skip) {
      counts.skip++
      continue
    }
    counts.rows++
    if (outcome.crash) counts.crash++
    else if (outcome.pass) counts.pass++
    else counts.fail++
    if (outcome.exact) counts.exact++
    if (!outcome.pass) process.stdout.write(`  ${outcome.crash ? "CRASH" : "FAIL"} ${row.id}: ${outcome.reason}${verbose ? `\n        ${row.why}` : ""}\n`)
    else if (verbose && !outcome.exact) process.stdout.write(`  accepted ${row.id}: ${outcome.reason ?? row.why}\n`)
  }
  const enough = counts.exact >= EXACT_SHARE * counts.rows
  if (counts.pass < counts.rows || !enough) bad++
  for (const key of ["rows", "pass", "exact"]) total[key] += counts[key]
  const skipped = counts.skip > 0 ? `, skip ${counts.skip}` : ""
  process.stdout.write(
    `${kind.padEnd(15)} ${counts.pass}/${counts.rows}, exact ${counts.exact}, fail ${counts.fail}, crash ${counts.crash}${skipped}${enough ? "" : "  (too few exact)"}\n`,
  )
}
process.stdout.write(`${"all".padEnd(15)} ${total.pass}/${total.rows}, exact ${total.exact}\n`)
process.exit(bad > 0 || total.rows === 0 ? 1 : 0)

async function judged(kind, row) {
  const input = kind === "sse" ? row.input : expandRepeats(structuredClone(row.input))
  try {
    const actual = await adapter[kind](input, structuredClone(row.context), row)
    return actual.skip ? actual : judge(row, actual)
  } catch (error) {
    return { pass: false, crash: true, reason: error?.stack?.split("\n").slice(0, 2).join(" ") ?? String(error) }
  }
}
