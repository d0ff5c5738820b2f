// A tree of spans as a waterfall for the terminal: name, bar, duration, tokens, and one line of what was said.
// Called by `hello-agents trace show`. Cuts and cleans texts; hiding secrets is the reader's part (redact-events.ts).
import type { Outcome, WaitingFor } from "../../contract/event.ts"
import type { Usage } from "../../contract/model.ts"
import type { Span, SpanOf } from "./span.ts"
import { cutToWidth, fitToWidth, oneLine, textWidth } from "./text-width.ts"
import { formatCost, formatCount, formatDuration, formatTokens } from "./trace-format.ts"
import type { TraceLanguage, TraceWords } from "./trace-words.ts"
import { traceWords } from "./trace-words.ts"

export interface WaterfallOptions {
  /** Cells of a line. 100. */
  width?: number | undefined
  color?: boolean | undefined
  language?: TraceLanguage | undefined
}

type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan"
interface Page {
  readonly words: TraceWords
  readonly paint: (text: string, style: Style) => string
  readonly width: number
  readonly nameCells: number
  readonly barCells: number
  /** The cell, not rounded, in which a moment lies. */
  readonly cellOf: (ms: number) => number
}

const DEFAULTS = { width: 100, leastWidth: 60, nameCells: 28, narrowNameCells: 22, pauseShare: 0.2 }
const DURATION_CELLS = 11
const TOKEN_CELLS = 13
const CODES: Readonly<Record<Style, number>> = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 }

/** Lines end with "\n"; no line is wider than `width` (at least 60). */
export function renderWaterfall(run: SpanOf<"run">, options: WaterfallOptions = {}): string {
  const width = Math.max(options.width ?? DEFAULTS.width, DEFAULTS.leastWidth)
  const nameCells = width < 100 ? DEFAULTS.narrowNameCells : DEFAULTS.nameCells
  const barCells = width - nameCells - DURATION_CELLS - TOKEN_CELLS - 3
  const page: Page = {
    words: traceWords(options.language ?? "en"),
    paint: options.color ? (text, style) => `\u001b[${CODES[style]}m${text}\u001b[0m` : (text) => text,
    width,
    nameCells,
    barCells,
    cellOf: axis(run, barCells),
  }
  const lines = [header(run, page), ...rows(run, 0, page), "", ...totals(run, page)]
  return `${lines.map((line) => line.trimEnd()).join("\n")}\n`
}

/** A long wait for people would leave a cell to all that was done, so each pause is drawn at most as long as a part of the work. */
function axis(run: SpanOf<"run">, barCells: number): (ms: number) => number {
  const pauses = pausesIn(run)
  const workMs = run.endMs - run.startMs - pauses.reduce((sum, pause) => sum + pause.endMs - pause.startMs, 0)
  const longest = Math.max(workMs * DEFAULTS.pauseShare, 1)
  const drawnMs = (ms: number): number => {
    const saved = pauses.map(({ startMs, endMs }) => (Math.max(0, Math.min(ms, endMs) - startMs) / Math.max(endMs - startMs, 1)) * Math.max(0, endMs - startMs - longest))
    return ms - run.startMs - saved.reduce((sum, part) => sum + part, 0)
  }
  const totalMs = drawnMs(run.endMs)
  return (ms) => (totalMs === 0 ? 0 : (drawnMs(ms) / totalMs) * barCells)
}

function pausesIn(span: Span): Span[] {
  return span.type === "pause" ? [span] : span.children.flatMap(pausesIn)
}

function header(run: SpanOf<"run">, page: Page): string {
  const { words, nameCells, barCells } = page
  const started = `${new Date(run.startMs).toISOString().slice(0, 19).replace("T", " ")} UTC`
  const name = fitToWidth(oneLine(run.attributes.runId), nameCells)
  const cells = [name, fitToWidth(started, barCells), fitToWidth(words.duration, DURATION_CELLS, "right"), fitToWidth(words.tokens, TOKEN_CELLS, "right")]
  return page.paint(cells.join(" "), "dim")
}

