import { appendFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import type { FoldedEvent, StoredEvent } from "../../src/contract/event.ts"
import { fileStore } from "../../src/doors/stores.ts"
import { runEnd, runStart, toolOk, turnEnd } from "../trace/sample-run.ts"
import { traceProgram } from "./trace-program.ts"

const HOUR = 3_600_000
const DAY = 24 * HOUR

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hello-agents-rm-"))
})
afterEach(() => {
  process.exitCode = undefined
  rmSync(folder, { recursive: true, force: true })
})

const rm = (...words: string[]): Promise<{ out: string; err: string }> => traceProgram(folder, ["rm", ...words])

/** Writes a run that ended `age` ms ago. */
async function keep(runId: string, run: { age?: number; context?: object; thread?: string; more?: readonly FoldedEvent[] } = {}): Promise<void> {
  const start = { ...runStart("helper", "hello"), context: run.context ?? {}, ...(run.thread !== undefined && { thread: run.thread }) } as FoldedEvent
  const at = Date.now() - (run.age ?? 0)
  const events = [start, ...(run.more ?? []), runEnd("final", "yes")].map((event, index): StoredEvent => ({ v: 1, seq: index + 1, at, ...event }))
  await fileStore(folder).append(runId, 0, events, { durable: false })
}

async function keepThread(id: string, runs: readonly string[]): Promise<void> {
  const entries = runs.map((runId, index): StoredEvent => ({ v: 1, seq: index + 1, at: Date.now() - 90 * DAY, type: "thread_run", runId }))
  await fileStore(folder).append(`thread~${id}`, 0, entries, { durable: false })
}

const left = async (): Promise<readonly string[]> => (await fileStore(folder).list()).map(({ runId }) => runId).sort()

it("deletes the runs that are named, with everything of them, and says which", async () => {
  for (const runId of ["a", "b", "c"]) await keep(runId)
  expect(await rm("a", "c", "a")).toEqual({ out: "a\nc\n", err: "deleted: 2\n" })
  expect(readdirSync(folder)).toEqual(["b"])
})

it("wants whole ids, and deletes nothing when one of them is not there", async () => {
  for (const runId of ["order-7", "order-8"]) await keep(runId)
  const refusal = { name: "UsageError", message: `there is no run "order" in ${folder}`, hint: expect.stringContaining("order-7") }
  await expect(rm("order-8", "order")).rejects.toMatchObject(refusal)
  expect(await left()).toEqual(["order-7", "order-8"])
})

it("deletes a damaged run by its id", async () => {
  await keep("broken-1")
  appendFileSync(join(folder, "broken-1", "000001.jsonl"), "not an event\n")
  expect((await rm("broken-1")).out).toBe("broken-1\n")
  expect(await left()).toEqual([])
})

it("--older-than keeps what had an event since then, damaged or not", async () => {
  await keep("fresh", { age: HOUR })
  await keep("near", { age: 30 * DAY - HOUR })
  await keep("old", { age: 30 * DAY + HOUR })
  await keep("oldest", { age: 300 * DAY })
  expect(await rm("--older-than", "30d", "--dry-run")).toEqual({ out: "old\noldest\n", err: "would be deleted: 2\n" })
  expect(await left()).toEqual(["fresh", "near", "old", "oldest"])
  expect(await rm("--older-than", "30d", "--json")).toEqual({ out: '[\n  "old",\n  "oldest"\n]\n', err: "deleted: 2\n" })
  expect(await left()).toEqual(["fresh", "near"])
  expect(await rm("--older-than", "90m")).toEqual({ out: "near\n", err: "deleted: 1\n" })
})

it("--context deletes all runs of one person: whose context had the value at any time, and copies of these", async () => {
  const set = (user: string): FoldedEvent =>
    ({ ...toolOk("c1", "login", "ok"), outcome: { type: "ok", text: "ok", context: { set: { user }, removed: [] }, handoff: null } }) as FoldedEvent
  await keep("start", { context: { user: "anna" } })
  await keep("later", { context: { user: "" }, more: [turnEnd(1, { user: "anna" }), turnEnd(2, { user: "bert" })] })
  await keep("in-a-turn", { more: [set("anna")] })
  await keep("copy", { context: { user: "anna" }, more: [{ type: "run_fork", runId: "copy", from: { runId: "start", seq: 1 } }] })
  await keep("number", { context: { user: 7 } })
  await keep("other", { context: { user: "annalena", friend: "anna" } })
  expect((await rm("--context", "user=anna")).out.trim().split("\n").sort()).toEqual(["copy", "in-a-turn", "later", "start"])
  expect((await rm("--context", "user=7")).out).toBe("number\n")
  expect(await left()).toEqual(["other"])
})

it("--thread deletes the runs of a conversation, or of all that begin so, and the conversations themselves", async () => {
  await keep("a1", { thread: "anna-1" })
  await keep("a2", { thread: "anna-1" })
  await keep("a3", { thread: "anna-2" })
  await keep("b1", { thread: "bert-1" })
  await keep("alone")
  await keepThread("anna-1", ["a1", "a2"])
  await keepThread("anna-2", ["a3"])
  await keepThread("bert-1", ["gone", "b1"])
  expect((await rm("--thread", "anna")).err).toBe("deleted: 0\n")
  expect((await rm("--thread", "anna-2")).out).toBe("a3\n")
  expect((await rm("--thread", "anna-*")).out.trim().split("\n").sort()).toEqual(["a1", "a2"])
  expect(await left()).toEqual(["alone", "b1", "thread~bert-1"])
})

it("a conversation lives as long as one of its runs, however old its list is", async () => {
  await keep("first", { thread: "t", age: 80 * DAY })
  await keep("second", { thread: "t", age: DAY })
  await keepThread("t", ["first", "second"])
  expect((await rm("--older-than", "30d")).out).toBe("first\n")
  expect(await left()).toEqual(["second", "thread~t"])
})

it("takes several conditions together", async () => {
  await keep("old-anna", { age: 40 * DAY, context: { user: "anna" } })
  await keep("new-anna", { context: { user: "anna" } })
  await keep("old-bert", { age: 40 * DAY, context: { user: "bert" } })
  expect((await rm("--older-than", "4w", "--context", "user=anna")).out).toBe("old-anna\n")
  expect(await left()).toEqual(["new-anna", "old-bert"])
})

it("says aloud, and with its exit code, that a damaged run may belong to the person and was kept", async () => {
  await keep("good", { context: { user: "anna" } })
  await keep("broken-1", { context: { user: "anna" } })
  appendFileSync(join(folder, "broken-1", "000001.jsonl"), "not an event\n")
  const { out, err } = await rm("--context", "user=anna")
  expect(out).toBe("good\n")
  expect(err).toContain("kept broken-1, for it cannot be read")
  expect(process.exitCode).toBe(1)
})

it.each([
  [[], "nothing says which runs to delete"],
  [["a", "--older-than", "30d"], "give ids or conditions, not both"],
  [["--older-than", "30"], "--older-than must be a number with m, h, d or w, like 30d, not 30"],
  [["--older-than", "1.5d"], "--older-than must be a number with m, h, d or w, like 30d, not 1.5d"],
  [["--context", "anna"], "--context must be name=value, not anna"],
  [["--context", "=anna"], "--context must be name=value, not =anna"],
  [["--thread", "*"], "--thread must name a conversation, or the beginning of some: anna-*"],
])("refuses %j and deletes nothing", async (words, message) => {
  await keep("a", { age: 400 * DAY })
  await expect(rm(...words)).rejects.toMatchObject({ name: "UsageError", message })
  expect(await left()).toEqual(["a"])
})
