import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { z } from "zod"
import type { Tool } from "../../src/contract/tool.ts"
import type { CallFacts } from "../../src/capability/tools/execute.ts"
import { executeTool } from "../../src/capability/tools/execute.ts"
import { tool } from "../../src/capability/tools/tool.ts"
import { abortHub } from "../../src/infrastructure/abort-hub.ts"
import { HelloAgentsError } from "../../src/infrastructure/errors.ts"

const facts = (more: Partial<CallFacts> = {}): CallFacts => ({
  runId: "r1",
  callId: "c1",
  idempotencyKey: "r1:c1",
  context: {},
  aborts: abortHub(new AbortController().signal),
  progress: () => {},
  log: () => {},
  ...more,
})
const giving = (execute: () => unknown, more: object = {}): Tool => tool({ name: "t", description: "…", execute, ...more })
const textOf = async (value: unknown): Promise<string> =>
  (
    await executeTool(
      giving(() => value),
      {},
      facts(),
    )
  ).text

describe("what a tool returns becomes text for the model", () => {
  const circle: Record<string, unknown> = { name: "outer" }
  circle["self"] = circle
  test.each([
    ["text as it is", "shipped", "shipped"],
    ["an object as JSON", { a: [1, true, null] }, '{"a":[1,true,null]}'],
    ["undefined", undefined, "No data: the tool ran and returned nothing."],
    ["null", null, "No data: the tool ran and returned nothing."],
    ["an empty text", "  ", "No data: the tool ran and returned nothing."],
    ["an empty list", [], "No data: the result is an empty list []."],
    ["zero and false are data", 0, "0"],
    ["a big integer keeps its digits", { total: 12345678901234567890n }, '{"total":"12345678901234567890"}'],
    ["a circle", circle, '{"name":"outer","self":"[circular]"}'],
    ["a map", new Map([["a", 1]]), '{"a":1}'],
    ["a set", new Set([1, 2]), "[1,2]"],
    ["an error inside", { cause: new Error("no") }, '{"cause":{"error":"no"}}'],
    ["bytes", { file: new Uint8Array(4) }, '{"file":"[binary, 4 bytes]"}'],
    ["a date", new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ["a function", () => 1, '"[function]"'],
  ])("%s", async (_what, value, text) => {
    expect(await textOf(value)).toBe(text)
  })
  test("the same object twice is no circle", async () => {
    const shared = { x: 1 }
    expect(await textOf({ a: shared, b: shared, big: 1n })).toBe('{"a":{"x":1},"b":{"x":1},"big":1}')
  })
  test("a value that cannot be read is said to be so", async () => {
    const odd = {
      get x() {
        throw new Error("locked")
      },
    }
    expect(await textOf(odd)).toBe("The result could not be read: locked")
  })
  test("a long result is cut with a notice; the whole stays beside it", async () => {
    const outcome = await executeTool(
      giving(() => "x".repeat(2_000_000)),
      {},
      facts(),
    )
    expect(outcome).toMatchObject({ type: "ok", full: "x".repeat(2_000_000) })
    expect(outcome.text.length).toBeLessThan(3_200)
    expect(outcome.text).toContain("[Cut: the first 3000 of 2000000 characters are shown.")
  })
  test("a cut never splits a character", async () => {
    const outcome = await executeTool(
      giving(() => "🙂".repeat(2_000), { maxResultChars: 101 }),
      {},
      facts(),
    )
    expect(outcome.text.startsWith(`${"🙂".repeat(50)}\n`)).toBe(true)
  })
})

describe("what goes wrong is data for the model", () => {
  test("an error keeps its words and loses secrets, paths and stack", async () => {
    const broken = giving(() => {
      throw new Error("ECONNREFUSED: store refused key sk-live-7Qm2Xz9RtYw4Vb8N from /srv/app/config/credentials.json\n    at open (/srv/app/x.js:1:2)")
    })
    expect(await executeTool(broken, {}, facts())).toEqual({ type: "failed", text: "Error: t failed: ECONNREFUSED: store refused key [hidden] from [path]", retryable: false })
  })
  test.each([
    ["a text", "no luck", "no luck"],
    ["an object", { code: 7 }, '{"code":7}'],
    ["nothing", undefined, "No data: the tool ran and returned nothing."],
  ])("thrown %s", async (_what, thrown, said) => {
    const outcome = await executeTool(
      giving(() => {
        throw thrown
      }),
      {},
      facts(),
    )
    expect(outcome).toMatchObject({ type: "failed", text: `Error: t failed: ${said}` })
  })
  test("a rejected promise is the same as a throw", async () => {
    expect(
      await executeTool(
        giving(() => Promise.reject(new Error("late"))),
        {},
        facts(),
      ),
    ).toMatchObject({ type: "failed", text: "Error: t failed: late" })
  })
  test("a failure is retryable only where the tool asked for retries", async () => {
    const again = giving(
      () => {
        throw new Error("x")
      },
      { retries: 2, hints: { readOnly: true } },
    )
    expect(await executeTool(again, {}, facts())).toMatchObject({ retryable: true })
  })
  test("fatal_tool_error ends the run", async () => {
    const fatal = giving(() => {
      throw new HelloAgentsError("fatal_tool_error", "stop everything")
    })
    expect(await executeTool(fatal, {}, facts())).toMatchObject({ type: "failed", fatal: "stop everything" })
  })
  test("a result that does not fit the output schema is never passed on as fact", async () => {
    const outcome = await executeTool(
      giving(() => ({ n: "three" }), { output: z.object({ n: z.number() }) }),
      {},
      facts(),
    )
    expect(outcome).toMatchObject({ type: "failed", text: expect.stringContaining("does not fit its own output schema") })
    expect(outcome.text).not.toContain("three")
  })
})

describe("a tool that does not come back", () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())
  const never = () => new Promise<never>(() => {})

  test.each([
    ["30 s by default", {}, 30_000],
    ["10 s with the tag database", { tags: ["database"] }, 10_000],
    ["5 s with the tag compute", { tags: ["compute"] }, 5_000],
    ["its own", { timeoutMs: 700, tags: ["compute"] }, 700],
  ])("is let go after %s", async (_what, more, ms) => {
    const outcome = executeTool(giving(never, more), {}, facts())
    await vi.advanceTimersByTimeAsync(ms - 1)
    await expect(Promise.race([outcome, Promise.resolve("still running")])).resolves.toBe("still running")
    await vi.advanceTimersByTimeAsync(1)
    expect((await outcome).text).toContain(`timed out after ${ms / 1000} s`)
  })
  test("and may not be repeated: its outcome is unknown", async () => {
    const outcome = executeTool(giving(never), {}, facts())
    await vi.advanceTimersByTimeAsync(30_000)
    expect(await outcome).toMatchObject({ type: "unknown", text: expect.stringContaining("may have happened") })
  })
  test("and only reads: it failed", async () => {
    const outcome = executeTool(giving(never, { hints: { readOnly: true } }), {}, facts())
    await vi.advanceTimersByTimeAsync(30_000)
    expect(await outcome).toMatchObject({ type: "failed" })
  })
  test("is told by its signal", async () => {
    let told = ""
    const polite = tool({ name: "t", description: "…", execute: (_, { signal }) => new Promise(() => signal.addEventListener("abort", () => (told = String(signal.reason)))) })
    const outcome = executeTool(polite, {}, facts())
    await vi.advanceTimersByTimeAsync(30_000)
    await outcome
    expect(told).toContain("timed out after 30 s")
  })
  test("when the run is cancelled it may say within a moment how it ended", async () => {
    const controller = new AbortController()
    const tidy = tool({ name: "t", description: "…", execute: (_, { signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve("rolled back"))) })
    const outcome = executeTool(tidy, {}, facts({ aborts: abortHub(controller.signal) }))
    controller.abort()
    expect(await outcome).toMatchObject({ type: "ok", text: "rolled back" })
  })
  test("a deaf one is let go soon after the run was cancelled", async () => {
    const controller = new AbortController()
    const outcome = executeTool(giving(never), {}, facts({ aborts: abortHub(controller.signal) }))
    controller.abort()
    await vi.advanceTimersByTimeAsync(200)
    expect(await outcome).toMatchObject({ type: "unknown" })
  })
})

