// Numbers of a trace as people read them: durations, tokens, cost. Called by the waterfall, the event list and the CLI.
import type { Usage } from "../../contract/model.ts"

/** `850 ms`, `2.4 s`, `3 min 05 s`, `5 h 02 min`, `3 d 4 h`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)} s`
  const seconds = Math.round(ms / 1_000)
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${pad(seconds % 60)} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ${pad(minutes % 60)} min`
  const hours = Math.round(minutes / 60)
  return `${Math.floor(hours / 24)} d ${hours % 24} h`
}

/** Input and output tokens, `1,204→56`; from 100,000 on in thousands. `?`: no server said. */
export function formatTokens(usage: (Usage & { readonly unreported?: number }) | null): string {
  const unknown = usage === null || ((usage.unreported ?? 0) > 0 && usage.inputTokens + usage.outputTokens === 0)
  return unknown ? "?" : `${formatCount(usage.inputTokens)}→${formatCount(usage.outputTokens)}`
}

export function formatCount(count: number): string {
  if (count >= 100_000) return `${Math.round(count / 1_000).toLocaleString("en-US")}k`
  return count.toLocaleString("en-US")
}

/** In the currency of the price table, with as many places as a small sum needs. */
export function formatCost(cost: number): string {
  if (cost === 0) return "0"
  return cost >= 1 ? cost.toFixed(2) : cost.toPrecision(2)
}

function pad(count: number): string {
  return String(count).padStart(2, "0")
}
