// Keeps a history valid: every call has exactly one result, ids are unique, names and arguments are readable, text is well-formed.
// Trimming, abort, handoff, resume and provider demands all go through here. Leaves the wire format to adapters and the choice of
// messages to memory.
import type { Message, ToolCall, ToolMessage } from "../../contract/message.ts"
import { mendCall, mendMessage, mendResult, wellFormed } from "./mend.ts"
import { fitProfile, sameMessages } from "./profile.ts"
import type { HistoryProfile } from "./profile.ts"

export type { HistoryProfile } from "./profile.ts"

const NO_RESULT = "No result was recorded for this call."

/**
 * The same array when nothing is wrong, else a valid copy; the input is never changed. Given its own result, it returns that result.
 * Results stand directly after their calls, in call order; orphans and second results are dropped, lost results filled with a sentence,
 * repeated ids renamed together with their results, arguments that are no JSON object wrapped so that their text stays visible.
 */
export function checkedHistory(messages: readonly Message[], profile?: HistoryProfile): readonly Message[] {
  const ids = new Map<string, number>()
  const valid = isValid(messages, { at: 0, ids: new Set() }) ? messages : mend(messages, (id) => freshId(id, ids))
  return profile === undefined ? valid : fitProfile(valid, profile)
}

/**
 * `checkedHistory` for the growing history of one run: messages that were valid last time and are still the same objects are not read
 * again (some 10 ns each). Messages must not be changed in place; the array may be.
 */
export function growingHistory(): (messages: readonly Message[]) => readonly Message[] {
  let progress: Progress = { at: 0, ids: new Set() }
  let seen: Message[] = []
  return (messages) => {
    if (messages.length < seen.length || seen.some((message, index) => message !== messages[index])) {
      progress = { at: 0, ids: new Set() }
      seen = []
    }
    const valid = isValid(messages, progress)
    for (let index = seen.length; index < progress.at; index++) seen.push(messages[index] as Message)
    return valid ? messages : checkedHistory(messages)
  }
}

/** Call ids become `c1`, `c2`…, counted from `first`, with their results. For messages from outside, whose ids we do not trust. */
export function renumberCalls(messages: readonly Message[], first: number = 1): readonly Message[] {
  let next = first
  return mend(messages, () => `c${next++}`)
}

export function countCalls(messages: readonly Message[]): number {
  return messages.reduce((count, message) => count + (message.role === "assistant" ? (message.calls?.length ?? 0) : 0), 0)
}

/** How far a history was found valid. `at` never points inside the results of a turn. */
interface Progress {
  at: number
  readonly ids: Set<string>
}

/** Reads on from `progress` and moves it. False at the first fault, and when the history ends inside the results of a turn. */
function isValid(messages: readonly Message[], progress: Progress): boolean {
  while (progress.at < messages.length) {
    const message = messages[progress.at]
    if (message === undefined || message.role === "tool" || mendMessage(message) !== message) return false
    const calls = message.role === "assistant" ? message.calls : undefined
    if (calls !== undefined && !areAnswered(calls, messages, progress)) return false
    progress.at += 1 + (calls?.length ?? 0)
  }
  return true
}

function areAnswered(calls: readonly ToolCall[], messages: readonly Message[], { at, ids }: Progress): boolean {
  for (let index = 0; index < calls.length; index++) {
    const call = calls[index]
    const result = messages[at + 1 + index]
    if (call === undefined || result?.role !== "tool" || mendCall(call, plainId(call.id)) !== call || mendResult(result, call.id) !== result) return false
  }
  // Only now: a turn that is not whole yet is read again later, and must not find its own ids taken.
  return calls.every(({ id }) => !ids.has(id) && ids.add(id))
}

/** The same array when nothing changes. */
function mend(messages: readonly Message[], newId: (id: unknown) => string): readonly Message[] {
  const results = matchResults(messages)
  const mended: Message[] = []
  for (const [index, message] of messages.entries()) {
    const kept = message.role === "tool" ? null : mendMessage(message)
    if (kept === null) continue
    if (kept.role !== "assistant" || kept.calls === undefined) {
      mended.push(kept)
      continue
    }
    const calls = kept.calls.map((call) => mendCall(call, newId(call.id)))
    mended.push(calls.every((call, place) => call === kept.calls?.[place]) ? kept : { ...kept, calls })
    for (const [place, call] of calls.entries()) {
      const result = results.get(index)?.[place]
      mended.push(result === undefined ? { role: "tool", callId: call.id, content: NO_RESULT } : mendResult(result, call.id))
    }
  }
  return sameMessages(mended, messages) ? messages : mended
}

/** For each message with calls, by its index: the results in call order, undefined where none was found before the id was used anew. */
function matchResults(messages: readonly Message[]): Map<number, (ToolMessage | undefined)[]> {
  const found = new Map<number, (ToolMessage | undefined)[]>()
  const open = new Map<string, { results: (ToolMessage | undefined)[]; place: number }[]>()
  for (const [index, message] of messages.entries()) {
    if (message.role === "tool") {
      const slot = open.get(message.callId)?.shift()
      if (slot !== undefined) slot.results[slot.place] = message
    } else if (message.role === "assistant" && message.calls !== undefined && message.calls !== null && message.calls.length > 0) {
      const results: (ToolMessage | undefined)[] = message.calls.map(() => undefined)
      found.set(index, results)
      // One id twice in a turn: its results are taken in order. The same id in a later turn closes the earlier one.
      for (const call of message.calls) open.set(call.id, [])
      for (const [place, call] of message.calls.entries()) open.get(call.id)?.push({ results, place })
    }
  }
  return found
}

function plainId(id: unknown): string {
  return typeof id === "string" && id !== "" ? wellFormed(id) : "call"
}

/** The id itself when it is free, else with a number. Only earlier ids count, so it stays the same while the history grows. */
function freshId(id: unknown, uses: Map<string, number>): string {
  const base = plainId(id)
  let number = uses.get(base) ?? 0
  let fresh = number === 0 ? base : `${base}_${++number}`
  while (number > 0 && uses.has(fresh)) fresh = `${base}_${++number}`
  uses.set(base, Math.max(number, 1))
  if (fresh !== base) uses.set(fresh, 1)
  return fresh
}
