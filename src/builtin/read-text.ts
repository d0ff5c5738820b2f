// From the bytes of an open file to lines of text, or to the answer that it is no text. Reads only as far as it must.
// Used by file-tools.ts and search-files.ts.
import type { FileHandle } from "node:fs/promises"

const CHUNK_BYTES = 65_536
/** How much of the beginning decides whether a file is text. */
const PROBE_BYTES = 8_192
const MARKS: readonly (readonly [encoding: string, mark: readonly number[]])[] = [
  ["utf-8", [0xef, 0xbb, 0xbf]],
  ["utf-16le", [0xff, 0xfe]],
  ["utf-16be", [0xfe, 0xff]],
]

export type TextReading =
  /** `isWhole`: the file ends where the lines end. */
  | { readonly type: "text"; readonly lines: readonly string[]; readonly isWhole: boolean }
  | { readonly type: "binary" }
  /** Text perhaps, but in an encoding that nothing in the file names. */
  | { readonly type: "undecodable" }

export interface TextLimits {
  readonly maxBytes: number
  /** For files that are neither marked nor UTF-8: `gb18030`, `windows-1252`… null: none. */
  readonly fallbackEncoding: string | null
  readonly signal: AbortSignal
}

/** Trusts no size: files of the system say 0 bytes and hold some, or never end. */
export async function readText(handle: FileHandle, { maxBytes, fallbackEncoding, signal }: TextLimits): Promise<TextReading> {
  const start = await readBytes(handle, { from: 0, count: Math.min(PROBE_BYTES, maxBytes), signal })
  const [encoding] = MARKS.find(([, mark]) => mark.every((byte, index) => start[index] === byte)) ?? [null]
  if (encoding === null && start.includes(0)) return { type: "binary" }
  const more = await readBytes(handle, { from: start.length, count: maxBytes - start.length + 1, signal })
  const bytes = Buffer.concat([start, more])
  const isWhole = bytes.length <= maxBytes
  const shown = bytes.subarray(0, maxBytes)
  if (encoding === null && shown.includes(0)) return { type: "binary" }
  const text = decoded(shown, encoding ?? "utf-8", isWhole) ?? (encoding === null && fallbackEncoding !== null ? decoded(shown, fallbackEncoding, isWhole) : null)
  return text === null ? { type: "undecodable" } : { type: "text", lines: linesOf(text, isWhole), isWhole }
}

async function readBytes(handle: FileHandle, { from, count, signal }: { from: number; count: number; signal: AbortSignal }): Promise<Buffer> {
  const chunks: Buffer[] = []
  let total = 0
  while (total < count) {
    signal.throwIfAborted()
    const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, count - total))
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, from + total)
    if (bytesRead === 0) break
    chunks.push(chunk.subarray(0, bytesRead))
    total += bytesRead
  }
  return Buffer.concat(chunks)
}

/** A cut may go through the last character, which is no mistake of the file. */
function decoded(bytes: Buffer, encoding: string, isWhole: boolean): string | null {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: !isWhole })
  } catch {
    return null
  }
}

function linesOf(text: string, isWhole: boolean): string[] {
  const lines = text.split(/\r\n|\n|\r/)
  if (lines.length > 1 && (lines.at(-1) === "" || !isWhole)) lines.pop()
  return text === "" ? [] : lines
}
