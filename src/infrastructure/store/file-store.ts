// Keeps runs in files: a private folder per run, with a log of one JSON line per event. The default store of CLI, server and worker.
// Handed to run() by callers. What a run's files are and how two writers are told apart stands in log-files.ts.
import { readdirSync, statSync } from "node:fs"
import { rm } from "node:fs/promises"
import { join, resolve } from "node:path"
import { setImmediate as letOthersGo } from "node:timers/promises"
import type { RunSummary, Store } from "../../contract/ports.ts"
import { failingAs } from "./failing-as.ts"
import { isCode, timesOf } from "./log-files.ts"
import type { LogWriters } from "./log-writer.ts"
import { appendToLog, forget, knowsEnd, untilIdle } from "./log-writer.ts"
import { openFiles } from "./open-files.ts"
import { readLog } from "./read-log.ts"
import { folderName, runIdOf } from "./run-folder.ts"
import { newestFirst } from "./sequence.ts"

/** Logs kept open at most, for how long without a write, and runs looked at before others get their turn. */
const DEFAULTS = { openFiles: 128, idleMs: 30_000, listAtOnce: 200 }

export interface FileStore extends Store {
  readonly folder: string
  /** Deletes a run with everything beside its log. A writer of it is refused from then on. */
  readonly remove: (runId: string) => Promise<void>
  /** Closes the logs kept open for running runs; they are opened again when needed. */
  readonly close: () => void
}

/**
 * A store in the files of one folder (made when first written to; folders 0700, files 0600).
 * Throws `store_failed` (disk full, no permission…), `store_corrupt`, `log_too_new`, `stale_writer`, and `input_invalid` for an impossible run id.
 */
export function fileStore(folder: string): FileStore {
  const root = resolve(folder)
  const writers: LogWriters = { root, files: openFiles(DEFAULTS.openFiles, DEFAULTS.idleMs), byRun: new Map(), rootSynced: false }
  return {
    kind: "files",
    folder: root,
    async append(runId, expectedSeq, events, { durable }) {
      const run = { id: runId, folder: join(root, folderName(runId)) }
      if (events.length > 0) await failingAs(`write run "${runId}"`, () => appendToLog(writers, run, { expectedSeq, events, durable }))
    },
    async read(runId, afterSeq = 0) {
      const runFolder = join(root, folderName(runId))
      return failingAs(`read run "${runId}"`, async () => (knowsEnd(writers, runId, afterSeq) ? [] : await readLog(runFolder, afterSeq)))
    },
    list: () => failingAs("list the runs", () => summariesIn(root)),
    async remove(runId) {
      const runFolder = join(root, folderName(runId))
      await untilIdle(writers, runId)
      forget(writers, runId)
      await failingAs(`remove run "${runId}"`, () => rm(runFolder, { recursive: true, force: true }))
    },
    close: writers.files.closeAll,
  }
}

async function summariesIn(root: string): Promise<RunSummary[]> {
  const summaries: RunSummary[] = []
  for (const [index, name] of namesIn(root).entries()) {
    if (index % DEFAULTS.listAtOnce === DEFAULTS.listAtOnce - 1) await letOthersGo()
    const runId = runIdOf(name)
    const summary = runId === null ? null : summaryOf(runId, join(root, name))
    if (summary !== null) summaries.push(summary)
  }
  return summaries.sort(newestFirst)
}

/** A damaged log is listed too, with the time of its folder: somebody has to find it. */
function summaryOf(runId: string, folder: string): RunSummary | null {
  try {
    const times = timesOf(folder)
    return times === null ? null : { runId, ...times }
  } catch {
    const stat = statSync(folder, { throwIfNoEntry: false })
    return stat === undefined ? null : { runId, startedAt: Math.round(stat.mtimeMs), updatedAt: Math.round(stat.mtimeMs) }
  }
}

function namesIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  } catch (error) {
    if (isCode(error, "ENOENT")) return []
    throw error
  }
}
