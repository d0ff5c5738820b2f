// The jail of the file tools: from a path that a model wrote to an open file or the names in a folder, and never out of the root.
// Used by file-tools.ts and search-files.ts. Knows nothing of text. What a refusal says holds no path but the one that was asked for.
import { constants } from "node:fs"
import * as fileSystem from "node:fs/promises"
import type { FileHandle } from "node:fs/promises"
import { join, relative, sep } from "node:path"

const MAX_PATH_CHARS = 1_000
/** Absent on Windows, where links and pipes are caught by the checks before and after opening. */
const OPEN_FILE = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
const OPEN_FOLDER = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_DIRECTORY ?? 0)
/** Windows cannot. */
const CAN_OPEN_FOLDERS = constants.O_DIRECTORY !== undefined
const HANDLES = "/proc/self/fd"
/** Windows opens these as devices in whatever folder they are named. */
const DEVICE_NAME = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i
/** A drive, a URL; on Windows a colon anywhere names a hidden stream of a file. */
const ADDRESS = process.platform === "win32" ? /:/ : /^[A-Za-z]:|^[A-Za-z]{2,20}:\/\//

/** What the jail needs of `node:fs/promises`; handed in by tests that change the disk between a check and its use. */
export type FileSystem = Pick<typeof fileSystem, "open" | "realpath" | "lstat" | "readdir" | "readlink">

export interface Entry {
  /** Relative to the root, with `/`. */
  readonly path: string
  readonly type: "file" | "folder"
  /** 0 for a folder. */
  readonly bytes: number
}

/** Both give null where nothing is, and throw an Error for what is refused. */
export interface Jail {
  /** A regular file, open for reading. The caller closes it. */
  readonly open: (path: string) => Promise<FileHandle | null>
  /** What stands directly in a folder, sorted; "" is the root. Links that lead out, devices, pipes and sockets are left out. */
  readonly list: (folder: string) => Promise<readonly Entry[] | null>
}

interface Cell {
  readonly root: string
  readonly hidden: boolean
  readonly files: FileSystem
}
/** `shown` is how the model named it; `real` has no link in it. */
interface Place {
  readonly shown: string
  readonly base: string
  readonly real: string
}

export function jail(root: string, { hidden, files = fileSystem }: { hidden: boolean; files?: FileSystem | undefined }): Jail {
  const cell: Cell = { root, hidden, files }
  return { open: (path) => openFile(cell, path), list: (folder) => listFolder(cell, folder) }
}

async function openFile(cell: Cell, path: string): Promise<FileHandle | null> {
  const place = await locate(cell, path)
  if (place === null) return null
  const { shown, real } = place
  const before = await attempt(shown, () => cell.files.lstat(real))
  if (before === null) return null
  if (before.isDirectory()) throw new Error(`${shown} is a folder. list_files shows what is in it.`)
  if (!before.isFile()) throw new Error(`${shown} is not a regular file (a device, a pipe or a socket) and is not opened.`)
  const handle = await attempt(shown, () => cell.files.open(real, OPEN_FILE))
  if (handle === null) return null
  try {
    await confirm(cell, place, handle)
    const opened = await handle.stat()
    if (!opened.isFile()) throw changed(shown)
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

async function listFolder(cell: Cell, folder: string): Promise<readonly Entry[] | null> {
  const place = await locate(cell, folder)
  if (place === null) return null
  const { shown, real } = place
  const before = await attempt(shown, () => cell.files.lstat(real))
  if (before === null) return null
  if (!before.isDirectory()) throw new Error(`${shown} is a file, not a folder. read_file shows its text.`)
  if (!CAN_OPEN_FOLDERS) return entriesByPath(cell, place)
  const handle = await attempt(shown, () => cell.files.open(real, OPEN_FOLDER))
  if (handle === null) return null
  try {
    return (await confirm(cell, place, handle)) ? await entriesIn(cell, place, `${HANDLES}/${handle.fd}`) : await entriesByPath(cell, place)
  } finally {
    await handle.close()
  }
}

/** Where no handle can be read as a folder, a link could be there and gone again in between: names may show then, never what stands in files. */
async function entriesByPath(cell: Cell, place: Place): Promise<readonly Entry[]> {
  const entries = await entriesIn(cell, place, place.real)
  if ((await attempt(place.shown, () => cell.files.realpath(place.real))) !== place.real) throw changed(place.shown)
  return entries
}

async function entriesIn(cell: Cell, { shown, base, real }: Place, readable: string): Promise<Entry[]> {
  const found = (await attempt(shown, () => cell.files.readdir(readable, { withFileTypes: true }))) ?? []
  const named = found.filter(({ name }) => isPlainName(name) && (cell.hidden || !name.startsWith(".")))
  const entries: Entry[] = []
  for (const entry of named.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = relative(base, join(real, entry.name)).split(sep).join("/")
    if (entry.isDirectory()) entries.push({ path, type: "folder", bytes: 0 })
    if (!entry.isFile() && !entry.isSymbolicLink()) continue
    const target = entry.isFile() ? join(readable, entry.name) : await insideTarget(cell, base, join(readable, entry.name))
    const stats = target === null ? null : await cell.files.lstat(target).catch(() => null)
    // a folder that is linked is listed where it stands
    if (stats?.isFile()) entries.push({ path, type: "file", bytes: stats.size })
  }
  return entries
}

/** One name after the other: what lies beyond a link that leads out is never asked for, so it cannot be probed. */
async function locate(cell: Cell, path: string): Promise<Place | null> {
  const shown = path === "" ? "The folder" : JSON.stringify(path.slice(0, 200))
  const segments = segmentsOf(path)
  const base = await cell.files.realpath(cell.root).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`The folder of these files cannot be opened (${error.code ?? "unknown error"}). Nothing is known about any file right now.`)
  })
  let real = base
  for (const segment of segments) {
    const next = join(real, segment)
    refuseHidden(cell, shown, segment)
    const stats = await attempt(shown, () => cell.files.lstat(next))
    if (stats === null) return null
    const target = stats.isSymbolicLink() ? await insideTarget(cell, base, next) : next
    if (target === null) throw new Error(`${shown} is behind a link that leads out of the folder or nowhere, and is not opened.`)
    real = target
  }
  const settled = await attempt(shown, () => cell.files.realpath(real))
  if (settled === null) return null
  if (!isInside(base, settled)) throw changed(shown)
  refuseHidden(cell, shown, relative(base, settled))
  return { shown, base, real: settled }
}

