// Kills workers with SIGKILL at random moments while they drive runs, and counts what was lost, repeated or damaged: `npm run chaos`.
// Usage: node scripts/chaos.mjs [--seconds 300] [--runs 300] [--seed N] [--store files|sqlite]   (60 seconds where CI is set)
// Two workers (chaos-worker.mjs) share the runs. Some runs are given to both at once, some get a message from a third process meanwhile.
import { fork } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { foldEvents, send } from "../dist/doors/runs.js"
import { effectsIn, inFlight, openStore, STEPS } from "./chaos-world.mjs"

/** Runs under way at once; a look every 5 ms; milliseconds between kills; chances per look that a run is given to both or spoken to. */
const DEFAULTS = { atOnce: 8, lookMs: 5, killMs: [100, 500], twice: 0.02, spoken: 0.01, graceMs: 60_000, inFlightShare: 0.2 }

const { values } = parseArgs({
  options: { seconds: { type: "string" }, runs: { type: "string" }, seed: { type: "string" }, store: { type: "string" } },
})
const seconds = Number(values.seconds ?? (process.env.CI ? 60 : 300))
const wanted = Number(values.runs ?? 300)
const seed = Number(values.seed ?? Date.now() % 1_000_000)
const kind = values.store ?? "files"
const folder = mkdtempSync(join(tmpdir(), "chaos-"))
mkdirSync(join(folder, "effects"))
const store = openStore(kind, folder)

/** A small generator with a seed (xorshift32), so that a run can be made again with about the same kills. */
let state = ((seed * 2_654_435_761) % 2 ** 32) | 1
function random() {
  state ^= state << 13
  state ^= state >>> 17
  state ^= state << 5
  return (state >>> 0) / 2 ** 32
}
const between = ([low, high]) => low + random() * (high - low)

/** By job: `drivers`: workers that have it, `died`: when its worker was killed, `questions`: what waits for a person. */
const jobs = new Map()
const retries = new Map()
const recoveries = []
const faults = []
const counts = { kills: 0, killsInFlight: 0, twice: 0, spoken: 0, asked: 0, fenced: 0 }

const workers = []
function startWorker() {
  const child = fork(fileURLToPath(new URL("chaos-worker.mjs", import.meta.url)), [folder, kind], { stdio: ["ignore", "inherit", "inherit", "ipc"] })
  const worker = { child, pid: child.pid, jobs: new Set(), dead: false, gone: new Promise((resolve) => child.on("exit", resolve)) }
  child.on("error", () => {})
  child.on("message", (message) => onMessage(worker, message))
  workers.push(worker)
  return worker
}
const alive = () => workers.filter(({ dead }) => !dead)
const isAlive = (pid) => alive().some((worker) => worker.pid === pid)

function onMessage(worker, message) {
  const job = jobs.get(message.job)
  if (message.type === "going" || message.type === "waiting") {
    if (job.died !== null) recoveries.push(performance.now() - job.died)
    job.died = null
    if (message.type === "going") return
  }
  worker.jobs.delete(job.id)
  job.drivers.delete(worker)
  switch (message.type) {
    case "waiting":
      job.questions = message.questions
      return
    case "ended":
      job.ended = true
      if (!message.ok || message.text !== `FINAL ${job.id}`) faults.push(`${job.id} ended with ${message.text}`)
      return
    case "failed":
      if (message.code === "stale_writer" || message.code === "run_exists" || message.code === "input_invalid") counts.fenced++
      else faults.push(`${job.id}: ${message.text}`)
  }
}

function deliver(job, worker, answers) {
  worker.jobs.add(job.id)
  job.drivers.add(worker)
  if (!worker.dead) worker.child.send({ job: job.id, atOnce: job.atOnce, answers }, () => {})
}

const leastBusy = () => alive().sort((left, right) => left.jobs.size - right.jobs.size)[0]

