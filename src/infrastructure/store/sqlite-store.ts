// Keeps runs in one SQLite file, for several processes on one machine. Handed to run() by callers through the door `hello-agents/sqlite`.
// The lock is SQLite's own: who may append is looked up and written in one transaction. SQLite itself comes from sqlite-library.ts.
import { closeSync, existsSync, mkdirSync, openSync } from "node:fs"
import { dirname, resolve } from "node:path"
import type { StoredEvent } from "../../contract/event.ts"
import type { RunSummary, Store } from "../../contract/ports.ts"
import { HelloAgentsError } from "../errors.ts"
import { failingAs, sqliteResult } from "./failing-as.ts"
import { checkVersion, corrupt, readLine, writeLine } from "./log-line.ts"
import { folderName, runIdOf } from "./run-folder.ts"
import { checkSequence, newestFirst } from "./sequence.ts"
import type { SqliteDatabase, SqliteLibrary, SqliteStatement } from "./sqlite-library.ts"
import { sqliteLibrary } from "./sqlite-library.ts"

/** Milliseconds to wait for another process's transaction, and between tries where SQLite does not wait by itself. */
const DEFAULTS = { busyMs: 5_000, retryMs: 20 }
/** Says whose file it is ("HAgs", in the header of the file); the tables' version stands beside it. */
const APPLICATION_ID = 0x48416773
const TABLES_VERSION = 1
/** Primary result codes, see https://sqlite.org/rescode.html. */
const BUSY = 5
const DAMAGED: ReadonlySet<number> = new Set([11, 26])

/** An event's key is its run and its number in one: the run's events stand together, in order, without an index to write to. */
const FIRST_KEY = "((SELECT id FROM runs WHERE name = ?1) << 32)"
const TABLES = `
  CREATE TABLE runs (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, last_seq INTEGER NOT NULL, started_at INTEGER NOT NULL, updated_at INTEGER NOT NULL);
  CREATE TABLE events (key INTEGER PRIMARY KEY, event TEXT NOT NULL);
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${TABLES_VERSION};`

/** Moves what is in the write-ahead log into the file. */
const EMPTY_LOG = "PRAGMA wal_checkpoint(TRUNCATE)"

const STATEMENTS = {
  find: "SELECT id, last_seq FROM runs WHERE name = ?",
  begin: "INSERT INTO runs (name, last_seq, started_at, updated_at) VALUES (?, 0, ?, 0) RETURNING id, last_seq",
  insert: "INSERT INTO events (key, event) VALUES ((?1 << 32) | ?2, ?3)",
  advance: "UPDATE runs SET last_seq = ?, updated_at = ? WHERE id = ?",
  read: `SELECT key & 0xffffffff AS seq, event FROM events WHERE key > ${FIRST_KEY} + ?2 AND key <= ${FIRST_KEY} + 0xffffffff ORDER BY key`,
  list: "SELECT name, started_at, updated_at FROM runs",
  removeEvents: `DELETE FROM events WHERE key > ${FIRST_KEY} AND key <= ${FIRST_KEY} + 0xffffffff`,
  removeRun: "DELETE FROM runs WHERE name = ?",
}

export interface SqliteStore extends Store {
  readonly path: string
  /** Deletes a run and overwrites its text in the file. A writer of it is refused from then on. */
  readonly remove: (runId: string) => Promise<void>
  /** Closes the file; it is opened again when needed. */
  readonly close: () => void
}

export interface SqliteStoreOptions {
  /** Gives the module `node:sqlite` or one like it. Default: Node's own where it has one, else `@photostructure/sqlite`. */
  readonly load?: (() => unknown) | undefined
}

interface Open extends Record<keyof typeof STATEMENTS, SqliteStatement> {
  readonly database: SqliteDatabase
  /** Whether commits are synced now; a setting of the connection. */
  durable: boolean
}
interface RunRow {
  readonly id: number
  readonly last_seq: number
}

/**
 * A store in one SQLite file (made when first written to, 0600, in WAL mode: a local disk, not a network one). `durable` events are synced
 * by their commit. Calls are synchronous inside: a sync blocks this process for its 1 to 2 ms, another process's write for up to 5 s.
 * Throws `config_invalid` when SQLite is missing; then `store_failed`, `store_corrupt`, `log_too_new`, `stale_writer`, `input_invalid`.
 */
export function sqliteStore(path: string, options: SqliteStoreOptions = {}): SqliteStore {
  const file = resolve(path)
  const library = sqliteLibrary(options.load)
  let opened: Open | null = null
  const use = <T>(what: string, work: (open: Open) => T): Promise<T> =>
    failingAs(what, () => {
      try {
        opened ??= openFile(library, file)
        return work(opened)
      } catch (error) {
        if (DAMAGED.has(sqliteResult(error) ?? 0)) throw corrupt(file, error instanceof Error ? error.message : "it cannot be read", error)
        throw error
      }
    })
  const isEmpty = (): boolean => opened === null && !existsSync(file)
  return {
    kind: "sqlite",
    path: file,
    async append(runId, expectedSeq, events, { durable }) {
      const name = folderName(runId)
      if (events.length > 0) await use(`write run "${runId}"`, (open) => appendTo(open, { runId, name }, { expectedSeq, events, durable }))
    },
    async read(runId, afterSeq = 0) {
      const name = folderName(runId)
      return isEmpty() ? [] : use(`read run "${runId}"`, (open) => readFrom(open, { name, where: `${file}, run "${runId}"` }, afterSeq))
    },
    list: async () => (isEmpty() ? [] : use("list the runs", summariesIn)),
    async remove(runId) {
      const name = folderName(runId)
      if (!isEmpty()) await use(`remove run "${runId}"`, (open) => removeFrom(open, name))
    },
    close() {
      if (opened !== null) closeFile(opened)
      opened = null
    },
  }
}

