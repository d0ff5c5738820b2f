// Ctrl-C and termination: the first cancels the run, which ends in order and is saved; the second leaves at once. Used by commands that run agents.
import { EXIT } from "./exit-codes.ts"

export interface Interrupt {
  readonly signal: AbortSignal
  /** The exit code if a signal came; null otherwise. */
  code(): number | null
  release(): void
}

/** `leaveAt`: the signal that leaves at once; the second, unless cancelling must not end the program by mistake. */
export function cancelOnSignals(onFirst: () => void, leaveAt = 2): Interrupt {
  const controller = new AbortController()
  let code: number | null = null
  let signals = 0
  const handle = (exitCode: number) => (): void => {
    signals++
    if (signals >= leaveAt) process.exit(exitCode)
    if (code !== null) return
    code = exitCode
    onFirst()
    controller.abort(exitCode === EXIT.interrupted ? "by Ctrl-C" : "by a termination signal")
  }
  const onInterrupt = handle(EXIT.interrupted)
  const onTerminate = handle(EXIT.terminated)
  process.on("SIGINT", onInterrupt)
  process.on("SIGTERM", onTerminate)
  return {
    signal: controller.signal,
    code: () => code,
    release() {
      process.off("SIGINT", onInterrupt)
      process.off("SIGTERM", onTerminate)
    },
  }
}
