// Exit codes, documented in the README: what scripts may rely on. Used by every command.
import type { End, RunResult } from "../index.ts"

export const EXIT = { ok: 0, failed: 1, usage: 2, infrastructure: 3, limit: 4, waiting: 5, interrupted: 130, terminated: 143 } as const

export function exitCodeOf(result: RunResult<object, End>): number {
  if (result.ok) return EXIT.ok
  if (result.status === "waiting") return EXIT.waiting
  switch (result.stop.reason) {
    case "max_turns":
    case "budget":
      return EXIT.limit
    case "model_unavailable":
      return EXIT.infrastructure
    case "aborted":
      return EXIT.interrupted
    default:
      return EXIT.failed
  }
}
