// The whole state of a run, one plain JSON object, and what `decide` can ask for. Read this page, then decide.ts.
import type { Handoff, Outcome, Point, ResolvedLimits, Stop, WaitingFor } from "./event.ts"
import type { Message, ToolCall } from "./message.ts"
import type { ModelFailure, Usage } from "./model.ts"
import type { Hints } from "./tool.ts"

export interface State {
  runId: string
  /** Sequence number and time (ms) of the last event folded. */
  seq: number
  at: number
  /** Working time in ms: gaps before the run's own events only, so a weekend's approval costs nothing. */
  activeMs: number
  agent: string
  limits: ResolvedLimits
  guarded: readonly Point[]
  /** How many models each agent can try: its first and the fallbacks. */
  models: Record<string, number>
  /** Model replies read so far. */
  turn: number
  usage: Usage
  /** Model calls whose server did not say its usage; budgets count an estimate for them. */
  unreported: number
  budgetTokens: number
  status: Status
  phase: Phase
  /** Closed turns only: the open turn lives in the phase and enters whole, so history is valid after every event. */
  messages: Message[]
  /** Estimated tokens of `messages`. */
  messageTokens: number
  /** Tool calls numbered so far: ids are ours, `c1`, `c2`… over the whole history. */
  calls: number
  /** Messages from outside that wait for the end of the open turn. */
  inbox: Message[]
  context: Record<string, unknown>
  unknownReplies: number
  repeats: Record<string, Repeat>
  transfers: { pair: string; count: number }
  /** Step mode: ask before each model and tool call; `go` is one step that a person allowed. */
  step: "off" | "ask" | "go"
}

export type Status =
  | { type: "running" }
  | { type: "aborting"; reason: string }
  | { type: "refused"; rule: string; reason: string }
  | { type: "paused"; waiting: readonly WaitingFor[] }
  | { type: "stopped"; stop: Stop; answer: string; fallback: string | null }

export type Phase =
  | { type: "model"; modelIndex: number; failures: ModelFailure[]; shortened: Shortened | null }
  | { type: "tools"; text: string; reasoning: string; calls: Call[] }
  | { type: "final"; text: string }

export type Shortened = "limit" | "context_length"

export interface Call {
  call: ToolCall
  /** Tool and canonical arguments: equal keys are the same call. Empty until checked. */
  key: string
  hints: Hints
  allowRepeats: boolean
  /** Attempts allowed beyond the first. */
  retries: number
  /** A person agreed; parsing and rules are not skipped by it. */
  approved: boolean
  attempts: number
  stage: Stage
}
export type Stage =
  | { type: "asked" }
  | { type: "waiting"; reason: "approval" | "input"; question: string; arguments: unknown; expiresAt: number | null }
  | { type: "ready" }
  | { type: "started"; idempotencyKey: string }
  | { type: "done"; outcome: Outcome }

/** How often a call with this key came back with the same result (both as digests). */
export interface Repeat {
  result: string
  count: number
}

/** How long to wait before a model call in ms; `jitter` unless a server named the time. */
export interface Wait {
  readonly ms: number
  readonly jitter: boolean
}

export type Action =
  | { readonly type: "rest" }
  | { readonly type: "shorten"; readonly because: Shortened }
  | { readonly type: "model"; readonly modelIndex: number; readonly attempt: number; readonly wait: Wait | null }
  | { readonly type: "check_calls"; readonly calls: readonly Call[] }
  | { readonly type: "run_calls"; readonly calls: readonly Call[] }
  | { readonly type: "close_turn"; readonly handoff: Handoff | null }
  | { readonly type: "pause"; readonly waiting: readonly WaitingFor[] }
  | { readonly type: "stop"; readonly stop: Stop }
