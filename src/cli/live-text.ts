// A model's text on the terminal while it is written, and what becomes of it when it is taken back. Made by drive.ts for one stream of events.
// Where stdout is no terminal it shows nothing: a pipe gets the answer whole, because what was piped cannot be taken back.
import { textWidth } from "../doors/trace.ts"
import type { RunEvent } from "../index.ts"
import type { Output } from "./output.ts"

export interface LiveText {
  read(event: RunEvent): void
  /** Ends the line that is being written, whatever happened. */
  close(): void
  /** What the last reply showed and did not take back. */
  shown(): string
}

/** Controls, also of 8 bits, and marks that turn the direction of a line: a model must not steer the terminal. */
const STEERING = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu
const TAB = "    "

/** Text of others as a terminal may show it: lines stay, what could move the cursor goes. */
export function printable(text: string): string {
  return text.replaceAll("\t", TAB).replace(STEERING, (character) => (character === "\n" ? "\n" : ""))
}

export function createLiveText(output: Output, takenBack: string): LiveText {
  let shown = ""
  let held = ""
  let isOpen = false
  let width = output.width
  const show = (text: string): void => {
    const whole = held + text
    // half of a character may come with the next piece
    const isHalf = /[\ud800-\udbff]$/.test(whole)
    held = isHalf ? whole.slice(-1) : ""
    const clean = printable(isHalf ? whole.slice(0, -1) : whole)
    if (!isOpen) width = output.width
    if (clean !== "") isOpen = true
    shown += clean
    output.piece(clean)
  }
  const close = (): void => {
    if (isOpen && !shown.endsWith("\n")) output.piece("\n")
    isOpen = false
    held = ""
  }
  const takeBack = (): void => {
    const rows = rowsOf(shown, width)
    if (isOpen && width === output.width && rows <= output.height) output.piece(`\r${rows > 1 ? `\u001b[${rows - 1}A` : ""}\u001b[J`)
    else close()
    isOpen = false
    shown = ""
    held = ""
    output.error(output.dim(`↩ ${takenBack}`))
  }
  return {
    read(event) {
      if (event.type === "model_start") shown = ""
      if (event.type === "text_delta") show(event.text)
      if (event.type === "text_reset") takeBack()
      if (event.type === "model_end" || event.type === "model_fail") close()
    },
    close,
    shown: () => shown,
  }
}

/** Lines of a terminal of that width that `text` takes. A character of two cells does not begin in the last one. */
function rowsOf(text: string, width: number): number {
  let rows = 1
  let cell = 0
  for (const character of text) {
    const cells = textWidth(character)
    if (character === "\n") {
      rows++
      cell = 0
    } else if (cell + cells > width) {
      rows++
      cell = cells
    } else cell += cells
  }
  return rows
}
