// Results that do more than answer: `result` with context changes, `handoff`. Made for one call, read once by execute.ts.
import type { ContextChanges, Handoff } from "../../contract/event.ts"
import type { ToolEffect } from "../../contract/tool.ts"

export interface Effect {
  readonly value: unknown
  readonly context: ContextChanges | null
  readonly handoff: Handoff | null
  /** The question whose answer will be the result. */
  readonly later: string | null
}

const KEY = Symbol("hello-agents effect")

export function makeEffect(effect: Effect): ToolEffect {
  return { [KEY]: effect } as unknown as ToolEffect
}

/** What a tool returned, with its effects apart. */
export function readEffect(returned: unknown): Effect {
  if (typeof returned === "object" && returned !== null && KEY in returned) return returned[KEY] as Effect
  return { value: returned, context: null, handoff: null, later: null }
}
