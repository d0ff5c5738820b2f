// Appends to the logs of the runs this process writes, and finds out when another process has taken a run over.
// Called by file-store.ts. What makes one writer the only one stands in log-files.ts.
import { closeSync, fdatasync, fstatSync, fsync, ftruncateSync, openSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { promisify } from "node:util"
import type { StoredEvent } from "../../contract/event.ts"
import { HelloAgentsError } from "../errors.ts"
import { writeWithBlobs } from "./blobs.ts"
import { claimEpoch, counts, endOfLog, isCode, logPath, writeAll } from "./log-files.ts"
import type { OpenFiles } from "./open-files.ts"
import { checkSequence, staleWriter } from "./sequence.ts"

/** How long a writer waits for a newer one to say what it has read: 200 ms in rounds of 5; it needs one, a busy disk some more. */
const SETTLE = { rounds: 40, ms: 5 }

const sync = promisify(fsync)
const syncData = promisify(fdatasync)

/** What is known of a run that is written here. */
interface Writer {
  readonly runId: string
  readonly folder: string
  readonly path: string
  readonly epoch: number
  bytes: number
  seq: number
  /** Folders with new names, to be synced with the next durable write: a power cut could lose the way to the log. */
  unsynced: string[]
  /** The sync under way, for the run's next append to wait for. Never rejects. */
  busy: Promise<void> | null
}

/** The runs one store writes. */
export interface LogWriters {
  readonly root: string
  readonly files: OpenFiles
  readonly byRun: Map<string, Writer>
  rootSynced: boolean
}

export interface Batch {
  readonly expectedSeq: number
  readonly events: readonly StoredEvent[]
  readonly durable: boolean
}

/** Resolves when the events are written, and on disk when `durable`. Throws `stale_writer`, `run_not_found` (removed meanwhile) and what the file system throws. */
export async function appendToLog(writers: LogWriters, run: { id: string; folder: string }, batch: Batch): Promise<void> {
  await untilIdle(writers, run.id)
  const known = writers.byRun.get(run.id)
  if (known !== undefined && hasNewer(known)) forget(writers, run.id)
  const writer = writers.byRun.get(run.id) ?? claim(writers, run, batch.expectedSeq)
  checkSequence(run.id, { expectedSeq: batch.expectedSeq, lastSeq: writer.seq }, batch.events)
  const before = writer.bytes
  try {
    write(writers.files, writer, batch.events)
    if (batch.durable) await durably(writers, writer)
  } catch (error) {
    takeBack(writers.files, writer, before)
    forget(writers, run.id)
    throw error
  }
  if (hasNewer(writer)) await settle(writers, writer)
  const last = batch.events.at(-1)?.type
  if (last === "run_end" || last === "run_pause") forget(writers, run.id)
}

export async function untilIdle(writers: LogWriters, runId: string): Promise<void> {
  for (let busy = writers.byRun.get(runId)?.busy; busy; busy = writers.byRun.get(runId)?.busy) await busy
}

/** True when this store wrote the last event itself and nobody has taken over: then there is nothing new to read. */
export function knowsEnd(writers: LogWriters, runId: string, seq: number): boolean {
  const writer = writers.byRun.get(runId)
  return writer !== undefined && writer.seq <= seq && !hasNewer(writer)
}

export function forget(writers: LogWriters, runId: string): void {
  const writer = writers.byRun.get(runId)
  if (writer === undefined) return
  writers.files.close(writer.path)
  writers.byRun.delete(runId)
}

function claim(writers: LogWriters, run: { id: string; folder: string }, expectedSeq: number): Writer {
  // Looked up first, so that a caller who is late does not put a healthy writer out.
  checkSequence(run.id, { expectedSeq, lastSeq: endOfLog(run.folder)?.seq ?? 0 }, [])
  const { file, epoch, bytes, seq } = claimEpoch(run.folder)
  const above = dirname(writers.root)
  const unsynced = [run.folder, ...(epoch === 1 ? [writers.root] : []), ...(writers.rootSynced ? [] : [above, dirname(above)])]
  const writer: Writer = { runId: run.id, folder: run.folder, path: logPath(run.folder, epoch), epoch, bytes, seq, unsynced, busy: null }
  writers.files.keep(writer.path, file)
  writers.byRun.set(run.id, writer)
  return writer
}

function write(files: OpenFiles, writer: Writer, events: readonly StoredEvent[]): void {
  const file = files.get(writer.path)
  const { nlink, size } = fstatSync(file)
  if (nlink === 0) throw new HelloAgentsError("run_not_found", `Run "${writer.runId}" was removed while it was going on.`, { hint: "Start it anew." })
  if (size !== writer.bytes) throw staleWriter(writer.runId, `${writer.path} has ${size} bytes, this writer left ${writer.bytes}`)
  const lines = events.map((event) => writeWithBlobs(event, writer.folder, writer.epoch))
  if (lines.some(({ blobs }) => blobs > 0)) writer.unsynced.push(writer.folder)
  writer.bytes += writeAll(file, lines.map(({ line }) => `${line}\n`).join(""))
  writer.seq += events.length
}

function durably(writers: LogWriters, writer: Writer): Promise<void> {
  const work = async (): Promise<void> => {
    await Promise.all([writers.files.use(writer.path, syncData), ...writer.unsynced.map(syncFolder)])
    writer.unsynced = []
    writers.rootSynced = true
  }
  const done = work()
  const ended = (): void => {
    writer.busy = null
  }
  writer.busy = done.then(ended, ended)
  return done
}

/** An append that failed must leave nothing behind, or the next one would meet its own events and call itself stale. */
function takeBack(files: OpenFiles, writer: Writer, bytes: number): void {
  try {
    // What a newer epoch may have read has to stay.
    if (!hasNewer(writer)) ftruncateSync(files.get(writer.path), bytes)
  } catch {
    // The disk is in trouble; the error on its way says so.
  }
}

/** A newer epoch turned up after the write. Either it has read the write, and all is well, or the write will never count. */
async function settle(writers: LogWriters, writer: Writer): Promise<void> {
  forget(writers, writer.runId)
  for (let round = 0; round < SETTLE.rounds; round++) {
    const counted = counts(writer.folder, writer.epoch, writer.bytes)
    if (counted === true) return
    if (counted === false) throw staleWriter(writer.runId, `epoch ${writer.epoch} was closed before this write`)
    await wait(SETTLE.ms)
  }
  // The newer writer died before it said anything: an epoch of our own decides.
  closeSync(claimEpoch(writer.folder).file)
  if (counts(writer.folder, writer.epoch, writer.bytes) !== true) throw staleWriter(writer.runId, `epoch ${writer.epoch} was closed before this write`)
}

function hasNewer(writer: Writer): boolean {
  // Epochs are numbered without gaps, so the next number is enough to look for.
  return statSync(logPath(writer.folder, writer.epoch + 1), { throwIfNoEntry: false }) !== undefined
}

/** Syncs a folder, without which the name of a new file in it can be lost. */
async function syncFolder(path: string): Promise<void> {
  let file: number
  try {
    file = openSync(path, "r")
  } catch {
    // Folders cannot be opened on Windows, and the store's parent may be unreadable: neither is a reason to refuse a run.
    return
  }
  try {
    await sync(file)
  } catch (error) {
    if (!["EPERM", "EINVAL", "EISDIR"].some((code) => isCode(error, code))) throw error
  } finally {
    closeSync(file)
  }
}
