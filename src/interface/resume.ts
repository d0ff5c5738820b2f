// `resume`: takes a stored run up again: fold, answer what was asked, go on. Also how another process cancels a run or speaks to it, and forks.
// Finished calls are not made again; an unfinished one runs again only if its tool says that does no harm, else a person is asked (decide.ts).
import type { Agent, End } from "../contract/agent.ts"
import type { Answer, ResumeOptions } from "../contract/answer.ts"
import type { AnswerGiven, FoldedEvent, Outcome, StoredEvent } from "../contract/event.ts"
import type { Clock, Store } from "../contract/ports.ts"
import type { LiveRun, RunResult } from "../contract/run.ts"
import type { State } from "../contract/state.ts"
import { resultText } from "../capability/tools/result-text.ts"
import { HelloAgentsError } from "../infrastructure/errors.ts"
import { aborted } from "../orchestration/stops.ts"
import type { Cast } from "../orchestration/world.ts"
import { resolveLimits } from "./cast.ts"
import { systemClock } from "./clock.ts"
import { readInput } from "./input.ts"
import { launch } from "./launch.ts"
import { requireState } from "./stored-run.ts"

/** A run that ended like this has ended for good: there is nothing to go on with. */
const FOR_GOOD = new Set(["final", "guardrail", "fatal_tool_error"])
/** How often a message to a running run is offered again when its own writer was faster. */
const APPEND_TRIES = 20

/**
 * Takes a stored run up again, with answers to what it asked, a person's message, or new limits.
 * A paused run without answers is given back as it is. Another process that still drives the run is fenced off: its next write is refused.
 * @throws HelloAgentsError `run_not_found`, `run_ended`, `input_invalid` for an answer to nothing that was asked, `log_too_new`, `store_corrupt`.
 */
export function resume<C, E extends End, I>(agent: Agent<C, E, I>, runId: string, options: ResumeOptions): Promise<RunResult<C, E>> {
  return resumeRun(agent, runId, { options, clock: systemClock, owned: false }).result
}

/** As `resume`, to be watched like `stream`. */
export function resumeStream<C, E extends End, I>(agent: Agent<C, E, I>, runId: string, options: ResumeOptions): LiveRun<C, E> {
  return resumeRun(agent, runId, { options, clock: systemClock, owned: true })
}

/** `resume` and `resumeStream` with the clock handed in. */
export function resumeRun<C, E extends End, I>(agent: Agent<C, E, I>, runId: string, start: { options: ResumeOptions; clock: Clock; owned: boolean }): LiveRun<C, E> {
  const { options, clock, owned } = start
  const { definition } = agent
  return launch({
    definition,
    options,
    runId,
    clock,
    owned,
    begin: async (cast) => {
      const state = await requireState(options.store, runId)
      if (!definition.members().has(state.agent)) {
        throw new HelloAgentsError("agent_invalid", `The run ${runId} belongs to the agent ${state.agent}, not to ${definition.name}.`, {
          hint: "Pass the agent, or the team, that began it.",
        })
      }
      const first = resumption(state, options, cast(state.agent))
      return first === null ? { rested: state } : { state, first }
    },
  })
}

/** null: there is nothing to go on with, and nobody asked for it. */
function resumption(state: State, options: ResumeOptions, cast: Cast): readonly FoldedEvent[] | null {
  const { answers = [], input, limits } = options
  const { status } = state
  const wanted = answers.length > 0 || input !== undefined || limits !== undefined
  if (status.type === "stopped" && FOR_GOOD.has(status.stop.reason)) {
    if (!wanted) return null
    throw new HelloAgentsError("run_ended", `The run ${state.runId} has ended (${status.stop.reason}); there is nothing to go on with.`, {
      hint: "Begin a new run with its messages, or fork it.",
    })
  }
  if (status.type === "paused" && !wanted) return null
  const resumed: FoldedEvent = {
    type: "run_resume",
    reopen: status.type === "stopped",
    limits: limits === undefined ? null : { ...state.limits, ...resolveLimits(cast, { limits: { ...withoutNull(state.limits), ...limits } }) },
    guarded: [],
  }
  const said = input === undefined ? [] : readInput(input).map((message): FoldedEvent => ({ type: "message_given", message }))
  return [resumed, ...answers.map((answer) => givenAnswer(state, answer)), ...said]
}

