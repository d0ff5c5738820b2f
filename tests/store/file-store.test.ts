import { execFile, spawn, spawnSync } from "node:child_process"
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { promisify } from "node:util"
import { afterEach, describe, expect, it } from "vitest"
import type { Outcome, StoredEvent } from "../../src/contract/event.ts"
import { fileStore } from "../../src/doors/stores.ts"
import { events, note } from "./sample-events.ts"
import { storeContract } from "./store-contract.ts"

const folders: string[] = []
function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "hello-agents-store-"))
  folders.push(folder)
  return folder
}
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

const durable = { durable: true }
const quick = { durable: false }
const firstLog = "000001.jsonl"

storeContract("files", () => {
  const folder = newFolder()
  return { store: fileStore(folder), other: fileStore(folder) }
})

describe("the files", () => {
  it("are one folder per run with one JSON line per event, which only their owner can read", async () => {
    const folder = join(newFolder(), "made", "here")
    const store = fileStore(folder)
    await store.append("run-1", 0, events(1, 2), durable)
    expect(readdirSync(folder)).toEqual(["run-1"])
    expect(readdirSync(join(folder, "run-1"))).toEqual([firstLog])
    expect(readFileSync(join(folder, "run-1", firstLog), "utf8")).toBe(
      '{"v":1,"seq":1,"at":1001,"type":"run_abort","reason":"event 1"}\n{"v":1,"seq":2,"at":1002,"type":"run_abort","reason":"event 2"}\n',
    )
    expect([folder, join(folder, "run-1"), join(folder, "run-1", firstLog)].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o700, 0o600])
  })

  it("take any run id as a name and never leave the folder", async () => {
    const folder = newFolder()
    const store = fileStore(join(folder, "runs"))
    const ids = ["../up", "..", ".", "a/b", "a\\b", "C:", "订单 7", "%2e%2e", "Con", "nul\u0000l", "-rf", "a".repeat(200)]
    for (const runId of ids) await store.append(runId, 0, [note(1, runId)], quick)
    expect(readdirSync(folder)).toEqual(["runs"])
    for (const runId of ids) expect(await store.read(runId)).toEqual([note(1, runId)])
    expect((await store.list()).map(({ runId }) => runId).sort()).toEqual([...ids].sort())
  })

  it("have names that no file system mixes up, not even one without capitals", async () => {
    const folder = newFolder()
    for (const runId of ["a", "A", "a.", "é"]) await fileStore(folder).append(runId, 0, [note(1, runId)], quick)
    expect(readdirSync(folder).sort()).toEqual(["%41", "%C3%A9", "a", "a%2E"])
  })

  it("refuse ids that cannot be a name", async () => {
    const store = fileStore(newFolder())
    for (const runId of ["", "x".repeat(201), "\ud800"]) {
      await expect(store.append(runId, 0, [note(1, "")], quick)).rejects.toMatchObject({ code: "input_invalid" })
      await expect(store.read(runId)).rejects.toMatchObject({ code: "input_invalid" })
      await expect(store.remove(runId)).rejects.toMatchObject({ code: "input_invalid" })
    }
  })

  it("put the large strings of an event of more than 256 KB beside the log, and read them back", async () => {
    const folder = newFolder()
    const large = `${"结果 ".repeat(60_000)}end`
    const outcome: Outcome = { type: "ok", text: "short", full: large, context: { set: { deep: [{ "a.b": large }], null: null }, removed: [] }, handoff: null }
    const written: StoredEvent[] = [note(1, "before"), { v: 1, seq: 2, at: 5, type: "tool_end", callId: "c1", tool: "t", outcome }, note(3, "after")]
    await fileStore(folder).append("r", 0, written, quick)
    expect(readdirSync(join(folder, "r"))).toEqual([firstLog, "blob-1-2-0.txt", "blob-1-2-1.txt"])
    expect(statSync(join(folder, "r", "blob-1-2-0.txt")).mode & 0o777).toBe(0o600)
    expect(statSync(join(folder, "r", firstLog)).size).toBeLessThan(1_000)
    expect(await fileStore(folder).read("r")).toEqual(written)
    rmSync(join(folder, "r", "blob-1-2-1.txt"))
    await expect(fileStore(folder).read("r")).rejects.toMatchObject({ code: "store_corrupt", message: expect.stringContaining("blob-1-2-1.txt") })
  })

  it("never let a log name a file of somebody else", async () => {
    const folder = newFolder()
    writeFileSync(join(folder, "secret"), "secret")
    mkdirSync(join(folder, "r"))
    writeFileSync(join(folder, "r", firstLog), `${JSON.stringify({ ...note(1, ""), blobs: [{ at: ["reason"], file: "../secret" }] })}\n`)
    await expect(fileStore(folder).read("r")).rejects.toMatchObject({ code: "store_corrupt", message: expect.stringContaining("../secret") })
  })

  it("are gone after remove, and a writer who did not notice is told", async () => {
    const folder = newFolder()
    const store = fileStore(folder)
    await store.append("r", 0, events(1, 2), durable)
    await fileStore(folder).remove("r")
    expect(readdirSync(folder)).toEqual([])
    await expect(store.append("r", 2, events(3, 3), durable)).rejects.toMatchObject({ code: "run_not_found" })
    await store.append("r", 0, [note(1, "anew")], durable)
    expect(await fileStore(folder).read("r")).toEqual([note(1, "anew")])
    await store.remove("r")
    await store.remove("never there")
    expect(await store.list()).toEqual([])
  })

  it("stay closed while nothing is written: five hundred runs at once need no more than 128 open files", async () => {
    const store = fileStore(newFolder())
    const openBefore = readdirSync("/proc/self/fd").length
    const runs = Array.from({ length: 500 }, (_, index) => `run-${index}`)
    for (const seq of [1, 2, 3]) for (const runId of runs) await store.append(runId, seq - 1, events(seq, seq), quick)
    expect(readdirSync("/proc/self/fd").length - openBefore).toBeLessThanOrEqual(130)
    expect(await store.read("run-499")).toEqual(events(1, 3))
    expect(readdirSync(join(store.folder, "run-0"))).toEqual([firstLog])
    store.close()
    expect(readdirSync("/proc/self/fd").length - openBefore).toBeLessThanOrEqual(2)
    await store.append("run-0", 3, events(4, 4), quick)
    expect(await fileStore(store.folder).read("run-0")).toEqual(events(1, 4))
  }, 60_000)
})

