// A disk that loses its power: everything under a folder that was not synced when it happened is gone, bytes and names alike.
// It listens to the file calls of this process, so it must be set up before the code under test is imported.
import fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { dirname, join } from "node:path"

type Callback = (error: NodeJS.ErrnoException | null) => void

/** Gives the power cut: leaves of each file what was synced, of each folder the names that were. */
export function watchSyncs(folder: string): () => void {
  const pathOf = new Map<number, string>()
  const syncedBytes = new Map<string, number>()
  const syncedNames = new Set<string>([folder])

  /** What a sync that begins now makes safe when it has ended. */
  const begin = (file: number): (() => void) => {
    const path = pathOf.get(file) ?? ""
    const stat = fs.fstatSync(file)
    const names = stat.isDirectory() ? fs.readdirSync(path).map((name) => join(path, name)) : []
    return () => {
      for (const name of names) syncedNames.add(name)
      if (!stat.isDirectory()) syncedBytes.set(path, stat.size)
    }
  }
  const { openSync } = fs
  fs.openSync = (path, ...rest) => {
    const file = openSync(path, ...rest)
    pathOf.set(file, String(path))
    return file
  }
  for (const name of ["fsyncSync", "fdatasyncSync"] as const) {
    const real = fs[name]
    fs[name] = (file) => {
      const ended = begin(file)
      real(file)
      ended()
    }
  }
  for (const name of ["fsync", "fdatasync"] as const) {
    const real = fs[name]
    const watched = (file: number, callback: Callback): void => {
      const ended = begin(file)
      real(file, (error) => {
        if (error === null) ended()
        callback(error)
      })
    }
    Object.assign(fs, { [name]: watched })
  }
  syncBuiltinESMExports()

  return () => {
    const entries = fs.readdirSync(folder, { recursive: true, withFileTypes: true }).map((entry) => ({ path: join(entry.parentPath, entry.name), isFile: entry.isFile() }))
    const isSafe = (path: string): boolean => path === folder || (syncedNames.has(path) && isSafe(dirname(path)))
    for (const { path, isFile } of entries) if (isFile && isSafe(path)) fs.truncateSync(path, syncedBytes.get(path) ?? 0)
    for (const { path } of entries) if (!isSafe(path)) fs.rmSync(path, { recursive: true, force: true })
  }
}
