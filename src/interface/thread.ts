// A thread is a conversation kept in a store: run after run, one at a time. Its log lists its runs; who appends the next entry owns the next run,
// so two messages at once are told apart by the store's own check (R13). Called by the runner.
import type { StoredEvent } from "../contract/event.ts"
import type { Message } from "../contract/message.ts"
import type { Clock, Store } from "../contract/ports.ts"
import type { RunOptions } from "../contract/run.ts"
import type { State } from "../contract/state.ts"
import { HelloAgentsError } from "../infrastructure/errors.ts"
import { storedState } from "./stored-run.ts"

/** Logs of threads stand beside those of runs, under a name no run gets by itself. */
const THREAD_PREFIX = "thread~"
const LOOK_AGAIN_MS = 100
/** An entry whose run never wrote its first event: its process died in between. */
const ABANDONED_MS = 10_000

/** What the next run of a thread begins with. */
export interface ThreadPlace {
  readonly messages: readonly Message[]
  readonly context: object
  /** Who spoke last; null at the beginning. */
  readonly agent: string | null
}

const BEGINNING: ThreadPlace = { messages: [], context: {}, agent: null }

/**
 * Takes the next place on a thread, waiting for the run before it or refusing, as `whenBusy` says (default: wait).
 * @throws HelloAgentsError `config_invalid` without a store, `thread_busy` if refused or cancelled while waiting.
 */
export async function takePlace(options: RunOptions, run: { runId: string; clock: Clock; signal: AbortSignal }): Promise<ThreadPlace> {
  const { store, thread } = options
  if (store === undefined || thread === undefined)
    throw new HelloAgentsError("config_invalid", "A thread needs a store.", { hint: "Pass store: fileStore(folder) with the thread." })
  for (;;) {
    const entries = await store.read(THREAD_PREFIX + thread.id)
    const last = entries.at(-1)
    const before = last?.type === "thread_run" ? await storedState(store, last.runId) : null
    if (isFree(before, last, run.clock.now())) {
      if (await claim(store, THREAD_PREFIX + thread.id, { seq: entries.length, runId: run.runId, at: run.clock.now() })) return before === null ? BEGINNING : placeAfter(before)
      continue
    }
    if (thread.whenBusy === "refuse" || run.signal.aborted) {
      const what = before?.status.type === "paused" ? "waits for a person" : "is still going on"
      throw new HelloAgentsError("thread_busy", `The run before on thread ${thread.id} ${what}.`, { hint: "Answer or resume it, or wait until it has ended." })
    }
    await run.clock.wait(LOOK_AGAIN_MS, run.signal)
  }
}

/** Ids of the runs of a thread, oldest first; the last one may not have written its first event yet. */
export async function threadRuns(store: Store, threadId: string): Promise<readonly string[]> {
  const entries = await store.read(THREAD_PREFIX + threadId)
  return entries.flatMap((entry) => (entry.type === "thread_run" ? [entry.runId] : []))
}

function isFree(before: State | null, last: StoredEvent | undefined, now: number): boolean {
  if (last === undefined) return true
  if (before === null) return now - last.at > ABANDONED_MS
  return before.status.type === "stopped"
}

async function claim(store: Store, log: string, entry: { seq: number; runId: string; at: number }): Promise<boolean> {
  try {
    await store.append(log, entry.seq, [{ v: 1, seq: entry.seq + 1, at: entry.at, type: "thread_run", runId: entry.runId }], { durable: true })
    return true
  } catch (error) {
    if (error instanceof HelloAgentsError && error.code === "stale_writer") return false
    throw error
  }
}

function placeAfter(state: State): ThreadPlace {
  return { messages: state.messages, context: state.context, agent: state.agent }
}
