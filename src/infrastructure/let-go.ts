// Waits for work only so long: a model that hangs and a tool that ignores its signal must not hold the run. Used for both.
import type { AbortHub } from "./abort-hub.ts"

export interface Patience {
  /** Longest wait in milliseconds. */
  readonly ms: number
  readonly aborts: AbortHub
  /** How long the work may still say how it ended after the run was cancelled. */
  readonly graceMs: number
}
export type Waited<T> = { readonly type: "done"; readonly value: T } | { readonly type: "timeout" } | { readonly type: "aborted" }

/** Hands the work a signal of its own, made when it is asked for, which aborts when the patience ends or the run is cancelled. What the work throws is thrown. */
export function letGo<T>(work: (signal: () => AbortSignal) => Promise<T>, { ms, aborts, graceMs }: Patience): Promise<Waited<T>> {
  let controller: AbortController | null = null
  let reason: Error | null = null
  const signal = (): AbortSignal => {
    controller ??= new AbortController()
    if (reason !== null && !controller.signal.aborted) controller.abort(reason)
    return controller.signal
  }
  const abort = (why: Error): void => {
    reason = why
    controller?.abort(why)
  }
  return new Promise((resolve, reject) => {
    const settle = (waited: Waited<T>): void => {
      clearTimeout(timer)
      stopListening()
      resolve(waited)
    }
    const timer = setTimeout(() => {
      abort(new Error(`timed out after ${ms / 1000} s`))
      settle({ type: "timeout" })
    }, ms)
    let stopListening: () => void = () => {}
    stopListening = aborts.onAbort(() => {
      abort(new Error("the run was cancelled"))
      if (graceMs === 0) settle({ type: "aborted" })
      else setTimeout(settle, graceMs, { type: "aborted" })
    })
    work(signal).then(
      (value) => settle({ type: "done", value }),
      (error: unknown) => {
        clearTimeout(timer)
        stopListening()
        reject(error)
      },
    )
  })
}
