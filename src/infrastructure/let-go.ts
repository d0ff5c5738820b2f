// Waits for work only so long: a model that hangs and a tool that ignores its signal must not hold the run. Used for both.

export interface Patience {
  /** Longest wait in milliseconds. */
  readonly ms: number
  readonly signal: AbortSignal
  /** How long the work may still say how it ended after `signal` aborted. */
  readonly graceMs: number
}
export type Waited<T> = { readonly type: "done"; readonly value: T } | { readonly type: "timeout" } | { readonly type: "aborted" }

/** Hands the work a signal of its own, which aborts when the patience ends or the outer signal does. What the work throws is thrown. */
export async function letGo<T>(work: (signal: AbortSignal) => Promise<T>, { ms, signal, graceMs }: Patience): Promise<Waited<T>> {
  const controller = new AbortController()
  let giveUp: (waited: Waited<T>) => void = () => {}
  const patience = new Promise<Waited<T>>((resolve) => {
    giveUp = resolve
  })
  const timer = setTimeout(() => {
    controller.abort(new Error(`timed out after ${ms / 1000} s`))
    giveUp({ type: "timeout" })
  }, ms)
  const onAbort = (): void => {
    controller.abort(new Error("the run was cancelled"))
    if (graceMs === 0) giveUp({ type: "aborted" })
    else setTimeout(giveUp, graceMs, { type: "aborted" })
  }
  if (signal.aborted) onAbort()
  else signal.addEventListener("abort", onAbort, { once: true })
  try {
    return await Promise.race([work(controller.signal).then((value): Waited<T> => ({ type: "done", value })), patience])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener("abort", onAbort)
  }
}
