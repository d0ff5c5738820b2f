// Turns what the file system or SQLite throws into one error that says what was tried and what to do about it.
// Called by file-store.ts and sqlite-store.ts around everything that touches the disk.
import { HelloAgentsError } from "../errors.ts"

const FULL = "The disk is full: free some space, then resume the run."
const REFUSED = "This user may not write or read there: give it the folder, or choose another one."
const READ_ONLY = "That file system is read-only: choose another folder."
/** Codes of Node, and the primary result codes of SQLite (https://sqlite.org/rescode.html). */
const HINTS: Readonly<Record<string, string>> = {
  ENOSPC: FULL,
  EDQUOT: "The disk quota is used up: free some space, then resume the run.",
  EACCES: REFUSED,
  EPERM: REFUSED,
  EROFS: READ_ONLY,
  EMFILE: "This process has too many open files: raise its limit (ulimit -n).",
  ENFILE: "This machine has too many open files: raise its limit.",
  ENOTDIR: "A part of that path is a file: choose another folder.",
  SQLITE_5: "Another process holds the file: end it, or wait until it is done, then resume the run.",
  SQLITE_8: REFUSED,
  SQLITE_13: FULL,
  SQLITE_14: REFUSED,
}

/** The package leaves the number out where a statement fails half-way; SQLite's messages (sqlite3_errstr) have not changed in decades. */
const MESSAGES: readonly (readonly [string, number])[] = [
  ["database is locked", 5],
  ["readonly database", 8],
  ["malformed", 11],
  ["is full", 13],
  ["unable to open", 14],
  ["not a database", 26],
]

/** Throws `store_failed` for anything but our own errors, with the cause kept. `what` completes "Could not …". */
export async function failingAs<T>(what: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof HelloAgentsError) throw error
    const cause = error instanceof Error ? error : new Error(String(error))
    throw new HelloAgentsError("store_failed", `Could not ${what}: ${cause.message}`, {
      hint: HINTS[codeOf(cause)] ?? "Look at the folder and its disk, then resume the run.",
      cause,
    })
  }
}

function codeOf(error: Error): string {
  const result = sqliteResult(error)
  if (result !== null) return `SQLITE_${result}`
  return "code" in error ? String(error.code) : ""
}

/** SQLite's primary result code; null for errors of others. The upper bytes of an extended code only narrow it. */
export function sqliteResult(error: unknown): number | null {
  if (!(error instanceof Error)) return null
  if ("errcode" in error && typeof error.errcode === "number") return error.errcode & 0xff
  if (!("code" in error && error.code === "ERR_SQLITE_ERROR")) return null
  const { message } = error
  return MESSAGES.find(([words]) => message.includes(words))?.[1] ?? null
}
