import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { build } from "../../scripts/build.mjs"
import type { Desk } from "./desk.ts"
import { makeDesk } from "./desk.ts"

const SLOW = { timeout: 60_000 }
const program = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url))

beforeAll(() => {
  if (!build()) throw new Error("the program could not be built")
}, 60_000)

let desk: Desk
beforeEach(() => {
  desk = makeDesk()
})
afterEach(() => desk.remove())

describe("chat, from a pipe", SLOW, () => {
  it("makes each line a turn of one conversation; answers alone on stdout, everything else on stderr", async () => {
    const { code, out, err } = await desk.ask(["chat", "--thread", "t"], "hello\r\n\nlook\nI said\u2028so")
    expect([code, out]).toEqual([0, 'You said hello (message 1).\nDone: seen {"at":"A1"}\nYou said I said\u2028so (message 3).\n'])
    const shown = err.split("\n").filter((line) => !/^(done|←)/.test(line))
    expect(shown).toEqual([
      "model   scripted (named by the agent)",
      "thread  t (new; --thread goes on with it later)",
      "you › hello",
      "… asking the model",
      "you › look",
      "… asking the model",
      '→ look {"at":"A1"}',
      "… asking the model",
      "you › I said\u2028so",
      "… asking the model",
      "",
    ])
  })

  it("goes on with a conversation another day, and names a new one", async () => {
    await desk.ask(["chat", "--thread", "t"], "first\n")
    const later = await desk.ask(["chat", "--thread", "t"], "second\n")
    expect(later.out).toBe("You said second (message 2).\n")
    expect(later.err).toContain("thread  t (goes on; messages so far: 2)\n")
    const other = await desk.ask(["chat"], "third\n")
    expect(other.out).toBe("You said third (message 1).\n")
    expect(other.err).toMatch(/^thread {2}chat-\d{4}-\d\d-\d\d-\d{6}-\w+ \(new; /m)
  })

  it("has commands, which never reach the model; a path is no command", async () => {
    const { code, out, err } = await desk.ask(["chat"], "/trace\n/help\n/tools\n/what\nlook\n/trace\n/new\n/etc/hosts?\n/exit\nnever\n")
    expect([code, out]).toEqual([0, 'Done: seen {"at":"A1"}\nYou said /etc/hosts? (message 1).\n'])
    expect(err).toContain("there was no turn yet\n")
    expect(err).toContain("  /exit   leave (also Ctrl-D)\n")
    expect(err).toContain("  refund  Pays money back. A person has to agree.\n")
    expect(err).toContain("there is no command /what; /help lists them\n")
    expect(err).toContain("final · 2 turns, 2 model calls, 1 tool call")
    expect(err.match(/^thread .*\(new/gm)?.length).toBe(2)
  })

  it("pauses where a person is needed, says how to answer, and leaves with 5; the thread waits until then", async () => {
    const { code, out, err } = await desk.ask(["chat", "--thread", "t"], "refund\nnever\n")
    const { id } = await desk.newest()
    expect([code, out, desk.effects()]).toEqual([5, "", []])
    expect(err).toContain(
      `waiting for a person (run ${id}):\n? c1  refund wants to run with\n    {"order":"A1","amount":25}\n    run it\n      hello-agents approve ${id} c1 --agent desk.ts\n`,
    )

    const again = await desk.ask(["chat", "--thread", "t"], "never\n")
    expect([again.code, again.out]).toEqual([5, ""])
    expect(again.err).toContain(`hello-agents approve ${id} c1 --agent desk.ts\n`)

    expect((await desk.ask(["approve", id])).code).toBe(0)
    expect((await desk.ask(["chat", "--thread", "t"], "thanks\n")).out).toBe("You said thanks (message 2).\n")
  })

  it("goes on after a turn without an answer, and says so at the end", async () => {
    const { code, out, err } = await desk.ask(["chat"], "broken\nhello\n")
    expect([code, out]).toEqual([3, "You said hello (message 2).\n"])
    expect(err).toContain("no answer (model_unavailable): The model did not answer: wrong key\n")
  })

  it("says so if the last turn of the thread has not ended", async () => {
    await desk.ask(["chat", "--thread", "t"], "crash\n")
    const { id } = await desk.newest()
    const { code, out, err } = await desk.ask(["chat", "--thread", "t", "--language", "zh"], "hello\n")
    expect([code, out]).toEqual([2, ""])
    expect(err).toContain(`错误：对话 t 的上一轮还没有结束：仍在进行，或其进程已不在\n  如果已没有进程在执行它：hello-agents resume ${id} --agent desk.ts\n`)
  })

  it("leaves with 1 when nobody reads the answers any more", async () => {
    const child = spawn(process.execPath, [program, "chat", "--agent", "desk.ts"], { cwd: desk.folder, env: { PATH: process.env["PATH"] ?? "" }, stdio: "pipe" })
    child.stdout.destroy()
    let err = ""
    child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text))
    child.stdin.on("error", () => {})
    child.stdin.end("hello\nhello\n")
    const [code] = await once(child, "close")
    expect([code, err.match(/^you › /gm)?.length]).toEqual([1, 1])
    expect(err).toContain("standard output was closed before the answer was written")
  })

  it("takes back on a pipe what was no answer by never writing it", async () => {
    const { code, out } = await desk.ask(["chat"], "taken back\n")
    expect([code, out]).toEqual([0, "You said taken back (message 1).\n"])
  })

  it("needs an agent, and says so", async () => {
    const { code, err } = await desk.run(["chat"], {}, "hello\n")
    expect([code, err]).toEqual([2, "error: no agent file was named\n  name the file that exports it: --agent agent.ts\n"])
  })
})
