// Hands events to those who read along. The owner (the `for await` of a stream) gets every event; attached readers may lose deltas, never events.
// Neither can slow the run: events wait in queues. Used by the runner.
import type { LiveEvent, RunEvent } from "../contract/event.ts"

/** Deltas beyond this that a reader has not taken yet are dropped for it, and counted. */
const DELTAS_WAITING = 1_000
/** How long a finished run waits for its readers to catch up. */
const LAST_CALL_MS = 250

export type Reader = (event: RunEvent) => unknown

export interface ReaderQueue {
  push(event: RunEvent): void
  /** Resolves when all was read, or after a moment: a reader that hangs must not hold the result. */
  end(): Promise<void>
}

export function attachReader(reader: Reader): ReaderQueue {
  const queue: RunEvent[] = []
  let deltas = 0
  let lost = 0
  let draining: Promise<void> | null = null
  const drain = async (): Promise<void> => {
    await Promise.resolve()
    for (let event = queue.shift(); event !== undefined; event = queue.shift()) {
      if (isDelta(event)) deltas--
      try {
        await reader(event)
      } catch {
        // a reader's fault is not the run's
      }
    }
    draining = null
  }
  const push = (event: RunEvent): void => {
    if (isDelta(event)) {
      if (deltas >= DELTAS_WAITING) {
        lost++
        return
      }
      deltas++
    } else if (lost > 0) {
      queue.push({ type: "deltas_lost", count: lost })
      lost = 0
    }
    queue.push(event)
    draining ??= drain()
  }
  return {
    push,
    async end() {
      if (draining === null) return
      let timer: ReturnType<typeof setTimeout> | undefined
      const lastCall = new Promise<void>((resolve) => (timer = setTimeout(resolve, LAST_CALL_MS)))
      await Promise.race([draining, lastCall])
      clearTimeout(timer)
    },
  }
}

export interface OwnerQueue extends AsyncIterable<RunEvent> {
  push(event: RunEvent): void
  end(error?: unknown): void
}

/** The owner's iterator. Adjacent deltas that were not taken yet become one. `onLeave` is called when the owner leaves early. */
export function ownerQueue(onLeave: () => void): OwnerQueue {
  let queue: RunEvent[] = []
  let first = 0
  let ended = false
  let failure: { readonly error: unknown } | null = null
  let wake: (() => void) | null = null
  const take = (): RunEvent | undefined => {
    const event = queue[first]
    if (event === undefined) {
      if (first > 0) queue = []
      first = 0
      return undefined
    }
    first++
    return event
  }
  const next = async (): Promise<IteratorResult<RunEvent>> => {
    for (;;) {
      const event = take()
      if (event !== undefined) return { done: false, value: event }
      if (failure !== null) throw failure.error
      if (ended) return { done: true, value: undefined }
      await new Promise<void>((resolve) => (wake = resolve))
      wake = null
    }
  }
  return {
    push(event) {
      const last = queue.length > first ? queue.at(-1) : undefined
      const joined = last === undefined ? null : joinDeltas(last, event)
      if (joined === null) queue.push(event)
      else queue[queue.length - 1] = joined
      wake?.()
    },
    end(error) {
      ended = true
      if (error !== undefined) failure = { error }
      wake?.()
    },
    [Symbol.asyncIterator]: () => ({
      next,
      async return() {
        if (!ended) onLeave()
        return { done: true, value: undefined }
      },
    }),
  }
}

function joinDeltas(last: RunEvent, event: RunEvent): LiveEvent | null {
  if (last.type === "text_delta" && event.type === "text_delta") return { type: "text_delta", text: last.text + event.text }
  if (last.type === "reasoning_delta" && event.type === "reasoning_delta") return { type: "reasoning_delta", text: last.text + event.text }
  return null
}

function isDelta(event: RunEvent): boolean {
  return event.type === "text_delta" || event.type === "reasoning_delta"
}
