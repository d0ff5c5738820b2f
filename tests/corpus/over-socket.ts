// Plays rows of the corpus through `run` against a real server on this machine, and tells in the corpus' words what happened.
// What is told comes from outside: tools that ran, requests the server got, the result. Called by sampled-rows.test.ts, which compares.
import { agent, jsonSchema, run, tool } from "hello-agents"
import type { Message, Model, RunEvent, Tool } from "hello-agents"
import { openai } from "hello-agents/openai"
import { readArguments } from "hello-agents/reading"
import type { Answer, ModelServer } from "../support/model-server.ts"
import { bodyAnswer, chunkedAnswer, delta, jsonAnswer, reply, say, startModelServer } from "../support/model-server.ts"
// @ts-expect-error Shared with the plain JavaScript adapter.
import { loopRow } from "./loop.mjs"
// @ts-expect-error Shared with the plain JavaScript adapter.
import { fromWire } from "./wire.mjs"

export interface Row {
  readonly id: string
  readonly kind: string
  readonly why: string
  readonly input: never
  readonly context: { readonly tools?: readonly KnownTool[]; readonly finishReason?: string; readonly structuredCalls?: readonly unknown[]; readonly prior?: readonly unknown[] }
}
interface KnownTool {
  readonly name: string
  readonly schema?: { readonly [keyword: string]: unknown }
}
interface WireMessage {
  readonly role: string
  readonly content: string | null
  readonly tool_call_id?: string
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string; readonly arguments: string } }[]
}
interface WireAnswer {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string
}
interface Turn {
  readonly text?: string
  readonly finish?: string
  readonly calls?: readonly { readonly id?: string; readonly name: string; readonly args: object }[]
  readonly callsRepeat?: { readonly name: string; readonly argsKey: string; readonly times: number }
  readonly textThenError?: { readonly text: string }
  readonly callsFromUser?: string
  readonly sayFromUser?: string
}
interface LoopInput {
  readonly script?: readonly Turn[]
  readonly scriptWhile?: { readonly required: Turn; readonly auto: Turn }
  readonly repeatLast?: boolean
}
type Ran = { readonly name: string; readonly args: unknown }

const connect = (server: ModelServer): Model => openai({ baseUrl: server.baseUrl, apiKey: "none", model: "corpus" })

async function served<T>(script: Parameters<typeof startModelServer>[0], work: (server: ModelServer) => Promise<T>): Promise<T> {
  const server = await startModelServer(script)
  try {
    return await work(server)
  } finally {
    await server.close()
  }
}

function toolsOf(row: Row, ran: Ran[]): Tool[] {
  return (row.context.tools ?? []).map(({ name, schema }) =>
    tool({ name, description: "", input: jsonSchema(schema ?? { type: "object" }), execute: (args) => void ran.push({ name, args }) }),
  )
}

/** Kind tool_call: the server says the message, and what it is sent back is looked at. */
function playToolCall(row: Row): Promise<object> {
  const spoken = jsonAnswer({ choices: [{ index: 0, message: row.input, finish_reason: "tool_calls" }] })
  return served([spoken, say("done")], async (server) => {
    const ran: Ran[] = []
    const worker = agent({ name: "corpus", instructions: "", tools: toolsOf(row, ran), model: connect(server) })
    await run(worker, [...(fromWire(row.context.prior ?? []) as Message[]), { role: "user", content: "go" }])
    const history = (server.requests.at(-1)?.body.messages ?? []) as WireMessage[]
    const made = history.findLast(({ role }) => role === "assistant")?.tool_calls ?? []
    const results = made.map(({ id }) => history.findLast((message) => message.role === "tool" && message.tool_call_id === id)?.content)
    return {
      calls: ran,
      errors: results.flatMap((content, index) => (content?.startsWith("Error:") ? [{ index, message: content }] : [])),
      answered: results.filter((content) => content !== undefined).length,
      ids: history.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id)),
      historyNames: history.flatMap(({ tool_calls = [] }) => tool_calls.map((call) => call.function.name)),
    }
  })
}

