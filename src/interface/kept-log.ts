// A run's log in a store, and a look at it while an effect is under way: what another process appended must reach the run. Made by launch.ts.
import type { StoredEvent } from "../contract/event.ts"
import type { Store } from "../contract/ports.ts"
import type { Log } from "../orchestration/world.ts"

/** How often a run looks for what another process appended while an effect is under way. */
const LOOK_OUTSIDE_MS = 500

export interface KeptLog {
  readonly log: Log
  readonly release: () => void
}

/** `onOutside` may hear of an event that the loop, which folds it at its next write, reports again. */
export function keepIn(store: Store, runId: string, run: { fromSeq: number; onOutside: (event: StoredEvent) => void }): KeptLog {
  let seq = run.fromSeq
  let looking = false
  const timer = setInterval(async () => {
    if (looking) return
    looking = true
    try {
      for (const event of await store.read(runId, seq)) run.onOutside(event)
    } catch {
      // a store that cannot be read now will say so at the next write
    }
    looking = false
  }, LOOK_OUTSIDE_MS)
  if (typeof timer === "object") timer.unref?.()
  return {
    log: {
      async append(expectedSeq, events, durable) {
        await store.append(runId, expectedSeq, events, { durable })
        seq = expectedSeq + events.length
      },
      read: (afterSeq) => store.read(runId, afterSeq),
    },
    release: () => clearInterval(timer),
  }
}