function rows(span: Span, depth: number, page: Page): string[] {
  const indent = "  ".repeat(depth)
  const name = fitToWidth(indent + nameOf(span, page.words), page.nameCells)
  const cells = [
    span.type === "run" || span.type === "turn" ? page.paint(name, "bold") : name,
    page.paint(bar(span, page), colourOf(span)),
    fitToWidth(formatDuration(span.endMs - span.startMs), DURATION_CELLS, "right"),
    fitToWidth(tokensOf(span), TOKEN_CELLS, "right"),
  ]
  const detail = detailOf(span, page.words)
  const lines = [cells.join(" ")]
  if (detail !== "") lines.push(page.paint(cutToWidth(`${indent}  ${detail}`, page.width), detailStyle(span)))
  return [...lines, ...span.children.flatMap((child) => rows(child, depth + 1, page))]
}

function detailStyle(span: Span): Style {
  return span.status === "failed" && span.type !== "run" && span.type !== "turn" ? "red" : "dim"
}

/** At least one cell, within the cells of the run. Waiting is drawn thin, what has no end dotted. */
function bar(span: Span, page: Page): string {
  const from = Math.min(Math.floor(page.cellOf(span.startMs)), page.barCells - 1)
  const to = span.type === "run" ? page.barCells : Math.max(from + 1, Math.round(page.cellOf(span.endMs)))
  const mark = span.type === "wait" || span.type === "pause" ? "┄" : span.status === "unfinished" ? "▒" : "█"
  return fitToWidth(" ".repeat(from) + mark.repeat(to - from), page.barCells)
}

function colourOf(span: Span): Style {
  if (span.status === "failed") return "red"
  if (span.status === "unfinished") return "yellow"
  if (span.type === "model") return "cyan"
  return span.type === "tool" ? "green" : "dim"
}

function nameOf(span: Span, words: TraceWords): string {
  const again = (attempt: number): string => (attempt > 1 ? words.attempt(attempt) : "")
  switch (span.type) {
    case "run":
      return oneLine(span.name)
    case "turn":
      return `${words.turn(span.attributes.turn)} · ${oneLine(span.attributes.agent)}`
    case "model":
      return oneLine(span.name) + again(span.attributes.attempt)
    case "tool":
      return `${oneLine(span.name)}()${again(span.attributes.attempt)}`
    case "wait":
      return words.backOff
    case "pause":
      return span.attributes.because === "ended" ? words.ended : words.waitingFor[span.attributes.waiting[0]?.reason ?? "step"]
    case "rule":
      return words.rule(span.attributes.point)
    case "edit":
      return words.edit
    default:
      return span satisfies never
  }
}

function tokensOf(span: Span): string {
  if (span.type === "run") return span.attributes.modelCalls > 0 ? formatTokens(span.attributes.usage) : ""
  return span.type === "model" && span.attributes.reading !== null ? formatTokens(span.attributes.usage) : ""
}

function detailOf(span: Span, words: TraceWords): string {
  switch (span.type) {
    case "run":
      return oneLine(span.attributes.input)
    case "turn":
      return [span.attributes.handoff === null ? "" : words.handoff(span.attributes.handoff), contextText(span, words)].filter(Boolean).join(" · ")
    case "model":
      return modelDetail(span, words)
    case "tool":
      return toolDetail(span, words)
    case "wait":
      return span.attributes.code
    case "pause":
      return oneLine([...span.attributes.waiting.map(questionText), ...span.attributes.answers.map((answer) => `→ ${answer}`)].join(" "))
    case "rule":
      return oneLine(`${span.name}: ${[span.attributes.verdict, span.attributes.reason].filter(Boolean).join(", ")}`)
    case "edit":
      return `${oneLine(span.attributes.by)}: ${span.attributes.edits.map(({ remove, insert }) => `−${remove} +${insert.length}`).join(", ")}`
    default:
      return span satisfies never
  }
}

function questionText({ id, question, arguments: args }: WaitingFor): string {
  return `${id}: ${question}${args === null ? "" : ` ${JSON.stringify(args)}`}`
}

function contextText(turn: SpanOf<"turn">, words: TraceWords): string {
  return turn.attributes.contextKeys.length === 0 ? "" : `${words.context}: ${turn.attributes.contextKeys.map((key) => oneLine(key)).join(", ")}`
}

