// `hello-agents trace ls`, `show` and `rm`: the runs that were kept, and what happened in one. Data on stdout; secrets hidden unless --raw.
// Registered by main.ts. How a run looks is infrastructure/trace's part.
import type { Command } from "commander"
import type { FileStore } from "../doors/stores.ts"
import { fileStore } from "../doors/stores.ts"
import type { SpanOf, StoredEvent } from "../doors/trace.ts"
import { buildSpans, fitToWidth, formatCost, formatDuration, formatTokens, oneLine, redactEvents, renderTimeline, renderWaterfall, textWidth } from "../doors/trace.ts"
import { HelloAgentsError } from "../index.ts"
import { UsageError } from "./failure.ts"
import { findRun } from "./find-run.ts"
import { wantsColor } from "./output.ts"
import type { Shell } from "./shell.ts"
import { speakTalk } from "./talk-texts.ts"
import type { Speak } from "./texts.ts"
import type { RemoveFlags } from "./trace-rm.ts"
import { removeRuns } from "./trace-rm.ts"
import type { SpeakTrace } from "./trace-texts.ts"
import { speakTrace } from "./trace-texts.ts"

const DEFAULTS = { runs: "20" }
/** Cells of a column at most; the rest of the line is for what was asked. */
const WIDEST = { id: 36, agent: 18, asked: 12 }

export type TraceShell = Pick<Shell, "output" | "config" | "language">
type Given = Omit<Flags, "store"> & { readonly store?: string }
interface Flags {
  readonly store: string
  readonly json?: boolean
  readonly raw?: boolean
}

export function registerTrace(program: Command, shell: () => TraceShell, say: Speak): void {
  const { language, config } = shell()
  const withStore = async <F extends Given>(flags: F): Promise<F & { store: string }> => {
    const { value } = await config({ "store.folder": ["--store", flags.store] })
    return { ...flags, store: value.store.folder }
  }
  const tell = speakTrace(language)
  const trace = program.command("trace").description(tell("about"))
  const common = (command: Command): Command =>
    command
      .option("--store <folder>", say("storeOption"))
      .option("--json", tell("jsonOption"))
      .option("--raw", tell("rawOption"))
      .option("-q, --quiet", say("quietOption"))
      .option("-c, --config <file>", say("configOption"))
      .option("--language <language>", say("languageOption"))
      .option("--debug", "stack traces with errors")
  common(trace.command("ls").description(tell("lsAbout")))
    .option("-n, --limit <n>", tell("limitOption"), DEFAULTS.runs)
    .action(async (flags: Given & { limit: string }) => listRuns(await withStore(flags), shell(), tell))
  common(trace.command("show").description(tell("showAbout")).argument("[run]", tell("runArgument")))
    .option("--events", tell("eventsOption"))
    .action(async (run: string | undefined, flags: Given & { events?: boolean }) => showRun(run, await withStore(flags), shell()))
  common(trace.command("rm").description(tell("rmAbout")).argument("[runs...]", tell("rmArgument")))
    .option("--older-than <age>", tell("olderOption"))
    .option("--context <name=value>", tell("contextOption"))
    .option("--thread <name>", tell("threadOption"))
    .option("-n, --dry-run", tell("dryRunOption"))
    .action(async (runs: readonly string[], flags: Omit<RemoveFlags, "store"> & Given) => removeRuns(runs, await withStore(flags), shell()))
}

/** One run as `ls` prints it; `--json` prints these. */
interface Row {
  readonly runId: string
  readonly startedAt: number
  readonly agent: string
  readonly input: string
  readonly status: "final" | "stopped" | "waiting" | "unfinished" | "damaged"
  /** The stop reason, or what is wrong with the log; empty otherwise. */
  readonly reason: string
  readonly durationMs: number
  readonly usage: SpanOf<"run">["attributes"]["usage"] | null
}