/** Kinds text_tool_call and react: an answer after one question is final; a call is told by the tool that ran, or by the server that got it back as unknown. */
function playText(row: Row): Promise<object> {
  const { structuredCalls = [], finishReason = "stop" } = row.context
  const message = { role: "assistant", content: row.input, ...(structuredCalls.length > 0 && { tool_calls: structuredCalls }) }
  const spoken = jsonAnswer({ choices: [{ index: 0, message, finish_reason: finishReason }] })
  return served([spoken, say("done")], async (server) => {
    const ran: Ran[] = []
    const worker = agent({ name: "corpus", instructions: "", tools: toolsOf(row, ran), model: connect(server) })
    const result = await run(worker, "go")
    if (server.requests.length === 1) return { state: "final", calls: [], answer: result.answer, text: result.answer }
    const history = (server.requests.at(-1)?.body.messages ?? []) as WireMessage[]
    const said = history.findLast(({ role }) => role === "assistant")
    const unknown = (said?.tool_calls ?? []).filter(({ id }) =>
      history.some((one) => one.role === "tool" && one.tool_call_id === id && one.content?.startsWith("Error: there is no tool named")),
    )
    const calls = [...ran, ...unknown.map((call) => ({ name: call.function.name, args: JSON.parse(call.function.arguments) as unknown }))]
    return calls.length > 0 ? { state: "action", calls, text: said?.content ?? "" } : { state: "unknown", calls: [], text: "" }
  })
}

/** Kinds response and http: what the first model call came to. A failure worth repeating is not waited for, any other ends the run. */
function playAnswer(row: Row): Promise<object> {
  const { status, headers, body } = row.input as WireAnswer
  return served(
    () => bodyAnswer(body, { status, headers }),
    async (server) => {
      const aborter = new AbortController()
      const heard: Extract<RunEvent, { type: "model_end" | "model_fail" }>[] = []
      const reader = (event: RunEvent): void => {
        if (event.type !== "model_end" && event.type !== "model_fail") return
        heard.push(event)
        if (event.type === "model_end" || event.failure.retryable) aborter.abort()
      }
      const result = await run(agent({ name: "corpus", instructions: "", model: connect(server) }), "go", { readers: [reader], signal: aborter.signal })
      const [first] = heard
      if (first?.type === "model_fail") {
        const ended = result.status === "stopped" ? { reason: result.stop.reason, code: result.stop.code } : null
        return { failure: first.failure, ended }
      }
      const calls = first?.reading.type === "action" ? first.reading.calls : []
      return {
        content: first?.reading.type === "final" ? first.reading.text : "",
        reasoning: first?.reasoning,
        toolCalls: calls.map(({ id, name, arguments: text }) => ({ id, name, ...parsed(name, text) })),
        finishReason: first?.finish === "unknown" ? null : first?.finish,
        ...(first?.usage && { usage: { promptTokens: first.usage.inputTokens, completionTokens: first.usage.outputTokens } }),
      }
    },
  )
}

function parsed(name: string, text: string): object {
  const read = readArguments(text, { tool: name, schema: {}, examples: [], finish: "stop" })
  return read.type === "ok" ? { args: read.value } : { invalidArgs: true }
}

/** Kind loop: the same script, streamed by a server of its own for each run. */
async function playLoop(row: Row): Promise<object> {
  const servers: ModelServer[] = []
  const modelOf = async (input: LoopInput, user: string): Promise<Model & Pick<ModelServer, "requests">> => {
    const server = await startModelServer((request, index) => {
      const answer = turnAnswer(turnAt(input, index, request.body.tool_choice), user)
      return typeof answer === "function" ? answer(request, index) : answer
    })
    servers.push(server)
    return { ...connect(server), requests: server.requests }
  }
  try {
    return (await loopRow(row.input, modelOf)) as object
  } finally {
    await Promise.all(servers.map((server) => server.close()))
  }
}

function turnAt({ script = [], scriptWhile, repeatLast }: LoopInput, index: number, toolChoice: unknown): Turn {
  if (scriptWhile !== undefined) return scriptWhile[toolChoice === "required" ? "required" : "auto"]
  return script[index] ?? (repeatLast ? script.at(-1) : undefined) ?? {}
}

function turnAnswer(turn: Turn, user: string): Answer {
  if (turn.textThenError !== undefined) return chunkedAnswer([delta({ content: turn.textThenError.text })], { after: "reset" })
  const { callsRepeat: many } = turn
  const asked = turn.callsFromUser === undefined ? [] : [{ name: turn.callsFromUser, args: { q: user } }]
  const repeated = many === undefined ? [] : Array.from({ length: many.times }, (_, n) => ({ name: many.name, args: { [many.argsKey]: n } }))
  const calls = [...(turn.calls ?? []), ...asked, ...repeated].map(({ args, ...call }) => ({ ...call, arguments: JSON.stringify(args) }))
  return reply({ text: turn.sayFromUser === undefined ? turn.text : turn.sayFromUser + user, calls, finish: turn.finish })
}

export const overSocket: Readonly<Record<string, (row: Row) => Promise<object>>> = {
  tool_call: playToolCall,
  text_tool_call: playText,
  react: playText,
  response: playAnswer,
  http: playAnswer,
  loop: playLoop,
}
