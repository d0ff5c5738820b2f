// Turns whatever a tool returned into text for the model: any JSON value, circular, BigInt, Error, Map, binary, nothing. Never throws.
// Called by execute.ts.

const NO_DATA = "No data: the tool ran and returned nothing."

/** The text for the model. JSON where the value is not text already. */
export function resultText(value: unknown): string {
  if (typeof value === "string") return value.trim() === "" ? NO_DATA : value
  if (value === undefined || value === null) return NO_DATA
  if (Array.isArray(value) && value.length === 0) return "No data: the result is an empty list []."
  try {
    return JSON.stringify(value, toJson) ?? `[${typeof value}]`
  } catch {
    return stringifyAnything(value)
  }
}

function toJson(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return value <= Number.MAX_SAFE_INTEGER && value >= Number.MIN_SAFE_INTEGER ? Number(value) : value.toString()
  if (typeof value !== "object" || value === null) return typeof value === "function" ? "[function]" : value
  if (value instanceof Error) return { error: value.message }
  if (value instanceof Map) return Object.fromEntries(value)
  if (value instanceof Set) return [...value]
  if (ArrayBuffer.isView(value)) return `[binary, ${value.byteLength} bytes]`
  if (value instanceof ArrayBuffer) return `[binary, ${value.byteLength} bytes]`
  return value
}

function stringifyAnything(value: unknown): string {
  try {
    return JSON.stringify(withoutCircles(value, new Set()))
  } catch (error) {
    return `The result could not be read: ${error instanceof Error ? error.message : "it has no text form"}`
  }
}

function withoutCircles(value: unknown, above: ReadonlySet<unknown>): unknown {
  const plain = toJson("", value)
  if (typeof plain !== "object" || plain === null) return plain
  if (above.has(plain)) return "[circular]"
  const here = new Set(above).add(plain)
  if (Array.isArray(plain)) return plain.map((item) => withoutCircles(item, here))
  return Object.fromEntries(Object.entries(plain).map(([key, item]) => [key, withoutCircles(item, here)]))
}

/** Cuts text for the model with a notice that says so. A surrogate pair is never split. */
export function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  const last = text.charCodeAt(maxChars - 1)
  const end = last >= 0xd800 && last < 0xdc00 ? maxChars - 1 : maxChars
  return `${text.slice(0, end)}\n[Cut: the first ${end} of ${text.length} characters are shown. Ask for less at once to see the rest: a filter, a page, a narrower question.]`
}
