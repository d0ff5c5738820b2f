// Shortens a history to limits of messages and tokens: whole exchanges, oldest first. Called before model calls when a limit is passed;
// any function of the `Prune` port can stand in for it. Leaves summaries to others.
import type { Message } from "../../contract/message.ts"
import { textOf } from "../../contract/message.ts"
import type { Prune } from "../../contract/ports.ts"
import { estimateMessageTokens } from "../../infrastructure/tokens.ts"

/** From a person's message to the next one: what was asked and all that came of it. */
interface Exchange {
  readonly messages: readonly Message[]
  /** What stays when the rest goes. */
  readonly pinned: readonly Message[]
}

/**
 * The current exchange and pinned messages stay, so a limit may remain passed. Inside the current exchange only the token limit counts:
 * tool results, oldest first, give way to one line. The same array comes back when nothing has to go.
 */
export const pruneHistory: Prune = (messages, limits) => {
  const exchanges = splitExchanges(messages)
  const maxMessages = limits.maxMessages ?? Number.POSITIVE_INFINITY
  const maxTokens = limits.maxTokens ?? Number.POSITIVE_INFINITY
  let count = messages.length
  let tokens = limits.maxTokens === null ? 0 : sumTokens(messages)
  let dropped = 0
  while (dropped < exchanges.length - 1 && (count > maxMessages || tokens > maxTokens)) {
    const exchange = exchanges[dropped++] as Exchange
    count -= exchange.messages.length - exchange.pinned.length
    if (limits.maxTokens !== null) tokens -= sumTokens(exchange.messages) - sumTokens(exchange.pinned)
  }
  const current = exchanges.at(-1)?.messages ?? []
  const trimmed = tokens > maxTokens ? withoutOldResults(current, tokens - maxTokens) : current
  if (dropped === 0 && trimmed === current) return messages
  return [...exchanges.slice(0, dropped).flatMap(({ pinned }) => pinned), ...exchanges.slice(dropped, -1).flatMap((exchange) => exchange.messages), ...trimmed]
}

function splitExchanges(messages: readonly Message[]): Exchange[] {
  const starts = messages.flatMap((message, index) => (index === 0 || (message.role === "user" && message.notice !== true) ? [index] : []))
  return starts.map((start, place) => {
    const exchange = messages.slice(start, starts[place + 1])
    return { messages: exchange, pinned: exchange.filter((message) => message.role === "user" && message.pinned === true) }
  })
}

function sumTokens(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + estimateMessageTokens(message), 0)
}

function withoutOldResults(messages: readonly Message[], excess: number): readonly Message[] {
  const trimmed = [...messages]
  let left = excess
  for (const [index, message] of messages.entries()) {
    if (left <= 0) break
    if (message.role !== "tool") continue
    const notice: Message = { ...message, content: `[This result was left out to save room; it had ${textOf(message.content).length} characters.]` }
    const saved = estimateMessageTokens(message) - estimateMessageTokens(notice)
    if (saved <= 0) continue
    trimmed[index] = notice
    left -= saved
  }
  return left === excess ? messages : trimmed
}
