// How model adapters reach a server: one request, one answer, read whole or piece by piece. Implemented by node-http.ts and fetch.ts.
// Leaves to the adapter: what the bytes mean, whether to ask again, how a broken connection is named.

export interface TransportRequest {
  readonly url: string
  readonly method: "GET" | "POST"
  /** Names in lower case. The same object in every request, where possible: its text is then made once. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Longest silence in milliseconds: until the first byte, and between two reads. */
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** Exactly one of `text` and `read` is called, at once. Both throw what broke the connection; silence is an error with the code `ETIMEDOUT`. */
export interface TransportResponse {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The whole body. */
  readonly text: () => Promise<string>
  /** Hands on the body as it arrives, never half a character. Resolves at its end, or as soon as `onText` returns false. */
  readonly read: (onText: (text: string) => boolean) => Promise<void>
  /** Lets go of a body that nobody needs any more. */
  readonly cancel: () => void
}

/** Throws only for what the network did, never for a status. */
export type Transport = (request: TransportRequest) => Promise<TransportResponse>
