// Driver for the fault harness: our runtime with its defaults. Only the model, the tools and a system prompt are set.
import { dirname, resolve } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

export const name = "ours"
export const label = "hello-agents"

const dist = resolve(dirname(fileURLToPath(import.meta.url)), "../dist")
const load = (file) => import(pathToFileURL(resolve(dist, file)).href)

let library
let connect
let offered

export async function setup({ baseURL, apiKey, tools }) {
  library = await load("index.js")
  const { openai } = await load("doors/openai.js")
  connect = (model) => openai({ baseUrl: baseURL, apiKey, model })
  offered = new Map(
    tools.map((tool) => [
      tool.name,
      library.tool({ name: tool.name, description: tool.description, input: library.jsonSchema(tool.parameters), execute: (args, { signal }) => tool.execute(args, { signal }) }),
    ]),
  )
}

export async function run({ model, prompt, tools, signal, onText, stream, keep }) {
  const agent = library.agent({ name: "assistant", model: connect(model), instructions: "You are a helpful assistant.", tools: tools.map((tool) => offered.get(tool)) })
  keep.agent = agent
  return finish(agent, prompt, { signal, onText, stream, keep })
}

/** The next user turn of the conversation that `run` had. */
export async function resume({ keep, prompt, onText, stream }) {
  return finish(keep.agent, [...keep.messages, { role: "user", content: prompt }], { onText, stream, keep })
}

/** Two agents that may hand over to each other; starts at the first. */
export async function handoff({ model, prompt, agents }) {
  const members = agents.map((name) => [name, { instructions: `You are ${name}.`, handoffs: agents.filter((other) => other !== name) }])
  const desk = library.team({ model: connect(model) }, Object.fromEntries(members))
  return finish(desk[agents[0]], prompt, { keep: {} })
}

async function finish(agent, input, { signal, onText, stream, keep }) {
  const live = stream ? library.stream(agent, input, { signal }) : null
  // what a reader has on the screen: `text_reset` takes back the text of the turn
  let shown = []
  if (live) {
    for await (const event of live) {
      if (event.type === "text_delta") shown.push(event.text)
      if (event.type === "text_reset") shown = []
    }
    for (const piece of shown) onText(piece)
  }
  const result = await (live ? live.result : library.run(agent, input, { signal }))
  keep.messages = result.messages
  if (result.ok) return { text: result.answer, ok: true, reason: "final" }
  return { text: result.answer, ok: false, reason: `${result.stop.reason} (${result.stop.code}): ${result.stop.message}` }
}
