// Notices when a connection has been silent for too long. Used by both transports.

export interface Silence {
  /** A byte came. */
  readonly broken: () => void
  readonly stop: () => void
}

/** Calls `onSilence` once if `ms` pass without `broken`. A timer per request, not per read: it looks at the time of the last read when it fires. */
export function watchSilence(ms: number, onSilence: (error: Error) => void): Silence {
  let last = performance.now()
  const check = (): void => {
    const left = ms - (performance.now() - last)
    if (left <= 0) onSilence(Object.assign(new Error(`no byte for ${ms} ms`), { code: "ETIMEDOUT" }))
    else timer = setTimeout(check, Math.ceil(left))
  }
  let timer = setTimeout(check, ms)
  return {
    broken: () => {
      last = performance.now()
    },
    stop: () => clearTimeout(timer),
  }
}
