// The model of the overhead bench: answers at once, so that what is left is the loop that asks. Started by overhead.mjs as a process of its own.
// The plan stands in the user's message ("do 10 steps, then say 5 words"); how far it is, in the history, which must be whole: else 400.
import { createServer } from "node:http"

const EVENTS_PER_WRITE = 16

const server = createServer(async (request, response) => {
  const pieces = []
  for await (const piece of request) pieces.push(piece)
  const { messages, stream } = JSON.parse(Buffer.concat(pieces).toString())
  const plan = /do (\d+) steps, then say (\d+) words/.exec(messages.find(({ role }) => role === "user")?.content ?? "")
  const results = messages.filter(({ role }) => role === "tool")
  const isWhole = plan !== null && results.every(({ content, tool_call_id }, index) => content === `result ${index + 1}` && tool_call_id === callOf(messages, index))
  if (!isWhole) return send(response, 400, { error: { message: "the history is not whole" } })
  const [steps, words] = [Number(plan[1]), Number(plan[2])]
  if (results.length < steps) return send(response, 200, completion({ content: null, tool_calls: [call(results.length + 1)] }, "tool_calls"))
  if (!stream) return send(response, 200, completion({ content: "word ".repeat(words) }, "stop"))
  response.writeHead(200, { "content-type": "text/event-stream" })
  for (let at = 0; at < words; at += EVENTS_PER_WRITE) {
    const events = event({ content: "word " }).repeat(Math.min(EVENTS_PER_WRITE, words - at))
    if (!response.write(events)) await new Promise((resolve) => response.once("drain", resolve))
  }
  response.end(`${event({}, "stop")}data: [DONE]\n\n`)
})
server.listen(0, "127.0.0.1", () => process.send({ baseURL: `http://127.0.0.1:${server.address().port}/v1` }))

function callOf(messages, index) {
  const spoken = messages.filter(({ role }) => role === "assistant")[index]
  return spoken?.tool_calls?.[0]?.id
}

function call(step) {
  return { id: `call_${step}`, type: "function", function: { name: "step", arguments: JSON.stringify({ number: step }) } }
}

function completion(message, finish) {
  const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 }
  return { id: "r", object: "chat.completion", created: 1, model: "bench", choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: finish }], usage }
}

function event(delta, finish = null) {
  return `data: ${JSON.stringify({ id: "r", object: "chat.completion.chunk", created: 1, model: "bench", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
}

function send(response, status, body) {
  const text = JSON.stringify(body)
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) })
  response.end(text)
}
