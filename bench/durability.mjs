// What a step costs in each store, early and late in a run: CPU, time and bytes written. A step is a model call and a tool call.
// Usage: node scripts/build.mjs && node bench/durability.mjs [--runs 9]. Bytes come from /proc/self/io, so they are there on Linux only.
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { sqliteStore } from "../dist/doors/sqlite.js"
import { fileStore, memoryStore } from "../dist/doors/stores.js"
import { agent, jsonSchema, run, tool } from "../dist/index.js"

const { values } = parseArgs({ options: { runs: { type: "string", default: "9" } } })
const runs = Number(values.runs)
/** Turns between which is measured, around the one that is named, and how many runs of each kind a round has, for as many steps. */
const WINDOWS = [
  { turn: 5, from: 3, to: 7, perRound: 25 },
  { turn: 500, from: 450, to: 550, perRound: 1 },
]
const WARM_UP = 300
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

/** Per step: the median over the runs, since a busy disk moves a mean. */
function perStep(measured, { from, to }) {
  const median = (key) => {
    const sorted = measured.map((one) => one[key] / (to - from)).sort((left, right) => left - right)
    return Math.round(sorted[Math.floor(sorted.length / 2)])
  }
  return { cpu: median("cpu"), wall: median("wall"), bytes: median("bytes") }
}

/** Early and late windows take turns, so that a busy moment of the machine meets both. */
async function compare(store, name) {
  const measured = WINDOWS.map(() => [])
  for (let round = 0; round < runs; round++) {
    for (const [index, window] of WINDOWS.entries()) {
      for (let more = 0; more < window.perRound; more++) measured[index].push(await measure(store, window, `${name}-${window.turn}-${round}-${more}`))
    }
  }
  return WINDOWS.map((window, index) => perStep(measured[index], window))
}

console.log("| store | CPU per step at turn 5 | at turn 500 | time at turn 5 | at turn 500 | bytes written at turn 5 | at turn 500 |")
console.log("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
for (const [name, open] of Object.entries(stores)) {
  const store = open()
  for (let index = 0; index < WARM_UP; index++) await measure(store, WINDOWS[0], `${name}-warm-up-${index}`)
  const [early, late] = await compare(store, name)
  console.log(`| ${name} | ${early.cpu} µs | ${late.cpu} µs | ${early.wall} µs | ${late.wall} µs | ${early.bytes} | ${late.bytes} |`)
  store?.close?.()
}
rmSync(folder, { recursive: true })