/** A person who looks before answering: nobody must still be at it. null: look again later. */
function answersFor(job) {
  const lines = effectsIn(folder).filter((line) => line.job === job.id)
  if (inFlight(lines).some(({ pid }) => isAlive(pid))) return null
  return job.questions.map(({ id, key }) => {
    counts.asked++
    const done = lines.find((line) => line.what === "done" && line.key === key)
    if (done) return { id, type: "happened", result: `STEP-OK ${done.n}.` }
    retries.set(key, (retries.get(key) ?? 0) + 1)
    return { id, type: "retry" }
  })
}

/** Gives out what nobody drives: new jobs, jobs of the dead, and jobs that were asked about. */
function dispatch(mayBegin) {
  for (const job of jobs.values()) {
    if (job.ended || job.drivers.size > 0) continue
    const answers = job.questions === null ? undefined : answersFor(job)
    if (answers === null) continue
    job.questions = null
    deliver(job, leastBusy(), answers)
  }
  const open = [...jobs.values()].filter(({ ended }) => !ended).length
  for (let index = open; mayBegin && index < DEFAULTS.atOnce; index++) {
    const id = `job-${jobs.size + 1}`
    const job = { id, atOnce: [1, 2, 3, 6][Math.floor(random() * 4)], drivers: new Set(), died: null, questions: null, ended: false }
    jobs.set(id, job)
    deliver(job, leastBusy())
  }
}

/** A queue that delivers at least once does so now and then. */
function deliverTwice() {
  const driven = [...jobs.values()].filter(({ ended, drivers }) => !ended && drivers.size === 1)
  const job = driven[Math.floor(random() * driven.length)]
  const other = alive().find((worker) => !job?.drivers.has(worker))
  if (!job || !other) return
  counts.twice++
  deliver(job, other)
}

async function speak() {
  const driven = [...jobs.values()].filter(({ ended, drivers }) => !ended && drivers.size === 1)
  const job = driven[Math.floor(random() * driven.length)]
  if (!job) return
  try {
    await send(store, job.id, "Anything new?")
    counts.spoken++
  } catch (error) {
    // It may not have begun, may have ended, or its writer was faster twenty times: all as documented.
    if (!["run_not_found", "run_ended", "stale_writer"].includes(error.code)) faults.push(`send: ${error.stack}`)
  }
}

async function killOne() {
  const living = alive()
  const worker = living[Math.floor(random() * living.length)]
  worker.child.kill("SIGKILL")
  const at = performance.now()
  await worker.gone
  worker.dead = true
  counts.kills++
  if (inFlight(effectsIn(folder, worker.pid)).length > 0) counts.killsInFlight++
  for (const id of worker.jobs) {
    const job = jobs.get(id)
    job.drivers.delete(worker)
    if (!job.ended && job.drivers.size === 0) job.died = at
  }
  startWorker()
}

async function play() {
  startWorker()
  startWorker()
  const ends = performance.now() + seconds * 1_000
  let nextKill = performance.now() + 1_000
  for (;;) {
    const now = performance.now()
    const mayBegin = now < ends || jobs.size < wanted
    dispatch(mayBegin)
    const open = [...jobs.values()].some(({ ended }) => !ended)
    if (!mayBegin && !open) return
    if (!mayBegin && now > ends + DEFAULTS.graceMs) return void faults.push(`${[...jobs.values()].filter(({ ended }) => !ended).length} runs never ended`)
    if (mayBegin && now > nextKill) {
      nextKill = now + between(DEFAULTS.killMs)
      await killOne()
    }
    if (random() < DEFAULTS.twice) deliverTwice()
    if (random() < DEFAULTS.spoken) await speak()
    await wait(DEFAULTS.lookMs)
  }
}

