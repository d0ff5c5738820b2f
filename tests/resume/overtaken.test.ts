import { expect, test } from "vitest"
import type { Store } from "../../src/contract/ports.ts"
import { memoryStore } from "../../src/doors/stores.ts"
import { startRun } from "../../src/interface/runner.ts"
import { outside, scenario, stillClock, toTheEnd } from "../support/resume-law.ts"

/** Whoever resumes finds that the old writer, who is still alive, was faster by one event. */
function overtaken(store: Store, event: Parameters<Store["append"]>[2][number]): Store {
  let raced = false
  return {
    ...store,
    async append(runId, expectedSeq, events, options) {
      if (events[0]?.type === "run_resume" && !raced) {
        raced = true
        await store.append(runId, expectedSeq, [event], options)
      }
      await store.append(runId, expectedSeq, events, options)
    },
  }
}

test("a resume that the old writer was faster than is written all the same: without it in the log that writer would never know", async () => {
  const world = outside()
  const whole = memoryStore()
  const options = { store: whole, runId: "law" }
  await toTheEnd(whole, world, await startRun(scenario(world), "go", { options, clock: stillClock, owned: false }).result)
  const events = structuredClone(await whole.read("law"))
  const next = events.findLastIndex(({ type }) => type === "tool_start") + 1
  const end = events[next]
  if (end?.type !== "tool_end") throw new Error("the last calls do not end after they started")

  const store = memoryStore()
  await store.append("law", 0, events.slice(0, next), { durable: true })
  const { result } = await toTheEnd(overtaken(store, end), world, null)
  expect(result).toMatchObject({ ok: true, answer: "All done." })
  expect((await store.read("law", next)).slice(0, 2).map(({ type }) => type)).toEqual(["tool_end", "run_resume"])
})
