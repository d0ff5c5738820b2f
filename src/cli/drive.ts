// Drives a run in front of a person: shows what happens, asks what it asks if somebody is there, and goes on with the answer. Used by run, chat, resume, approve.
// What is printed of the end stands in report.ts.
import { foldEvents } from "../doors/runs.ts"
import type { Answer, End, LiveRun, RunResult } from "../index.ts"
import { HelloAgentsError, resumeStream } from "../index.ts"
import { askPerson } from "./ask-person.ts"
import type { Interrupt } from "./interrupt.ts"
import { createLiveText } from "./live-text.ts"
import type { Progress } from "./progress.ts"
import { createProgress } from "./progress.ts"
import type { StoredRun } from "./questions.ts"
import type { Prepared } from "./run-options.ts"

export type AnyRun = LiveRun<object, End>
export type AnyResult = RunResult<object, End>

export interface Driven {
  readonly result: AnyResult
  /** A person was asked and left the question open. null: nobody was asked, or everything was answered. */
  readonly left: "interrupted" | "ended" | null
  readonly counts: Progress["counts"]
  /** Without the time in which a person was asked. */
  readonly seconds: number
  /** What the terminal shows of the last reply already. */
  readonly shown: string
}

/** `before`: the state of a run that is taken up again, so that its open calls are known. */
export async function drive(first: AnyRun, prepared: Prepared, { interrupt, before }: { interrupt: Interrupt; before?: StoredRun | undefined }): Promise<Driven> {
  const { output, say, tell, person, flags } = prepared
  let ms = 0
  const progress = createProgress(output, say, openArguments(before))
  const isData = flags.json === true || flags.jsonl === true
  const text = output.isTerminal && !isData ? createLiveText(output, tell("takenBack")) : null
  const show = async (live: AnyRun): Promise<AnyResult> => {
    const startedAt = Date.now()
    try {
      for await (const event of live) {
        text?.read(event)
        progress(event)
        if (flags.jsonl === true) await output.data(JSON.stringify(event))
      }
    } finally {
      ms += Date.now() - startedAt
      text?.close()
    }
    return live.result
  }
  const ended = (result: AnyResult, left: Driven["left"]): Driven => ({
    result,
    left,
    counts: progress.counts,
    seconds: ms / 1000,
    shown: text?.shown() ?? "",
  })
  let live = first
  for (;;) {
    const result = await show(live)
    const [waiting] = result.status === "waiting" ? result.waiting : []
    if (waiting === undefined || person === null || interrupt.signal.aborted) return ended(result, null)
    const state = await storedRun(prepared, result.runId)
    const said = await askPerson({ state, waiting }, { ...prepared, person, signal: interrupt.signal })
    if (said.type !== "answers") return ended(result, said.type)
    live = goOn(result.runId, prepared, { interrupt, answers: said.answers })
  }
}

/** Takes a run up again with the agent, the model and the store of this command. */
export function goOn(
  runId: string,
  { agent, store, chosen, flagged, settings }: Prepared,
  { interrupt, answers, input }: { interrupt: Interrupt; answers?: readonly Answer[]; input?: string | undefined },
): AnyRun {
  return resumeStream(agent, runId, { store, answers, input, limits: flagged, model: chosen.models, settings, signal: interrupt.signal })
}

/** @throws HelloAgentsError `run_not_found`. */
export async function storedRun({ store }: Pick<Prepared, "store">, runId: string): Promise<StoredRun> {
  const state = foldEvents(await store.read(runId))
  if (state === null) throw new HelloAgentsError("run_not_found", `There is no run ${runId}.`)
  return state
}

function openArguments(state: StoredRun | undefined): ReadonlyMap<string, string> {
  const calls = state?.phase.type === "tools" ? state.phase.calls : []
  return new Map(calls.map(({ call }) => [call.id, call.arguments]))
}
