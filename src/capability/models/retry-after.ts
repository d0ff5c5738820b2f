// How long a server asks to wait, from headers and error bodies. Called by http-errors.ts.
import type { ErrorFacts } from "./error-body.ts"

/** Longer is not a wait; and a timer beyond 24.8 days would fire at once. */
const MAX_WAIT_MS = 86_400_000
const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

type Headers = Readonly<Record<string, string>>

/**
 * Milliseconds, or undefined when nothing usable is said. Header names in lower case.
 * `retry-after-ms`, then `Retry-After` (RFC 9110, section 10.2.3: seconds or a date), then the reset of a used-up rate limit.
 */
export function waitFromHeaders(headers: Headers, now: number): number | undefined {
  const ms = headers["retry-after-ms"]?.trim() ?? ""
  const wait = /^\d{1,15}(?:\.\d{1,9})?$/.test(ms) ? Number(ms) : (readRetryAfter(headers["retry-after"], now) ?? readReset(headers, now))
  return wait === undefined ? undefined : bounded(wait)
}

/** The same from what the error says: upstream headers, `retryDelay`, or words such as "try again in 4.77s". */
export function waitFromBody(facts: ErrorFacts, now: number): number | undefined {
  const headers = Object.fromEntries(Object.entries(facts.headers).map(([name, value]) => [name.toLowerCase(), String(value)]))
  const said =
    /(?:try again|retry|resets?|available)(?: again)? (?:in|after):? (?:about )?([\d.]{1,12} ?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?)\b|(?:\d{1,6}(?:\.\d{1,6})?[hms]){1,4})/i
  const wait = waitFromHeaders(headers, now) ?? readDuration(facts.delay ?? said.exec(facts.message.slice(0, 2_000))?.[1])
  return wait === undefined ? undefined : bounded(wait)
}

function readRetryAfter(value: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? ""
  if (/^\d{1,12}(?:\.\d{1,9})?$/.test(text)) return Number(text) * 1_000
  return readDate(text, now)
}

function readDate(text: string, now: number): number | undefined {
  // Date.parse takes nearly anything for a date.
  if (!/^(?:mon|tue|wed|thu|fri|sat|sun)|^\d{4}-\d{2}-\d{2}T/i.test(text)) return undefined
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

/** Of limits with `-remaining-` 0 the latest reset; without such figures the latest of all. */
function readReset(headers: Headers, now: number): number | undefined {
  const resets = Object.entries(headers).filter(([name]) => /^(?:x-|anthropic-)?ratelimit-(?:[a-z-]{1,40}-)?reset(?:-[a-z-]{1,40})?$/.test(name))
  const spent = resets.filter(([name]) => headers[name.replace("reset", "remaining")]?.trim() === "0")
  const waits = (spent.length > 0 ? spent : resets).map(([, value]) => readResetTime(value.trim(), now)).filter((wait) => wait !== undefined)
  return waits.length === 0 ? undefined : Math.max(...waits)
}

function readResetTime(text: string, now: number): number | undefined {
  if (!/^\d{1,16}(?:\.\d{1,9})?$/.test(text)) return readDuration(text) ?? readDate(text, now)
  const figure = Number(text)
  if (figure > 1e12) return Math.max(0, figure - now)
  return figure > 1e9 ? Math.max(0, figure * 1_000 - now) : figure * 1_000
}

/** `500ms`, `6m0s`, `45.8s`, `3 minutes`. */
function readDuration(value: string | undefined | null): number | undefined {
  const text = (value ?? "").trim().toLowerCase()
  if (!/^(?:\d{1,12}(?:\.\d{1,12})? ?[a-z]{1,12} ?){1,5}$/.test(text)) return undefined
  let total = 0
  for (const [, figure, word = ""] of text.matchAll(/([\d.]{1,25}) ?([a-z]{1,12})/g)) {
    const unit = word === "ms" || word.startsWith("milli") ? "ms" : word[0]
    if (unit === undefined || !(unit in UNIT_MS)) return undefined
    total += Number(figure) * UNIT_MS[unit as keyof typeof UNIT_MS]
  }
  return total
}

function bounded(wait: number): number | undefined {
  return Number.isFinite(wait) && wait >= 0 ? Math.min(Math.round(wait), MAX_WAIT_MS) : undefined
}
