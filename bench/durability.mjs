// What a step costs in each store, early and late in a run: CPU, time and bytes written. A step is a model call and a tool call.
// Usage: node scripts/build.mjs && node bench/durability.mjs [--runs 6]. Bytes come from /proc/self/io, so they are there on Linux only.
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { sqliteStore } from "../dist/doors/sqlite.js"
import { fileStore, memoryStore } from "../dist/doors/stores.js"
import { agent, jsonSchema, run, tool } from "../dist/index.js"

const { values } = parseArgs({ options: { runs: { type: "string", default: "6" } } })
const runs = Number(values.runs)
/** Turns between which is measured, around the one that is named, and how many runs give about as many steps to each. */
const WINDOWS = [
  { turn: 5, from: 3, to: 7, runs: runs * 25 },
  { turn: 500, from: 450, to: 550, runs },
]
const RESULT = "x".repeat(400)

const folder = mkdtempSync(join(tmpdir(), "durability-"))
const stores = {
  none: () => undefined,
  memory: () => memoryStore(),
  files: () => fileStore(join(folder, "runs")),
  SQLite: () => sqliteStore(join(folder, "runs.db")),
}

const step = tool({
  name: "step",
  description: "does a step",
  input: jsonSchema({ type: "object", properties: { n: { type: "integer" } }, required: ["n"] }),
  execute: () => RESULT,
})

function bytesWritten() {
  try {
    return Number(/wchar: (\d+)/.exec(readFileSync("/proc/self/io", "utf8"))[1])
  } catch {
    return Number.NaN
  }
}

function look() {
  const { user, system } = process.cpuUsage()
  return { cpu: user + system, wall: performance.now() * 1_000, bytes: bytesWritten() }
}

/** CPU and time in µs, and bytes, of the steps between two turns. */
async function measure(store, { from, to }, runId) {
  let before
  let after
  let turn = 0
  const model = {
    name: "scripted",
    async *ask() {
      turn++
      if (turn === from) before = look()
      if (turn === to) after = look()
      const base = { reasoning: "", usage: null }
      const calls = turn > to ? [] : [{ id: "x", name: "step", arguments: `{"n":${turn}}` }]
      yield { type: "reply", reply: turn > to ? { ...base, text: "done", calls, finish: "stop" } : { ...base, text: "", calls, finish: "tool_calls" } }
    },
  }
  const worker = agent({ name: "worker", instructions: "", tools: [step], model, limits: { turns: to + 10, contextTokens: 1e9 } })
  const result = await run(worker, "go", { runId, ...(store && { store }) })
  if (!result.ok) throw new Error(result.stop.message)
  return { cpu: after.cpu - before.cpu, wall: after.wall - before.wall, bytes: after.bytes - before.bytes }
}

async function perStep(store, window, name) {
  const total = { cpu: 0, wall: 0, bytes: 0 }
  for (let index = 0; index < window.runs; index++) {
    const one = await measure(store, window, `${name}-${window.turn}-${index}`)
    for (const key of Object.keys(total)) total[key] += one[key]
  }
  const steps = window.runs * (window.to - window.from)
  return Object.fromEntries(Object.entries(total).map(([key, sum]) => [key, Math.round(sum / steps)]))
}

console.log("| store | CPU per step at turn 5 | at turn 500 | time at turn 5 | at turn 500 | bytes written at turn 5 | at turn 500 |")
console.log("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
for (const [name, open] of Object.entries(stores)) {
  const store = open()
  await perStep(store, { turn: 0, from: 3, to: 7, runs: 400 }, `${name}-warm-up`)
  const cells = []
  for (const window of WINDOWS) cells.push(await perStep(store, window, name))
  const [early, late] = cells
  console.log(`| ${name} | ${early.cpu} µs | ${late.cpu} µs | ${early.wall} µs | ${late.wall} µs | ${early.bytes} | ${late.bytes} |`)
  store?.close?.()
}
rmSync(folder, { recursive: true })