function withoutNull(limits: State["limits"]): object {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== null))
}

function givenAnswer(state: State, { id, ...answer }: Answer): FoldedEvent {
  const asked = state.status.type === "paused" ? state.status.waiting : []
  const open = state.phase.type === "tools" ? state.phase.calls.filter(({ stage }) => stage.type === "started" || stage.type === "ready").map(({ call }) => call.id) : []
  if (!asked.some((question) => question.id === id) && !open.includes(id)) {
    const ids = asked.map((question) => question.id).join(", ")
    throw new HelloAgentsError("input_invalid", `The run ${state.runId} did not ask "${id}".`, { hint: ids === "" ? "It waits for nothing." : `It waits for: ${ids}.` })
  }
  return { type: "answer_given", id, answer: toAnswer(answer) }
}

function toAnswer(answer: Omit<Answer, "id">): AnswerGiven {
  const given = answer as Answer
  switch (given.type) {
    case "approve":
      return { type: "approve", arguments: given.arguments === undefined ? null : JSON.stringify(given.arguments) }
    case "happened":
      return { type: "happened", outcome: happenedOutcome(given) }
    case "reply":
      return { type: "reply", text: resultText(given.value) }
    default:
      return given
  }
}

function happenedOutcome({ result, context, handoff, failed }: Extract<Answer, { type: "happened" }>): Outcome {
  const text = resultText(result)
  if (failed === true) return { type: "failed", text, retryable: false }
  return {
    type: "ok",
    text,
    context: context === undefined ? null : { set: JSON.parse(JSON.stringify(context)), removed: [] },
    handoff: handoff === undefined ? null : { agent: handoff, reason: "" },
  }
}

/**
 * Cancels a run from another process. The process that drives it stops at its next write, within half a second.
 * A paused run ends at once: nobody drives it.
 */
export function cancel(store: Store, runId: string, reason = "by another process"): Promise<void> {
  return speakTo(store, runId, ({ status }) => {
    const abort: FoldedEvent = { type: "run_abort", reason }
    return status.type === "paused" ? [abort, { type: "run_end", stop: aborted(reason), answer: "" }] : [abort]
  })
}

/** Gives a run a further message from another process; it is read before the next model call. */
export async function send(store: Store, runId: string, text: string): Promise<void> {
  const [message] = readInput(text)
  if (message !== undefined) await speakTo(store, runId, () => [{ type: "message_given", message }])
}

async function speakTo(store: Store, runId: string, toSay: (state: State) => readonly FoldedEvent[]): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const state = await requireState(store, runId)
    if (state.status.type === "stopped") throw new HelloAgentsError("run_ended", `The run ${runId} has ended (${state.status.stop.reason}).`)
    const at = systemClock.now()
    const stored = toSay(state).map((event, index): StoredEvent => ({ ...event, v: 1, seq: state.seq + 1 + index, at }))
    try {
      await store.append(runId, state.seq, stored, { durable: true })
      return
    } catch (error) {
      const raced = error instanceof HelloAgentsError && error.code === "stale_writer"
      if (!raced || attempt >= APPEND_TRIES) throw error
    }
  }
}

/**
 * Copies a run up to its event `at` (default: all) under a new id, so that it can go on differently. The origin is recorded.
 * Calls that were finished keep their results; resume the new run to go on.
 */
export async function fork(
  store: Store,
  runId: string,
  options: { at?: number | undefined; newId?: string | undefined; edits?: Extract<FoldedEvent, { type: "history_edit" }>["edits"] | undefined } = {},
): Promise<string> {
  await requireState(store, runId)
  const events = await store.read(runId)
  const kept = events.filter(({ seq, type }) => seq <= (options.at ?? events.length) && type !== "run_end")
  const newId = options.newId ?? systemClock.newId()
  const at = systemClock.now()
  const added: FoldedEvent[] = [{ type: "run_fork", runId: newId, from: { runId, seq: options.at ?? events.length } }]
  if (options.edits !== undefined) added.push({ type: "history_edit", by: "fork", because: "edit", edits: options.edits })
  const all = [...kept, ...added.map((event): StoredEvent => ({ ...event, v: 1, seq: 0, at }))].map((event, index): StoredEvent => ({ ...event, seq: index + 1 }))
  await store.append(newId, 0, all, { durable: true })
  return newId
}
