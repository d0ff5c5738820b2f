// `hello-agents trace rm`: deletes runs that were kept, by id, by age (retention), or all that belong to one person (a context value, a thread).
// Registered by trace.ts. Deleting one run is the store's part.
import type { FileStore } from "../doors/stores.ts"
import { fileStore } from "../doors/stores.ts"
import type { StoredEvent } from "../doors/trace.ts"
import { nearestNames } from "../doors/trace.ts"
import { HelloAgentsError } from "../index.ts"
import { EXIT } from "./exit-codes.ts"
import { UsageError } from "./failure.ts"
import type { Shell } from "./shell.ts"
import { speakTalk } from "./talk-texts.ts"
import { speakTrace } from "./trace-texts.ts"

const NEAREST = 3
const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

export interface RemoveFlags {
  readonly store: string
  readonly json?: boolean
  readonly olderThan?: string
  readonly context?: string
  readonly thread?: string
  readonly dryRun?: boolean
}

/** What a run must be to be deleted; every condition that was given must hold. */
interface Wanted {
  /** Ms since 1970: the last event is older. */
  readonly before: number | null
  readonly belongs: ((events: readonly StoredEvent[]) => boolean) | null
}
interface Found {
  readonly runs: readonly string[]
  /** Logs that could not be read, so that nobody knows whom they belong to. */
  readonly unreadable: readonly { readonly runId: string; readonly why: string }[]
}

export async function removeRuns(ids: readonly string[], flags: RemoveFlags, { output, language }: Pick<Shell, "output" | "language">): Promise<void> {
  const tell = speakTrace(language)
  const wanted = readWanted(flags, tell)
  const filtered = wanted.before !== null || wanted.belongs !== null
  if (ids.length === 0 && !filtered) throw new UsageError(tell("rmNothing"), tell("rmNothingHint"))
  if (ids.length > 0 && filtered) throw new UsageError(tell("rmBoth"))
  const store = fileStore(flags.store)
  const found: Found = filtered ? await matching(store, wanted) : { runs: await known(store, ids, language), unreadable: [] }
  if (flags.dryRun !== true) {
    for (const runId of found.runs) await store.remove(runId)
    await removeEmptyThreads(store)
  }
  if (flags.json === true) await output.data(JSON.stringify(found.runs, null, 2))
  else if (found.runs.length > 0) await output.data(found.runs.join("\n"))
  output.progress(tell(flags.dryRun === true ? "rmWould" : "rmDone", { count: found.runs.length }))
  for (const { runId, why } of found.unreadable) output.error(tell("rmUnreadable", { run: runId, why }))
  if (found.unreadable.length > 0) process.exitCode = EXIT.failed
}

function readWanted({ olderThan, context, thread }: RemoveFlags, tell: ReturnType<typeof speakTrace>): Wanted {
  const age = olderThan === undefined ? null : /^(\d{1,6})([mhdw])$/.exec(olderThan)
  if (olderThan !== undefined && age === null) throw new UsageError(tell("badAge", { value: olderThan }))
  const equals = context?.indexOf("=") ?? 1
  if (equals < 1) throw new UsageError(tell("badContext", { value: context ?? "" }))
  if (thread === "" || thread === "*") throw new UsageError(tell("badThread"))
  const conditions = [...(context === undefined ? [] : [hasContext(context.slice(0, equals), context.slice(equals + 1))]), ...(thread === undefined ? [] : [isOnThread(thread)])]
  return {
    before: age === null ? null : Date.now() - Number(age[1]) * (UNIT_MS[age[2] ?? ""] ?? 0),
    belongs: conditions.length === 0 ? null : (events) => conditions.every((holds) => holds(events)),
  }
}

/** The value at any time of the run, not only at its end: what was said to one person stays theirs. */
function hasContext(key: string, value: string): (events: readonly StoredEvent[]) => boolean {
  const holds = (context: Readonly<Record<string, unknown>> | undefined): boolean => context !== undefined && Object.hasOwn(context, key) && String(context[key]) === value
  return (events) =>
    events.some((event) => {
      if (event.type === "run_start" || event.type === "turn_end") return holds(event.context)
      return event.type === "tool_end" && event.outcome.type === "ok" && holds(event.outcome.context?.set)
    })
}

/** `name`, or `beginning*`. A fork keeps the thread of the run it was copied from. */
function isOnThread(pattern: string): (events: readonly StoredEvent[]) => boolean {
  const beginning = pattern.endsWith("*") ? pattern.slice(0, -1) : null
  return ([first]) => {
    if (first?.type !== "run_start" || first.thread === undefined) return false
    return beginning === null ? first.thread === pattern : first.thread.startsWith(beginning)
  }
}

async function matching(store: FileStore, { before, belongs }: Wanted): Promise<Found> {
  const runs: string[] = []
  const unreadable: { runId: string; why: string }[] = []
  for (const { runId, updatedAt } of await store.list()) {
    if (before !== null && updatedAt >= before) continue
    const log = await read(store, runId)
    if (log instanceof HelloAgentsError) {
      if (belongs === null) runs.push(runId)
      else unreadable.push({ runId, why: log.message })
    } else if (log[0]?.type !== "thread_run" && (belongs === null || belongs(log))) runs.push(runId)
  }
  return { runs, unreadable }
}

async function known(store: FileStore, ids: readonly string[], language: Shell["language"]): Promise<readonly string[]> {
  const tell = speakTalk(language)
  const all = (await store.list()).map(({ runId }) => runId)
  for (const run of ids) {
    // The whole id is asked for: what is deleted by mistake is gone.
    if (!all.includes(run)) throw new UsageError(tell("unknownRun", { run, folder: store.folder }), tell("nearestRuns", { runs: nearestNames(run, all, NEAREST).join(", ") }))
  }
  return [...new Set(ids)]
}

/** A thread is the list of its runs; without any it is forgotten, too. */
async function removeEmptyThreads(store: FileStore): Promise<void> {
  const left = (await store.list()).map(({ runId }) => runId)
  for (const id of left) {
    const log = await read(store, id)
    if (log instanceof HelloAgentsError || log[0]?.type !== "thread_run") continue
    if (!log.some((entry) => entry.type === "thread_run" && left.includes(entry.runId))) await store.remove(id)
  }
}

async function read(store: FileStore, runId: string): Promise<readonly StoredEvent[] | HelloAgentsError> {
  try {
    return await store.read(runId)
  } catch (error) {
    if (error instanceof HelloAgentsError) return error
    throw error
  }
}
