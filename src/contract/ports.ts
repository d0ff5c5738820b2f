// Everything that can be replaced, on one page. Each port has one contract suite that all its implementations pass.
import type { Message } from "./message.ts"
import type { ModelEvent, ModelRequest } from "./model.ts"
import type { StoredEvent } from "./event.ts"

/** Asks a language model. Never throws: what goes wrong is a `failure` event. Aborting `request.signal` ends the iteration. */
export interface Model {
  readonly name: string
  /** Tokens the model can take in, when known. */
  readonly contextWindow?: number | undefined
  /** false: the model knows no function calling, so the runtime speaks the text protocol with it. */
  readonly functionCalling?: boolean | undefined
  /** How replies can be constrained, if at all: by a grammar, or by a JSON Schema as `output`. */
  readonly constraint?: "grammar" | "json_schema" | undefined
  /** Said with every answer, in the trace and by the CLI, if this is not a language model. */
  readonly disclaimer?: string | undefined
  readonly ask: (request: ModelRequest) => AsyncIterable<ModelEvent>
}

export interface RunSummary {
  readonly runId: string
  /** Milliseconds since 1970 of the first and last event. */
  readonly startedAt: number
  readonly updatedAt: number
}

/**
 * An append-only log of events per run.
 * `append` takes the sequence number of the last event the writer has seen (0: none) and throws `HelloAgentsError("stale_writer")`
 * if another writer was faster. `durable`: the events are on disk when the promise resolves.
 */
export interface Store {
  readonly kind: string
  readonly append: (runId: string, expectedSeq: number, events: readonly StoredEvent[], options: { durable: boolean }) => void | Promise<void>
  readonly read: (runId: string, afterSeq?: number) => Promise<readonly StoredEvent[]>
  /** Newest first. */
  readonly list: () => Promise<readonly RunSummary[]>
}

/** Time, waiting, ids and chance, handed in so that a run can be repeated. */
export interface Clock {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Resolves after `ms`, or at once when the signal aborts. Never rejects. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
  readonly newId: () => string
  /** 0 ≤ x < 1. */
  readonly random: () => number
}

export interface PruneLimits {
  readonly maxMessages: number | null
  readonly maxTokens: number | null
}
/** Shortens a history. Must keep every call with its result; what it returns is checked and repaired before use. */
export type Prune = (messages: readonly Message[], limits: PruneLimits) => readonly Message[]
