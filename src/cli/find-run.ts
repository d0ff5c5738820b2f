// Finds the stored run that a person means: by its id, by the beginning of its id, or the newest. Called by every command that takes a run.
import type { FileStore } from "../doors/stores.ts"
import { nearestNames } from "../doors/trace.ts"
import { UsageError } from "./failure.ts"
import type { SpeakTalk } from "./talk-texts.ts"

const NEAREST = 3
/** Nearest names that are looked at before the logs that are no runs are taken out. */
const LOOKED_AT = 10

/** undefined: the newest. @throws UsageError with the nearest ids. */
export async function findRun(store: FileStore, asked: string | undefined, tell: SpeakTalk): Promise<string> {
  const known = (await store.list()).map(({ runId }) => runId)
  if (known.length === 0) throw new UsageError(tell("noRuns", { folder: store.folder }), tell("noRunsHint"))
  if (asked !== undefined && known.includes(asked)) return asked
  const runs = await possible(store, known, asked)
  const [first, second] = runs
  if (first !== undefined && (asked === undefined || second === undefined)) return first
  const written = asked ?? ""
  const shown = second === undefined ? await onlyRuns(store, nearestNames(written, known, LOOKED_AT), NEAREST) : runs.slice(0, NEAREST)
  const nearest = tell("nearestRuns", { runs: shown.join(", ") })
  if (second !== undefined) throw new UsageError(tell("severalRuns", { run: written }), nearest)
  throw new UsageError(tell("unknownRun", { run: written, folder: store.folder }), nearest)
}

async function possible(store: FileStore, known: readonly string[], asked: string | undefined): Promise<readonly string[]> {
  if (asked === undefined) return onlyRuns(store, known, 1)
  return asked === "" ? [] : known.filter((runId) => runId.startsWith(asked))
}

/** The log of a thread lies beside those of runs and is none. */
async function onlyRuns(store: FileStore, known: readonly string[], count: number): Promise<readonly string[]> {
  const runs: string[] = []
  for (const runId of known) {
    if (runs.length === count) break
    const first = await store.read(runId).then(
      ([event]) => event?.type,
      // a damaged log has to be found too
      () => "run_start" as const,
    )
    if (first !== "thread_run") runs.push(runId)
  }
  return runs
}
