// The files of one run: one log per writer epoch, each naming what counts of the one before it. Node cannot lock files, so this is
// the lock: a new writer creates the next epoch, then reads the old one and writes down the length it read; later bytes there never count.
// Called by file-store.ts. All calls are short and synchronous: claiming must not be interleaved with this process's own appends.
import { closeSync, fdatasyncSync, fstatSync, mkdirSync, openSync, readdirSync, readSync, writeSync } from "node:fs"
import { join } from "node:path"
import type { LineHead } from "./log-line.ts"
import { checkVersion, corrupt, LOG_VERSION, readHead, readLine } from "./log-line.ts"

const NEW_LINE = 10
const FIRST_LINE_BYTES = 512
const TAIL_BYTES = 4096

/** Where a log counts up to: `bytes` of the file of `epoch`; its last event is `seq`, of the time `at`. */
export interface End {
  readonly epoch: number
  readonly bytes: number
  readonly seq: number
  readonly at: number
}

/** A part of the log: the events of one epoch, from byte `from` to `to` (null: as far as it goes), after event `afterSeq`. */
export interface Segment {
  readonly path: string
  readonly from: number
  readonly to: number | null
  readonly afterSeq: number
}

export interface Claim extends End {
  readonly file: number
}

export function logPath(folder: string, epoch: number): string {
  return join(folder, `${String(epoch).padStart(6, "0")}.jsonl`)
}

/** Epochs of a run, oldest first; empty when there is no such run. */
function epochsOf(folder: string): number[] {
  try {
    const names = readdirSync(folder).filter((name) => /^\d{6,}\.jsonl$/.test(name))
    return names.map((name) => Number.parseInt(name, 10)).sort((left, right) => left - right)
  } catch (error) {
    if (isCode(error, "ENOENT")) return []
    throw error
  }
}

/** Where the log ends, seen from epochs below `below`; null when nothing was written. A torn last line does not count. */
export function endOfLog(folder: string, epochs: readonly number[] = epochsOf(folder)): End | null {
  for (const epoch of epochs.toReversed()) {
    const start = readStart(folder, epoch)
    if (start === null) continue
    const last = withFile(logPath(folder, epoch), (file, path) => lastLine(file, path, { from: start.bytes, to: fstatSync(file).size }))
    return { epoch, bytes: last?.end ?? start.bytes, seq: last?.head.seq ?? start.after?.seq ?? 0, at: last?.head.at ?? start.after?.at ?? 0 }
  }
  return null
}

/** The parts that hold the events after `afterSeq`, oldest first. */
export function segmentsOf(folder: string, afterSeq: number): Segment[] {
  const segments: Segment[] = []
  const epochs = epochsOf(folder)
  let epoch = epochs.findLast((candidate) => readStart(folder, candidate) !== null)
  let to: number | null = null
  while (epoch !== undefined) {
    const start = readStart(folder, epoch)
    if (start === null) throw corrupt(logPath(folder, epoch), "it does not say what it follows")
    segments.push({ path: logPath(folder, epoch), from: start.bytes, to, afterSeq: start.after?.seq ?? 0 })
    if (start.after === null || start.after.seq <= afterSeq) break
    epoch = start.after.epoch
    to = start.after.bytes
  }
  return segments.reverse()
}

/**
 * Whether the first `bytes` of `epoch` count in the log as the newest epoch sees it; null while the newest has not said so yet.
 * A writer may rely on a write only after this (or after no newer epoch was there): whoever comes later reads that write.
 */
export function counts(folder: string, epoch: number, bytes: number): boolean | null {
  let newer = epochsOf(folder).at(-1) ?? epoch
  while (newer > epoch) {
    const after = readStart(folder, newer)?.after
    if (after === undefined || after === null) return null
    if (after.epoch === epoch) return after.bytes >= bytes
    newer = after.epoch
  }
  return newer === epoch
}

