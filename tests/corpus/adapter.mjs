// Translates rows of the corpus to the public doors and back: nothing here judges or repairs. `scripts/corpus.mjs` runs it over the built package.
import { createServer } from "node:http"
import { agent, jsonSchema, run, tool } from "hello-agents"
import { openai } from "hello-agents/openai"
import { checkedHistory, classifyHttpError, prepareCall, pruneHistory, readArguments, readReply, resultText, splitCalls, toProviderTools } from "hello-agents/reading"
import { chunkBytes } from "../fixtures/corpus/verify/compare.mjs"
import { jsValue } from "../fixtures/corpus/verify/js-value.mjs"
import { loopRow } from "./loop.mjs"
import { fromWire, toWire } from "./wire.mjs"

const FINISH = { stop: "stop", tool_calls: "tool_calls", length: "length", content_filter: "content_filter" }
const finish = (word) => FINISH[word] ?? "unknown"
const spec = ({ name, description = "", schema, inputSchema }) => ({ name, description, schema: schema ?? inputSchema ?? { type: "object" }, examples: [] })
const toolOf = (context, execute) => tool({ name: context.name, description: "", input: jsonSchema(context.schema ?? { type: "object" }), execute: execute ?? (() => "ok") })
const parsed = (name, text, schema = {}) => {
  const read = readArguments(text, { tool: name, schema, examples: [], finish: "stop" })
  return read.type === "ok" ? { name, args: read.value } : { name, invalidArgs: true }
}

function argumentsRow(input, context) {
  const read = readArguments(input, { tool: context.tool, schema: context.schema, examples: [], finish: finish(context.finishReason) })
  if (read.type === "ok") return { value: read.value }
  if (read.type === "refused") return { error: read }
  return { calls: read.texts.map((text) => readArguments(text, { tool: context.tool, schema: context.schema, examples: [], finish: "stop" }).value) }
}

async function toolCallRow(input, context) {
  const transport = answering(200, { "content-type": "application/json" }, JSON.stringify({ choices: [{ index: 0, message: input, finish_reason: "tool_calls" }] }))
  const model = openai({ baseUrl: "http://corpus.invalid/v1", apiKey: "none", model: "corpus", transport })
  const ran = []
  const tools = context.tools.map((known) => toolOf(known, (args) => void ran.push({ name: known.name, args })))
  const result = await run(agent({ name: "corpus", instructions: "", tools, model }), [...fromWire(context.prior ?? []), { role: "user", content: "go" }], { limits: { turns: 1 } })
  const spoken = result.messages.findLast((message) => message.role === "assistant")
  const results = (spoken?.calls ?? []).map((made) => result.messages.findLast((message) => message.role === "tool" && message.callId === made.id))
  const refused = (spoken?.calls ?? [])
    .map((made, index) => ({ index, made, prepared: prepareCall(made, tools, "tool_calls") }))
    .filter(({ prepared }) => prepared.type === "refused")
  const history = toWire("", checkedHistory(result.messages))
  return {
    calls: ran,
    errors: refused.map(({ index, prepared }) => ({ index, code: prepared.tool === null ? "unknown_tool" : "bad_arguments", message: results[index]?.content })),
    answered: results.filter((message) => message !== undefined).length,
    ids: history.flatMap((message) => (message.tool_calls ?? []).map(({ id }) => id)),
    historyNames: history.flatMap((message) => (message.tool_calls ?? []).map((made) => made.function.name)),
  }
}

function textRow(input, context, labelled = false) {
  const calls = (context.structuredCalls ?? []).map((made) => ({
    id: made.id ?? "",
    name: made.function?.name ?? made.name,
    arguments: made.function?.arguments ?? JSON.stringify(made.args),
  }))
  const tools = context.tools.map(spec)
  const { reading } = readReply({ text: input, reasoning: "", calls, finish: finish(context.finishReason ?? "stop"), usage: null, labelled }, tools)
  if (reading.type === "final") return { state: "final", calls: [], answer: reading.text, text: reading.text }
  if (reading.type === "unknown") return { state: "unknown", calls: [], text: "" }
  const made = splitCalls(
    reading.calls,
    context.tools.map((known) => toolOf(known)),
  ).map(({ name, arguments: text }) => parsed(name, text, context.tools.find((known) => known.name === name)?.schema))
  // a call whose arguments are refused is not executed: the model is told what is wrong with them
  const executed = made.filter((call) => !call.invalidArgs)
  return executed.length > 0 ? { state: "action", calls: executed, text: reading.text } : { state: "unknown", calls: [], text: "" }
}

