// The progress guard (R5): the same call with the same result, counted over the run. Pure; asked by decide, perform and apply.
// The 3rd time the model is told, the 4th call is answered unexecuted, a later one stops the run.
import type { Call, State } from "../contract/state.ts"
import { digest } from "../infrastructure/digest.ts"

const TOLD_AT = 3
const STOPPED_AT = 4

/** Calls made before this turn with this key and one unchanging result. */
export function timesBefore(state: State, key: string): number {
  return state.repeats[digest(key)]?.count ?? 0
}

/** True if the call should be answered without running: of identical calls, over the run or in one reply, at most three run. */
export function isSpent(state: State, key: string, twinsBefore: number): boolean {
  return timesBefore(state, key) + twinsBefore >= TOLD_AT
}

/** The call that shows that the model goes on although it was answered unexecuted; null while there is none. */
export function stuckCall(state: State, calls: readonly Call[]): Call | null {
  return calls.find((call) => !call.allowRepeats && call.key !== "" && timesBefore(state, call.key) >= STOPPED_AT) ?? null
}

export function spentText(tool: string, times: number): string {
  return `Not run: this is the same call of ${tool} with the same arguments as ${times} times before, and the result was the same each time. Use the results you have, change the arguments, or answer and say what is missing.`
}

const NOTICE = "[Notice: this call has now given the same result 3 times. Calling it again will not help; use what you have, try something else, or answer.]"

/** Counts a finished call; returns the text that enters history, with a notice the third time. */
export function countRepeat(state: State, call: Call, text: string): string {
  if (call.allowRepeats || call.key === "") return text
  const key = digest(call.key)
  const result = digest(text)
  const known = state.repeats[key]
  if (known === undefined) {
    state.repeats[key] = { result, count: 1 }
    return text
  }
  const unexecuted = call.attempts === 0 && known.count >= TOLD_AT
  if (known.result === result || unexecuted) known.count++
  else state.repeats[key] = { result, count: 1 }
  return known.count === TOLD_AT && known.result === result ? `${text}\n${NOTICE}` : text
}
