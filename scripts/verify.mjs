// Runs the checks of the house and names the ones that fail: `node scripts/verify.mjs check|test|slow`.
// Called by `npm run check`, `npm test` and .ci/run; needs nothing but Node, and installs the locked packages where they are missing.
import { spawn, spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const results = join(root, "node_modules/.cache/hello-agents")
const [mode = "test", ...more] = process.argv.slice(2)

const bin = (path) => [process.execPath, join(root, "node_modules", path)]
const tsc = (name, ...options) => [...bin("typescript/bin/tsc"), ...options, "--noEmit", "--incremental", "--tsBuildInfoFile", join(results, `${name}.tsbuildinfo`)]
const vitest = (name, ...options) => [...bin("vitest/vitest.mjs"), "run", "--reporter=default", "--reporter=json", `--outputFile.json=${join(results, `${name}.json`)}`, ...options]

const build = { name: "build", command: [process.execPath, "scripts/build.mjs"] }
const format = { name: "format and lint", command: [...bin("@biomejs/biome/bin/biome"), "check", "--diagnostic-level=warn", "--error-on-warnings", "."] }
const types = { name: "types", command: tsc("types") }
const builtTypes = { name: "types of the built package", command: tsc("built-types", "-p", "tests/types/tsconfig.built.json") }
const layers = { name: "layers", command: [process.execPath, "scripts/layers.mjs"] }
const unused = { name: "unused code", command: [...bin("knip/bin/knip.js"), "--no-progress"] }
const publint = { name: "package", command: [...bin("publint/src/cli.js"), "--strict"] }
const tests = { name: "tests", command: vitest("tests", ...more), counts: "tests.json" }
const slowTests = { name: "slow tests", command: vitest("slow-tests", "--config", "vitest.slow.config.ts", ...more), counts: "slow-tests.json" }

/** A stage starts when the one before it has ended; the steps of a stage run side by side, two at a time. */
const stages = {
  check: [[types, format, layers]],
  test: more.length > 0 ? [[build], [tests]] : [[build], [types, format, layers, builtTypes], [tests]],
  slow: [[build], [unused, publint], [slowTests]],
}

function installIfMissing() {
  const { devDependencies, dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
  const missing = Object.keys({ ...devDependencies, ...dependencies }).filter((name) => !existsSync(join(root, "node_modules", name, "package.json")))
  if (missing.length === 0) return
  console.log(`installing packages (${missing.length} missing) …`)
  const installed = spawnSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: root, stdio: "inherit" })
  if (installed.status !== 0) throw new Error("npm ci failed")
}

function runStep({ name, command, counts }) {
  const started = performance.now()
  if (counts) rmSync(join(results, counts), { force: true })
  return new Promise((resolve) => {
    const child = spawn(command[0], command.slice(1), { cwd: root, stdio: ["ignore", counts ? "inherit" : "pipe", counts ? "inherit" : "pipe"] })
    const output = []
    child.stdout?.on("data", (chunk) => output.push(chunk))
    child.stderr?.on("data", (chunk) => output.push(chunk))
    child.on("error", (error) => output.push(Buffer.from(String(error))))
    child.on("close", (code) => {
      const seconds = ((performance.now() - started) / 1000).toFixed(1)
      console.log(`${code === 0 ? "ok    " : "FAILED"}  ${name} (${seconds} s)`)
      if (code !== 0) process.stdout.write(Buffer.concat(output))
      resolve({ name, ...tally(code === 0, counts) })
    })
  })
}

/** A step without counts is one check; a run of tests that left no counts died on the way. A skipped test is said aloud here, and a failure in CI. */
function tally(ok, counts) {
  if (!counts) return { passed: ok ? 1 : 0, failed: ok ? 0 : 1 }
  if (!existsSync(join(results, counts))) return { passed: 0, failed: 1 }
  const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(readFileSync(join(results, counts), "utf8"))
  if (numPendingTests > 0) console.log(`SKIPPED ${numPendingTests} tests: something they need is missing on this machine`)
  const failed = numFailedTests + (process.env.CI ? numPendingTests : 0)
  return { passed: numPassedTests, failed: ok ? failed : Math.max(1, failed) }
}

async function runStage(steps) {
  const waiting = [...steps]
  const done = []
  const lane = async () => {
    for (let step = waiting.shift(); step; step = waiting.shift()) done.push(await runStep(step))
  }
  await Promise.all([lane(), lane()])
  return done
}

const stagesOfMode = stages[mode]
if (!stagesOfMode) throw new Error(`unknown mode ${mode}: use check, test or slow`)
installIfMissing()
mkdirSync(results, { recursive: true })
const done = []
for (const steps of stagesOfMode) done.push(...(await runStage(steps)))
const passed = done.reduce((sum, step) => sum + step.passed, 0)
const failed = done.reduce((sum, step) => sum + step.failed, 0)
writeFileSync(join(results, `verify-${mode}.json`), JSON.stringify({ passed, failed }))
const broken = done.filter((step) => step.failed > 0).map((step) => step.name)
console.log(broken.length > 0 ? `\n${mode}: ${failed} failed (${broken.join(", ")}), ${passed} passed` : `\n${mode}: all ${passed} passed`)
process.exitCode = broken.length > 0 ? 1 : 0