function segmentsOf(path: string): string[] {
  const example = 'Give a path inside the folder as list_files shows it, such as "reports/2024.md".'
  if (path.length > MAX_PATH_CHARS) throw new Error(`The path has more than ${MAX_PATH_CHARS} characters. ${example}`)
  if (!isPlainName(path)) throw new Error(`The path has a control character in it. ${example}`)
  if (path.startsWith("/") || path.startsWith("\\") || ADDRESS.test(path)) throw new Error(`Absolute paths, drives and addresses are not opened. ${example}`)
  if (path.includes("\\")) throw new Error(`The path has a \\ in it. Write / between folder names. ${example}`)
  const segments = path.split("/").filter((segment) => segment !== "" && segment !== ".")
  if (segments.includes("..")) throw new Error(`The path has .. in it, which is not opened. ${example}`)
  if (segments.some((segment) => DEVICE_NAME.test(segment))) throw new Error(`The path names a device, which is not opened. ${example}`)
  return segments
}

/** The real path of a link, or null if it is not in the jail: one answer for every kind of wrong link. */
async function insideTarget({ files, hidden }: Cell, base: string, link: string): Promise<string | null> {
  const target = await files.realpath(link).catch(() => null)
  if (target === null || !isInside(base, target)) return null
  return hidden || !isHidden(relative(base, target)) ? target : null
}

/**
 * Whether the handle is open on what `place` names, against links put in its way since it was checked. Linux tells the path of a handle;
 * elsewhere the path is looked up again and must lead, inside the root, to the same file on the disk.
 * @returns true if the system told the path of the handle. @throws Error if it is elsewhere.
 */
async function confirm({ files, hidden }: Cell, { shown, base, real }: Place, handle: FileHandle): Promise<boolean> {
  const told = await files.readlink(`${HANDLES}/${handle.fd}`).catch(() => null)
  if (told !== null) {
    if (!isInside(base, told) || (!hidden && isHidden(relative(base, told)))) throw changed(shown)
    return true
  }
  const again = await files.realpath(real).catch(() => null)
  const [there, opened] = [again === null ? null : await files.lstat(again, { bigint: true }).catch(() => null), await handle.stat({ bigint: true })]
  if (again === null || !isInside(base, again) || there?.ino !== opened.ino || there.dev !== opened.dev) throw changed(shown)
  return false
}

function refuseHidden({ hidden }: Cell, shown: string, path: string): void {
  if (!hidden && isHidden(path)) throw new Error(`${shown} is hidden (a name that begins with a dot) and is not opened.`)
}

function isHidden(path: string): boolean {
  return path.split(sep).some((segment) => segment.startsWith("."))
}

function isInside(base: string, path: string): boolean {
  return path === base || path.startsWith(base.endsWith(sep) ? base : base + sep)
}

function isPlainName(name: string): boolean {
  return !/\p{Cc}/u.test(name)
}

function changed(shown: string): Error {
  return new Error(`${shown} leads out of the folder and is not opened.`)
}

/** Errors of the system name whole paths, so only their code goes on. null: there is nothing of that name. */
async function attempt<T>(shown: string, work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error"
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ENAMETOOLONG") return null
    if (code === "ELOOP") throw changed(shown)
    if (code === "EACCES" || code === "EPERM") throw new Error(`${shown} may not be read: permission is missing.`)
    throw new Error(`${shown} cannot be read (${code}).`)
  }
}
