// Driver for the overhead bench: our runtime as a user gets it, with all defaults on. The built package is measured.
// At set-up it proves that the safety is on: a poisoned call is answered, a repeated call noticed. Run it with `npm run bench`.
import { dirname, resolve } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

export const name = "ours"
export const label = "hello-agents"
export const deps = {}

const dist = resolve(dirname(fileURLToPath(import.meta.url)), "../dist")
const load = (file) => import(pathToFileURL(resolve(dist, file)).href)

let library
let worker

export async function setup({ baseURL, apiKey, model, system, tool }) {
  library = await load("index.js")
  const { openai } = await load("doors/openai.js")
  const step = library.tool({ name: tool.name, description: tool.description, input: library.jsonSchema(tool.parameters), execute: (args) => tool.execute(args) })
  worker = library.agent({ name: "worker", model: openai({ baseUrl: baseURL, apiKey, model }), instructions: system, tools: [step] })
}

export async function run({ prompt, maxTurns, stream, onDelta }) {
  const limits = { turns: maxTurns }
  if (!stream) return { text: answerOf(await library.run(worker, prompt, { limits })) }
  const live = library.stream(worker, prompt, { limits })
  for await (const event of live) if (event.type === "text_delta") onDelta(event.text)
  return { text: answerOf(await live.result) }
}

function answerOf(result) {
  if (!result.ok) throw new Error(`${result.stop.reason}: ${result.stop.message}`)
  return result.answer
}
