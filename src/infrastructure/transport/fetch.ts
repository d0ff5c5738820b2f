// The transport for places without Node (browsers, edge workers, other runtimes): the built-in fetch. Called by the model adapters.
import { watchSilence } from "./silence.ts"
import type { Silence } from "./silence.ts"
import type { Transport, TransportRequest, TransportResponse } from "./transport.ts"

/** `sockets`: the codes of a connection that broke, in Node's fetch. `restMs`: see `discard`. */
const DEFAULTS = { sockets: ["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"], restMs: 1_000 }

/** As the other transport, a request that meets a connection which the server closed meanwhile is sent again, once. */
export function fetchTransport(): Transport {
  // fetch does not say whether a connection was used before; the first request of all surely had a new one.
  let answered = false
  return async (request) => {
    try {
      const response = await exchange(request)
      answered = true
      return response
    } catch (error) {
      if (!answered || request.signal.aborted || !DEFAULTS.sockets.includes(codeOf(error))) throw error
      return exchange(request)
    }
  }
}

function codeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  return typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : ""
}

async function exchange(request: TransportRequest): Promise<TransportResponse> {
  const controller = new AbortController()
  const silence = watchSilence(request.timeoutMs, (error) => controller.abort(error))
  const onAbort = (): void => controller.abort(Object.assign(new Error("the request was cancelled"), { name: "AbortError" }))
  request.signal.addEventListener("abort", onAbort)
  if (request.signal.aborted) onAbort()
  const finish = (): void => {
    silence.stop()
    request.signal.removeEventListener("abort", onAbort)
  }
  try {
    const { url, method, headers, body } = request
    const response = await fetch(url, { method, headers, ...(method === "POST" && { body }), redirect: "manual", signal: controller.signal })
    silence.broken()
    return responseOf(response, { controller, silence, finish })
  } catch (error) {
    finish()
    throw controller.signal.aborted ? controller.signal.reason : error
  }
}

interface Connection {
  readonly controller: AbortController
  readonly silence: Silence
  readonly finish: () => void
}

function responseOf(response: Response, connection: Connection): TransportResponse {
  const { controller, finish } = connection
  return {
    status: response.status,
    get headers() {
      return Object.fromEntries(response.headers)
    },
    text: async () => {
      const pieces: string[] = []
      await read(response, connection, (text) => pieces.push(text) > 0)
      return pieces.join("")
    },
    read: (onText) => read(response, connection, onText),
    cancel: () => {
      finish()
      controller.abort()
    },
  }
}

async function read(response: Response, connection: Connection, onText: (text: string) => boolean): Promise<void> {
  const { controller, silence, finish } = connection
  const decoder = new TextDecoder()
  const reader = response.body?.getReader()
  try {
    for (;;) {
      const next = await reader?.read()
      if (next === undefined || next.done) break
      silence.broken()
      if (onText(decoder.decode(next.value, { stream: true }))) continue
      void discard(reader, controller)
      return
    }
    const last = decoder.decode()
    if (last !== "") onText(last)
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : error
  } finally {
    finish()
  }
}

/** Throws away what comes after the reader had enough, so that the connection can be used again; gives it up if that takes long. */
async function discard(reader: ReadableStreamDefaultReader<unknown> | undefined, controller: AbortController): Promise<void> {
  const timer = setTimeout(() => controller.abort(), DEFAULTS.restMs)
  try {
    while ((await reader?.read())?.done === false);
  } catch {
    // The answer was complete; how its connection ended is nobody's concern.
  }
  clearTimeout(timer)
}
