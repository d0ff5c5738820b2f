// Lists stored runs, newest first, by what they are: agent, status, thread, time; page by page. Reads only as many logs as a page needs.
import type { StoredEvent } from "../contract/event.ts"
import type { Store } from "../contract/ports.ts"
import { foldEvents } from "./stored-run.ts"

const PAGE = 20

export interface RunFilter {
  readonly agent?: string | undefined
  /** How a run stands: running (or left by a process that died), paused, or its stop reason (`final`, `max_turns`…). */
  readonly status?: string | undefined
  readonly thread?: string | undefined
  /** Milliseconds since 1970: runs begun at or after. */
  readonly since?: number | undefined
  /** Runs of a page. 20. */
  readonly limit?: number | undefined
  /** The `next` of the page before. */
  readonly after?: string | undefined
}

export interface ListedRun {
  readonly runId: string
  readonly agent: string
  readonly status: string
  readonly thread: string | null
  readonly startedAt: number
  readonly updatedAt: number
  readonly turns: number
}

/** `next` is null on the last page. A log that cannot be read is listed as `damaged` unless a filter asks for something else. */
export async function listRuns(store: Store, filter: RunFilter = {}): Promise<{ readonly runs: readonly ListedRun[]; readonly next: string | null }> {
  const all = await store.list()
  const begin = filter.after === undefined ? 0 : all.findIndex(({ runId }) => runId === filter.after) + 1
  const runs: ListedRun[] = []
  for (const summary of all.slice(begin)) {
    if (filter.since !== undefined && summary.startedAt < filter.since) break
    const run = await readRun(store, summary)
    if (run === null || !fits(run, filter)) continue
    runs.push(run)
    if (runs.length === (filter.limit ?? PAGE)) return { runs, next: summary.runId }
  }
  return { runs, next: null }
}

/** null: the log of a thread, which is no run. */
async function readRun(store: Store, summary: { runId: string; startedAt: number; updatedAt: number }): Promise<ListedRun | null> {
  const events = await store.read(summary.runId).catch((): readonly StoredEvent[] => [])
  const [start] = events
  if (start?.type === "thread_run") return null
  const state = foldEvents(events)
  if (start?.type !== "run_start" || state === null) return { ...summary, agent: "", status: "damaged", thread: null, turns: 0 }
  const status = state.status.type === "stopped" ? state.status.stop.reason : state.status.type
  return { ...summary, agent: state.agent, status, thread: start.thread ?? null, turns: state.turn }
}

function fits(run: ListedRun, { agent, status, thread }: RunFilter): boolean {
  return (agent === undefined || run.agent === agent) && (status === undefined || run.status === status) && (thread === undefined || run.thread === thread)
}
