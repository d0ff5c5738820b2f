// The two rules every store follows: who may append, and in which order runs are listed.
// Called by the stores of this folder; a store of another kind may use them too.
import type { StoredEvent } from "../../contract/event.ts"
import type { RunSummary } from "../../contract/ports.ts"
import { HelloAgentsError } from "../errors.ts"

/**
 * Throws `stale_writer` when the log is not where the writer left it, and `store_failed` when the events are not numbered from
 * `expectedSeq + 1` without gaps (a fault of the caller that must not reach the log).
 */
export function checkSequence(runId: string, at: { expectedSeq: number; lastSeq: number }, events: readonly StoredEvent[]): void {
  if (at.lastSeq !== at.expectedSeq) throw staleWriter(runId, `the log stands at event ${at.lastSeq}, this writer expected ${at.expectedSeq}`)
  events.forEach((event, index) => {
    const due = at.expectedSeq + 1 + index
    if (event.seq === due) return
    throw new HelloAgentsError("store_failed", `Run "${runId}": event ${event.seq} was given where ${due} is due.`, { hint: "Number events from expectedSeq + 1 without gaps." })
  })
}

export function staleWriter(runId: string, why: string): HelloAgentsError {
  return new HelloAgentsError("stale_writer", `Another writer was faster on run "${runId}": ${why}.`, { hint: "Read the events after your last one, fold them, and decide again." })
}

/** Newest start first; runs of the same millisecond by id, so that the order never changes between two calls. */
export function newestFirst(left: RunSummary, right: RunSummary): number {
  return right.startedAt - left.startedAt || (left.runId < right.runId ? -1 : 1)
}