/** Becomes the run's writer: whoever wrote before will find out at its next append. The file stays open. */
export function claimEpoch(folder: string): Claim {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (;;) {
    const epoch = (epochsOf(folder).at(-1) ?? 0) + 1
    // Created first and read second: what another writer adds in between is read here, or that writer sees this file.
    const file = createNew(logPath(folder, epoch))
    if (file === null) continue
    try {
      if (epoch === 1) return { epoch, file, bytes: 0, seq: 0, at: 0 }
      const after = endOfLog(
        folder,
        epochsOf(folder).filter((other) => other < epoch),
      )
      if (after === null) throw corrupt(folder, "its first log is missing")
      // What is counted on must survive a power cut before the line that counts on it does.
      syncNow(logPath(folder, after.epoch))
      const bytes = writeAll(file, `${JSON.stringify({ v: LOG_VERSION, epoch, after })}\n`)
      return { ...after, epoch, file, bytes }
    } catch (error) {
      closeSync(file)
      throw error
    }
  }
}

/** Time of the first and last event by a look at both ends of the log; null when there is none. */
export function timesOf(folder: string): { startedAt: number; updatedAt: number } | null {
  const epochs = epochsOf(folder)
  const end = endOfLog(folder, epochs)
  if (end === null || end.seq === 0) return null
  const first = epochs.map((epoch) => firstHead(folder, epoch)).find((head) => head !== null)
  return { startedAt: first?.at ?? end.at, updatedAt: end.at }
}

/** Writes all of it and returns the bytes; a write may stop half-way without an error (disk quotas). */
export function writeAll(file: number, text: string): number {
  const bytes = Buffer.from(text)
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done)
  return bytes.length
}

export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code
}

/** Epoch 1 follows nothing. null: the file was created, but its writer has not (or never) said what it follows. */
function readStart(folder: string, epoch: number): { bytes: number; after: End | null } | null {
  if (epoch === 1) return { bytes: 0, after: null }
  const path = logPath(folder, epoch)
  const line = firstLine(path)
  if (line === null) return null
  const start = parseStart(line)
  if (start === null) throw corrupt(path, "its first line does not say what it follows")
  checkVersion(start.v, path)
  return { bytes: Buffer.byteLength(line) + 1, after: start.after }
}

function parseStart(line: string): { v: number; after: End } | null {
  try {
    const value: { v?: unknown; after?: Partial<End> } = JSON.parse(line)
    const { epoch, bytes, seq, at } = value.after ?? {}
    if (typeof value.v !== "number" || typeof epoch !== "number" || typeof bytes !== "number" || typeof seq !== "number" || typeof at !== "number") return null
    return { v: value.v, after: { epoch, bytes, seq, at } }
  } catch {
    return null
  }
}

function firstHead(folder: string, epoch: number): LineHead | null {
  const path = logPath(folder, epoch)
  const buffer = withFile(path, (file) => readBytes(file, 0, FIRST_LINE_BYTES))
  const text = buffer.toString("utf8")
  return readHead(epoch === 1 ? text : text.slice(text.indexOf("\n") + 1), path)
}

function firstLine(path: string): string | null {
  const buffer = withFile(path, (file) => readBytes(file, 0, FIRST_LINE_BYTES))
  const end = buffer.indexOf(NEW_LINE)
  return end < 0 ? null : buffer.toString("utf8", 0, end)
}

/** The last whole line between two bytes, found from the end. `end` is the byte after its line break. */
function lastLine(file: number, path: string, between: { from: number; to: number }): { head: LineHead; end: number } | null {
  for (let length = TAIL_BYTES; ; length *= 4) {
    const from = Math.max(between.from, between.to - length)
    const buffer = readBytes(file, from, between.to - from)
    const end = buffer.lastIndexOf(NEW_LINE)
    const start = end <= 0 ? -1 : buffer.lastIndexOf(NEW_LINE, end - 1)
    if (from === between.from && end < 0) return null
    if (from !== between.from && start < 0) continue
    const line = buffer.toString("utf8", start + 1, end)
    return { head: readHead(line, path) ?? readLine(line, path, 0), end: from + end + 1 }
  }
}

function readBytes(file: number, from: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(length)
  return buffer.subarray(0, readSync(file, buffer, 0, length, from))
}

function withFile<T>(path: string, look: (file: number, path: string) => T): T {
  const file = openSync(path, "r")
  try {
    return look(file, path)
  } finally {
    closeSync(file)
  }
}

function syncNow(path: string): void {
  const file = openSync(path, "r+")
  try {
    fdatasyncSync(file)
  } finally {
    closeSync(file)
  }
}

function createNew(path: string): number | null {
  try {
    return openSync(path, "ax", 0o600)
  } catch (error) {
    if (isCode(error, "EEXIST")) return null
    throw error
  }
}
