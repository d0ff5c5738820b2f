// Disks and clocks that misbehave under a whole run. What a store alone must do with torn lines, half-written files and foreign rights
// stands in tests/store; a power cut at every event in resume-law.slow.ts.
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { Store } from "../../src/contract/ports.ts"
import { foldEvents } from "../../src/doors/runs.ts"
import type { SqliteStore } from "../../src/doors/sqlite.ts"
import { sqliteStore } from "../../src/doors/sqlite.ts"
import type { FileStore } from "../../src/doors/stores.ts"
import { fileStore, memoryStore } from "../../src/doors/stores.ts"
import type { Answer, AnyAgent } from "../../src/index.ts"
import { agent, resume, run, tool } from "../../src/index.ts"
import { startRun } from "../../src/interface/runner.ts"
import { lawProgram, live } from "../support/law-program.ts"
import { outside, scenario, stillClock, toTheEnd } from "../support/resume-law.ts"

const MOUNT = "/bin/mount"
const UNMOUNT = "/bin/umount"

const folder = mkdtempSync(join(tmpdir(), "disk-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A small disk of its own: 4 MB that only root can mount. null: not here. */
function smallDisk(name: string): string | null {
  const path = join(folder, name)
  mkdirSync(path)
  if (spawnSync(MOUNT, ["-t", "tmpfs", "-o", "size=4m", "tmpfs", path]).status !== 0) return null
  afterAll(() => spawnSync(UNMOUNT, ["-l", path]))
  return path
}
const fullDisk = smallDisk("full")
const readOnlyDisk = smallDisk("read-only")

type Kind = readonly [name: "files" | "SQLite", open: (path: string) => FileStore | SqliteStore]
const KINDS: readonly Kind[] = [
  ["files", (path) => fileStore(path)],
  ["SQLite", (path) => sqliteStore(join(path, "runs.db"))],
]
/** Bytes for a part of the twelve payments: SQLite writes whole pages, first beside its file. */
const ROOM = { files: 60_000, SQLite: 400_000 }

/** Twelve payments one by one, each with a receipt of 8 KB. `paid`: what really happened, by key. */
function payer(paid: Map<string, number>): AnyAgent {
  const pay = tool({
    name: "pay",
    description: "pays",
    execute: (_: unknown, { idempotencyKey }) => {
      paid.set(idempotencyKey, (paid.get(idempotencyKey) ?? 0) + 1)
      return `paid ${paid.size} ${"x".repeat(8_000)}`
    },
    allowRepeats: true,
  })
  return agent({
    name: "payer",
    instructions: "",
    tools: [pay],
    limits: { turns: 20 },
    model: {
      name: "twelve-times",
      async *ask({ messages }) {
        const done = messages.filter(({ role }) => role === "tool").length
        const base = { reasoning: "", usage: null } as const
        yield {
          type: "reply",
          reply:
            done < 12
              ? { ...base, text: "", calls: [{ id: "x", name: "pay", arguments: JSON.stringify({}) }], finish: "tool_calls" }
              : { ...base, text: "All paid.", calls: [], finish: "stop" },
        }
      },
    },
  })
}

async function goOn(store: FileStore | SqliteStore, paid: Map<string, number>): Promise<{ answer: string; asked: number }> {
  let asked = 0
  let result = await resume(payer(paid), "r", { store })
  while (result.status === "waiting") {
    const answers = result.waiting.map((question): Answer => {
      const happened = question.reason === "unfinished" && paid.has(question.idempotencyKey)
      return happened ? { id: question.id, type: "happened", result: "paid" } : { id: question.id, type: "retry" }
    })
    asked += answers.length
    result = await resume(payer(paid), "r", { store, answers })
  }
  return { answer: result.answer, asked }
}

describe.skipIf(fullDisk === null).each(KINDS)("a disk under %s", (kind, open) => {
  const at = fullDisk ?? ""
  const path = join(at, kind)

  test("that is full stops the run with what to do; with space it goes on, and nothing is done twice", async () => {
    const paid = new Map<string, number>()
    const store = open(path)
    await store.append("another", 0, [{ v: 1, seq: 1, at: 1, type: "run_abort", reason: "made the files" }], { durable: true })
    const filler = join(at, "filler")
    const free = spawnSync("df", ["--output=avail", "-B1", at], { encoding: "utf8" }).stdout.trim().split("\n").at(-1)
    writeFileSync(filler, Buffer.alloc(Number(free) - ROOM[kind]))
    await expect(run(payer(paid), "pay twelve bills", { store, runId: "r" })).rejects.toMatchObject({
      code: "store_failed",
      hint: "The disk is full: free some space, then resume the run.",
    })
    expect(paid.size).toBeGreaterThan(0)
    expect(paid.size).toBeLessThan(12)
    rmSync(filler)
    const { answer, asked } = await goOn(open(path), paid)
    expect({ answer, times: [...paid.values()] }).toEqual({ answer: "All paid.", times: Array(12).fill(1) })
    expect(asked).toBeLessThanOrEqual(1)
    store.close()
    rmSync(path, { recursive: true })
  })
})

test.skipIf(readOnlyDisk === null)("a disk that becomes read-only refuses to go on, but can be read; once it can be written, the run goes on", async () => {
  const paid = new Map<string, number>()
  const at = readOnlyDisk ?? ""
  const store = fileStore(join(at, "runs"))
  await run(payer(paid), "pay twelve bills", { store, runId: "r", limits: { turns: 3 } })
  store.close()
  const before = await store.read("r")
  expect(spawnSync(MOUNT, ["-o", "remount,ro", at]).status).toBe(0)
  const refusal = { code: "store_failed", message: expect.stringContaining("EROFS"), hint: "That file system is read-only: choose another folder." }
  const refused = expect(resume(payer(paid), "r", { store, limits: { turns: 20 } })).rejects.toMatchObject(refusal)
  await refused.finally(() => spawnSync(MOUNT, ["-o", "remount,rw", at]))
  expect(await store.read("r")).toEqual(before)
  const result = await resume(payer(paid), "r", { store, limits: { turns: 20 } })
  expect({ answer: result.answer, times: [...paid.values()] }).toEqual({ answer: "All paid.", times: Array(12).fill(1) })
})

describe.each(["files", "sqlite"] as const)("two processes that take up one run at the same moment, over %s", (store) => {
  let program = ""
  const place = join(folder, `two-${store}`)
  beforeAll(() => {
    mkdirSync(place)
    program = lawProgram(place)
  })

  test.each([3, 12, 25])("after event %i: no payment is made twice, one of them has it or both leave it to a person", async (cut) => {
    const order = { folder: join(place, String(cut)), store, power: false }
    await live(program, { ...order, cut })
    const both = await Promise.all([live(program, { ...order, cut: null, shy: true }), live(program, { ...order, cut: null, shy: true })])
    for (const { report } of both) expect(["waiting", "final", undefined]).toContain(report?.result?.status)
    const { report } = await live(program, { ...order, cut: null })
    expect(report?.result).toMatchObject({ status: "final", answer: "All done." })
    expect(report?.effects.filter(([key]) => key === "law:c4" || key === "law:c6")).toEqual([
      ["law:c4", 1],
      ["law:c6", 1],
    ])
  })
})

test.each<[string, (path: string) => Store & { readonly close?: () => void }]>([...KINDS.map(([name, open]): [string, Kind[1]] => [name, open]), ["memory", memoryStore]])(
  "a clock that goes backwards, over %s: order is by number, working time never shrinks",
  async (kind, open) => {
    const store = open(join(folder, `clock-${kind}`))
    const world = outside()
    let now = 1_800_000_000_000
    let reads = 0
    // Two steps forward, a long one back: as a clock that is set again and again.
    const clock = { ...stillClock, now: () => (now += ++reads % 3 === 0 ? -3_600_000 : 40) }
    const first = await startRun(scenario(world), "go", { options: { store, runId: "law" }, clock, owned: false }).result
    const { result } = await toTheEnd(store, world, first)
    expect(result).toMatchObject({ ok: true, answer: "All done." })
    const events = structuredClone(await store.read("law"))
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
    expect(events.some((event, index) => event.at < (events[index - 1]?.at ?? 0))).toBe(true)
    const active = events.map((_, index) => foldEvents(structuredClone(events.slice(0, index + 1)))?.activeMs ?? Number.NaN)
    expect(active).toEqual(active.toSorted((left, right) => left - right))
    expect(active.at(-1)).toBeLessThan(60_000)
    expect((await store.list()).map(({ runId }) => runId)).toEqual(["law"])
    store.close?.()
  },
)
