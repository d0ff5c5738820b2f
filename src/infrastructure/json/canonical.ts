// One text per JSON value: the same value gives the same text, whatever the order of its keys.
// Called where two calls or two objects are compared. Leaves the reading of text to lenient-json.ts.

const MAX_DEPTH = 500

/** JSON with sorted keys. Big integers keep their digits; what JSON cannot say (undefined, functions, cycles, very deep nesting) becomes null. */
export function canonicalJson(value: unknown): string {
  return write(value, [])
}

function write(value: unknown, above: readonly object[]): string {
  if (typeof value === "bigint") return value.toString()
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null"
  if (above.length >= MAX_DEPTH || above.includes(value)) return "null"
  const within = [...above, value]
  if (Array.isArray(value)) return `[${value.map((item) => write(item, within)).join(",")}]`
  if (value instanceof Date) return JSON.stringify(value) ?? "null"
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  members.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${write(member, within)}`).join(",")}}`
}
