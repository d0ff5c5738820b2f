// Lets one reply after the other use a model in this process, which remembers only one text at a time. Called by llama-cpp.ts.
// An aborted reply leaves at once; the next one starts when the native work that it left behind has ended.

/** Thrown inside a reply whose reader does not want it any more. */
export const UNWANTED: unique symbol = Symbol("unwanted")

export interface Place {
  /** Resolves when the replies before this one have left the model alone. */
  readonly turn: Promise<unknown>
  /** Waits for native work, one piece after the other, or throws `UNWANTED` as soon as the signal aborts. */
  readonly wait: <T>(work: Promise<T>) => Promise<T>
  readonly leave: () => void
}

export interface ReplyQueue {
  readonly enter: (signal: AbortSignal) => Place
}

export function replyQueue(): ReplyQueue {
  let last: Promise<unknown> = Promise.resolve()
  return {
    enter(signal) {
      const turn = last
      let work = turn
      let open: (ended: Promise<unknown>) => void = () => {}
      last = new Promise((resolve) => (open = resolve))
      let abort: () => void = () => {}
      const aborted = new Promise<typeof UNWANTED>((resolve) => (abort = () => resolve(UNWANTED)))
      if (signal.aborted) abort()
      else signal.addEventListener("abort", abort, { once: true })
      return {
        turn,
        async wait(next) {
          work = next.catch(() => {})
          const result = await Promise.race([aborted, next])
          if (result === UNWANTED) throw UNWANTED
          return result as Awaited<typeof next>
        },
        leave() {
          signal.removeEventListener("abort", abort)
          open(work)
        },
      }
    },
  }
}
