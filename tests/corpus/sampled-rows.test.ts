// Thirty rows of the corpus, drawn by a seed, come out of a whole run over a real socket as they come out of the adapter that judges all rows.
import { readFileSync } from "node:fs"
import { afterEach, describe, expect, test, vi } from "vitest"
// @ts-expect-error The judge is plain JavaScript.
import { expandRepeats, judge } from "../fixtures/corpus/verify/compare.mjs"
// @ts-expect-error The adapter is plain JavaScript.
import adapter from "./adapter.mjs"
import type { Row } from "./over-socket.ts"
import { overSocket } from "./over-socket.ts"

const SEED = Number(process.env["CORPUS_SEED"] ?? 20_261_201)
const ROWS_PER_KIND = Number(process.env["CORPUS_ROWS"] ?? 5)

function rowsOf(kind: string): Row[] {
  const lines = readFileSync(new URL(`../fixtures/corpus/all/${kind}.jsonl`, import.meta.url), "utf8")
    .trim()
    .split("\n")
  return lines.map((line) => JSON.parse(line) as Row).filter((row) => !isLeftOut(row))
}

/** Rows about several agents, whose scripts a server that only counts requests cannot play, and a row that aborts by the clock. */
function isLeftOut({ input }: Row): boolean {
  return typeof input === "object" && ("agents" in input || "abortAtMs" in input)
}

/** A seeded shuffle (linear congruential generator, constants of Numerical Recipes), then the first rows. */
function drawn(rows: readonly Row[], seed: number): Row[] {
  let state = seed >>> 0
  const keyed = rows.map((row) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return { row, key: state }
  })
  return keyed
    .sort((a, b) => a.key - b.key)
    .slice(0, ROWS_PER_KIND)
    .map(({ row }) => row)
}

/** What can be compared: the whole outcome, without times, our own call ids and the adapter's name for a refusal. */
function comparable(kind: string, outcome: Record<string, unknown>): object {
  if (kind === "loop") return { ...outcome, elapsedMs: undefined, maxConcurrent: undefined }
  if (kind === "tool_call") return { ...outcome, errors: (outcome["errors"] as { index: number; message: string }[]).map(({ index, message }) => ({ index, message })) }
  if (kind !== "response" || outcome["error"] !== undefined) return outcome
  return { ...outcome, toolCalls: (outcome["toolCalls"] as Record<string, unknown>[]).map((call) => ({ ...call, id: undefined })) }
}

/** A run numbers its calls itself (docs/decisions/017), so the ids that a server gave are not asked for. */
function withoutIds(row: Row): object {
  const { expected } = row as Row & { expected: { toolCalls?: readonly object[] } }
  return expected.toolCalls === undefined ? row : { ...row, expected: { ...expected, toolCalls: expected.toolCalls.map((call) => ({ ...call, id: undefined })) } }
}

/** A failure as the adapter tells it for this kind. */
function told(kind: string, outcome: { failure?: object }): Record<string, unknown> {
  if (outcome.failure === undefined) return { ...outcome }
  return kind === "http" ? { ...outcome.failure } : { toolCalls: [], finishReason: "error", error: outcome.failure }
}

afterEach(() => {
  vi.useRealTimers()
})

describe.each(["tool_call", "text_tool_call", "react", "response", "http", "loop"])(`rows of kind %s, seed ${SEED}`, (kind) => {
  test.each(drawn(rowsOf(kind), SEED))("$id: $why", async (row) => {
    const input = expandRepeats(structuredClone(row.input)) as never
    const { now } = row.context as { now?: string }
    // Waiting times given as dates count from the moment the row was recorded at; timers stay real.
    if (now !== undefined) vi.useFakeTimers({ toFake: ["Date"], now: Date.parse(now) })
    const expected = (await adapter[kind](input, structuredClone(row.context), row)) as Record<string, unknown>
    const outcome = (await overSocket[kind]?.({ ...row, input })) as { failure?: { code: string; retryable: boolean }; ended?: object }
    const actual = told(kind, outcome)
    expect(judge(withoutIds(row), actual)).toMatchObject({ pass: true })
    expect(comparable(kind, actual)).toEqual(comparable(kind, expected))
    if (outcome.failure !== undefined)
      expect(outcome.ended).toEqual(outcome.failure.retryable ? { reason: "aborted", code: "aborted" } : { reason: "model_unavailable", code: outcome.failure.code })
  })
})