interface Batch {
  readonly expectedSeq: number
  readonly events: readonly StoredEvent[]
  readonly durable: boolean
}

function appendTo(open: Open, run: { runId: string; name: string }, { expectedSeq, events, durable }: Batch): void {
  if (open.durable !== durable) {
    // In WAL mode NORMAL commits without a sync, and the next FULL commit syncs what came before it, too.
    open.database.exec(`PRAGMA synchronous = ${durable ? "FULL" : "NORMAL"}`)
    open.durable = durable
  }
  inTransaction(open.database, () => {
    const known = open.find.get(run.name) as RunRow | undefined
    checkSequence(run.runId, { expectedSeq, lastSeq: known?.last_seq ?? 0 }, events)
    const { id } = known ?? (open.begin.get(run.name, events[0]?.at ?? 0) as RunRow)
    for (const event of events) open.insert.run(id, event.seq, writeLine(event))
    open.advance.run(expectedSeq + events.length, events.at(-1)?.at ?? 0, id)
  })
}

function readFrom(open: Open, run: { name: string; where: string }, afterSeq: number): StoredEvent[] {
  const rows = open.read.all(run.name, afterSeq) as { seq: number; event: string }[]
  return rows.map(({ seq, event: text }, index) => {
    const due = afterSeq + 1 + index
    const event = readLine(text, run.where, seq)
    if (seq !== due || event.seq !== due) throw corrupt(run.where, `it has event ${event.seq} where ${due} is due`)
    return event
  })
}

function summariesIn(open: Open): RunSummary[] {
  const rows = open.list.all() as { name: string; started_at: number; updated_at: number }[]
  return rows.map((row) => ({ runId: runIdOf(row.name) ?? row.name, startedAt: row.started_at, updatedAt: row.updated_at })).sort(newestFirst)
}

function removeFrom(open: Open, name: string): void {
  inTransaction(open.database, () => {
    open.removeEvents.run(name)
    open.removeRun.run(name)
  })
  // The write-ahead log still holds what was deleted, until it is emptied into the file.
  open.database.exec(EMPTY_LOG)
}

function inTransaction(database: SqliteDatabase, work: () => void): void {
  database.exec("BEGIN IMMEDIATE")
  try {
    work()
    database.exec("COMMIT")
  } catch (error) {
    try {
      database.exec("ROLLBACK")
    } catch {
      // SQLite has rolled back by itself, as it does when the disk is full.
    }
    throw error
  }
}

function openFile(library: SqliteLibrary, path: string): Open {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  // SQLite gives its own new files the rights of this one.
  closeSync(openSync(path, "a", 0o600))
  const database = new library.DatabaseSync(path)
  try {
    database.exec(`PRAGMA busy_timeout = ${DEFAULTS.busyMs}; PRAGMA secure_delete = ON`)
    prepareTables(database, path)
    database.exec("PRAGMA synchronous = FULL")
    const statements = Object.entries(STATEMENTS).map(([name, sql]) => [name, database.prepare(sql)])
    return { ...(Object.fromEntries(statements) as Record<keyof typeof STATEMENTS, SqliteStatement>), database, durable: true }
  } catch (error) {
    database.close()
    throw error
  }
}

/** Emptied first: the package keeps a closed file open until its statements are collected, so the last one to close may not do it. */
function closeFile({ database }: Open): void {
  try {
    database.exec(EMPTY_LOG)
  } catch {
    // Nothing is lost: the write-ahead log is read by whoever opens the file next.
  }
  database.close()
}

function prepareTables(database: SqliteDatabase, path: string): void {
  if (!isOurs(database, path)) {
    inTransaction(database, () => {
      // Another process may have been faster: looked up again under the lock.
      if (!isOurs(database, path)) database.exec(TABLES)
    })
  }
  for (let tries = DEFAULTS.busyMs / DEFAULTS.retryMs; ; tries--) {
    try {
      database.exec("PRAGMA journal_mode = WAL")
      return
    } catch (error) {
      if (sqliteResult(error) !== BUSY || tries <= 0) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, DEFAULTS.retryMs)
    }
  }
}

/** false: an empty file. Throws when it is somebody else's, which must not be changed, or of a later version. */
function isOurs(database: SqliteDatabase, path: string): boolean {
  const sql = "SELECT application_id AS application, user_version AS version, (SELECT count(*) FROM sqlite_schema) AS tables FROM pragma_application_id, pragma_user_version"
  const { application, version, tables } = database.prepare(sql).get() as { application: number; version: number; tables: number }
  if (application === 0 && version === 0 && tables === 0) return false
  if (application !== APPLICATION_ID) {
    throw new HelloAgentsError("store_failed", `${path} is the SQLite file of another program; it was left as it is.`, { hint: "Choose another path for the runs." })
  }
  checkVersion(version, path)
  return true
}