/** Serves the reads of a row from a socket, one write each; a second question (a stream without one event is asked again) gets an empty body. */
async function overSocket(chunks, { headers, end, tools }) {
  let asked = 0
  const server = createServer(async (request, response) => {
    for await (const _ of request);
    if (asked++ > 0) return response.end()
    response.writeHead(200, headers)
    response.flushHeaders()
    for (const chunk of chunks) await new Promise((resolve) => response.write(chunk, () => setImmediate(resolve)))
    if (end === "reset") response.destroy()
    else response.end()
  })
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
  try {
    return await heard({ baseUrl: `http://127.0.0.1:${server.address().port}/v1` }, true, tools)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

/** What a model heard from a server, in the words of the corpus. */
async function heard(connection, streamed, tools = []) {
  const model = openai({ baseUrl: "http://corpus.invalid/v1", apiKey: "none", model: "corpus", ...connection })
  const request = {
    instructions: "",
    notes: "",
    messages: [{ role: "user", content: "go" }],
    tools: tools.map((name) => spec({ name })),
    settings: {},
    output: null,
    stream: streamed,
    signal: new AbortController().signal,
  }
  let last
  for await (const event of model.ask(request)) last = event
  if (last?.type !== "reply") return { toolCalls: [], finishReason: "error", error: last?.failure }
  const { reply } = last
  return {
    content: reply.text,
    reasoning: reply.reasoning,
    toolCalls: reply.calls.map(({ id, name, arguments: text }) => ({ id, ...parsed(name, text) })),
    finishReason: reply.finish === "unknown" ? null : reply.finish,
    ...(reply.usage !== null && { usage: { promptTokens: reply.usage.inputTokens, completionTokens: reply.usage.outputTokens } }),
  }
}

const answering = (status, headers, body) => async () => ({ status, headers, text: async () => body, read: async (onText) => void onText(body), cancel() {} })

function historyRow(input, context) {
  const before = JSON.stringify(input.messages)
  const said = input.messages.filter(({ role }) => role === "system" || role === "developer").map(({ content }) => content)
  const systems = input.handoff?.system === undefined ? said : [input.handoff.system]
  const added = input.next === undefined ? [] : fromWire([input.next])
  if (input.handoff !== undefined) added.push({ role: "tool", callId: input.handoff.callId, content: `Transferred to ${input.handoff.to}.` })
  for (const [callId, content] of Object.entries(input.results ?? {})) added.push({ role: "tool", callId, content })
  if (input.jsValue !== undefined) added.push({ role: "tool", callId: input.callId, content: resultText(jsValue(input.jsValue)) })
  const maxMessages = input.limits?.maxMessages === undefined ? null : input.limits.maxMessages - Math.min(systems.length, 1)
  const whole = checkedHistory([...fromWire(input.messages), ...added])
  const fitted = checkedHistory(pruneHistory(whole, { maxMessages, maxTokens: null }), context.profile)
  return { messages: toWire(systems.join("\n\n"), fitted), inputMutated: JSON.stringify(input.messages) !== before }
}

export default {
  arguments: argumentsRow,
  tool_call: toolCallRow,
  text_tool_call: (input, context) => textRow(input, context),
  // asked for in the text protocol, where an answer must carry its label
  react: (input, context) => textRow(input, context, true),
  sse: (input, context) => overSocket(chunkBytes(input), context),
  response: ({ status, headers, body }) => heard({ transport: answering(status, headers, body) }, false),
  history: historyRow,
  schema: (input, context) => ({ tools: toProviderTools(input.tools.map(spec), context.profile) }),
  http: ({ status, headers, body }, context) => classifyHttpError({ status, headers, body }, context.now === undefined ? Date.now() : Date.parse(context.now)),
  loop: (input) => loopRow(input),
}
