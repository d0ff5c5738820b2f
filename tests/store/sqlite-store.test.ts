import { execFile, spawn, spawnSync } from "node:child_process"
import { chmodSync, closeSync, copyFileSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { promisify } from "node:util"
import { DatabaseSync } from "@photostructure/sqlite"
import { afterEach, describe, expect, it } from "vitest"
import type { SqliteStore } from "../../src/doors/sqlite.ts"
import { sqliteStore } from "../../src/doors/sqlite.ts"
import { events, note } from "./sample-events.ts"
import { storeContract } from "./store-contract.ts"

const folders: string[] = []
const stores: SqliteStore[] = []
function newPath(): string {
  const folder = mkdtempSync(join(tmpdir(), "hello-agents-sqlite-"))
  folders.push(folder)
  return join(folder, "runs.db")
}
function open(path: string): SqliteStore {
  const store = sqliteStore(path)
  stores.push(store)
  return store
}
afterEach(() => {
  for (const store of stores.splice(0)) store.close()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

const durable = { durable: true }
const quick = { durable: false }

storeContract("SQLite", () => {
  const path = newPath()
  return { store: open(path), other: open(path) }
})

/** What a second program sees in the file. */
function inFile(path: string, sql: string): unknown {
  const database = new DatabaseSync(path)
  try {
    return database.prepare(sql).all()
  } finally {
    database.close()
  }
}

function change(path: string, sql: string): void {
  const database = new DatabaseSync(path)
  database.exec(sql)
  database.close()
}

describe("the SQLite file", () => {
  it("is not there before the first write, and then only its owner can read it", async () => {
    const path = join(newPath(), "..", "made", "here.db")
    const store = open(path)
    expect([await store.read("r"), await store.list()]).toEqual([[], []])
    expect(existsSync(path)).toBe(false)
    await store.append("r", 0, events(1, 1), durable)
    expect([path, `${path}-wal`, `${path}-shm`].map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600, 0o600])
    expect(statSync(join(path, "..")).mode & 0o777).toBe(0o700)
  })

  it("holds one row of JSON per event, in WAL mode, with the version of each event and of the tables", async () => {
    const path = newPath()
    await open(path).append("run-1", 0, events(1, 2), durable)
    expect(inFile(path, "SELECT event FROM events ORDER BY key")).toEqual([
      { event: '{"v":1,"seq":1,"at":1001,"type":"run_abort","reason":"event 1"}' },
      { event: '{"v":1,"seq":2,"at":1002,"type":"run_abort","reason":"event 2"}' },
    ])
    expect(inFile(path, "SELECT journal_mode, user_version FROM pragma_journal_mode, pragma_user_version")).toEqual([{ journal_mode: "wal", user_version: 1 }])
  })

  it("takes any run id that files take, and refuses the same ones", async () => {
    const store = open(newPath())
    const ids = ["../up", "a/b", "订单 7", "nul\u0000l", "x' OR 1=1 --", "a".repeat(200)]
    for (const runId of ids) await store.append(runId, 0, [note(1, runId)], quick)
    for (const runId of ids) expect(await store.read(runId)).toEqual([note(1, runId)])
    expect((await store.list()).map(({ runId }) => runId).sort()).toEqual([...ids].sort())
    for (const runId of ["", "x".repeat(201), "\ud800"]) {
      await expect(store.append(runId, 0, [note(1, "")], quick)).rejects.toMatchObject({ code: "input_invalid" })
      await expect(store.read(runId)).rejects.toMatchObject({ code: "input_invalid" })
      await expect(store.remove(runId)).rejects.toMatchObject({ code: "input_invalid" })
    }
  })

  it("keeps nothing of a removed run, not even on its free pages, and refuses its writer", async () => {
    const path = newPath()
    const store = open(path)
    await store.append("r", 0, [note(1, `secret-${"word".repeat(3_000)}`)], durable)
    await store.append("stays", 0, events(1, 2), durable)
    await open(path).remove("r")
    await store.remove("never there")
    const bytes = [path, `${path}-wal`].map((file) => readFileSync(file, "latin1")).join("")
    expect(bytes).not.toContain("secret-word")
    expect(bytes).not.toContain("wordword")
    await expect(store.append("r", 1, events(2, 2), durable)).rejects.toMatchObject({ code: "stale_writer" })
    expect((await store.list()).map(({ runId }) => runId)).toEqual(["stays"])
    expect(await store.read("stays")).toEqual(events(1, 2))
  })

  it("is opened again after close", async () => {
    const store = open(newPath())
    await store.append("r", 0, events(1, 1), durable)
    store.close()
    expect(statSync(`${store.path}-wal`, { throwIfNoEntry: false })?.size ?? 0).toBe(0)
    await store.append("r", 1, events(2, 2), quick)
    store.close()
    store.close()
    expect(await store.read("r")).toEqual(events(1, 2))
  })

  it("that two make at the same moment is made once", async () => {
    const path = newPath()
    const faster = open(path)
    let raced: unknown = null
    const load = (): unknown => ({
      DatabaseSync: class extends DatabaseSync {
        override exec(sql: string): void {
          // Between the look at the empty file and the lock.
          if (sql.startsWith("BEGIN")) raced ??= faster.append("first", 0, events(1, 1), durable)
          super.exec(sql)
        }
      },
    })
    const slower = sqliteStore(path, { load })
    stores.push(slower)
    await slower.append("second", 0, events(1, 1), durable)
    await raced
    expect((await slower.list()).map(({ runId }) => runId)).toEqual(["first", "second"])
  })

  it("of another program is refused and left as it was", async () => {
    const path = newPath()
    change(path, "CREATE TABLE customers (name TEXT)")
    const before = readFileSync(path)
    const refusal = { code: "store_failed", message: `${path} is the SQLite file of another program; it was left as it is.`, hint: "Choose another path for the runs." }
    await expect(open(path).append("r", 0, events(1, 1), durable)).rejects.toMatchObject(refusal)
    await expect(open(path).list()).rejects.toMatchObject(refusal)
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  it("of a later version, or with an event of one, is refused with what to do", async () => {
    const path = newPath()
    await open(path).append("r", 0, events(1, 2), durable)
    change(path, `UPDATE events SET event = replace(event, '"v":1', '"v":2') WHERE key & 255 = 2`)
    await expect(open(path).read("r")).rejects.toMatchObject({ code: "log_too_new", hint: expect.stringContaining("npm install hello-agents@latest") })
    change(path, "PRAGMA user_version = 2")
    await expect(open(path).append("r", 2, events(3, 3), durable)).rejects.toMatchObject({ code: "log_too_new", message: expect.stringContaining(path) })
  })
})

describe("SQLite that is not there", () => {
  const missing = (): never => {
    throw Object.assign(new Error("Cannot find module '@photostructure/sqlite'"), { code: "MODULE_NOT_FOUND" })
  }

  it("is an error at once, with the command that installs it", () => {
    expect(() => sqliteStore(newPath(), { load: missing })).toThrow(
      expect.objectContaining({ code: "config_invalid", message: expect.stringContaining("@photostructure/sqlite is not installed"), hint: "npm install @photostructure/sqlite" }),
    )
    expect(() => sqliteStore(newPath(), { load: () => ({ default: {} }) })).toThrow(expect.objectContaining({ code: "config_invalid" }))
  })

  it("can be handed in", async () => {
    const store = sqliteStore(newPath(), { load: () => ({ DatabaseSync }) })
    stores.push(store)
    await store.append("r", 0, events(1, 1), durable)
    expect(await store.read("r")).toEqual(events(1, 1))
  })
})

describe("a damaged SQLite file", () => {
  async function written(): Promise<string> {
    const path = newPath()
    const store = sqliteStore(path)
    for (let seq = 1; seq <= 40; seq++) await store.append("r", seq - 1, [note(seq, "x".repeat(2_000))], durable)
    store.close()
    return path
  }
  const refusal = (path: string): object => ({ code: "store_corrupt", message: expect.stringContaining(`${path} is damaged: `), hint: expect.stringContaining("backup") })

  it("cut off in the middle is refused", async () => {
    const path = await written()
    truncateSync(path, statSync(path).size / 2)
    await expect(open(path).read("r")).rejects.toMatchObject(refusal(path))
  })

  it("whose beginning is something else is refused, and not overwritten", async () => {
    const path = newPath()
    writeFileSync(path, "not a database ".repeat(500))
    const before = readFileSync(path)
    await expect(open(path).append("r", 0, events(1, 1), durable)).rejects.toMatchObject(refusal(path))
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  it("with pages of zeros in the middle is refused", async () => {
    const path = await written()
    const file = openSync(path, "r+")
    writeSync(file, Buffer.alloc(statSync(path).size - 4096), 0, undefined, 4096)
    closeSync(file)
    await expect(open(path).read("r")).rejects.toMatchObject(refusal(path))
  })

  it("with a row missing, or one that is no event, is refused and says which", async () => {
    const path = await written()
    change(path, "UPDATE events SET event = '{' WHERE key & 255 = 7")
    await expect(open(path).read("r")).rejects.toMatchObject({ code: "store_corrupt", message: `${path}, run "r" is damaged: line 7 is not JSON.` })
    change(path, "DELETE FROM events WHERE key & 255 = 7")
    await expect(open(path).read("r")).rejects.toMatchObject({ code: "store_corrupt", message: `${path}, run "r" is damaged: it has event 8 where 7 is due.` })
    expect(await open(path).read("r", 38)).toHaveLength(2)
  })

  it("whose write-ahead log is torn loses what was not acknowledged, and goes on", async () => {
    const path = newPath()
    const store = open(path)
    await store.append("r", 0, events(1, 2), durable)
    const whole = statSync(`${path}-wal`).size
    await store.append("r", 2, events(3, 3), durable)
    const copy = newPath()
    for (const end of ["", "-wal"]) copyFileSync(path + end, copy + end)
    truncateSync(`${copy}-wal`, whole + 100)
    expect(await open(copy).read("r")).toEqual(events(1, 2))
    await open(copy).append("r", 2, [note(3, "again")], durable)
    expect(await open(copy).read("r", 2)).toEqual([note(3, "again")])
  })

  it("a full disk (here a limit of the file's pages) loses nothing, keeps no half of what was refused, and can go on later", async () => {
    const path = newPath()
    let limit = (): void => {}
    const load = (): unknown => ({
      DatabaseSync: class extends DatabaseSync {
        constructor(file: string) {
          super(file)
          limit = () => this.exec("PRAGMA max_page_count = 12")
        }
      },
    })
    const store = sqliteStore(path, { load })
    stores.push(store)
    await store.append("r", 0, events(1, 1), durable)
    limit()
    const full = { code: "store_failed", message: expect.stringContaining("full"), hint: "The disk is full: free some space, then resume the run." }
    await expect(store.append("r", 1, [note(2, "b"), note(3, "x".repeat(100_000))], durable)).rejects.toMatchObject(full)
    expect(await store.read("r")).toEqual(events(1, 1))
    await store.append("r", 1, [note(2, "c")], durable)
    expect(await open(path).read("r")).toEqual([note(1, "event 1"), note(2, "c")])
  })
})

/** A script in a process of its own, with `store` over the file. */
function scriptOver(path: string, script: string): string[] {
  return [
    "--input-type=module",
    "-e",
    `import { createJiti } from ${JSON.stringify(import.meta.resolve("jiti"))}
     const { sqliteStore } = await createJiti(${JSON.stringify(import.meta.url)}, { fsCache: false }).import("../../src/doors/sqlite.ts")
     const store = sqliteStore(${JSON.stringify(path)})
     const event = (seq, reason) => ({ v: 1, seq, at: seq, type: "run_abort", reason })
     const tried = async (work) => { try { await work(); return "done" } catch (error) { return { code: error.code, message: error.message, hint: error.hint } } }
     ${script}`,
  ]
}

describe("several processes over one SQLite file", () => {
  it("that write one run at once never lose an acknowledged event, never double one, and never keep a refused one", async () => {
    const path = newPath()
    const script = scriptOver(
      path,
      `const results = []
       await store.append("ready-" + process.pid, 0, [event(1, "")], { durable: false })
       while ((await store.list()).filter(({ runId }) => runId.startsWith("ready-")).length < 3) await new Promise(setImmediate)
       for (let turn = 0; turn < 20; turn++) {
         const seq = (await store.read("r")).length
         await new Promise(setImmediate)
         for (let more = 0; more < 3; more++) {
           const reason = process.pid + "-" + turn + "-" + more
           const result = await tried(() => store.append("r", seq + more, [event(seq + more + 1, reason)], { durable: turn % 2 === 0 }))
           results.push([reason, result.code ?? result])
           if (result !== "done") break
         }
       }
       console.log(JSON.stringify(results))`,
    )
    const outputs = await Promise.all([1, 2, 3].map(() => promisify(execFile)(process.execPath, script)))
    const results: [string, string][] = outputs.flatMap(({ stdout }) => JSON.parse(stdout))
    const kept = await open(path).read("r")
    const reasons = kept.map((event) => (event.type === "run_abort" ? event.reason : ""))
    // whether they meet is chance; whatever they were told must be true
    expect(results.filter(([, result]) => result !== "done" && result !== "stale_writer")).toEqual([])
    expect(kept.length).toBeGreaterThanOrEqual(10)
    expect(reasons.toSorted()).toEqual(results.flatMap(([reason, result]) => (result === "done" ? [reason] : [])).toSorted())
  }, 60_000)

  it("one of them killed while it writes: nothing that was acknowledged is lost, and the next goes on", async () => {
    const path = newPath()
    let acknowledged = 0
    for (const killAfter of [1, 20]) {
      const script = scriptOver(
        path,
        `import { writeSync } from "node:fs"
         let seq = (await store.read("r")).length
         for (;;) {
           const batch = [1, 2, 3].map((step) => event(seq + step, "x".repeat((seq * 977) % 9000)))
           await store.append("r", seq, batch, { durable: seq % 2 === 0 })
           seq += 3
           writeSync(1, seq + "\\n")
         }`,
      )
      const child = spawn(process.execPath, script, { stdio: ["ignore", "pipe", "inherit"] })
      let answers = 0
      for await (const line of createInterface({ input: child.stdout })) {
        acknowledged = Number(line)
        if (++answers === killAfter) child.kill("SIGKILL")
      }
      const kept = await open(path).read("r")
      expect(kept.length).toBeGreaterThanOrEqual(acknowledged)
      expect(kept.length % 3).toBe(0)
      acknowledged = kept.length
    }
  }, 60_000)

  it("one that may not read the file is told so", async () => {
    const path = newPath()
    await open(path).append("r", 0, events(1, 1), durable)
    chmodSync(join(path, ".."), 0o755)
    // Root may read anywhere, so the attempt is made as another user; anybody else has taken the right from themselves.
    const root = process.getuid?.() === 0
    if (!root) chmodSync(path, 0o000)
    const script = scriptOver(path, 'console.log(JSON.stringify(await tried(() => store.read("r"))))')
    const child = spawnSync(process.execPath, script, { encoding: "utf8", ...(root && { uid: 65_534, gid: 65_534 }) })
    expect(JSON.parse(child.stdout || JSON.stringify(child.stderr))).toMatchObject({
      code: "store_failed",
      message: expect.stringContaining("EACCES"),
      hint: "This user may not write or read there: give it the folder, or choose another one.",
    })
  })
})
