// The transport for Node: node:http with kept-alive connections, half the cost of fetch. Called by the model adapters.
// Node's modules are loaded with the first request, so that this file can be imported where there is no Node.
import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from "node:http"
import type { Readable } from "node:stream"
import type { Silence } from "./silence.ts"
import { watchSilence } from "./silence.ts"
import type { Transport, TransportRequest, TransportResponse } from "./transport.ts"

/** After the reader has had enough, the rest may take so long to arrive before the connection is given up. */
const DEFAULTS = { restMs: 1_000 }

/** One pool of connections, without a limit. A request that meets a connection which the server closed meanwhile is sent again, once. */
export function nodeHttpTransport(): Transport {
  let target: Target | null = null
  return async (request) => {
    if (target === null || target.url !== request.url) target = await findTarget(request.url, target)
    return exchange(target, request, true)
  }
}

/** Where requests go, with all that need not be made anew for each. */
interface Target {
  readonly url: string
  readonly secure: boolean
  readonly request: (options: RequestOptions) => ClientRequest
  readonly options: RequestOptions
  readonly agent: Agent
  headers: { readonly of: TransportRequest["headers"]; readonly flat: readonly string[] } | null
}

async function findTarget(address: string, last: Target | null): Promise<Target> {
  const url = new URL(address)
  const secure = url.protocol === "https:"
  const { Agent, request } = secure ? await import("node:https") : await import("node:http")
  const agent = last !== null && last.secure === secure ? last.agent : new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })
  const host = url.hostname.replace(/^\[|\]$/g, "")
  return { url: address, secure, request, agent, options: { host, port: url.port, path: url.pathname + url.search, agent }, headers: null }
}

/** Headers as a flat list, which Node writes as they are. */
function flatHeaders(target: Target, request: TransportRequest): string[] {
  if (target.headers?.of !== request.headers) {
    const flat = ["host", new URL(request.url).host, ...Object.entries(request.headers).flat(), "connection", "keep-alive"]
    target.headers = { of: request.headers, flat }
  }
  const length = request.method === "GET" ? [] : ["content-length", String(Buffer.byteLength(request.body))]
  return [...(target.headers?.flat ?? []), ...length]
}

function exchange(target: Target, request: TransportRequest, again: boolean): Promise<TransportResponse> {
  return new Promise((resolve, reject) => {
    const outgoing = target.request({ ...target.options, method: request.method, headers: flatHeaders(target, request) })
    let incoming: IncomingMessage | null = null
    let cause: Error | null = null
    const breakOff = (error: Error): void => {
      cause = error
      ;(incoming ?? outgoing).destroy(error)
    }
    const silence = watchSilence(request.timeoutMs, breakOff)
    const onAbort = (): void => breakOff(Object.assign(new Error("the request was cancelled"), { name: "AbortError" }))
    const finish = (): void => {
      silence.stop()
      request.signal.removeEventListener("abort", onAbort)
    }
    request.signal.addEventListener("abort", onAbort)
    outgoing.on("error", (error: NodeJS.ErrnoException) => {
      if (incoming !== null) return void incoming.destroy(error)
      finish()
      const stale = outgoing.reusedSocket && cause === null && (error.code === "ECONNRESET" || error.code === "EPIPE")
      if (stale && again) exchange(target, request, false).then(resolve, reject)
      else reject(cause ?? error)
    })
    outgoing.on("response", (message) => {
      incoming = message
      silence.broken()
      message.on("error", (error) => (cause ??= error))
      resolve(responseOf(message, { silence, finish, cause: () => cause }))
    })
    if (request.signal.aborted) onAbort()
    else if (request.method === "GET") outgoing.end()
    else outgoing.end(request.body)
  })
}

interface Connection {
  readonly silence: Silence
  readonly finish: () => void
  /** Why the connection was broken off, by us or by the network. */
  readonly cause: () => Error | null
}

function responseOf(message: IncomingMessage, connection: Connection): TransportResponse {
  return {
    status: message.statusCode ?? 0,
    get headers() {
      return Object.fromEntries(Object.entries(message.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : (value ?? "")]))
    },
    text: async () => {
      const body = await decoded(message)
      const chunks: Buffer[] = []
      await drain<Buffer>(body, (chunk) => chunks.push(chunk) > 0, { message, connection })
      const [only] = chunks
      return chunks.length === 1 && only !== undefined ? only.toString("utf8") : Buffer.concat(chunks).toString("utf8")
    },
    read: async (onText) => {
      const body = await decoded(message)
      body.setEncoding("utf8")
      await drain<string>(body, onText, { message, connection })
    },
    cancel: () => {
      connection.finish()
      message.destroy()
    },
  }
}

/** Some servers compress although nobody asked for it. */
async function decoded(message: IncomingMessage): Promise<Readable> {
  const encoding = message.headers["content-encoding"]
  if (encoding === undefined || encoding === "identity") return message
  const { createBrotliDecompress, createUnzip } = await import("node:zlib")
  const unpacked = encoding === "br" ? createBrotliDecompress() : createUnzip()
  message.on("error", (error) => unpacked.destroy(error))
  return message.pipe(unpacked)
}

/** Reads to the end or until `onChunk` returns false; what comes after that is thrown away, so that the connection can be used again. */
function drain<Chunk>(body: Readable, onChunk: (chunk: Chunk) => boolean, source: { message: IncomingMessage; connection: Connection }): Promise<void> {
  const { message, connection } = source
  return new Promise((resolve, reject) => {
    let enough = false
    let rest: NodeJS.Timeout | undefined
    const close = (): void => {
      clearTimeout(rest)
      connection.finish()
    }
    body.on("data", (chunk: Chunk) => {
      connection.silence.broken()
      if (enough || onChunk(chunk)) return
      enough = true
      rest = setTimeout(() => message.destroy(), DEFAULTS.restMs)
      resolve()
    })
    body.on("end", () => {
      close()
      resolve()
    })
    const broken = (error: Error): void => {
      close()
      message.destroy()
      reject(connection.cause() ?? error)
    }
    body.on("error", broken)
    message.on("close", () => {
      if (!message.complete) broken(new Error("the connection was closed before the end"))
    })
    if (message.destroyed && !message.complete) broken(new Error("the connection was closed before the end"))
  })
}