describe("what a tool is given", () => {
  test("run, call and key; progress and log reach the readers", async () => {
    const seen: unknown[] = []
    const curious = tool({
      name: "t",
      description: "…",
      execute: (_, { runId, callId, idempotencyKey, progress, log }) => {
        progress("half")
        log("note", { n: 1 })
        return [runId, callId, idempotencyKey]
      },
    })
    const outcome = await executeTool(curious, {}, facts({ progress: (note) => seen.push(note), log: (note, data) => seen.push([note, data]) }))
    expect(outcome.text).toBe('["r1","c1","r1:c1"]')
    expect(seen).toEqual(["half", ["note", { n: 1 }]])
  })
  test("context changes come back as plain data; undefined takes a key away", async () => {
    const changing = tool({
      name: "t",
      description: "…",
      context: z.object({ at: z.date().optional(), old: z.string().optional() }),
      execute: (_, { result }) => result("done", { context: { at: new Date(0), old: undefined } }),
    })
    expect(await executeTool(changing, {}, facts())).toMatchObject({ type: "ok", text: "done", context: { set: { at: "1970-01-01T00:00:00.000Z" }, removed: ["old"] } })
  })
})

describe("a tool is refused when it is made", () => {
  test.each(["", "9lives", "get order", "x".repeat(65), "查询"])("with the name %j", (name) => {
    expect(() => tool({ name, description: "…", execute: () => 1 })).toThrow(expect.objectContaining({ code: "tool_invalid" }))
  })
  test("with retries that could do something twice", () => {
    expect(() => tool({ name: "pay", description: "…", retries: 1, execute: () => 1 })).toThrow(
      expect.objectContaining({ code: "tool_invalid", hint: expect.stringContaining("idempotent") }),
    )
  })
})