async function listRuns(flags: Flags & { limit: string }, { output, language }: TraceShell, tell: SpeakTrace): Promise<void> {
  const limit = Number(flags.limit)
  if (!Number.isSafeInteger(limit) || limit < 0) throw new UsageError(tell("badLimit", { value: flags.limit }))
  const store = fileStore(flags.store)
  const runs = await store.list()
  const rows: Row[] = []
  let left = runs.length
  for (const { runId, startedAt } of runs) {
    if (limit > 0 && rows.length === limit) break
    left--
    const row = await rowOf(store, { runId, startedAt, raw: flags.raw === true })
    if (row !== null) rows.push(row)
  }
  if (flags.json === true) return void (await output.data(JSON.stringify(rows, null, 2)))
  if (rows.length === 0) {
    output.error(speakTalk(language)("noRuns", { folder: store.folder }))
    output.error(`  ${speakTalk(language)("noRunsHint")}`)
    return
  }
  await output.data(table(rows, output.width, tell))
  if (left > 0) output.progress(tell("more", { count: left }))
}

/** null: a log that is not a run's (a thread's list of runs). */
async function rowOf(store: FileStore, run: { runId: string; startedAt: number; raw: boolean }): Promise<Row | null> {
  const { runId, startedAt } = run
  try {
    const events = await readEvents(store, runId, run.raw)
    if (events[0]?.type === "thread_run") return null
    const { attributes, startMs, endMs } = buildSpans(events)
    const { agent, input, stop, usage } = attributes
    const waits = stop === null && events.findLast(({ type }) => type === "run_pause" || type === "run_resume")?.type === "run_pause"
    const status = stop === null ? (waits ? "waiting" : "unfinished") : stop.reason === "final" ? "final" : "stopped"
    return { runId, startedAt, agent, input, status, reason: stop?.reason ?? "", durationMs: endMs - startMs, usage }
  } catch (error) {
    if (!(error instanceof HelloAgentsError)) throw error
    return { runId, startedAt, agent: "", input: "", status: "damaged", reason: error.message, durationMs: 0, usage: null }
  }
}

async function readEvents(store: FileStore, runId: string, raw: boolean): Promise<readonly StoredEvent[]> {
  const events = await store.read(runId)
  return raw ? events : redactEvents(events)
}

function table(rows: readonly Row[], width: number, tell: SpeakTrace): string {
  const heads = tell("columns").split("|")
  const lines = [heads, ...rows.map((row) => cellsOf(row, tell))]
  const widths = heads.map((_, column) => Math.max(...lines.map((line) => textWidth(line[column] ?? ""))))
  const fixed = widths.map((cells, column) => (column === 0 ? Math.min(cells, WIDEST.id) : column === 2 ? Math.min(cells, WIDEST.agent) : cells))
  const others = fixed.reduce((sum, cells, column) => sum + (column === 3 ? 0 : cells) + 2, -2)
  fixed[3] = Math.min(fixed[3] ?? 0, Math.max(WIDEST.asked, width - others))
  return lines
    .map((line) =>
      line
        .map((cell, column) => fitToWidth(cell, fixed[column] ?? 0, column >= 5 ? "right" : "left"))
        .join("  ")
        .trimEnd(),
    )
    .join("\n")
}

function cellsOf(row: Row, tell: SpeakTrace): string[] {
  const { usage } = row
  const status = row.status === "final" || row.status === "stopped" ? row.reason : tell(row.status)
  const asked = row.status === "damaged" ? row.reason : row.input
  const cost = usage === null ? "" : usage.cost === "unknown" ? "?" : formatCost(usage.cost)
  return [
    oneLine(row.runId),
    formatTime(row.startedAt),
    oneLine(row.agent),
    oneLine(asked, 200),
    status,
    formatDuration(row.durationMs),
    usage === null ? "" : formatTokens(usage),
    cost,
  ]
}

function formatTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16).replace("T", " ")
}

async function showRun(asked: string | undefined, flags: Flags & { events?: boolean }, { output, language }: TraceShell): Promise<void> {
  const store = fileStore(flags.store)
  const events = await readEvents(store, await findRun(store, asked, speakTalk(language)), flags.raw === true)
  const width = output.width
  if (flags.events === true) await output.data(flags.json === true ? JSON.stringify(events, null, 2) : renderTimeline(events, { width }).trimEnd())
  else if (flags.json === true) await output.data(JSON.stringify(buildSpans(events), null, 2))
  else await output.data(renderWaterfall(buildSpans(events), { width, language, color: wantsColor(process.stdout, process.env) }).trimEnd())
}
