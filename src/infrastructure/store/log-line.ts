// One event, one line: writes and reads the lines of a run's log, and refuses versions this code does not know.
// Called by file-store.ts and log-files.ts. Large strings are handed to blobs.ts.
import type { StoredEvent } from "../../contract/event.ts"
import { HelloAgentsError } from "../errors.ts"

/** The format this code writes, and the newest it reads. */
export const LOG_VERSION = 1
/** Written first in every line, so that a look at a log's two ends needs no parsing. */
const LINE_HEAD = /^\{"v":(\d+),"seq":(\d+),"at":(\d+)/

export interface LineHead {
  readonly seq: number
  readonly at: number
}

/** `fields` is the event, or the event with its large strings taken out. */
export function writeLine(event: StoredEvent, fields: object = event): string {
  return JSON.stringify({ v: event.v, seq: event.seq, at: event.at, ...fields })
}

/** Sequence number and time without parsing the line; null when it is not one of ours. Throws `log_too_new`. */
export function readHead(line: string, file: string): LineHead | null {
  const found = LINE_HEAD.exec(line)
  if (found === null) return null
  checkVersion(Number(found[1]), file)
  return { seq: Number(found[2]), at: Number(found[3]) }
}

/** Throws `log_too_new` for a newer format and `store_corrupt` for anything that is not an event; `lineNumber` counts from 1. */
export function readLine(line: string, file: string, lineNumber: number): StoredEvent & { readonly blobs?: unknown } {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (cause) {
    throw corrupt(file, `line ${lineNumber} is not JSON`, cause)
  }
  if (typeof value !== "object" || value === null || !("v" in value && "seq" in value && "type" in value)) throw corrupt(file, `line ${lineNumber} is not an event`)
  if (typeof value.v !== "number" || value.v < 1) throw corrupt(file, `line ${lineNumber} has no version`)
  checkVersion(value.v, file)
  return value as StoredEvent
}

export function checkVersion(version: number, file: string): void {
  if (version <= LOG_VERSION) return
  throw new HelloAgentsError("log_too_new", `${file} has log format ${version}; this hello-agents reads formats up to ${LOG_VERSION}.`, {
    hint: "Update hello-agents to the version that wrote it (npm install hello-agents@latest). The log was left as it is.",
  })
}

export function corrupt(file: string, what: string, cause?: unknown): HelloAgentsError {
  return new HelloAgentsError("store_corrupt", `${file} is damaged: ${what}.`, {
    hint: "Restore the file from a backup, or cut it off before the damaged line to go on from there.",
    cause,
  })
}
