// Driver for the kill test of the fault harness: our runtime with its defaults over a store that survives the process.
// STORE=sqlite keeps the run in SQLite instead of files. A person's answers come from the harness through `decide`.
import { dirname, join, resolve } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

const inSqlite = process.env.STORE === "sqlite"
export const name = inSqlite ? "ours-sqlite" : "ours"
export const label = inSqlite ? "hello-agents, SQLite" : "hello-agents, files"

const dist = resolve(dirname(fileURLToPath(import.meta.url)), "../dist")
const open = (file) => import(pathToFileURL(resolve(dist, file)).href)

async function build({ dir, baseURL, apiKey, model, tool: given }) {
  const { agent, jsonSchema, tool, run, resume } = await open("index.js")
  const { openai } = await open("doors/openai.js")
  const store = inSqlite ? (await open("doors/sqlite.js")).sqliteStore(join(dir, "runs.db")) : (await open("doors/stores.js")).fileStore(join(dir, "runs"))
  const step = tool({
    name: given.name,
    description: given.description,
    input: jsonSchema(given.parameters),
    execute: (args, { callId, idempotencyKey }) => given.execute(args, { callId, idempotencyKey }),
  })
  const worker = agent({ name: "worker", model: openai({ baseUrl: baseURL, apiKey, model }), instructions: "Do the job.", tools: [step] })
  return { worker, store, run, resume }
}

export async function start(order) {
  const { worker, store, run } = await build(order)
  return asked(await run(worker, order.prompt, { store, runId: order.runId }))
}

export async function resume(order) {
  const { worker, store, run, resume } = await build(order)
  // A run that was killed before its first event was on disk has never begun.
  if ((await store.read(order.runId)).length === 0) return asked(await run(worker, order.prompt, { store, runId: order.runId }))
  const found = await resume(worker, order.runId, { store })
  if (found.status !== "waiting" || order.decide === undefined) return asked(found)
  const answers = found.waiting.map(({ id, arguments: given }) => {
    // The arguments of an unfinished call are the text that the model wrote.
    const answer = order.decide(typeof given === "string" ? JSON.parse(given) : given)
    return answer.happened ? { id, type: "happened", result: answer.result } : { id, type: "retry" }
  })
  return asked(await resume(worker, order.runId, { store, answers }))
}

function asked(result) {
  if (result.ok) return { status: "done", text: result.answer }
  if (result.status === "waiting") return { status: "waiting", text: "", pending: result.waiting.map((question) => question.arguments) }
  return { status: "failed", text: "", error: `${result.stop.reason}: ${result.stop.message}` }
}
