// `run` and `stream`: the first events of a run, and everything that is refused before them. `run` drains `stream`.
// The loop is started by launch.ts; taking a stored run up again is resume.ts.
import type { Agent, AgentDefinition, End } from "../contract/agent.ts"
import type { FoldedEvent } from "../contract/event.ts"
import type { Input } from "../contract/message.ts"
import type { Clock } from "../contract/ports.ts"
import type { LiveRun, Rest, RunOptions, RunResult } from "../contract/run.ts"
import { HelloAgentsError } from "../infrastructure/errors.ts"
import type { Cast } from "../orchestration/world.ts"
import { castHash, resolveLimits } from "./cast.ts"
import { systemClock } from "./clock.ts"
import { readContext, readInput } from "./input.ts"
import { launch } from "./launch.ts"
import { storedState } from "./stored-run.ts"
import type { ThreadPlace } from "./thread.ts"
import { takePlace } from "./thread.ts"

/**
 * Runs an agent to its end. Only `result.ok` is an answer; every other end says why in `result.stop`.
 * A run id that is known already is the same run: its result is given, nothing runs again.
 * @throws HelloAgentsError for a caller's mistake (`model_missing`, `input_invalid`, `context_invalid`, `config_invalid`, `run_exists`, `thread_busy`)
 * before the first event, and for a store that fails (`store_failed`).
 */
export function run<C, E extends End, I>(agent: Agent<C, E, I>, input: Input, ...rest: Rest<I>): Promise<RunResult<C, E>> {
  return startRun(agent, input, { options: rest[0], clock: systemClock, owned: false }).result
}

/** Starts a run and lets you watch: `for await (const event of stream(…))`. Leaving the loop early cancels the run. */
export function stream<C, E extends End, I>(agent: Agent<C, E, I>, input: Input, ...rest: Rest<I>): LiveRun<C, E> {
  return startRun(agent, input, { options: rest[0], clock: systemClock, owned: true })
}

export interface Start {
  readonly options: object | undefined
  readonly clock: Clock
  readonly owned: boolean
}

/** `run` and `stream` with the clock handed in. */
export function startRun<C, E extends End, I>(agent: Agent<C, E, I>, input: Input, start: Start): LiveRun<C, E> {
  // what the types of `run` have checked; inside, a context is just an object
  const options: RunOptions = start.options ?? {}
  const { clock, owned } = start
  const { definition } = agent
  const runId = options.runId ?? clock.newId()
  const beginAt = async (cast: (agent: string) => Cast, thread: ThreadPlace | null) => ({
    state: null,
    first: [await firstEvent({ definition, input, options, runId, cast, thread })],
  })
  return launch({
    definition,
    options,
    runId,
    clock,
    owned,
    begin: async (cast, signal) => {
      cast(definition.name)
      const known = options.store === undefined || options.runId === undefined ? null : await storedState(options.store, runId)
      if (known === null) return beginAt(cast, options.thread === undefined ? null : await takePlace(options, { runId, clock, signal }))
      if (known.status.type === "stopped" || known.status.type === "paused") return { rested: known }
      throw new HelloAgentsError("run_exists", `The run ${runId} was started before and has not ended.`, {
        hint: "If its process is gone, take it up with resume; else wait for it.",
      })
    },
  })
}

interface First {
  readonly definition: AgentDefinition
  readonly input: Input
  readonly options: RunOptions
  readonly runId: string
  readonly cast: (agent: string) => Cast
  readonly thread: ThreadPlace | null
}

async function firstEvent({ definition, input, options, runId, cast, thread }: First): Promise<FoldedEvent> {
  const given = typeof input === "string" ? [{ role: "user" as const, content: input }] : input
  const agent = thread?.agent ?? definition.name
  const first = cast(agent)
  const context = await readContext(definition, { ...thread?.context, ...options.context })
  return {
    type: "run_start",
    runId,
    agent: first.definition.name,
    input: readInput([...(thread?.messages ?? []), ...given]),
    context,
    limits: resolveLimits(first, options),
    guarded: [],
    models: Object.fromEntries([...definition.members().keys()].map((name) => [name, cast(name).models.map((model) => model.name)])),
    hash: castHash(first, context),
    step: options.step ?? false,
    ...(options.thread !== undefined && { thread: options.thread.id }),
  }
}
