// A server on this machine that plays a model: scripted answers, plain or streamed as the request asks, delays, cut connections, raw bytes.
// For tests that go through a real socket. It checks nothing of what it is sent: look at `requests`.
import { once } from "node:events"
import type { Socket } from "node:net"
import { createServer } from "node:net"

export interface SeenRequest {
  readonly method: string
  readonly path: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** As it came over the wire. */
  readonly text: string
  /** The parsed body; an empty object if there was none. */
  readonly body: Readonly<Record<string, unknown>>
  /** Number of the connection, from 1. */
  readonly connection: number
}

/** What goes over the socket: pieces one after the other, `{ waitMs }` between them, then what happens to the connection. */
export interface ServerAnswer {
  readonly pieces: readonly (string | Uint8Array | { readonly waitMs: number })[]
  /** `keep`: open for the next request; `hang`: open, and nothing more comes. */
  readonly after: "keep" | "close" | "reset" | "hang"
}
/** `index` counts the requests from 0. */
export type Answer = ServerAnswer | ((request: SeenRequest, index: number) => ServerAnswer)

export interface ModelServer {
  readonly baseUrl: string
  readonly requests: readonly SeenRequest[]
  readonly connections: () => number
  /** Numbers of the connections that are open now. */
  readonly open: () => readonly number[]
  readonly close: () => Promise<void>
}

/** Answers in order; a function answers everything. After the last answer: 400. */
export async function startModelServer(script: readonly Answer[] | ((request: SeenRequest, index: number) => ServerAnswer)): Promise<ModelServer> {
  const requests: SeenRequest[] = []
  const sockets = new Map<number, Socket>()
  let connections = 0
  const next = (request: SeenRequest): ServerAnswer => {
    const index = requests.push(request) - 1
    const answer = typeof script === "function" ? script : script[index]
    if (answer === undefined) return jsonAnswer({ error: { message: `the script has no answer to request ${index + 1}` } }, { status: 400 })
    return typeof answer === "function" ? answer(request, index) : answer
  }
  const server = createServer((socket) => {
    const connection = ++connections
    sockets.set(connection, socket)
    socket.on("close", () => sockets.delete(connection))
    // Clients go away in the middle of things; that is what is tested.
    socket.on("error", () => {})
    readRequests(socket, connection, (request) => void play(socket, next(request)))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    connections: () => connections,
    open: () => [...sockets.keys()],
    close: async () => {
      for (const socket of sockets.values()) socket.destroy()
      server.close()
      await once(server, "close")
    },
  }
}

function readRequests(socket: Socket, connection: number, onRequest: (request: SeenRequest) => void): void {
  let bytes = Buffer.alloc(0)
  socket.on("data", (chunk) => {
    bytes = Buffer.concat([bytes, chunk])
    for (;;) {
      const headEnd = bytes.indexOf("\r\n\r\n")
      if (headEnd < 0) return
      const [first = "", ...lines] = bytes.subarray(0, headEnd).toString("latin1").split("\r\n")
      const headers = Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]))
      const end = headEnd + 4 + Number(headers["content-length"] ?? 0)
      if (bytes.length < end) return
      const text = bytes.subarray(headEnd + 4, end).toString("utf8")
      bytes = bytes.subarray(end)
      const [method = "", path = ""] = first.split(" ")
      onRequest({ method, path, headers, text, body: text === "" ? {} : JSON.parse(text), connection })
    }
  })
}

async function play(socket: Socket, answer: ServerAnswer): Promise<void> {
  for (const piece of answer.pieces) {
    if (typeof piece === "object" && "waitMs" in piece) await new Promise((resolve) => setTimeout(resolve, piece.waitMs))
    else await new Promise<void>((resolve) => socket.write(piece, () => resolve()))
  }
  if (answer.after === "close") socket.end()
  if (answer.after === "reset") socket.resetAndDestroy()
}

