// Finds SQLite: Node's own where this Node has it, else the optional package with the same API. Called by sqlite-store.ts when one is made.
import { createRequire } from "node:module"
import { HelloAgentsError } from "../errors.ts"

const PACKAGE = "@photostructure/sqlite"

export interface SqliteStatement {
  readonly run: (...values: (string | number)[]) => unknown
  readonly get: (...values: (string | number)[]) => unknown
  readonly all: (...values: (string | number)[]) => unknown[]
}
export interface SqliteDatabase {
  readonly exec: (sql: string) => unknown
  readonly prepare: (sql: string) => SqliteStatement
  readonly close: () => void
}
/** The part of `node:sqlite` that is used. */
export interface SqliteLibrary {
  readonly DatabaseSync: new (path: string) => SqliteDatabase
}

/** Throws `config_invalid` with the command that installs what is missing. */
export function sqliteLibrary(load: () => unknown = loadInstalled): SqliteLibrary {
  const library = loaded(load)
  if (typeof library === "object" && library !== null && "DatabaseSync" in library) return library as SqliteLibrary
  throw new HelloAgentsError("config_invalid", "load() did not give the module node:sqlite, or one like it.", {
    hint: 'import * as sqlite from "node:sqlite", then load: () => sqlite.',
  })
}

function loaded(load: () => unknown): unknown {
  try {
    return load()
  } catch (cause) {
    const missing = cause instanceof Error && "code" in cause && (cause.code === "MODULE_NOT_FOUND" || cause.code === "ERR_UNKNOWN_BUILTIN_MODULE")
    const why = missing ? `This Node (${process.version}) has no SQLite, and the package ${PACKAGE} is not installed.` : `SQLite could not be loaded: ${String(cause)}`
    throw new HelloAgentsError("config_invalid", why, { hint: `npm install ${PACKAGE}`, cause })
  }
}

function loadInstalled(): unknown {
  const require = createRequire(import.meta.url)
  return process.getBuiltinModule?.("node:sqlite") ?? require("@photostructure/sqlite")
}
