// resume, approve, cancel, say, fork and steps, where no person is at the terminal.
import { appendFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest"
import { build } from "../../scripts/build.mjs"
import type { Desk } from "./desk.ts"
import { makeDesk } from "./desk.ts"

const SLOW = { timeout: 60_000 }

beforeAll(() => {
  if (!build()) throw new Error("the program could not be built")
}, 60_000)

let desk: Desk
beforeEach(() => {
  desk = makeDesk()
})
afterEach(() => desk.remove())

/** A run whose process is gone in the middle of a call. */
async function crashed(): Promise<string> {
  await desk.ask(["run", "crash"])
  return (await desk.newest()).id
}

describe("run, when it needs a person and nobody is there", SLOW, () => {
  it("pauses, prints the exact commands, leaves with 5, and has done nothing", async () => {
    const { code, out, err } = await desk.ask(["run", "two", "--store", "my runs"])
    expect([code, out, desk.effects()]).toEqual([5, "", []])
    const id = readdirSync(join(desk.folder, "my runs"))[0] ?? ""
    const way = (question: string) => [
      "    run it",
      `      hello-agents approve ${id} ${question} --agent desk.ts --store 'my runs'`,
      "    do not run it",
      `      hello-agents approve ${id} ${question} --reject REASON --agent desk.ts --store 'my runs'`,
    ]
    // what is not seen, or turns a line around, is shown as written
    const lines = [
      `waiting for a person (run ${id}):`,
      "? c1  refund wants to run with",
      '    {"order":"A1","amount":25}',
      ...way("c1"),
      "? c2  refund wants to run with",
      '    {"order":"B2\\u202e","amount":7}',
      ...way("c2"),
    ]
    expect(err).toContain(lines.join("\n"))
    expect(err).toMatch(new RegExp(`^so far .*\ntrace {3}hello-agents trace show ${id} --store 'my runs'\n$`, "m"))
  })

  it("says it in JSON too", async () => {
    const { code, out } = await desk.ask(["run", "refund", "--json"])
    expect([code, JSON.parse(out)]).toMatchObject([5, { ok: false, status: "waiting", waiting: [{ id: "c1", reason: "approval", arguments: { order: "A1", amount: 25 } }] }])
  })
})

describe("approve", SLOW, () => {
  it("runs what was asked for and goes on to the answer", async () => {
    const id = await desk.begin("refund")
    const { code, out, err } = await desk.ask(["approve", id.slice(0, 9)])
    expect([code, out, desk.effects()]).toEqual([0, "Done: refunded\n", [{ order: "A1", amount: 25 }]])
    expect(err.startsWith('? c1  refund wants to run with\n    {"order":"A1","amount":25}\n')).toBe(true)
    expect(err).toContain('→ refund {"order":"A1","amount":25}\n')
  })

  it("rejects with a reason, which the model reads", async () => {
    const id = await desk.begin("refund")
    const { code, out } = await desk.ask(["approve", id, "c1", "--reject", "too much"])
    expect([code, out, desk.effects()]).toEqual([0, "Done: Not run: a person rejected this call. Reason: too much\n", []])
  })

  it("runs edited arguments, shown before, and checks them again", async () => {
    const id = await desk.begin("refund")
    const { code, err } = await desk.ask(["approve", id, "--edit", '{"order":"A1","amount":5}'])
    expect([code, desk.effects()]).toEqual([0, [{ order: "A1", amount: 5 }]])
    expect(err).toContain('    answer: --edit {"order":"A1","amount":5}\n')
    expect(err).toContain('→ refund {"order":"A1","amount":5}\n')

    const other = await desk.begin("refund")
    const wrong = await desk.ask(["approve", other, "--edit", '{"order":"A1"}'])
    expect([wrong.code, desk.effects().length]).toEqual([0, 1])
    expect(wrong.out).toContain("amount")
  })

  it("lists several questions, takes one at a time, and waits for the rest", async () => {
    const id = await desk.begin("two")
    const which = await desk.ask(["approve", id])
    expect([which.code, which.out, desk.effects()]).toEqual([2, "", []])
    expect(which.err).toContain(`hello-agents approve ${id} c2 --agent desk.ts\n`)
    expect(which.err.endsWith(`error: the run ${id} waits for 2 answers: name the question\n`)).toBe(true)

    const first = await desk.ask(["approve", id, "c2", "--reject", "no"])
    expect([first.code, first.out, desk.effects()]).toEqual([5, "", []])
    expect(first.err).toContain(`hello-agents approve ${id} c1 --agent desk.ts\n`)
    const second = await desk.ask(["approve", id])
    expect([second.code, desk.effects()]).toEqual([0, [{ order: "A1", amount: 25 }]])
  })

  it.each<[string, readonly string[], string]>([
    ["run again", ["--retry"], ""],
    ["did not happen", ["--did-not-happen"], "Done: This call did not happen: the run was interrupted before it took effect.\n"],
    ["happened, with text", ["--happened", "all is well"], "Done: all is well\n"],
    ["happened, with JSON", ["--happened", '{ "ok": true }'], 'Done: {"ok":true}\n'],
  ])("settles a call that a dead process left open: %s", async (_, flags, out) => {
    const id = await crashed()
    const looked = await desk.ask(["resume", id])
    expect([looked.code, looked.out]).toEqual([5, ""])
    expect(looked.err).toContain(`? c1  crash was under way when the run was cut off, and may have happened, with\n    {}\n    its idempotency key: ${id}:c1\n`)
    for (const way of ["--retry", "--did-not-happen", "--happened RESULT"]) expect(looked.err).toContain(`hello-agents approve ${id} c1 ${way} --agent desk.ts\n`)

    const bare = await desk.ask(["approve", id])
    expect([bare.code, bare.err.split("\n").at(-2)]).toEqual([2, "error: c1 needs an answer"])

    const { code, out: said } = await desk.ask(["approve", id, ...flags])
    expect([said, desk.effects().length, code]).toEqual(flags.includes("--retry") ? ["", 2, null] : [out, 1, 0])
  })

  it("gives a tool the reply that it waits for, and keeps the terminal safe from its question", async () => {
    const paused = await desk.ask(["run", "ask"])
    const { id } = await desk.newest()
    expect(paused.err).toContain(`? c1  a tool asks: Is the parcel back?\n    answer\n      hello-agents approve ${id} c1 --reply TEXT --agent desk.ts\n`)
    const { code, out } = await desk.ask(["approve", id, "--reply", "since Monday"])
    expect([code, out]).toEqual([0, "Done: since Monday\n"])
  })

  it.each<[string, string, readonly string[], string]>([
    ["two answers", "refund", ["--retry", "--reject", "x"], "error: one answer at a time: --reject, --retry exclude each other\n"],
    ["an answer of another kind", "refund", ["--retry"], "error: --retry does not fit c1\n  what fits: --reject, --edit\n"],
    ["what is not JSON", "refund", ["--edit", "{order"], "error: --edit: that is not JSON: "],
    ["an unknown question", "refund", ["c9"], 'error: the run RUN did not ask "c9"\n  it waits for: c1\n'],
    ["a run that has ended", "hello", [], "error: the run RUN waits for nothing: it has ended (final)\n"],
    ["a run that is not waiting", "crash", [], "error: the run RUN is not waiting: it is still going on, or its process is gone\n"],
  ])("refuses %s in one line, and nothing has happened", async (_, prompt, words, message) => {
    const id = prompt === "crash" ? await crashed() : await desk.begin(prompt)
    const before = (await desk.newest()).events.length
    const { code, out, err } = await desk.ask(["approve", id, ...words])
    expect([code, out]).toEqual([2, ""])
    expect(err.startsWith(message.replace("RUN", id)), err).toBe(true)
    expect((await desk.newest()).events.length).toBe(before)
  })
})

describe("resume", SLOW, () => {
  it("gives the answer of a run that had ended, again, and runs nothing", async () => {
    const id = await desk.begin("hello")
    const before = (await desk.newest()).events.length
    const { code, out, err } = await desk.ask(["resume", id])
    expect([code, out, (await desk.newest()).events.length]).toEqual([0, "You said hello (message 1).\n", before])
    expect(err).toBe(`the run ${id} had ended (final); nothing was run\n  to go on differently: hello-agents fork ${id}\ntrace   hello-agents trace show ${id}\n`)
    const more = await desk.ask(["resume", id, "--message", "and then?"])
    expect([more.code, more.out]).toEqual([2, ""])
    expect(more.err).toContain(`error: The run ${id} has ended (final); there is nothing to go on with.\n`)
  })

  it("needs a higher limit after one was used up, and goes on with it", async () => {
    const id = await desk.begin("again", { turns: 1 })
    const bare = await desk.ask(["resume", id])
    expect([bare.code, bare.out]).toEqual([4, ""])
    expect(bare.err).toContain(`the run ${id} has used up its limit (max_turns): `)
    expect(bare.err).toContain(`  allow more: hello-agents resume ${id} --agent desk.ts --max-turns N\n`)
    const { code } = await desk.ask(["resume", id, "--max-turns", "3"])
    expect([code, (await desk.newest()).events.filter(({ type }) => type === "model_end").length]).toEqual([4, 3])
  })

  it("goes on after a failure, with a person's message", async () => {
    const id = await desk.begin("broken")
    const { code, out } = await desk.ask(["resume", id, "--message", "try this"])
    expect([code, out]).toEqual([0, "You said try this (message 2).\n"])
  })

  it("names the nearest runs for one that it does not know, in both languages", async () => {
    const id = await desk.begin("hello")
    await desk.ask(["chat", "--thread", "t"], "hello\n")
    const { code, err } = await desk.ask(["resume", `${id}x`])
    expect(code).toBe(2)
    expect(err).toContain(`error: there is no run "${id}x" in `)
    expect(err).toContain(`nearest: ${id}`)
    expect(err).not.toContain("thread~")
    expect((await desk.ask(["resume", `${id}x`, "--language", "zh"])).err).toContain(`最接近的：${id}`)
  })

  it("does not touch a run that a newer version wrote", async () => {
    const id = await desk.begin("refund")
    const folder = join(desk.folder, ".hello-agents/runs", id)
    const log = readdirSync(folder).find((name) => name.endsWith(".jsonl")) ?? ""
    const last = (await desk.newest()).events.length
    appendFileSync(join(folder, log), `${JSON.stringify({ v: 2, seq: last + 1, at: Date.now(), type: "new_thing" })}\n`)
    const { code, out, err } = await desk.ask(["resume", id])
    expect([code, out]).toEqual([2, ""])
    expect(err).toMatch(/^error: .* has log format 2; this hello-agents reads formats up to 1\.\n {2}/)
  })
})

describe("steps", SLOW, () => {
  it("pause before every call, and are taken one by one", async () => {
    const first = await desk.ask(["run", "look", "--step"])
    const { id } = await desk.newest()
    expect([first.code, first.out]).toEqual([5, ""])
    expect(first.err).toContain(
      `? step  next: the model is asked (call 1, messages: 1)\n    the last one, user: look\n    take this step\n      hello-agents resume ${id} --step --agent desk.ts\n    go on without pauses\n      hello-agents resume ${id} --continue --agent desk.ts\n`,
    )
    const second = await desk.ask(["resume", id, "--step"])
    expect(second.code).toBe(5)
    expect(second.err).toContain('? step  next: look (c1) runs with\n    {"at":"A1"}\n')
    const third = await desk.ask(["resume", id, "--step"])
    expect(third.code).toBe(5)
    expect(third.err).toContain('? step  next: the model is asked (call 2, messages: 3)\n    the last one, tool: seen {"at":"A1"}\n')
    // without saying how, nothing goes on
    expect((await desk.ask(["resume", id])).code).toBe(5)
    const last = await desk.ask(["resume", id, "--continue"])
    expect([last.code, last.out]).toEqual([0, 'Done: seen {"at":"A1"}\n'])
  })

  it("are asked for by the configuration too", async () => {
    desk.put("hello-agents.config.json", { debug: { step_by_step: true } })
    expect((await desk.ask(["run", "hello"])).code).toBe(5)
    expect((await desk.ask(["chat"], "hello\n")).code).toBe(5)
  })

  it("cannot be taken in a run that has none", async () => {
    const id = await desk.begin("refund")
    const { code, err } = await desk.ask(["resume", id, "--step"])
    expect([code, err]).toEqual([2, `error: the run ${id} was not begun with --step, so it has no steps to take\n`])
  })
})

describe("from outside", SLOW, () => {
  it("cancel ends a waiting run at once, and frees its thread", async () => {
    await desk.ask(["chat", "--thread", "t"], "refund\n")
    const { id } = await desk.newest()
    const { code, out, err } = await desk.ask(["cancel", id, "--reason", "not needed"])
    expect([code, out, err]).toEqual([0, "", `the run ${id} is cancelled\n`])
    expect((await desk.newest()).events.slice(-2)).toMatchObject([
      { type: "run_abort", reason: "not needed" },
      { type: "run_end", stop: { reason: "aborted" } },
    ])
    expect((await desk.ask(["chat", "--thread", "t"], "hello\n")).out).toBe("You said hello (message 2).\n")
    const again = await desk.ask(["cancel", id])
    expect([again.code, again.err]).toEqual([2, `error: The run ${id} has ended (aborted).\n`])
  })

  it("cancel stops a run that goes on elsewhere", async () => {
    const running = desk.ask(["run", "slow"])
    const id = await untilStarted()
    const { code, err } = await desk.ask(["cancel", id])
    expect([code, err]).toEqual([0, `the run ${id} is cancelled\n`])
    expect((await running).code).toBe(130)
  })

  it("cancel says how to end a run whose process is gone", async () => {
    const id = await crashed()
    const { code, err } = await desk.ask(["cancel", id])
    expect([code, err]).toEqual([
      0,
      `the run ${id} was told to stop, but no process has answered\n  if its process is gone, this ends it: hello-agents resume ${id} --agent FILE\n`,
    ])
    expect((await desk.ask(["resume", id])).code).toBe(130)
  })

  it("say leaves a message, read when the run goes on", async () => {
    const id = await desk.begin("refund")
    const { code, err } = await desk.ask(["say", id, "be", "quick"])
    expect([code, err]).toEqual([0, `the message is with the run ${id}; it is read when the run goes on, which waits for a person\n`])
    expect((await desk.ask(["approve", id])).out).toBe("You said be quick (message 2).\n")
  })

  it("fork copies a run up to an event, and prints the new id", async () => {
    const id = await desk.begin("refund")
    const { code, out, err } = await desk.ask(["fork", id, "--at", "1"])
    const copy = out.trim()
    expect([code, err]).toEqual([0, expect.stringMatching(`^copied 1 of \\d+ events; go on: hello-agents resume ${copy} --agent FILE\n$`)])
    expect((await desk.ask(["resume", copy])).code).toBe(5)
    expect((await desk.ask(["approve", copy])).out).toBe("Done: refunded\n")
    expect((await desk.ask(["approve", id, "--reject", "twice"])).code).toBe(0)
    expect(desk.effects().length).toBe(1)
    const wrong = await desk.ask(["fork", id, "--at", "0"])
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringMatching(/^error: --at must be a whole number from 1 to \d+, not 0\n$/)])
  })
})

/** The id of the run whose tool has begun. */
function untilStarted(): Promise<string> {
  return vi.waitFor(
    async () => {
      const { id, events } = await desk.newest()
      if (!events.some(({ type }) => type === "tool_start")) throw new Error("no tool has begun")
      return id
    },
    { timeout: 20_000 },
  )
}