describe("a damaged log", () => {
  async function written(count: number): Promise<{ folder: string; path: string; text: string }> {
    const folder = newFolder()
    await fileStore(folder).append("r", 0, events(1, count), durable)
    const path = join(folder, "r", firstLog)
    return { folder, path, text: readFileSync(path, "utf8") }
  }

  it("torn at any byte of its last line is read up to there, and goes on from there", async () => {
    const { folder, path, text } = await written(3)
    const lastLine = text.trimEnd().lastIndexOf("\n") + 1
    for (let cut = lastLine; cut < text.length; cut++) {
      rmSync(join(folder, "r"), { recursive: true })
      mkdirSync(join(folder, "r"))
      writeFileSync(path, text.slice(0, cut))
      const store = fileStore(folder)
      expect(await store.read("r")).toEqual(events(1, 2))
      await store.append("r", 2, [note(3, "again"), note(4, "and on")], quick)
      expect(await fileStore(folder).read("r")).toEqual([...events(1, 2), note(3, "again"), note(4, "and on")])
      store.close()
    }
  })

  it("of which only a torn first line is left is a run that never began", async () => {
    const { folder, path } = await written(1)
    truncateSync(path, 30)
    expect(await fileStore(folder).read("r")).toEqual([])
    expect(await fileStore(folder).list()).toEqual([])
    await fileStore(folder).append("r", 0, events(1, 1), durable)
    expect(await fileStore(folder).read("r")).toEqual(events(1, 1))
    expect(await fileStore(folder).list()).toEqual([{ runId: "r", startedAt: 1_001, updatedAt: 1_001 }])
  })

  it.each([
    ["a broken line", (lines: string[]) => lines.with(1, '{"v":1,"seq":2,"at'), "line 2 is not JSON"],
    ["a line of zeros", (lines: string[]) => lines.with(1, "\0\0\0"), "line 2 is not JSON"],
    ["an empty line", (lines: string[]) => lines.toSpliced(1, 0, ""), "line 2 is not JSON"],
    ["a line that is no event", (lines: string[]) => lines.with(1, "17"), "line 2 is not an event"],
    ["a missing line", (lines: string[]) => lines.toSpliced(1, 1), "line 2 has event 3 where 2 is due"],
    ["a doubled line", (lines: string[]) => lines.toSpliced(1, 0, lines[0] ?? ""), "line 2 has event 1 where 2 is due"],
  ])("with %s in the middle is refused, and says where", async (_, damage, message) => {
    const { folder, path, text } = await written(3)
    writeFileSync(path, `${damage(text.trimEnd().split("\n")).join("\n")}\n`)
    await expect(fileStore(folder).read("r")).rejects.toMatchObject({ code: "store_corrupt", message: `${path} is damaged: ${message}.`, hint: expect.stringContaining("backup") })
    expect((await fileStore(folder).list()).map(({ runId }) => runId)).toEqual(["r"])
  })

  it("that lost bytes which a later log relies on is refused", async () => {
    const { folder, path, text } = await written(3)
    await fileStore(folder).append("r", 3, events(4, 4), durable)
    truncateSync(path, text.length - 5)
    await expect(fileStore(folder).read("r")).rejects.toMatchObject({ code: "store_corrupt", message: expect.stringContaining(`of the ${text.length} that were there`) })
    expect(await fileStore(folder).read("r", 3)).toEqual(events(4, 4))
  })

  it("of a later version is refused by reader and writer, with what to do", async () => {
    const { folder, path } = await written(2)
    appendFileSync(path, '{"v":2,"seq":3,"at":1003,"type":"not_known_yet"}\n')
    const refusal = {
      code: "log_too_new",
      message: `${path} has log format 2; this hello-agents reads formats up to 1.`,
      hint: expect.stringContaining("npm install hello-agents@latest"),
    }
    await expect(fileStore(folder).read("r")).rejects.toMatchObject(refusal)
    await expect(fileStore(folder).append("r", 3, events(4, 4), durable)).rejects.toMatchObject(refusal)
    expect((await fileStore(folder).list()).map(({ runId }) => runId)).toEqual(["r"])
  })

  it("whose follow-up is of a later version is refused too", async () => {
    const { folder } = await written(2)
    writeFileSync(join(folder, "r", "000002.jsonl"), '{"v":9,"epoch":2,"after":{"epoch":1,"bytes":10,"seq":0,"at":0}}\n')
    await expect(fileStore(folder).read("r")).rejects.toMatchObject({ code: "log_too_new" })
  })
})

