// The loop. In five lines: decide · perform · write · apply · hand to the readers; until decide says rest.
// Called by the runner (run, stream, resume) and by nobody else; there is no second loop.
import type { FoldedEvent, StoredEvent } from "../contract/event.ts"
import type { State } from "../contract/state.ts"
import { HelloAgentsError } from "../infrastructure/errors.ts"
import { deepFreeze } from "../infrastructure/freeze.ts"
import { apply } from "./apply.ts"
import { decide } from "./decide.ts"
import { performer } from "./perform.ts"
import type { Batch, World } from "./world.ts"

/** What really happened must be written, whatever came in between, and so must a resume: it is what the writer before learns from. */
const FACTS: ReadonlySet<FoldedEvent["type"]> = new Set(["run_resume", "model_end", "model_fail", "tool_end"])

interface Written {
  readonly state: State
  /** false: something came from outside first; the batch was not written and the next step must be decided anew. */
  readonly done: boolean
}

/** Drives a run until it rests: stopped or paused. `first` is what came from outside: the start, or a resume. Rejects only if the store does. */
export async function loop(before: State | null, first: readonly FoldedEvent[], world: World): Promise<State> {
  let { state } = await write(before, { events: first, durable: false }, world)
  const perform = performer(world)
  for (;;) {
    if (world.signal.aborted && state.status.type === "running")
      state = (await write(state, { events: [{ type: "run_abort", reason: abortReason(world.signal) }], durable: false }, world)).state
    const action = decide(state)
    if (action.type === "rest") return state
    for await (const batch of perform(action, state)) {
      const writing = write(state, batch, world)
      const written = writing instanceof Promise ? await writing : writing
      state = written.state
      if (!written.done) break
    }
  }
}

/** One batch is one write. What is stored is frozen; what is folded is what was stored. */
function write(state: State | null, batch: Batch<FoldedEvent>, world: World): Written | Promise<Written> {
  const seq = state?.seq ?? 0
  const at = world.clock.now()
  const events = batch.events.map((event, index): StoredEvent => deepFreeze({ ...event, v: 1, seq: seq + 1 + index, at }))
  const stored = world.log?.append(seq, events, batch.durable)
  if (!(stored instanceof Promise)) return { state: fold(state, events, world), done: true }
  return stored.then(
    () => ({ state: fold(state, events, world), done: true }),
    (error: unknown) => catchUp(error, state, { batch, world }),
  )
}

/** Somebody else appended: fold what came from outside and go on; give up if another writer has taken the run over (R13). */
async function catchUp(error: unknown, state: State | null, { batch, world }: { batch: Batch<FoldedEvent>; world: World }): Promise<Written> {
  const stale = error instanceof HelloAgentsError && error.code === "stale_writer"
  if (!stale || state === null || world.log === null) throw error
  const tail = await world.log.read(state.seq)
  if (tail.length === 0 || tail.some(({ type }) => type === "run_resume" || type === "run_start")) throw error
  const caughtUp = fold(state, tail, world)
  for (const event of tail) world.onOutside(event)
  return batch.events.some(({ type }) => FACTS.has(type)) ? write(caughtUp, batch, world) : { state: caughtUp, done: false }
}

function fold(before: State | null, events: readonly StoredEvent[], world: World): State {
  let state = before
  for (const event of events) {
    state = apply(state, event)
    world.publish(event)
  }
  if (state === null) throw new TypeError("A run begins with an event")
  return state
}

function abortReason(signal: AbortSignal): string {
  const { reason } = signal
  if (typeof reason === "string") return reason
  return reason instanceof Error && reason.name !== "AbortError" ? reason.message : "by its caller"
}
