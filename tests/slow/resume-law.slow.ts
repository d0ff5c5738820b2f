// The resume law where it counts: a process that dies by SIGKILL after event n, and a fresh one that finds nothing but the disk.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { lawProgram, live } from "../support/law-program.ts"
import type { LifeOrder, LifeReport } from "../support/law-life.ts"

/** Processes side by side. */
const LANES = 2

const folder = mkdtempSync(join(tmpdir(), "resume-law-"))
let program = ""
beforeAll(() => {
  program = lawProgram(folder)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

type Disk = Pick<LifeOrder, "store" | "power">

/** Killed when its log had `cut` events, then taken up by another process, which lives. */
async function killedAt(cut: number, disk: Disk): Promise<LifeReport | null> {
  const place = join(folder, `${disk.store}-${disk.power ? "power" : "kill"}-${cut}`)
  const { signal } = await live(program, { ...disk, folder: place, cut })
  expect({ cut, signal }).toEqual({ cut, signal: "SIGKILL" })
  const { report } = await live(program, { ...disk, folder: place, cut: null })
  rmSync(place, { recursive: true })
  return report
}

test.each<[string, Disk]>([
  ["a process killed over files", { store: "files", power: false }],
  ["a process killed over SQLite", { store: "sqlite", power: false }],
  ["a machine that loses its power, and with it all bytes and names that files have not synced", { store: "files", power: true }],
])("%s after every single event: the run comes to the same end, and every effect is there once", async (name, disk) => {
  const { report: whole } = await live(program, { ...disk, folder: join(folder, `${name}-whole`), cut: null })
  if (whole === null) throw new Error("the run does not come to its end undisturbed")
  expect(whole).toMatchObject({
    result: { status: "final", answer: "All done." },
    asked: [],
    effects: expect.arrayContaining([
      ["law:c4", 1],
      ["law:c6", 1],
    ]),
  })
  expect(whole.events).toBeGreaterThan(35)
  const cuts = Array.from({ length: whole.events - 1 }, (_, index) => index + 1)
  const lane = async (): Promise<void> => {
    for (let cut = cuts.shift(); cut !== undefined; cut = cuts.shift()) {
      const report = await killedAt(cut, disk)
      expect({ cut, result: report?.result }).toEqual({ cut, result: whole.result })
      expect({ cut, keys: report?.effects.map(([key]) => key).sort() }).toEqual({ cut, keys: whole.effects.map(([key]) => key).sort() })
      // An idempotent note may reach its tool again under its key. A payment may not: the person who is asked looks first.
      const payments = report?.effects.filter(([key]) => key === "law:c4" || key === "law:c6")
      expect({ cut, twice: payments?.filter(([, times]) => times !== 1) }).toEqual({ cut, twice: [] })
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
})
