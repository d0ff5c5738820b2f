// The argument ladder must be linear: 2 MB of a nasty character may cost at most 2.6 times what 1 MB costs. Prints what a good call costs.
// Runs on built code: `npm run build && node bench/arguments-linear.mjs [folder of the build]`. Exit code 1 when a bound is broken.
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"

const dist = process.argv[2] === undefined ? new URL("../dist/", import.meta.url) : pathToFileURL(`${resolve(process.argv[2])}/`)
const { readArguments } = await import(new URL("infrastructure/json/arguments.js", dist).href)
const { balancedEnd } = await import(new URL("infrastructure/json/balanced.js", dist).href)

const MEGABYTE = 1_000_000
const LARGEST_RATIO = 2.6
/** Below this a ratio says nothing. */
const SMALLEST_MS = 20
const options = { tool: "run", schema: { type: "object", properties: { text: { type: "string" } } }, examples: [], finish: "stop" }
const prefixes = ["", '{"text": "', "{'text': '", '{"text": ', "prose ", "{“text”: “", '{"text": "\\q ', '{\\"text\\": \\"']
const units = [
  ...["{", "[", '"', "'", "`", " ", "\\", "“", "/", "a", "0", ",", ":", "}", "\n", "｛", "\\n", '\\"', "/*", "//\n", '"""', "{ ", "[1", "{}", "[]", "{a:", "</"],
  ...['{"a":', '{"a":1}', '"a", ', '", "', '"x" ', '["', "{'", '"/*', "$\\a", "it's ", "<think>", "```json\n", "[1] {a} "],
]

const failures = []
let slowest = { text: "", ms: 0 }
for (const unit of units) {
  for (const prefix of prefixes) {
    const [shorter, longer] = [MEGABYTE, 2 * MEGABYTE].map((size) => prefix + unit.repeat(Math.ceil(size / unit.length)))
    let [one, two] = [once(shorter), once(longer)]
    // A single measurement on a busy machine is easily wrong; a quadratic reader stays wrong.
    for (let round = 0; round < 10 && isTooSlow(one, two); round++) [one, two] = [Math.min(one, once(shorter)), Math.min(two, once(longer))]
    if (two > slowest.ms) slowest = { text: prefix + unit, ms: two }
    if (isTooSlow(one, two)) failures.push(`${JSON.stringify(prefix + unit)}: 1 MB ${one.toFixed(1)} ms, 2 MB ${two.toFixed(1)} ms`)
  }
}
console.log(`${units.length * prefixes.length} texts of 2 MB, the slowest ${JSON.stringify(slowest.text)} in ${slowest.ms.toFixed(0)} ms`)
console.log(`a good call: ${microseconds((text) => readArguments(text, options)).toFixed(2)} µs, of which JSON.parse ${microseconds(JSON.parse).toFixed(2)} µs`)
for (const failure of failures) console.error(`FAILED ${failure}`)
process.exit(failures.length === 0 ? 0 : 1)

function isTooSlow(one, two) {
  return two > SMALLEST_MS && two / one > LARGEST_RATIO
}

function once(text) {
  const start = performance.now()
  readArguments(text, options)
  balancedEnd(text, 0)
  return performance.now() - start
}

function microseconds(work) {
  const text = '{"text":"a line of text that a model wrote"}'
  const count = 50_000
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < 5; round++) {
    const start = performance.now()
    for (let index = 0; index < count; index++) work(text)
    best = Math.min(best, performance.now() - start)
  }
  return (best / count) * 1000
}
