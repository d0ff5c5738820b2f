// Where reasoning that a model wrote into its text begins and ends. Called by scan.ts.
// Leaves to it what is done with the reasoning, and whether an unclosed block ends in a call.
import { isAtBoundary, isQuoted } from "./markup.ts"

const CLOSER = /<\/(?:[A-Za-z]{1,20}:)?(?:think|thinking|reasoning|thought)\s{0,4}>|\[\/THINK\]/gi
const OPENER = /<(?:[A-Za-z]{1,20}:)?(?:think|thinking|reasoning|thought)\s{0,4}>|\[THINK\]/i

export interface Block {
  /** Where the closing tag begins and ends. */
  readonly start: number
  readonly end: number
}

/** The closing tag of a block whose contents begin at `from`; null: it is never closed. */
export function reasoningEnd(text: string, from: number): Block | null {
  CLOSER.lastIndex = from
  const match = CLOSER.exec(text)
  return match === null ? null : { start: match.index, end: CLOSER.lastIndex }
}

/** A closing tag without an opening one: the template had opened the block, so all text before it is reasoning. */
export function loneReasoningEnd(text: string): Block | null {
  const closer = reasoningEnd(text, 0)
  if (closer === null || isQuoted(text, closer.start) || OPENER.test(text.slice(0, closer.start))) return null
  const isAlone = isAtBoundary(text, closer.start) || /^\s{0,4}(?:\n|$)/.test(text.slice(closer.end, closer.end + 5))
  return isAlone ? closer : null
}
