import { appendFileSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it, vi } from "vitest"
import type { Language } from "../../src/cli/texts.ts"
import { fileStore } from "../../src/doors/stores.ts"
import type { StoredEvent } from "../../src/doors/trace.ts"
import { buildSpans, renderTimeline, renderWaterfall } from "../../src/doors/trace.ts"
import { modelSays, modelStart, runEnd, runStart, SMALL_RUN, START, stored, usage } from "../trace/sample-run.ts"
import { traceProgram } from "./trace-program.ts"

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hello-agents-trace-"))
  vi.stubEnv("NO_COLOR", "1")
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const trace = (words: readonly string[], language: Language = "en"): Promise<{ out: string; err: string }> => traceProgram(folder, words, language)

async function keep(runId: string, events: readonly StoredEvent[], later = 0): Promise<void> {
  const store = fileStore(folder)
  await store.append(
    runId,
    0,
    events.map((event) => ({ ...event, at: event.at + later })),
    { durable: false },
  )
  store.close()
}

const short = (input: string, cost: number | "unknown" = "unknown"): StoredEvent[] =>
  stored([
    [0, runStart("helper", input)],
    [0, modelStart(1)],
    [1_200, modelSays("yes", usage(1_000, 5, 0, cost))],
    [1_200, runEnd("final", "yes")],
  ])

it("ls lists the newest runs with what a person looks for", async () => {
  await keep("order-7", SMALL_RUN)
  await keep("paused-8", SMALL_RUN.slice(0, 18), 1_000)
  await keep("short-9", short(`${"How ".repeat(30)}\nare you?`, 0.0125), 2_000)
  await keep("broken-1", short("x"), 3_000)
  await keep("thread~t", [{ v: 1, seq: 1, at: START, type: "thread_run", runId: "order-7" }], 9_000)
  appendFileSync(join(folder, "broken-1", "000001.jsonl"), "not an event\n")
  const { out, err } = await trace(["ls"])
  const lines = out.split("\n")
  expect(lines.map((line) => line.replace(/ {2,}/g, " | "))).toEqual([
    "id | started (UTC) | agent | asked | status | time | tokens | cost",
    expect.stringMatching(/^broken-1 \| 20\d\d-.* \| .*… \| damaged \| 0 ms$/),
    "short-9 | 2026-01-01 00:00 | helper | How How How How How How … | final | 1.2 s | 1,000→5 | 0.013",
    "paused-8 | 2026-01-01 00:00 | triage | 订单 7 的退款在哪里？ Wh… | waiting | 2.7 s | 2,504→76 | ?",
    "order-7 | 2026-01-01 00:00 | triage | 订单 7 的退款在哪里？ Wh… | final | 1 min 05 s | 3,904→106 | ?",
    "",
  ])
  expect(err).toBe("")
})

it("ls stops at its limit and says how many are left; --json gives the same as data", async () => {
  for (const index of [1, 2, 3]) await keep(`run-${index}`, short(`question ${index}`, 0.5), index * 1_000)
  const { out, err } = await trace(["ls", "--limit", "2"])
  expect(
    out
      .split("\n")
      .slice(1)
      .map((line) => line.slice(0, 5)),
  ).toEqual(["run-3", "run-2", ""])
  expect(err).toBe("1 more; --limit 0 lists all\n")
  const { out: json } = await trace(["ls", "--limit", "0", "--json"])
  expect(JSON.parse(json)[2]).toEqual({
    runId: "run-1",
    startedAt: START + 1_000,
    agent: "helper",
    input: "question 1",
    status: "final",
    reason: "final",
    durationMs: 1_200,
    usage: { inputTokens: 1_000, outputTokens: 5, cachedTokens: 0, reasoningTokens: 0, cost: 0.5, unreported: 0 },
  })
  await expect(trace(["ls", "--limit", "-1"])).rejects.toMatchObject({ name: "UsageError", message: "--limit must be a whole number from 0, not -1" })
})

it("an empty folder is named, with the command that fills it", async () => {
  const hint = 'runs are kept there by: hello-agents run --agent FILE "your question"; look elsewhere with --store FOLDER'
  expect(await trace(["ls"])).toEqual({ out: "", err: `there are no runs in ${folder}\n  ${hint}\n` })
  expect(await trace(["ls", "--json"])).toEqual({ out: "[]\n", err: "" })
  await expect(trace(["show", "x"])).rejects.toMatchObject({ name: "UsageError", message: `there are no runs in ${folder}`, hint })
  expect((await trace(["ls"], "zh")).err).toContain(`${folder} 里没有运行记录`)
})

it("show draws the run: by its id, by the beginning of it, or the newest", async () => {
  await keep("order-7", SMALL_RUN)
  await keep("other-8", short("x"), -5_000)
  const page = renderWaterfall(buildSpans(SMALL_RUN), { width: 100 })
  for (const words of [["show", "order-7"], ["show", "or"], ["show"]]) expect((await trace(words)).out).toBe(page)
  expect((await trace(["show", "order-7"], "zh")).out).toBe(renderWaterfall(buildSpans(SMALL_RUN), { width: 100, language: "zh" }))
})

it("show --events lists the events; --json gives spans or events as data", async () => {
  await keep("order-7", SMALL_RUN)
  expect((await trace(["show", "order-7", "--events"])).out).toBe(renderTimeline(SMALL_RUN, { width: 100 }))
  expect(JSON.parse((await trace(["show", "order-7", "--events", "--json"])).out)).toEqual(SMALL_RUN)
  expect(JSON.parse((await trace(["show", "order-7", "--json"])).out)).toEqual(buildSpans(SMALL_RUN))
})

it("hides secrets unless --raw is given", async () => {
  await keep("secret-1", short("use sk-abcdefghijklmnop1234 please"))
  for (const words of [["ls"], ["ls", "--json"], ["show"], ["show", "--events"], ["show", "--json"]]) {
    expect((await trace(words)).out).not.toContain("abcdefghijklmnop")
    if (words.length > 1 || words[0] === "show") expect((await trace([...words, "--raw"])).out).toContain("sk-abcdefghijklmnop1234")
  }
})

it("an unknown id is refused with the nearest ones, an unclear one with what it may mean", async () => {
  await keep("order-7", SMALL_RUN)
  await keep("order-8", SMALL_RUN)
  await expect(trace(["show", "ordre-7"])).rejects.toMatchObject({
    name: "UsageError",
    message: `there is no run "ordre-7" in ${folder}`,
    hint: expect.stringMatching(/^nearest: order-7/),
  })
  await expect(trace(["show", "order"])).rejects.toMatchObject({ name: "UsageError", message: 'several runs begin with "order"', hint: "nearest: order-7, order-8" })
})

it("a damaged run is an error that names the file and the line", async () => {
  await keep("broken-1", short("x"))
  appendFileSync(join(folder, "broken-1", "000001.jsonl"), "not an event\n")
  await expect(trace(["show"])).rejects.toMatchObject({ code: "store_corrupt", message: expect.stringContaining("line 5 is not JSON") })
})
