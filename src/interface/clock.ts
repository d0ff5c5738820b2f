// The real clock: time, waiting, ids, chance. The runner uses it; tests hand in their own.
import type { Clock } from "../contract/ports.ts"

export const systemClock: Clock = {
  now: Date.now,
  random: Math.random,
  newId: () => `r${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 8).padEnd(6, "0")}`,
  wait: (ms, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve()
      const done = (): void => {
        clearTimeout(timer)
        signal.removeEventListener("abort", done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      signal.addEventListener("abort", done, { once: true })
    }),
}