/** Compares the logs with what the tools wrote themselves. */
async function judge() {
  const lines = effectsIn(folder)
  const byCall = grouped(lines, ({ job, n }) => `${job} ${n}`)
  const wrong = { lost: [], repeated: [], unasked: [], corrupt: [] }
  for (const { id } of jobs.values()) {
    for (const n of STEPS) {
      const calls = byCall.get(`${id} ${n}`) ?? []
      const done = calls.filter(({ what }) => what === "done")
      if (done.length === 0) wrong.lost.push(`${id} step ${n}`)
      if (done.length > 1 || keys(calls, "start").size > 1) wrong.repeated.push(`${id} step ${n}`)
      const starts = calls.filter(({ what }) => what === "start").length
      const allowed = 1 + Math.max(0, ...[...keys(calls, "start")].map((key) => retries.get(key) ?? 0))
      if (starts > allowed) wrong.unasked.push(`${id} step ${n}`)
    }
    try {
      const events = await store.read(id)
      if (foldEvents(events)?.status.type !== "stopped") wrong.corrupt.push(`${id} has not ended in its log`)
      if (events.some(({ seq }, index) => seq !== index + 1)) wrong.corrupt.push(`${id} has a gap`)
    } catch (error) {
      wrong.corrupt.push(`${id}: ${error.message}`)
    }
  }
  return wrong
}

const keys = (calls, wantedWhat) => new Set(calls.flatMap(({ what, key }) => (what === wantedWhat ? [key] : [])))

function grouped(items, keyOf) {
  const groups = new Map()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group) group.push(item)
    else groups.set(keyOf(item), [item])
  }
  return groups
}

function histogram(times) {
  const bounds = [50, 100, 200, 400, 800, 1_600, 3_200, Number.POSITIVE_INFINITY]
  const sorted = [...times].sort((left, right) => left - right)
  const at = (share) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0)
  const rows = bounds.map((bound, index) => {
    const count = sorted.filter((ms) => ms < bound && ms >= (bounds[index - 1] ?? 0)).length
    const label = Number.isFinite(bound) ? `< ${bound} ms` : "longer"
    return `  ${label.padStart(9)} ${String(count).padStart(5)} ${"#".repeat(Math.ceil((count / Math.max(1, sorted.length)) * 60))}`
  })
  return [`from the kill to the run's next event: ${sorted.length} times, half within ${at(0.5)} ms, 95 % within ${at(0.95)} ms, longest ${at(1)} ms`, ...rows].join("\n")
}

const began = performance.now()
await play()
for (const worker of alive()) worker.child.disconnect()
await Promise.all(alive().map(({ gone }) => gone))
const wrong = await judge()
const took = Math.round((performance.now() - began) / 1_000)
const share = counts.kills === 0 ? 0 : counts.killsInFlight / counts.kills
console.log(`${kind}, seed ${seed}: ${jobs.size} runs with ${jobs.size * STEPS.length} calls in ${took} s`)
console.log(
  `${counts.kills} kills, ${Math.round(share * 100)} % with a call in flight; ${counts.twice} runs given to two workers, ${counts.fenced} of these refused; ${counts.spoken} messages from outside; ${counts.asked} questions answered`,
)
console.log(
  `lost calls ${wrong.lost.length}, finished calls repeated ${wrong.repeated.length}, unfinished calls repeated unasked ${wrong.unasked.length}, corrupt logs ${wrong.corrupt.length}, other faults ${faults.length}`,
)
console.log(histogram(recoveries))
const violations = [...Object.entries(wrong).flatMap(([what, list]) => list.slice(0, 5).map((one) => `${what}: ${one}`)), ...faults.slice(0, 5)]
if (jobs.size < wanted) violations.push(`only ${jobs.size} of ${wanted} runs`)
if (share < DEFAULTS.inFlightShare) violations.push(`void: at least ${DEFAULTS.inFlightShare * 100} % of the kills must hit a call in flight`)
for (const violation of violations) console.log(`VIOLATION ${violation}`)
if (violations.length === 0) rmSync(folder, { recursive: true })
else console.log(`everything is left in ${folder}`)
process.exitCode = violations.length === 0 ? 0 : 1
