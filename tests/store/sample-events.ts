// Small events for store tests.
import type { StoredEvent } from "../../src/contract/event.ts"

/** An event that carries a text. */
export function note(seq: number, text: string, at: number = 1_000 + seq): StoredEvent {
  return { v: 1, seq, at, type: "run_abort", reason: text }
}

export function events(from: number, to: number): StoredEvent[] {
  return Array.from({ length: to - from + 1 }, (_, index) => note(from + index, `event ${from + index}`))
}
