// Asks a server which models it has (GET /models), and reads whatever comes back. Called by `doctor`, for the configured server and for those on this machine.
// Shows nothing of the key; what the server said is cut and cleared of it.

export type ModelsAnswer =
  | { readonly type: "models"; readonly names: readonly string[] }
  /** It answers, but not with a list of models. */
  | { readonly type: "no_list"; readonly status: number; readonly said: string }
  | { readonly type: "key_refused"; readonly status: number }
  | { readonly type: "failing"; readonly status: number; readonly said: string }
  /** `why`: a code of the network such as ECONNREFUSED, or `timeout`. */
  | { readonly type: "unreachable"; readonly why: string }

export interface ModelsQuestion {
  readonly baseUrl: string
  readonly apiKey?: string | undefined
  /** For everything: connection, headers, body. */
  readonly timeoutMs: number
}

const MAX_CHARS = 2_000_000
const SAID_CHARS = 120

export async function askModels({ baseUrl, apiKey, timeoutMs }: ModelsQuestion): Promise<ModelsAnswer> {
  try {
    const headers = { accept: "application/json", ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }) }
    const response = await fetch(modelsUrl(baseUrl), { headers, signal: AbortSignal.timeout(timeoutMs) })
    return readAnswer(response.status, await readBody(response), apiKey)
  } catch (error) {
    return { type: "unreachable", why: codeOf(error) }
  }
}

/** As the model adapter makes its own address: with or without a slash at the end, or with the whole address of the chat. */
function modelsUrl(baseUrl: string): string {
  const url = new URL(baseUrl)
  const path = url.pathname.endsWith("/") ? url.pathname.slice(0, -1) : url.pathname
  url.pathname = `${path.endsWith("/chat/completions") ? path.slice(0, -"/chat/completions".length) : path}/models`
  return url.href
}

async function readBody(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ""
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true })
    if (text.length > MAX_CHARS) break
  }
  return text
}

function readAnswer(status: number, body: string, apiKey: string | undefined): ModelsAnswer {
  const value = parse(body)
  if (status === 401 || status === 403) return { type: "key_refused", status }
  const said = cut(saidIn(value), apiKey)
  if (status >= 500) return { type: "failing", status, said }
  const names = status === 200 ? namesIn(value) : null
  return names === null ? { type: "no_list", status, said } : { type: "models", names }
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return null
  }
}

/** `{ data: [{ id }] }`, `{ models: [{ name }] }`, or the list itself. null: no such thing. */
function namesIn(value: unknown): readonly string[] | null {
  const list = Array.isArray(value) ? value : (fieldOf(value, "data") ?? fieldOf(value, "models"))
  if (!Array.isArray(list)) return null
  return list.flatMap((entry: unknown) => {
    const name = typeof entry === "string" ? entry : (fieldOf(entry, "id") ?? fieldOf(entry, "name"))
    return typeof name === "string" ? [name] : []
  })
}

/** `{ detail }`, `{ error: { message } }`, `{ error }` or `{ message }`. */
function saidIn(value: unknown): string {
  const error = fieldOf(value, "error")
  const said = fieldOf(value, "detail") ?? fieldOf(error, "message") ?? error ?? fieldOf(value, "message")
  return typeof said === "string" ? said : ""
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined
}

/** Servers repeat a wrong key in their error text. */
function cut(said: string, apiKey: string | undefined): string {
  const clean = apiKey === undefined ? said : said.replaceAll(apiKey, "…")
  return clean.replace(/[\s\p{Cc}]+/gu, " ").slice(0, SAID_CHARS)
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown"
  if (error.name === "TimeoutError") return "timeout"
  const { cause } = error
  return cause instanceof Error && "code" in cause ? String(cause.code) : error.name
}
