// Reads a run back from its store: the fold of its events. Used by run (same id twice), resume, threads and fork.
import type { StoredEvent } from "../contract/event.ts"
import type { Store } from "../contract/ports.ts"
import type { State } from "../contract/state.ts"
import { HelloAgentsError } from "../infrastructure/errors.ts"
import { deepFreeze } from "../infrastructure/freeze.ts"
import { nearestNames } from "../infrastructure/names.ts"
import { apply } from "../orchestration/apply.ts"

/** null: there is no such run. */
export async function storedState(store: Store, runId: string): Promise<State | null> {
  return foldEvents(await store.read(runId))
}

/** @throws HelloAgentsError `run_not_found`, with the nearest ids. */
export async function requireState(store: Store, runId: string): Promise<State> {
  const state = await storedState(store, runId)
  if (state !== null) return state
  const known = (await store.list()).map((summary) => summary.runId)
  const near = nearestNames(runId, known)
  throw new HelloAgentsError("run_not_found", `There is no run ${runId}.`, { hint: near.length > 0 ? `Nearest: ${near.join(", ")}.` : "The store holds no runs." })
}

export function foldEvents(events: readonly StoredEvent[]): State | null {
  let state: State | null = null
  for (const event of events) state = apply(state, deepFreeze(event))
  return state
}
