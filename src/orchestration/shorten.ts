// Shortens a history that is too long, as one event of edits. Called by perform; how to shorten is the `prune` port, that pairs stay whole is history.ts.
import type { HistoryEdit, OwnEvent, OutsideEvent } from "../contract/event.ts"
import type { Message } from "../contract/message.ts"
import type { Shortened, State } from "../contract/state.ts"
import { checkedHistory } from "../infrastructure/history/history.ts"
import type { Cast, World } from "./world.ts"

/** A server that says "too long" knows better than our estimate: the next try has half. */
const AFTER_OVERFLOW = 0.5

export function shortenHistory(because: Shortened, state: State, scene: { cast: Cast; world: World }): OwnEvent | OutsideEvent {
  const { limits } = state
  const maxTokens = because === "context_length" ? Math.floor(Math.min(limits.contextTokens, state.messageTokens) * AFTER_OVERFLOW) : limits.contextTokens
  const pruned = checkedHistory(scene.world.prune(state.messages, { maxMessages: limits.messages, maxTokens }))
  return { type: "history_edit", by: "prune", because, edits: difference(state.messages, pruned) }
}

/** One edit that replaces what lies between the common beginning and the common end. */
function difference(before: readonly Message[], after: readonly Message[]): readonly HistoryEdit[] {
  let head = 0
  while (head < before.length && head < after.length && before[head] === after[head]) head++
  let tail = 0
  while (tail < before.length - head && tail < after.length - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++
  if (head === before.length && head === after.length) return []
  return [{ at: head, remove: before.length - head - tail, insert: after.slice(head, after.length - tail) }]
}
