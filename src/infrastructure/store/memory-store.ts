// Keeps the events of runs in this process: for tests, for chats that need not outlive it, and as the plainest reading of the Store port.
// Handed to run() by callers. Runs stay until they are removed.
import type { StoredEvent } from "../../contract/event.ts"
import type { Store } from "../../contract/ports.ts"
import { checkSequence, newestFirst } from "./sequence.ts"

/** A store in memory. `durable` means nothing here. `remove` forgets a run. */
export function memoryStore(): Store & { readonly remove: (runId: string) => Promise<void> } {
  const runs = new Map<string, StoredEvent[]>()
  return {
    kind: "memory",
    append(runId, expectedSeq, events) {
      const log = runs.get(runId) ?? []
      checkSequence(runId, { expectedSeq, lastSeq: log.length }, events)
      if (events.length === 0) return
      log.push(...events)
      runs.set(runId, log)
    },
    async read(runId, afterSeq = 0) {
      return (runs.get(runId) ?? []).slice(afterSeq)
    },
    async list() {
      const summaries = [...runs].map(([runId, log]) => ({ runId, startedAt: log[0]?.at ?? 0, updatedAt: log.at(-1)?.at ?? 0 }))
      return summaries.sort(newestFirst)
    },
    async remove(runId) {
      runs.delete(runId)
    },
  }
}
