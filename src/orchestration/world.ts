// What `perform` may touch, handed in: agents, models, time, readers. The runner makes one per run; tests make their own.
import type { AgentDefinition } from "../contract/agent.ts"
import type { LiveEvent, RunEvent, StoredEvent } from "../contract/event.ts"
import type { Settings, ToolSpec } from "../contract/model.ts"
import type { Clock, Model, Prune } from "../contract/ports.ts"
import type { AbortHub } from "../infrastructure/abort-hub.ts"
import type { ToolDefinition } from "../contract/tool.ts"

/** An agent as this run sees it: tools and models selected, specs made once. */
export interface Cast {
  readonly definition: AgentDefinition
  readonly models: readonly Model[]
  /** The first model is spoken to in the text protocol. */
  readonly speaksText: boolean
  readonly tools: readonly ToolDefinition[]
  /** What models are shown; the same array in every turn, so that adapters can cache its text. */
  readonly specs: readonly ToolSpec[]
  readonly settings: Settings
}

export interface World {
  readonly cast: (agent: string) => Cast
  readonly clock: Clock
  readonly signal: AbortSignal
  /** The same signal, for calls that want to hear of it. */
  readonly aborts: AbortHub
  readonly prune: Prune
  /** Somebody reads along: ask models for deltas. */
  readonly stream: boolean
  /** Where the run is kept; null: nowhere. */
  readonly log: Log | null
  /** Told of every event that another process appended, after it was folded. */
  readonly onOutside: (event: StoredEvent) => void
  /** Hands an event to the readers. Must be quick and never throw. */
  readonly publish: (event: RunEvent) => void
}

/** The store, for this run. A failing one ends the run as an error of its surroundings. */
export interface Log {
  readonly append: (expectedSeq: number, events: readonly StoredEvent[], durable: boolean) => Promise<void>
  readonly read: (afterSeq: number) => Promise<readonly StoredEvent[]>
}

/** Events that belong together. `durable`: on disk before what follows. */
export interface Batch<Event> {
  readonly events: readonly Event[]
  readonly durable: boolean
}

export type Publish = (event: LiveEvent) => void
