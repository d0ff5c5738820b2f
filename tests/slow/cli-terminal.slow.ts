// The command line in front of a person: a real pseudo terminal, real signals, real keys.
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { build } from "../../scripts/build.mjs"
import type { Desk } from "../cli/desk.ts"
import { makeDesk } from "../cli/desk.ts"
import type { Terminal } from "../support/terminal.ts"
import { openTerminal } from "../support/terminal.ts"

const program = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url))
const CTRL_C = "\x03"
const CTRL_D = "\x04"
/** What `script` of util-linux does; other systems have another one. */
const hasTerminal = spawnSync("script", ["--version"], { encoding: "utf8" }).stdout?.includes("util-linux") === true

beforeAll(() => {
  if (!build()) throw new Error("the program could not be built")
}, 60_000)

let desk: Desk
let terminal: Terminal
beforeEach(() => {
  desk = makeDesk()
})
afterEach(() => {
  terminal.kill()
  desk.remove()
})

function open(...words: readonly string[]): Terminal {
  terminal = openTerminal([process.execPath, program, ...words, "--agent", "desk.ts"], { cwd: desk.folder })
  return terminal
}

describe.runIf(hasTerminal)("an approval at the terminal", () => {
  it("y runs it", async () => {
    const { see, type, end } = open("run", "refund")
    await see('? c1  refund wants to run with\n    {"order":"A1","amount":25}\n')
    await see("run it? y yes, n no, e edit the arguments › ")
    expect(desk.effects()).toEqual([])
    type("y\r")
    await see("Done: refunded\n")
    expect([await end(), desk.effects()]).toEqual([0, [{ order: "A1", amount: 25 }]])
  })

  it("n asks why, and the model is told", async () => {
    const { see, type, end } = open("run", "refund")
    await see("run it?")
    type("n\r")
    await see("why not? the model is told › ")
    type("too much\r")
    await see("Reason: too much\n")
    expect([await end(), desk.effects()]).toEqual([0, []])
  })

  it("e edits the arguments; what is not JSON is asked again; the edited ones need a yes of their own", async () => {
    const { see, type, end } = open("run", "refund")
    await see("run it?")
    type("e\r")
    await see('arguments › {"order":"A1","amount":25}')
    type("\x7f\r")
    await see("that is not JSON: ")
    await see('arguments › {"order":"A1","amount":25')
    type("\x7f}\r")
    await see('edited: {"order":"A1","amount":2}\n')
    expect(desk.effects()).toEqual([])
    await see("run it?")
    type("y\r")
    await see("Done: refunded\n")
    expect([await end(), desk.effects()]).toEqual([0, [{ order: "A1", amount: 2 }]])
  })

  it("nothing else is a yes: not Enter, not another word, not what was typed before", async () => {
    const { see, type, end } = open("run", "refund")
    await see("model   scripted")
    type("y\ry\r")
    await see("run it? y yes, n no, e edit the arguments › ")
    type("\r")
    await see("please answer y, n (a reason may follow) or e\n  run it? y yes, n no, e edit the arguments › ")
    type("yep\r")
    await see("please answer y, n (a reason may follow) or e\n  run it? y yes, n no, e edit the arguments › ")
    type(CTRL_D)
    await see("nothing was done; the question stays open\n")
    const { id } = await desk.newest()
    await see(`hello-agents approve ${id} c1 --agent desk.ts\n`)
    expect([await end(), desk.effects()]).toEqual([5, []])
  })

  it("Ctrl-C leaves it open, with 130", async () => {
    const { see, type, end } = open("run", "two")
    await see("run it?")
    type(CTRL_C)
    await see("hello-agents approve")
    expect([await end(), desk.effects()]).toEqual([130, []])
  })

  it("--no-input asks nobody", async () => {
    const { see, end } = open("run", "refund", "--no-input")
    const shown = await see("hello-agents approve")
    expect([await end(), shown.includes("run it? y")]).toEqual([5, false])
  })

  it("is asked by resume and by approve as well, the latter before it gives an answer", async () => {
    const id = await desk.begin("two")
    const first = open("resume", id)
    await first.see("? c1")
    await first.see("run it?")
    first.type("n not this one\r")
    await first.see('? c2  refund wants to run with\n    {"order":"B2\\u202e","amount":7}\n')
    await first.see("run it?")
    first.type(CTRL_D)
    expect(await first.end()).toBe(5)

    const second = open("approve", id, "--reject", "nor this")
    await second.see('answer: --reject "nor this"\n  give this answer? y yes, n no › ')
    second.type("n\r")
    await second.see("nothing was done")
    expect(await second.end()).toBe(5)

    const third = open("approve", id, "c2", "--yes")
    await third.see("refunded")
    expect([await third.end(), desk.effects()]).toEqual([0, [{ order: "B2\u202e", amount: 7 }]])
  })
})

