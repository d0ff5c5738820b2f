// Keeps a log readable: the large strings of a very long event go into files beside the log, the line holds their paths.
// Called by file-store.ts for every event it writes or reads; almost all pass through untouched.
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs"
import { join } from "node:path"
import type { StoredEvent } from "../../contract/event.ts"
import { corrupt, writeLine } from "./log-line.ts"

/** Characters of a line beyond which strings are taken out, and of the strings that are. */
const LARGE_LINE = 256 * 1024
const LARGE_STRING = 16 * 1024

type Keys = readonly (string | number)[]
interface Blob {
  readonly at: Keys
  readonly file: string
}

/** The line for an event. `folder` is the run's, `epoch` the writer's: only one writer ever uses a name, so a torn file is written anew. */
export function writeWithBlobs(event: StoredEvent, folder: string, epoch: number): { line: string; blobs: number } {
  const line = writeLine(event)
  if (line.length <= LARGE_LINE) return { line, blobs: 0 }
  const blobs: Blob[] = []
  const small = takeOut(event, [], (at, text) => {
    const file = `blob-${epoch}-${event.seq}-${blobs.length}.txt`
    writeDurably(join(folder, file), text)
    blobs.push({ at, file })
  })
  return { line: blobs.length === 0 ? line : writeLine(event, { ...(small as object), blobs }), blobs: blobs.length }
}

/** Puts the strings back. Throws `store_corrupt` when a file is missing or the line does not fit it. */
export function readWithBlobs(event: StoredEvent & { readonly blobs?: unknown }, folder: string): StoredEvent {
  if (event.blobs === undefined) return event
  const { blobs, ...rest } = event
  if (!Array.isArray(blobs)) throw corrupt(folder, `event ${event.seq} has a strange list of blobs`)
  for (const blob of blobs as Blob[]) {
    // A name that was not ours could read any file of this machine into a trace.
    if (!/^blob-\d+-\d+-\d+\.txt$/.test(blob.file)) throw corrupt(folder, `event ${event.seq} names the file ${JSON.stringify(blob.file)}`)
    putBack(rest, blob.at, readBlob(folder, blob.file))
  }
  return rest
}

function takeOut(value: unknown, at: Keys, save: (at: Keys, text: string) => void): unknown {
  if (typeof value === "string") {
    // Half a surrogate pair has no UTF-8; JSON keeps it, so the line does.
    if (value.length < LARGE_STRING || Buffer.from(value).toString() !== value) return value
    save(at, value)
    return ""
  }
  if (Array.isArray(value)) return value.map((item, index) => takeOut(item, [...at, index], save))
  if (typeof value !== "object" || value === null || "toJSON" in value) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, takeOut(item, [...at, key], save)]))
}

function putBack(root: object, at: Keys, text: string): void {
  let place = root as Record<string | number, unknown>
  for (const key of at.slice(0, -1)) place = (Object.hasOwn(place, key) ? place[key] : {}) as Record<string | number, unknown>
  const last = at.at(-1)
  if (last !== undefined && Object.hasOwn(place, last)) place[last] = text
}

function writeDurably(path: string, text: string): void {
  const file = openSync(path, "w", 0o600)
  try {
    const bytes = Buffer.from(text)
    for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function readBlob(folder: string, file: string): string {
  try {
    return readFileSync(join(folder, file), "utf8")
  } catch (cause) {
    throw corrupt(folder, `the file ${file} that belongs to the log cannot be read`, cause)
  }
}