function modelDetail(span: SpanOf<"model">, words: TraceWords): string {
  const { reading } = span.attributes
  if (span.status === "failed") return `✗ ${oneLine(span.error)}`
  if (reading === null) return words.noEnd
  if (reading.type !== "action") return `→ ${oneLine(reading.text)}`
  return `→ ${reading.calls.map(({ name }) => `${oneLine(name)}()`).join(", ")}${reading.text === "" ? "" : ` · ${oneLine(reading.text)}`}`
}

function toolDetail(span: SpanOf<"tool">, words: TraceWords): string {
  const { outcome, repairs, executed } = span.attributes
  const repaired = repairs.length === 0 ? "" : ` (${words.repaired}: ${repairs.map((repair) => oneLine(repair)).join(", ")})`
  const notRun = executed ? "" : ` (${words.notRun})`
  return `${oneLine(span.attributes.arguments) || "–"}${repaired}${notRun} → ${outcome === null ? words.noEnd : outcomeText(outcome, words)}`
}

function outcomeText(outcome: Outcome, words: TraceWords): string {
  if (outcome.type === "unknown") return `✗ ${words.maybe}: ${oneLine(outcome.text)}`
  if (outcome.type === "failed") return `✗ ${oneLine(outcome.text)}`
  if (outcome.type === "later") return words.answerLater
  const handoff = outcome.handoff === null ? "" : ` · ${words.handoff(oneLine(outcome.handoff.agent))}`
  return oneLine(outcome.text) + handoff
}

function totals(run: SpanOf<"run">, page: Page): string[] {
  const { words, paint, width } = page
  const { stop, usage, pausedMs, answer, disclaimer } = run.attributes
  const waits = run.status === "unfinished" && lastOf(run)?.type === "pause"
  const status = stop === null ? words.status[waits ? "waiting" : "unfinished"] : stop.reason === "final" ? words.status.ok : words.stopped(stop.reason)
  const times = [formatDuration(run.endMs - run.startMs), ...(pausedMs > 0 ? [words.waited(formatDuration(pausedMs))] : [])].join(", ")
  const used = [
    ...(run.attributes.modelCalls > usage.unreported ? [usageText(usage, words)] : []),
    ...(usage.unreported > 0 ? [words.unreported(usage.unreported)] : []),
    costText(usage, words),
  ]
  const [first = "", ...more] = joined([status, words.totals(run.attributes), times], width)
  const colour: Style = run.status === "ok" ? "green" : run.status === "failed" ? "red" : "yellow"
  return [
    paint(status, colour) + first.slice(status.length),
    ...more,
    ...joined(used, width),
    ...(disclaimer === "" ? [] : [paint(cutToWidth(oneLine(disclaimer), width), "yellow")]),
    ...(run.status === "failed" ? [paint(cutToWidth(`✗ ${oneLine(run.error)}`, width), "red")] : []),
    ...(stop !== null && stop.hint !== "" ? [cutToWidth(oneLine(stop.hint), width)] : []),
    ...(answer === "" ? [] : [cutToWidth(`→ ${oneLine(answer)}`, width)]),
  ]
}

/** Parts with dots between them, on as many lines as they need. */
function joined(parts: readonly string[], width: number): string[] {
  const lines: string[] = []
  for (const part of parts) {
    const longer = lines.length === 0 ? part : `${lines.at(-1)} · ${part}`
    if (textWidth(longer) <= width) lines.splice(-1, 1, longer)
    else lines.push(cutToWidth(part, width))
  }
  return lines
}

function lastOf(span: Span): Span | null {
  const last = span.children.at(-1)
  return last === undefined ? null : last.children.length === 0 ? last : lastOf(last)
}

function usageText(usage: Usage, words: TraceWords): string {
  return words.usage({ input: formatCount(usage.inputTokens), cached: formatCount(usage.cachedTokens), output: formatCount(usage.outputTokens) })
}

function costText(usage: Usage, words: TraceWords): string {
  return usage.cost === "unknown" ? words.costUnknown : words.cost(formatCost(usage.cost))
}