describe("two writers of one run", () => {
  it("know of each other by the next log: the old one is refused, and what it still writes never counts", async () => {
    const folder = newFolder()
    const old = fileStore(folder)
    const young = fileStore(folder)
    await old.append("r", 0, events(1, 3), durable)
    await young.append("r", 3, [note(4, "young")], durable)
    expect(readdirSync(join(folder, "r"))).toEqual([firstLog, "000002.jsonl"])
    appendFileSync(join(folder, "r", firstLog), `${JSON.stringify(note(4, "old"))}\n`)
    await expect(old.append("r", 3, [note(4, "old")], durable)).rejects.toMatchObject({ code: "stale_writer" })
    expect(await old.read("r")).toEqual([...events(1, 3), note(4, "young")])
    await old.append("r", 4, [note(5, "old, having read")], durable)
    await expect(young.append("r", 4, [note(5, "young")], durable)).rejects.toMatchObject({ code: "stale_writer" })
    expect(await young.read("r", 3)).toEqual([note(4, "young"), note(5, "old, having read")])
  })

  it("a writer who comes late does not put the healthy one out", async () => {
    const folder = newFolder()
    const healthy = fileStore(folder)
    await healthy.append("r", 0, events(1, 3), durable)
    await expect(fileStore(folder).append("r", 1, events(2, 2), durable)).rejects.toMatchObject({ code: "stale_writer" })
    await healthy.append("r", 3, events(4, 4), durable)
    expect(readdirSync(join(folder, "r"))).toEqual([firstLog])
  })

  /** What another process may do between a write and the look for newer logs: the sync is when it can. */
  async function whileSyncing(meanwhile: (folder: string, log: string) => void): Promise<{ outcome: string; folder: string }> {
    const folder = newFolder()
    const store = fileStore(folder)
    await store.append("r", 0, events(1, 1), durable)
    const log = join(folder, "r", firstLog)
    const size = statSync(log).size
    const appending = Promise.resolve(store.append("r", 1, [note(2, "mine")], durable))
    while (statSync(log).size === size) await null
    meanwhile(join(folder, "r"), log)
    const outcome = await appending.then(
      () => "accepted",
      (error) => error.code,
    )
    return { outcome, folder }
  }

  it("a write that the new writer has read is accepted", async () => {
    const { outcome, folder } = await whileSyncing((runFolder, log) => {
      writeFileSync(join(runFolder, "000002.jsonl"), `${JSON.stringify({ v: 1, epoch: 2, after: { epoch: 1, bytes: statSync(log).size, seq: 2, at: 1_002 } })}\n`)
    })
    expect(outcome).toBe("accepted")
    expect(await fileStore(folder).read("r")).toEqual([...events(1, 1), note(2, "mine")])
  })

  it("a write that the new writer has not read is refused", async () => {
    const { outcome, folder } = await whileSyncing((runFolder, log) => {
      const bytes = readFileSync(log, "utf8").indexOf("\n") + 1
      writeFileSync(join(runFolder, "000002.jsonl"), `${JSON.stringify({ v: 1, epoch: 2, after: { epoch: 1, bytes, seq: 1, at: 1_001 } })}\n`)
    })
    expect(outcome).toBe("stale_writer")
    expect(await fileStore(folder).read("r")).toEqual(events(1, 1))
  })

  it("a new writer that died before it said what it had read changes nothing", async () => {
    const { outcome, folder } = await whileSyncing((runFolder) => writeFileSync(join(runFolder, "000002.jsonl"), '{"v":1,"epo'))
    expect(outcome).toBe("accepted")
    const store = fileStore(folder)
    expect(await store.read("r")).toEqual([...events(1, 1), note(2, "mine")])
    await store.append("r", 2, events(3, 3), durable)
    expect(await fileStore(folder).read("r")).toEqual([...events(1, 1), note(2, "mine"), ...events(3, 3)])
    await expect(store.append("r", 2, events(3, 3), durable)).rejects.toMatchObject({ code: "stale_writer" })
  })
})

