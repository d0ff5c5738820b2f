// Keeps the logs of running runs open, as few as the limit says and no longer than they are used.
// Called by file-store.ts. A file that is being synced is not closed under its feet.
import { closeSync, constants, openSync } from "node:fs"

interface OpenFile {
  readonly file: number
  readonly timer: NodeJS.Timeout
  users: number
  closing: boolean
}

export interface OpenFiles {
  readonly keep: (path: string, file: number) => void
  /** Opens it again when it was closed, but never creates it: a removed run stays removed. */
  readonly get: (path: string) => number
  readonly use: (path: string, work: (file: number) => Promise<void>) => Promise<void>
  readonly close: (path: string) => void
  readonly closeAll: () => void
}

export function openFiles(max: number, idleMs: number): OpenFiles {
  const open = new Map<string, OpenFile>()

  function keep(path: string, file: number): void {
    const timer = setTimeout(() => close(path), idleMs).unref()
    open.set(path, { file, timer, users: 0, closing: false })
    // The map is in order of last use: `get` moves a file to the end.
    for (const [oldest, { users }] of open) {
      if (open.size <= max) break
      if (users === 0) close(oldest)
    }
  }

  function get(path: string): number {
    const known = open.get(path)
    if (known === undefined) {
      const file = openSync(path, constants.O_WRONLY | constants.O_APPEND)
      keep(path, file)
      return file
    }
    known.timer.refresh()
    open.delete(path)
    open.set(path, known)
    return known.file
  }

  async function use(path: string, work: (file: number) => Promise<void>): Promise<void> {
    const file = get(path)
    const entry = open.get(path)
    if (entry === undefined) return
    entry.users++
    try {
      await work(file)
    } finally {
      entry.users--
      if (entry.closing && entry.users === 0) closeSync(file)
    }
  }

  function close(path: string): void {
    const entry = open.get(path)
    if (entry === undefined) return
    open.delete(path)
    clearTimeout(entry.timer)
    entry.closing = true
    if (entry.users === 0) closeSync(entry.file)
  }

  return { keep, get, use, close, closeAll: () => [...open.keys()].forEach(close) }
}
