// What every store must do, whatever it keeps its runs in. Called by one test file per store.
import { describe, expect, it } from "vitest"
import type { StoredEvent } from "../../src/contract/event.ts"
import type { Store } from "../../src/contract/ports.ts"
import { events, note } from "./sample-events.ts"

export interface StoreUnderTest {
  readonly store: Store
  /** A second store over the same runs, as another process would open it. */
  readonly other: Store
}

const quick = { durable: false }

export function storeContract(name: string, open: () => StoreUnderTest): void {
  describe(`the store contract, kept by ${name}`, () => {
    it("gives back what was appended, in order, from the first store and from a second one", async () => {
      const { store, other } = open()
      await store.append("r", 0, events(1, 3), quick)
      await store.append("r", 3, events(4, 4), { durable: true })
      expect(await store.read("r")).toEqual(events(1, 4))
      expect(await other.read("r")).toEqual(events(1, 4))
    })

    it("keeps every character: line breaks, quotes, other scripts, half surrogate pairs, an empty text", async () => {
      const { store, other } = open()
      const texts = ['a\nb\r\nc"\\', "订单 ١٢٣ 👩‍👩‍👧", "\ud800", "\u0000\u2028", ""]
      const written = texts.map((text, index) => note(index + 1, text))
      await store.append("r", 0, written, { durable: true })
      expect(await other.read("r")).toEqual(written)
    })

    it("reads only what comes after an event", async () => {
      const { store, other } = open()
      await store.append("r", 0, events(1, 5), quick)
      for (const reader of [store, other]) {
        expect(await reader.read("r", 0)).toEqual(events(1, 5))
        expect(await reader.read("r", 3)).toEqual(events(4, 5))
        expect(await reader.read("r", 5)).toEqual([])
        expect(await reader.read("r", 9)).toEqual([])
      }
    })

    it("has nothing to read of a run it does not know", async () => {
      const { store } = open()
      expect(await store.read("nobody")).toEqual([])
      expect(await store.list()).toEqual([])
    })

    it("refuses a writer who has not seen the last event, and keeps the log as it was", async () => {
      const { store, other } = open()
      await store.append("r", 0, events(1, 3), quick)
      for (const writer of [store, other]) {
        await expect(async () => writer.append("r", 2, [note(3, "late")], quick)).rejects.toMatchObject({ code: "stale_writer" })
        await expect(async () => writer.append("r", 0, [note(1, "late")], quick)).rejects.toMatchObject({ code: "stale_writer" })
        await expect(async () => writer.append("r", 7, [note(8, "early")], quick)).rejects.toMatchObject({ code: "stale_writer" })
      }
      expect(await store.read("r")).toEqual(events(1, 3))
      await store.append("r", 3, events(4, 4), quick)
      expect(await store.read("r")).toEqual(events(1, 4))
    })

    it("refuses events that are not numbered from where the log stands", async () => {
      const { store } = open()
      await expect(async () => store.append("r", 0, events(2, 3), quick)).rejects.toMatchObject({ code: "store_failed" })
      await expect(async () => store.append("r", 0, [note(1, "a"), note(3, "b")], quick)).rejects.toMatchObject({ code: "store_failed" })
      expect(await store.read("r")).toEqual([])
    })

    it("lets exactly one of many writers at once win", async () => {
      const { store, other } = open()
      await store.append("r", 0, events(1, 2), { durable: true })
      const attempts = Array.from({ length: 8 }, (_, index) => (index % 2 === 0 ? store : other))
      const results = await Promise.allSettled(attempts.map(async (writer, index) => writer.append("r", 2, [note(3, `writer ${index}`)], { durable: index % 3 === 0 })))
      const winners = results.flatMap((result, index) => (result.status === "fulfilled" ? [index] : []))
      expect(winners).toHaveLength(1)
      for (const result of results) if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "stale_writer" })
      expect(await store.read("r", 2)).toEqual([note(3, `writer ${winners[0]}`)])
    })

    it("lets exactly one of two starts of the same run win", async () => {
      const { store, other } = open()
      const results = await Promise.allSettled([store, other].map(async (writer, index) => writer.append("r", 0, [note(1, `start ${index}`)], { durable: true })))
      expect(results.map((result) => result.status).sort()).toEqual(["fulfilled", "rejected"])
      expect(await other.read("r")).toHaveLength(1)
    })

    it("lets two writers take turns when each reads before it writes", async () => {
      const { store, other } = open()
      for (let seq = 1; seq <= 10; seq++) {
        const writer = seq % 2 === 0 ? store : other
        await writer.append("r", seq - 1, [note(seq, `by ${seq % 2}`)], { durable: seq % 3 === 0 })
      }
      const seen = await store.read("r")
      expect(seen.map((event) => event.seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
      expect(await other.read("r", 4)).toEqual(seen.slice(4))
    })

    it("keeps runs apart", async () => {
      const { store } = open()
      await Promise.all(["a", "A", "b"].map(async (runId) => store.append(runId, 0, [note(1, runId)], { durable: true })))
      for (const runId of ["a", "A", "b"]) expect(await store.read(runId)).toEqual([note(1, runId)])
    })

    it("goes on after an end and after a pause", async () => {
      const { store, other } = open()
      const pause: StoredEvent = { v: 1, seq: 2, at: 2, type: "run_pause", waiting: [{ id: "c1", reason: "approval", question: "", arguments: null, expiresAt: null }] }
      const end: StoredEvent = { v: 1, seq: 4, at: 4, type: "run_end", stop: { reason: "final", code: "final", message: "", hint: "" }, answer: "done" }
      await store.append("r", 0, [note(1, "a"), pause], { durable: true })
      await store.append("r", 2, [note(3, "b"), end], { durable: true })
      await store.append("r", 4, [note(5, "c")], { durable: true })
      expect(await other.read("r")).toEqual([note(1, "a"), pause, note(3, "b"), end, note(5, "c")])
    })

    it("lists runs with the times of their first and last event, newest start first", async () => {
      const { store, other } = open()
      await store.append("middle", 0, [note(1, "", 2_000)], quick)
      await store.append("oldest", 0, [note(1, "", 1_000)], quick)
      await store.append("newest", 0, [note(1, "", 3_000), note(2, "", 3_500)], quick)
      await other.append("oldest", 1, [note(2, "x".repeat(20_000), 9_000)], quick)
      const expected = [
        { runId: "newest", startedAt: 3_000, updatedAt: 3_500 },
        { runId: "middle", startedAt: 2_000, updatedAt: 2_000 },
        { runId: "oldest", startedAt: 1_000, updatedAt: 9_000 },
      ]
      expect(await store.list()).toEqual(expected)
      expect(await other.list()).toEqual(expected)
    })
  })
}
