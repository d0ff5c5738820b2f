// Driver for the overhead bench: our runtime as a user gets it, with all defaults on. The built package is measured.
// At set-up it proves that the safety is on in this very build: a poisoned call is answered, a repeated call noticed. Run it with `npm run bench`.
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
  await proveSafety(tool)
  const step = library.tool({ name: tool.name, description: tool.description, input: library.jsonSchema(tool.parameters), execute: (args) => tool.execute(args) })
  worker = library.agent({ name: "worker", model: openai({ baseUrl: baseURL, apiKey, model }), instructions: system, tools: [step] })
}

async function proveSafety({ name: toolName, description, parameters }) {
  const { call, scripted } = await load("doors/testing.js")
  let runs = 0
  const step = library.tool({ name: toolName, description, input: library.jsonSchema(parameters), execute: () => `done ${runs++ < 0}` })
  const poisoned = call(toolName, '{"run":"x","n":')
  const repeated = call(toolName, { run: "x", n: 1, note: "again" })
  const model = scripted([poisoned, ...Array.from({ length: 9 }, () => repeated)])
  const result = await library.run(library.agent({ name: "proof", model, instructions: "", tools: [step] }), "go")
  const told = String(result.messages.find((message) => message.role === "tool")?.content)
  if (!/cut off/.test(told)) throw new Error(`the poisoned call was not answered exactly: ${told}`)
  if (result.stop?.reason !== "repeated_call" || runs !== 3) throw new Error(`the repeated call ran ${runs} times and the run ended as ${result.stop?.reason ?? "final"}`)
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