describe.runIf(hasTerminal)("step mode at the terminal", () => {
  it("shows what is next; s steps, e edits, c goes on", async () => {
    const { see, type, end } = open("run", "look", "--step")
    await see("? step  next: the model is asked (call 1, messages: 1)\n    the last one, user: look\n")
    await see("s step, c continue, q stop › ")
    type("s\r")
    await see('? step  next: look (c1) runs with\n    {"at":"A1"}\n')
    await see("s step, c continue, e edit the arguments, q stop › ")
    type("e\r")
    await see("arguments › ")
    type('\x7f\x7f\x7f7"}\r')
    await see('edited: {"at":"A7"}\n')
    await see("q stop › ")
    type("s\r")
    await see('← look seen {"at":"A7"}')
    await see("? step  next: the model is asked (call 2, messages: 3)")
    await see("q stop › ")
    type("c\r")
    await see('Done: seen {"at":"A7"}\n')
    expect(await end()).toBe(0)
  })

  it("edited arguments that do not fit use up the step: nothing goes on unseen", async () => {
    const { see, type, end } = open("run", "look", "--step")
    await see("q stop › ")
    type("s\r")
    await see("e edit the arguments")
    type("e\r")
    await see("arguments › ")
    type("\x05\x15[1]\r")
    await see("edited: [1]")
    await see("q stop › ")
    type("s\r")
    await see("× look not run")
    await see("? step  next: the model is asked (call 2")
    await see("q stop › ")
    type("q\r")
    await see("no answer (aborted): The run was cancelled: by a person, in step mode.\n")
    expect(await end()).toBe(130)
  })
})

describe.runIf(hasTerminal)("Ctrl-C in the middle of a tool", () => {
  it("ends the run in order and leaves with 130", async () => {
    const { see, type, end } = open("run", "slow")
    await see("· counting\n")
    type(CTRL_C)
    await see("cancelling; press Ctrl-C again to leave at once\n")
    await see("no answer (aborted): The run was cancelled: by Ctrl-C.\n")
    expect(await end()).toBe(130)
    expect((await desk.newest()).events.at(-1)?.type).toBe("run_end")
  })
})

describe.runIf(hasTerminal)("chat at the terminal", () => {
  it("streams answers; Ctrl-C ends the turn, not the program; twice at the empty prompt leaves", async () => {
    const { see, type, end } = open("chat")
    await see("you › ")
    type("slow\r")
    await see("· counting\n")
    type(CTRL_C)
    await see("cancelling this turn\n")
    type(CTRL_C)
    await see("this turn was cancelled\n")
    await see("you › ")
    type("hello\r")
    await see("You said hello (message 2).\n")
    await see("you › ")
    type(`half a line${CTRL_C}`)
    type(`${CTRL_C}`)
    await see("press Ctrl-C again, or Ctrl-D, to leave\n")
    await see("you › ")
    type(CTRL_C)
    expect(await end()).toBe(0)
  })

  it("asks in between, and Ctrl-C there cancels the turn", async () => {
    const { see, type, end } = open("chat", "--thread", "t")
    await see("you › ")
    type("refund\r")
    await see("run it?")
    type(CTRL_C)
    await see("this turn was cancelled; nothing was run\n")
    await see("you › ")
    type("refund\r")
    await see("run it?")
    type("y\r")
    await see("Done: refunded\n")
    await see("you › ")
    type("/exit\r")
    expect([await end(), desk.effects()]).toEqual([0, [{ order: "A1", amount: 25 }]])
  })

  it("takes up a thread that waits for a person", async () => {
    await desk.ask(["chat", "--thread", "t"], "refund\n")
    const { see, type, end } = open("chat", "--thread", "t")
    await see("run it?")
    type("y\r")
    await see("Done: refunded\n")
    await see("you › ")
    type(CTRL_D)
    expect(await end()).toBe(0)
  })

  it("takes back what was no answer: it is wiped off, and a line says so", async () => {
    const { see, type, end, raw } = open("chat")
    await see("you › ")
    type("taken back\r")
    await see("Half an answer that is")
    await see("↩ taken back: what stood here was not an answer\n")
    expect(raw()).toContain("Half an answer that is\r\u001b[J↩")
    await see("You said taken back (message 1).\n")
    await see("you › ")
    type(CTRL_D)
    expect(await end()).toBe(0)
  })

  it("takes pasted lines as messages one after the other, and keeps the half line", async () => {
    const { see, type, end } = open("chat")
    await see("you › ")
    type("first\rsecond\rthi")
    await see("You said first (message 1).")
    await see("you › second\n")
    await see("You said second (message 2).")
    await see("you › thi")
    type("rd\r")
    await see("You said third (message 3).")
    await see("you › ")
    type(CTRL_D)
    expect(await end()).toBe(0)
  })

  it("speaks Chinese", async () => {
    const { see, type, end } = open("chat", "--language", "zh")
    await see("/help 列出命令；Ctrl-C 结束本轮，Ctrl-D 退出\n")
    await see("你 › ")
    type("refund\r")
    await see('? c1  refund 请求以这些参数执行\n    {"order":"A1","amount":25}\n')
    await see("执行吗？y 是，n 否，e 修改参数 › ")
    type("是\r")
    await see("Done: refunded\n")
    await see("你 › ")
    type("你好\r")
    await see("You said 你好 (message 2).\n")
    await see("你 › ")
    type(CTRL_D)
    expect(await end()).toBe(0)
  })
})
