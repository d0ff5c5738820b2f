// What chaos.mjs and its workers share: the store, the steps of a job, and the table of what really happened.
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { sqliteStore } from "../dist/doors/sqlite.js"
import { fileStore } from "../dist/doors/stores.js"

export const STEPS = [1, 2, 3, 4, 5, 6]

export function openStore(kind, folder) {
  if (kind === "files") return fileStore(join(folder, "runs"))
  if (kind === "sqlite") return sqliteStore(join(folder, "runs.db"))
  throw new Error(`--store must be files or sqlite, not ${kind}`)
}

/** Every line of one process's table, or of all, in the order of each process. A last line without its end was never finished. */
export function effectsIn(folder, pid = null) {
  const names = pid === null ? readdirSync(join(folder, "effects")) : [`${pid}.jsonl`]
  return names.flatMap((name) => linesOf(join(folder, "effects", name)).map((line) => ({ ...line, pid: Number.parseInt(name, 10) })))
}

function linesOf(path) {
  let text
  try {
    text = readFileSync(path, "utf8")
  } catch {
    // A process that was killed before it opened its table has done nothing.
    return []
  }
  return text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

/** Starts of this process that have no end. */
export function inFlight(lines) {
  const done = new Set(lines.flatMap(({ what, key }) => (what === "done" ? [key] : [])))
  return lines.filter(({ what, key }) => what === "start" && !done.has(key))
}
