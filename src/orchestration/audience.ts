// What readers see of a reply while it is still being written: text is shown as early as is safe, and taken back if it was not an answer.
// Made by perform-model.ts for one model call.
import type { Reading } from "../contract/event.ts"
import type { ModelEvent } from "../contract/model.ts"
import { createStreamGate } from "../capability/protocol/stream-gate.ts"
import type { Publish } from "./world.ts"

export interface Audience {
  hear(event: Extract<ModelEvent, { type: "text" | "reasoning" | "reset" }>): void
  /** Takes back everything shown of this reply. */
  takeBack(): void
  /** Brings what was shown in line with what the reply turned out to be. */
  settle(reading: Reading): void
}

export function createAudience(publish: Publish): Audience {
  let gate = createStreamGate()
  let shown = ""
  const show = (text: string): void => {
    if (text === "") return
    shown += text
    publish({ type: "text_delta", text })
  }
  const takeBack = (): void => {
    if (shown !== "") publish({ type: "text_reset" })
    shown = ""
    gate = createStreamGate()
  }
  return {
    hear(event) {
      if (event.type === "text") show(gate.push(event.text))
      else if (event.type === "reasoning") publish({ type: "reasoning_delta", text: event.text })
      else takeBack()
    },
    takeBack,
    settle(reading) {
      if (reading.type === "unknown") return takeBack()
      if (shown.trim() === reading.text) return
      // what was held back before a call is no part of an answer
      if (reading.type === "action") return reading.text.startsWith(shown.trim()) ? undefined : takeBack()
      if (!reading.text.startsWith(shown)) takeBack()
      show(reading.text.slice(shown.length))
    },
  }
}