/** A script in a process of its own, with `store` over `folder`. */
function scriptOver(folder: string, script: string): string[] {
  return [
    "--input-type=module",
    "-e",
    `import { createJiti } from ${JSON.stringify(import.meta.resolve("jiti"))}
     const { fileStore } = await createJiti(${JSON.stringify(import.meta.url)}, { fsCache: false }).import("../../src/doors/stores.ts")
     const store = fileStore(${JSON.stringify(folder)})
     const event = (seq, reason) => ({ v: 1, seq, at: seq, type: "run_abort", reason })
     const tried = async (work) => { try { await work(); return "done" } catch (error) { return { code: error.code, message: error.message, hint: error.hint, cause: error.cause?.code } } }
     ${script}`,
  ]
}

describe("three processes that write one run at once", () => {
  it("never lose an acknowledged event, never double one, and never keep a refused one", async () => {
    const folder = newFolder()
    const script = scriptOver(
      folder,
      `const results = []
       for (let turn = 0; turn < 10; turn++) {
         const seq = (await store.read("r")).length
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
    const kept = await fileStore(folder).read("r")
    const reasons = kept.map((event) => (event.type === "run_abort" ? event.reason : ""))
    // whether they meet is chance; whatever they were told must be true
    expect(results.filter(([, result]) => result !== "done" && result !== "stale_writer")).toEqual([])
    expect(kept.length).toBeGreaterThanOrEqual(10)
    expect(reasons.toSorted()).toEqual(results.flatMap(([reason, result]) => (result === "done" ? [reason] : [])).toSorted())
  }, 60_000)
})

describe("a process killed while it writes", () => {
  it("loses nothing that was acknowledged, whenever it is killed, and the next process goes on", async () => {
    const folder = newFolder()
    let acknowledged = 0
    for (const killAfter of [1, 7, 30]) {
      const script = scriptOver(
        folder,
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
      expect(answers).toBeGreaterThanOrEqual(killAfter)
      const kept = await fileStore(folder).read("r")
      expect(kept.length).toBeGreaterThanOrEqual(acknowledged)
      expect(kept.map((event) => event.seq)).toEqual(kept.map((_, index) => index + 1))
      acknowledged = kept.length
    }
    expect(readdirSync(join(folder, "r"))).toHaveLength(3)
  }, 60_000)
})

describe("a folder that cannot be written", () => {
  /** Root may write anywhere, so the attempt is made as another user, in a process of its own. */
  function asNobody(folder: string, attempt: string): unknown {
    const who = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
    const child = spawnSync(process.execPath, scriptOver(folder, `console.log(JSON.stringify(await tried(() => ${attempt})))`), { encoding: "utf8", ...who })
    return JSON.parse(child.stdout || JSON.stringify(child.stderr))
  }

  it("is an error that names the folder and what to do", () => {
    const folder = newFolder()
    chmodSync(folder, 0o555)
    expect(asNobody(join(folder, "runs"), 'store.append("r", 0, [event(1, "")], { durable: true })')).toEqual({
      code: "store_failed",
      message: expect.stringContaining(`Could not write run "r": EACCES: permission denied, mkdir '${join(folder, "runs")}`),
      hint: "This user may not write or read there: give it the folder, or choose another one.",
      cause: "EACCES",
    })
  })

  it("keeps the runs of others closed", async () => {
    const folder = newFolder()
    chmodSync(folder, 0o755)
    await fileStore(folder).append("r", 0, events(1, 1), durable)
    expect(asNobody(folder, 'store.read("r")')).toMatchObject({ code: "store_failed", cause: "EACCES" })
  })

  it("any more (a full disk: here a limit on the size of files) loses nothing, keeps no half of what was refused, and can go on later", async () => {
    const folder = newFolder()
    const script = `
      const answers = [await tried(() => store.append("r", 0, [event(1, "a")], { durable: true }))]
      answers.push(await tried(() => store.append("r", 1, [event(2, "b"), event(3, "x".repeat(100000))], { durable: true })))
      answers.push(await tried(() => store.append("r", 1, [event(2, "c")], { durable: true })))
      console.log(JSON.stringify([answers, await store.read("r")]))`
    const child = spawnSync("sh", ["-c", 'ulimit -f 32; exec "$0" "$@"', process.execPath, ...scriptOver(folder, script)], { encoding: "utf8" })
    const [answers, kept] = JSON.parse(child.stdout || JSON.stringify(child.stderr))
    expect(answers).toEqual([
      "done",
      { code: "store_failed", message: 'Could not write run "r": EFBIG: file too large, write', hint: expect.stringContaining("resume the run"), cause: "EFBIG" },
      "done",
    ])
    expect(kept).toEqual([note(1, "a", 1), note(2, "c", 2)])
    expect(await fileStore(folder).read("r")).toEqual(kept)
  })

  it("is an error when a file stands where the folder should be", async () => {
    const folder = newFolder()
    writeFileSync(join(folder, "runs"), "")
    const refusal = { code: "store_failed", hint: "A part of that path is a file: choose another folder." }
    await expect(fileStore(join(folder, "runs")).append("r", 0, events(1, 1), durable)).rejects.toMatchObject(refusal)
    await expect(fileStore(join(folder, "runs")).list()).rejects.toMatchObject(refusal)
  })
})
