import { describe, expect, test } from "vitest"
import type { StoredEvent } from "../../src/contract/event.ts"
import type { Store } from "../../src/contract/ports.ts"
import { memoryStore } from "../../src/doors/stores.ts"
import { startRun } from "../../src/interface/runner.ts"
import type { LawResult, Outside } from "../support/resume-law.ts"
import { outside, PowerCut, scenario, stillClock, toTheEnd } from "../support/resume-law.ts"

/** Keeps `left` events, then fails, as a machine that loses its power in the middle of a batch. */
function dyingStore(left: number): { store: Store; kept: StoredEvent[] } {
  const kept: StoredEvent[] = []
  return {
    kept,
    store: {
      kind: "dying",
      async append(_runId, _seq, events) {
        kept.push(...events.slice(0, Math.max(0, left - kept.length)).map((event) => structuredClone(event)))
        if (kept.length >= left) throw new PowerCut()
      },
      read: async (_runId, afterSeq = 0) => kept.filter(({ seq }) => seq > afterSeq),
      list: async () => [],
    },
  }
}

async function copyInto(store: Store, events: readonly StoredEvent[]): Promise<Store> {
  await store.append("law", 0, events, { durable: true })
  return store
}

async function straight(): Promise<{ result: LawResult; events: readonly StoredEvent[]; effects: Map<string, number> }> {
  const world = outside()
  const store = memoryStore()
  const first = await startRun(scenario(world), "go", { options: { store, runId: "law" }, clock: stillClock, owned: false }).result
  const { result } = await toTheEnd(store, world, first)
  return { result, events: await store.read("law"), effects: world.effects }
}

describe("the resume law", () => {
  test("the scenario has what it promises", async () => {
    const { result, events, effects } = await straight()
    expect(result).toMatchObject({ ok: true, answer: "All done.", context: { notes: "d" } })
    const types = new Set(events.map(({ type }) => type))
    for (const type of ["run_pause", "answer_given", "history_edit", "turn_end", "run_end"] as const) expect(types).toContain(type)
    expect(events.some((event) => event.type === "tool_start" && event.attempt === 2)).toBe(true)
    expect(events.some((event) => event.type === "tool_end" && event.outcome.type === "failed")).toBe(true)
    expect([...effects.values()]).toEqual([1, 1, 1, 1])
  })

  test("cut after every single event and resumed, a run comes to the same end and no effect happens twice unasked", async () => {
    const whole = await straight()
    const firstPart = whole.events.findIndex(({ type }) => type === "run_pause") + 1
    expect(firstPart).toBeGreaterThan(20)
    for (let cut = 1; cut < firstPart; cut++) {
      const world = outside()
      const dying = dyingStore(cut)
      await expect(startRun(scenario(world), "go", { options: { store: dying.store, runId: "law" }, clock: stillClock, owned: false }).result).rejects.toThrow("power")
      const store = await copyInto(memoryStore(), dying.kept)
      const { result, asked } = await toTheEnd(store, world, null)
      compare(result, whole.result, `cut at ${cut}`)
      checkEffects(world, whole.effects, { asked, where: `cut at ${cut}` })
    }
  })

  test("cut after every event of the part after the approval", async () => {
    const whole = await straight()
    const pause = whole.events.findIndex(({ type }) => type === "run_pause") + 1
    for (let cut = pause + 1; cut < whole.events.length; cut++) {
      const world = outside()
      // everything up to the cut happened in this world
      for (const event of whole.events.slice(0, cut))
        if (event.type === "tool_end" && event.outcome.type === "ok" && event.tool !== "look") world.effects.set(`law:${event.callId}`, 1)
      world.attempts = 1
      const store = await copyInto(memoryStore(), structuredClone(whole.events.slice(0, cut)))
      const { result, asked } = await toTheEnd(store, world, null)
      compare(result, whole.result, `cut at ${cut}`)
      checkEffects(world, whole.effects, { asked, where: `cut at ${cut}` })
    }
  })
})

/** Retries count anew after a crash, so the text of a failing call may differ in nothing but that. */
function compare(result: LawResult, whole: LawResult, where: string): void {
  expect({ where, status: result.status, answer: result.answer, context: result.context, messages: result.messages }).toEqual({
    where,
    status: whole.status,
    answer: whole.answer,
    context: whole.context,
    messages: whole.messages,
  })
}

function checkEffects(world: Outside, whole: Map<string, number>, { asked, where }: { asked: readonly string[]; where: string }): void {
  expect({ where, keys: [...world.effects.keys()].sort() }).toEqual({ where, keys: [...whole.keys()].sort() })
  for (const [key, times] of world.effects) {
    // a call that is idempotent may reach its tool twice under one key, which takes effect once there; one that is not may only be repeated when asked
    const payment = key === "law:c4" || key === "law:c6"
    if (payment && !asked.includes(key)) expect({ where, key, times }).toEqual({ where, key, times: 1 })
  }
}
