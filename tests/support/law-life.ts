// One life of the resume law's run, in a process of its own: begins it or takes it up, and dies by SIGKILL after as many events as it is told.
// The world outside is a file that is synced line by line, so that it tells what really happened. Started by tests/slow/resume-law.slow.ts.
import { appendFileSync, existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { StoredEvent } from "../../src/contract/event.ts"
import type { Store } from "../../src/contract/ports.ts"
import type { LawResult, Outside } from "./resume-law.ts"
import { watchSyncs } from "./unsynced-files.ts"

export interface LifeOrder {
  readonly folder: string
  readonly store: "files" | "sqlite"
  /** Dies when the log has this many events. null: lives to the end. */
  readonly cut: number | null
  /** Dies with the whole machine: what is not synced is lost. */
  readonly power: boolean
  /** Answers nothing: leaves when the run asks, or when another process has it. */
  readonly shy?: boolean
}
export interface LifeReport {
  /** null: another process has the run. */
  readonly result: Pick<LawResult, "status" | "answer" | "context" | "messages"> | null
  readonly asked: readonly string[]
  readonly effects: readonly (readonly [string, number])[]
  readonly events: number
}

const { folder, store: kind, cut, power, shy = false }: LifeOrder = JSON.parse(process.argv[2] ?? "")
const disk = join(folder, "disk")
const loseUnsynced = watchSyncs(disk)

/** Imported only now, so that the disk sees their files. */
const { scenario, stillClock, toTheEnd } = await import("./resume-law.ts")
const { HelloAgentsError } = await import("../../src/index.ts")
const { resumeRun } = await import("../../src/interface/resume.ts")
const { startRun } = await import("../../src/interface/runner.ts")
const { fileStore } = await import("../../src/doors/stores.ts")
const { sqliteStore } = await import("../../src/doors/sqlite.ts")

const outsideFile = join(folder, "outside.jsonl")

function keptOutside(): Outside {
  const lines = existsSync(outsideFile) ? readFileSync(outsideFile, "utf8").split("\n").filter(Boolean) : []
  const notes: { key?: string; attempts?: number }[] = lines.map((line) => JSON.parse(line))
  const note = (entry: object): void => appendFileSync(outsideFile, `${JSON.stringify(entry)}\n`, { flush: true })
  const effects = new Map<string, number>()
  for (const { key } of notes) if (key !== undefined) effects.set(key, (effects.get(key) ?? 0) + 1)
  const set = effects.set.bind(effects)
  effects.set = (key, times) => {
    note({ key })
    return set(key, times)
  }
  let attempts = notes.findLast((entry) => entry.attempts !== undefined)?.attempts ?? 0
  return {
    effects,
    get attempts() {
      return attempts
    },
    set attempts(next) {
      note({ attempts: next })
      attempts = next
    },
  }
}

/** Lets `left` events through; of the batch with the last one nothing more, and no sync. */
function mortal(store: Store, left: number): Store {
  return {
    ...store,
    async append(runId, expectedSeq, events, { durable }) {
      const kept = events.slice(0, Math.max(0, left - expectedSeq))
      await store.append(runId, expectedSeq, kept, { durable: durable && kept.length === events.length })
      if (expectedSeq + events.length < left) return
      if (power) loseUnsynced()
      process.kill(process.pid, "SIGKILL")
      await new Promise(() => {})
    },
  }
}

const kept = kind === "files" ? fileStore(disk) : sqliteStore(join(disk, "runs.db"))
const store = cut === null ? kept : mortal(kept, cut)
const world = keptOutside()
const options = { store, runId: "law" }

async function liveOn(): Promise<{ result: LawResult | null; asked: readonly string[] }> {
  const before: readonly StoredEvent[] = await store.read("law")
  if (shy) return { result: await resumeRun(scenario(world), "law", { options: { store }, clock: stillClock, owned: false }).result, asked: [] }
  const begun = before.length === 0 ? await startRun(scenario(world), "go", { options, clock: stillClock, owned: false }).result : null
  return toTheEnd(store, world, begun)
}

/** Refused by the store: the other process has it. */
function refused(error: unknown): { result: null; asked: readonly string[] } {
  if (shy && error instanceof HelloAgentsError && error.code === "stale_writer") return { result: null, asked: [] }
  throw error
}

const { result, asked } = await liveOn().catch(refused)
const told = result === null ? null : { status: result.status, answer: result.answer, context: result.context, messages: result.messages }
const report: LifeReport = { result: told, asked, effects: [...world.effects], events: (await store.read("law")).length }
process.stdout.write(JSON.stringify(report))
