// Starts the loop for a run and lets others watch: the one way into it for `run`, `stream`, `resume` and tests with a clock of their own.
// What the first events are is the caller's business (runner.ts, resume.ts).
import type { AgentDefinition, End } from "../contract/agent.ts"
import type { FoldedEvent, RunEvent } from "../contract/event.ts"
import type { Clock } from "../contract/ports.ts"
import type { LiveRun, RunOptions, RunResult } from "../contract/run.ts"
import type { State } from "../contract/state.ts"
import { pruneHistory } from "../capability/memory/prune.ts"
import { abortHub } from "../infrastructure/abort-hub.ts"
import { loop } from "../orchestration/loop.ts"
import type { Cast, World } from "../orchestration/world.ts"
import { castAgent } from "./cast.ts"
import { keepIn } from "./kept-log.ts"
import { attachReader, ownerQueue } from "./readers.ts"
import { toResult } from "./result.ts"

export type LaunchOptions = Pick<RunOptions, "signal" | "store" | "readers" | "model" | "tools" | "settings" | "limits">

/** Where a run stands before the loop takes it: nothing yet (null), or its folded log; `first` is what comes from outside now. */
export interface Beginning {
  readonly state: State | null
  readonly first: readonly FoldedEvent[]
}

export interface Launch {
  readonly definition: AgentDefinition
  readonly options: LaunchOptions
  readonly runId: string
  readonly clock: Clock
  /** The caller iterates: models are asked for deltas and every event is kept for it. */
  readonly owned: boolean
  /** Checks everything that a caller can get wrong. `rested`: the run has ended or waits; its result is given as it is. */
  readonly begin: (cast: (agent: string) => Cast, signal: AbortSignal) => Promise<Beginning | { readonly rested: State }>
}

export function launch<C, E extends End>(given: Launch): LiveRun<C, E> {
  const controller = new AbortController()
  const owner = given.owned ? ownerQueue(() => controller.abort("its reader left")) : null
  const readers = (given.options.readers ?? []).map(attachReader)
  const publish = (event: RunEvent): void => {
    owner?.push(event)
    for (const reader of readers) reader.push(event)
  }
  const watching = { controller, publish, stream: owner !== null || readers.length > 0 }
  const result = drive<C, E>(given, watching).finally(() => Promise.all(readers.map((reader) => reader.end())))
  result.then(
    () => owner?.end(),
    (error: unknown) => owner?.end(error),
  )
  const nobody: AsyncIterable<RunEvent> = { [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: undefined }) }) }
  return { runId: given.runId, result, [Symbol.asyncIterator]: () => (owner ?? nobody)[Symbol.asyncIterator]() }
}

interface Watching {
  readonly controller: AbortController
  readonly publish: (event: RunEvent) => void
  readonly stream: boolean
}

async function drive<C, E extends End>(given: Launch, watching: Watching): Promise<RunResult<C, E>> {
  const { definition, options, begin } = given
  const cast = casting(definition, options)
  const release = followSignal(options.signal, watching.controller)
  try {
    const beginning = await begin(cast, watching.controller.signal)
    const state = "rested" in beginning ? beginning.rested : await loopWatched(beginning, cast, { ...given, ...watching })
    return await toResult<C, E>(state, cast(state.agent).definition)
  } finally {
    release()
  }
}

async function loopWatched(beginning: Beginning, cast: World["cast"], given: Launch & Watching): Promise<State> {
  const { controller, publish, stream, clock, runId, options } = given
  const onOutside: World["onOutside"] = (event) => {
    if (event.type === "run_abort") controller.abort(event.reason)
  }
  const kept = options.store === undefined ? null : keepIn(options.store, runId, { fromSeq: beginning.state?.seq ?? 0, onOutside })
  try {
    return await loop(beginning.state, beginning.first, {
      cast,
      clock,
      signal: controller.signal,
      aborts: abortHub(controller.signal),
      prune: pruneHistory,
      stream,
      log: kept?.log ?? null,
      onOutside,
      publish,
    })
  } finally {
    kept?.release()
  }
}

/** Each agent is cast once, when it first speaks. */
function casting(definition: AgentDefinition, options: LaunchOptions): World["cast"] {
  const casts = new Map<string, Cast>()
  return (name) => {
    const known = casts.get(name)
    if (known !== undefined) return known
    const made = castAgent(definition.members().get(name) ?? definition, options)
    casts.set(name, made)
    return made
  }
}

/** The caller's signal reaches the run; the listener does not outlive it. */
function followSignal(signal: AbortSignal | undefined, controller: AbortController): () => void {
  if (signal === undefined) return () => {}
  const abort = (): void => controller.abort(signal.reason)
  if (signal.aborted) abort()
  else signal.addEventListener("abort", abort, { once: true })
  return () => signal.removeEventListener("abort", abort)
}
