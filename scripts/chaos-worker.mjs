// One worker of chaos.mjs: drives the runs it is sent until it is killed. Its tool writes what it does to a synced file of this process,
// which stands for a table in another system: it tells what really happened.
import { closeSync, fsyncSync, openSync, writeSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { agent, HelloAgentsError, jsonSchema, resume, run, tool } from "../dist/index.js"
import { openStore, STEPS } from "./chaos-world.mjs"

const [folder, kind] = process.argv.slice(2)
const store = await openStore(kind, folder)
const table = openSync(join(folder, "effects", `${process.pid}.jsonl`), "a", 0o600)

function note(line) {
  writeSync(table, `${JSON.stringify(line)}\n`)
  fsyncSync(table)
}

const step = tool({
  name: "step",
  description: "Does step n of a job. Must not be done twice.",
  input: jsonSchema({ type: "object", properties: { job: { type: "string" }, n: { type: "integer" } }, required: ["job", "n"] }),
  async execute({ job, n }, { idempotencyKey }) {
    note({ what: "start", job, n, key: idempotencyKey })
    await wait(10 + ((n * 7 + job.length * 3) % 30))
    note({ what: "done", job, n, key: idempotencyKey })
    return `STEP-OK ${n}.`
  },
})

/** Asks for the steps whose results it has not seen, as many at once as the job says. */
function model(job, atOnce) {
  return {
    name: "scripted",
    async *ask(request) {
      await wait(2 + Math.floor(Math.random() * 5))
      const seen = request.messages.filter(({ role }) => role === "tool").map(({ content }) => JSON.stringify(content))
      const missing = STEPS.filter((n) => !seen.some((text) => text.includes(`STEP-OK ${n}.`))).slice(0, atOnce)
      const calls = missing.map((n) => ({ id: "x", name: "step", arguments: JSON.stringify({ job, n }) }))
      const base = { reasoning: "", usage: null }
      yield {
        type: "reply",
        reply: calls.length === 0 ? { ...base, text: `FINAL ${job}`, calls, finish: "stop" } : { ...base, text: "", calls, finish: "tool_calls" },
      }
    },
  }
}

async function drive({ job, atOnce, answers }) {
  const worker = agent({ name: "worker", instructions: "", tools: [step], model: model(job, atOnce) })
  let going = false
  const reader = () => {
    if (!going) process.send({ type: "going", job })
    going = true
  }
  const options = { store, readers: [reader] }
  try {
    const isNew = (await store.read(job)).length === 0
    const result = isNew ? await run(worker, "Do all steps.", { ...options, runId: job }) : await resume(worker, job, { ...options, ...(answers && { answers }) })
    if (result.status === "waiting") return process.send({ type: "waiting", job, questions: result.waiting.map(({ id, idempotencyKey }) => ({ id, key: idempotencyKey })) })
    process.send({ type: "ended", job, ok: result.ok, text: result.ok ? result.answer : result.stop.message })
  } catch (error) {
    const code = error instanceof HelloAgentsError ? error.code : "crashed"
    process.send({ type: "failed", job, code, text: String(error?.stack ?? error) })
  }
}

process.on("message", drive)
process.on("disconnect", () => {
  closeSync(table)
  process.exit(0)
})
