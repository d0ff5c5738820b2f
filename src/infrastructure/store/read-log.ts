// Reads the events of a run from its log files, line by line, and says exactly where a log is damaged.
// Called by file-store.ts.
import { readFile } from "node:fs/promises"
import type { StoredEvent } from "../../contract/event.ts"
import { readWithBlobs } from "./blobs.ts"
import type { Segment } from "./log-files.ts"
import { segmentsOf } from "./log-files.ts"
import { corrupt, readLine } from "./log-line.ts"

const NEW_LINE = 10

/** The events after `afterSeq`, in order; none when there is no such run. Throws `store_corrupt` and `log_too_new`. */
export async function readLog(folder: string, afterSeq: number): Promise<StoredEvent[]> {
  const events: StoredEvent[] = []
  for (const segment of segmentsOf(folder, afterSeq)) {
    const bytes = await readFile(segment.path)
    for (const event of eventsOf(segment, bytes, afterSeq)) events.push(readWithBlobs(event, folder))
  }
  return events
}

function* eventsOf(segment: Segment, bytes: Buffer, afterSeq: number): Generator<StoredEvent> {
  if (segment.to !== null && bytes.length < segment.to)
    throw corrupt(segment.path, `${bytes.length} bytes are left of the ${segment.to} that were there when the next log was begun`)
  // Of the newest log, a last line without its line break was never finished.
  const end = segment.to ?? bytes.lastIndexOf(NEW_LINE) + 1
  let seq = segment.afterSeq
  let lineNumber = segment.from === 0 ? 0 : 1
  for (let from = segment.from; from < end; ) {
    const lineEnd = bytes.indexOf(NEW_LINE, from)
    seq++
    lineNumber++
    if (seq > afterSeq) {
      const event = readLine(bytes.toString("utf8", from, lineEnd), segment.path, lineNumber)
      if (event.seq !== seq) throw corrupt(segment.path, `line ${lineNumber} has event ${event.seq} where ${seq} is due`)
      yield event
    }
    from = lineEnd + 1
  }
}
