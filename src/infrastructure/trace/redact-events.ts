// Hides secrets in the events of a run before a person or an export sees them. Logs hold everything; readers call this by default.
import type { StoredEvent } from "../../contract/event.ts"
import { redactSecrets } from "../redaction.ts"

/** Copies with every string redacted; a value is also judged together with its key (`"password": "…"`). Names, ids and types stay. */
export function redactEvents(events: readonly StoredEvent[]): StoredEvent[] {
  return events.map((event) => redactValue(event) as StoredEvent)
}

function redactValue(value: unknown): unknown {
  if (typeof value === "string") return redactSecrets(value)
  if (Array.isArray(value)) return value.map(redactValue)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, typeof item === "string" ? redactEntry(key, item) : redactValue(item)]))
}

function redactEntry(key: string, value: string): string {
  const prefix = `${key}: `
  const redacted = redactSecrets(prefix + value)
  return redacted.startsWith(prefix) ? redacted.slice(prefix.length) : redactSecrets(value)
}