/** An HTTP answer with this body, of known length. */
export function bodyAnswer(body: string | Uint8Array, options: { status?: number; headers?: Record<string, string>; after?: ServerAnswer["after"] } = {}): ServerAnswer {
  const head = httpHead(options.status ?? 200, { "content-length": String(Buffer.byteLength(body)), ...options.headers })
  return { pieces: [Buffer.concat([Buffer.from(head), Buffer.from(body)])], after: options.after ?? "keep" }
}

export function jsonAnswer(value: unknown, options: { status?: number; headers?: Record<string, string> } = {}): ServerAnswer {
  return bodyAnswer(JSON.stringify(value), { ...options, headers: { "content-type": "application/json", ...options.headers } })
}

/** A chunked body, one chunk per piece. With `after: "keep"` it is ended properly, else it breaks off. */
export function chunkedAnswer(pieces: ServerAnswer["pieces"], options: { headers?: Record<string, string>; after?: ServerAnswer["after"] } = {}): ServerAnswer {
  const chunks = pieces.map((piece) => (typeof piece === "object" && "waitMs" in piece ? piece : chunk(piece)))
  const head = httpHead(200, { "content-type": "text/event-stream", "transfer-encoding": "chunked", ...options.headers })
  const ends = options.after === undefined || options.after === "keep"
  return { pieces: [head, ...chunks, ...(ends ? ["0\r\n\r\n"] : [])], after: options.after ?? "keep" }
}

function chunk(piece: string | Uint8Array): Uint8Array {
  const bytes = Buffer.from(piece)
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")])
}

function httpHead(status: number, headers: Record<string, string>): string {
  return `HTTP/1.1 ${status} ${status === 200 ? "OK" : "Status"}\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")}\r\n`
}

/** Data of one event of a stream. */
export function event(data: unknown): string {
  return `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`
}

/** An event with this `delta`. */
export function delta(value: unknown, finish: string | null = null): string {
  return event({ id: "c1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: value, finish_reason: finish }] })
}

export interface PlayedReply {
  readonly text?: string | undefined
  readonly reasoning?: string | undefined
  readonly calls?: readonly { readonly name: string; readonly arguments: string; readonly id?: string }[] | undefined
  readonly finish?: string | undefined
  /** null: none is sent. */
  readonly usage?: object | null | undefined
}

const USAGE = { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 }

/** A good reply, in the way the request asks for: streamed in pieces of eight characters, or whole. */
export function reply(content: PlayedReply): Answer {
  return (request, index) => {
    const { text = "", reasoning, usage = USAGE } = content
    const calls = (content.calls ?? []).map((call, i) => ({
      id: call.id ?? `call_${index + 1}_${i + 1}`,
      type: "function",
      function: { name: call.name, arguments: call.arguments },
    }))
    const finish = content.finish ?? (calls.length > 0 ? "tool_calls" : "stop")
    if (request.body.stream !== true) {
      const message = { role: "assistant", content: text === "" ? null : text, ...(reasoning && { reasoning_content: reasoning }), ...(calls.length > 0 && { tool_calls: calls }) }
      return jsonAnswer({ id: "r1", object: "chat.completion", created: 1, model: "m", choices: [{ index: 0, message, finish_reason: finish }], usage })
    }
    const pieces = [...(text.match(/[\s\S]{1,8}/gu) ?? [])].map((piece) => delta({ content: piece }))
    const thoughts = reasoning ? [delta({ reasoning_content: reasoning })] : []
    const calling = calls.map((call, i) => delta({ tool_calls: [{ index: i, ...call }] }))
    const ending = [delta({}, finish), ...(usage === null ? [] : [event({ choices: [], usage })]), event("[DONE]")]
    return chunkedAnswer([delta({ role: "assistant", content: "" }), ...thoughts, ...pieces, ...calling, ...ending])
  }
}

export function say(text: string): Answer {
  return reply({ text })
}

/** One tool call; `args` as an object or as raw text. */
export function callTool(name: string, args: object | string): Answer {
  return reply({ calls: [{ name, arguments: typeof args === "string" ? args : JSON.stringify(args) }] })
}

/** The connection stays open and silent. */
export function hang(): Answer {
  return { pieces: [], after: "hang" }
}
