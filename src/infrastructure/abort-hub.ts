// One listener on a run's abort signal, however many calls want to hear of it: listeners on a signal are dear, and every call would need one.
// Made by the runner for a run.

export interface AbortHub {
  readonly signal: AbortSignal
  /** Called at once if the signal has aborted already. Returns how to stop listening. */
  readonly onAbort: (listener: () => void) => () => void
}

export function abortHub(signal: AbortSignal): AbortHub {
  const listeners = new Set<() => void>()
  signal.addEventListener("abort", () => {
    for (const listener of [...listeners]) listener()
  })
  return {
    signal,
    onAbort(listener) {
      if (signal.aborted) listener()
      else listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
