// What a caller passes in and gets back.
import type { End, Limits } from "./agent.ts"
import type { RunEvent, Stop } from "./event.ts"
import type { Message } from "./message.ts"
import type { Settings, Usage } from "./model.ts"
import type { Model, Store } from "./ports.ts"

export type Waiting =
  /** `arguments` is exactly what will run. */
  | { readonly id: string; readonly reason: "approval"; readonly tool: string; readonly arguments: unknown; readonly expiresAt: number | null }
  | { readonly id: string; readonly reason: "unfinished"; readonly tool: string; readonly arguments: unknown; readonly idempotencyKey: string }
  | { readonly id: string; readonly reason: "input"; readonly question: string }
  | { readonly id: string; readonly reason: "step"; readonly next: "model" | "tool" }

interface Ended<C> {
  readonly runId: string
  readonly context: C
  readonly messages: readonly Message[]
  readonly usage: Usage & { /** Model calls whose server did not report its usage. */ readonly unreported: number }
}
export type Final<C, E extends End> = E extends End ? Ended<C> & E & { readonly ok: true; readonly status: "final"; readonly answer: string } : never
export type Stopped<C> = Ended<C> & {
  readonly ok: false
  readonly status: "stopped"
  readonly agent: string
  readonly answer: ""
  readonly stop: Stop
  readonly fallback?: string | undefined
}
export type Paused<C> = Ended<C> & { readonly ok: false; readonly status: "waiting"; readonly agent: string; readonly answer: ""; readonly waiting: readonly Waiting[] }
/** Only `final` is a success; every other end has an empty answer and says why. */
export type RunResult<C = object, E extends End = End<string, string>> = Final<C, E> | Stopped<C> | Paused<C>

/** At most twelve. */
export type RunOptions<I = object> = {
  signal?: AbortSignal | undefined
  store?: Store | undefined
  runId?: string | undefined
  /** A conversation kept in the store. The next message goes to the agent that spoke last; a second one at the same time waits or is refused. */
  thread?: { readonly id: string; readonly whenBusy?: "wait" | "refuse" | undefined } | undefined
  /** Pause before each model and tool call (R10). */
  step?: boolean | undefined
  limits?: Limits | undefined
  model?: Model | readonly Model[] | undefined
  /** Tools by name or by tag (`#search`). */
  tools?: { enable?: readonly string[] | undefined; disable?: readonly string[] | undefined } | undefined
  readers?: readonly ((event: RunEvent) => void)[] | undefined
  settings?: Settings | undefined
} & ({} extends I ? { context?: I | undefined } : { context: I })
export type Rest<I> = {} extends I ? [options?: RunOptions<I>] : [options: RunOptions<I>]

/** The run starts at the call. One iterator, its owner: leaving it aborts the run; nothing is dropped for it. */
export interface LiveRun<C, E extends End> extends AsyncIterable<RunEvent> {
  readonly runId: string
  readonly result: Promise<RunResult<C, E>>
}
