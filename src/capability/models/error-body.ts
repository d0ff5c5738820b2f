// Reads the facts out of the many envelopes in which servers put an error: JSON of several shapes, HTML pages, plain text.
// Called by http-errors.ts, which judges them.

const MAX_DEPTH = 4

export interface ErrorFacts {
  /** Text for people, not yet cut; empty when there is none. */
  readonly message: string
  /** `code`, `type` and `status` words of the error. */
  readonly codes: readonly string[]
  /** HTTP status, when the error names one. */
  readonly status: number | null
  readonly html: boolean
  /** Waiting times as they were found: `retryDelay` durations, `estimated_time` seconds, headers of the upstream. */
  readonly delay: string | null
  readonly headers: Readonly<Record<string, string>>
}

type Fields = Readonly<Record<string, unknown>>

/** `body`: the text of an answer, or a value that was parsed already. */
export function readErrorBody(body: unknown): ErrorFacts {
  if (typeof body !== "string") return readFields(body, 0)
  const text = body.trim().replace(/^error: ?(?=[{[])/, "")
  if (text.startsWith("{") || text.startsWith("[")) {
    try {
      return readFields(JSON.parse(text), 0)
    } catch {
      return { ...NOTHING, message: text }
    }
  }
  return isHtml(text) ? { ...NOTHING, message: htmlText(text), html: true } : { ...NOTHING, message: text }
}

const NOTHING: ErrorFacts = { message: "", codes: [], status: null, html: false, delay: null, headers: {} }

function readFields(value: unknown, depth: number): ErrorFacts {
  if (typeof value === "string") return isHtml(value) ? { ...NOTHING, message: htmlText(value), html: true } : { ...NOTHING, message: value }
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return NOTHING
  if (Array.isArray(value)) return readFields(value[0], depth + 1)
  const fields = value as Fields
  const inner = INNER.map((name) => fields[name]).find((found) => found !== undefined && found !== null && found !== "")
  const nested = inner === undefined ? NOTHING : readFields(inner, depth + 1)
  const metadata = (isFields(fields.metadata) ? fields.metadata : {}) as Fields
  // A gateway's own text says little; what its upstream said is in `raw`.
  const upstream = typeof metadata.raw === "string" ? readErrorBody(metadata.raw.slice(0, 2_000)).message : ""
  const own = [fields.message, fields.msg, fields.status_msg, fields.error_description].find((text) => typeof text === "string" && text !== "")
  const place = Array.isArray(fields.loc) ? fields.loc.slice(0, 8).join(".") : ""
  const codes = [fields.code, fields.type, fields.status, fields.status_code, fields.error_code].filter((code) => typeof code === "string" || typeof code === "number")
  return {
    message: [...new Set([place, nested.message, own ?? "", upstream])].filter((text) => text !== "").join(": "),
    codes: [...nested.codes, ...codes.map(String)],
    status: nested.status ?? codes.map(Number).find((code) => code >= 400 && code < 600) ?? null,
    html: nested.html,
    delay: nested.delay ?? delayOf(fields),
    headers: { ...(isFields(metadata.headers) ? (metadata.headers as Record<string, string>) : {}), ...nested.headers },
  }
}

/** Where the error proper may stand, in this order. */
const INNER = ["error", "errors", "detail", "base_resp", "choices"]

function delayOf(fields: Fields): string | null {
  if (typeof fields.estimated_time === "number") return `${fields.estimated_time}s`
  const details = Array.isArray(fields.details) ? fields.details.slice(0, 20) : []
  const found = details.find((detail: unknown) => isFields(detail) && typeof detail.retryDelay === "string") as Fields | undefined
  return found === undefined ? null : String(found.retryDelay)
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function isHtml(text: string): boolean {
  return /^\s*<(?:!doctype|html|head|body|\?xml)/i.test(text)
}

/** The title, else the visible text. */
function htmlText(page: string): string {
  const text = page.slice(0, 8_000)
  const title = /<title[^<>]{0,200}>([^<]{1,300})/i.exec(text)?.[1]?.trim()
  if (title !== undefined && title !== "") return title
  return text.replace(/<(script|style)\b[^<]{0,4000}<\/\1>/gi, " ").replace(/<[^<>]{0,1000}>/g, " ")
}
