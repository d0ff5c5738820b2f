import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { HelloAgentsError } from "hello-agents"
import { llamaCpp } from "hello-agents/llama-cpp"
import { describe, expect, test, vi } from "vitest"
import { installCommand, llamaDevice } from "../../src/capability/models/llama-cpp-library.ts"
import { ask, eventsOf, GET_ORDER, request } from "../models/ask.ts"
import { fakeLlama, fakeModel } from "./fake-llama.ts"

const file = fileURLToPath(import.meta.url)
const usage = (inputTokens: number, outputTokens: number, cachedTokens = 0) => ({ inputTokens, outputTokens, cachedTokens, reasoningTokens: 0, cost: 0 })
const user = (content: string) => ({ role: "user" as const, content })

/** Resolves when it is opened. */
function gate(): { readonly passed: Promise<void>; readonly open: () => void } {
  let open = (): void => {}
  const passed = new Promise<void>((resolve) => (open = resolve))
  return { passed, open: () => open() }
}

describe("a local model is set up", () => {
  const thrown = (make: () => unknown): unknown => {
    try {
      return make()
    } catch (error) {
      return error instanceof HelloAgentsError ? { code: error.code, message: error.message, hint: error.hint } : error
    }
  }

  test("a file that is not there is said at once", () => {
    expect(thrown(() => llamaCpp({ file: "gone.gguf" }))).toEqual({
      code: "config_invalid",
      message: "There is no model file gone.gguf.",
      hint: "Give the path of a GGUF file; `npm run model` fetches a small one and prints its path.",
    })
  })

  test("numbers that are none are said at once", () => {
    const load = fakeLlama().load
    expect(thrown(() => llamaCpp({ file, load, threads: 0 }))).toEqual({ code: "config_invalid", message: "threads must be a whole number above 0, not 0.", hint: "" })
    expect(thrown(() => llamaCpp({ file, load, contextSize: 1.5 }))).toEqual({ code: "config_invalid", message: "contextSize must be a whole number above 0, not 1.5.", hint: "" })
  })

  test("without the optional part, the command that installs it is said at once", () => {
    vi.stubEnv("HELLO_AGENTS_CACHE", tmpdir())
    expect(thrown(() => llamaCpp({ file }))).toEqual({
      code: "config_invalid",
      message: "Local models need node-llama-cpp, which is not installed. Install the optional part once (83 MB): npm run llama",
      hint: "Install the optional part once (83 MB): npm run llama",
    })
  })

  test("a part that turns out to be missing or something else is a failure of the call, and is looked for again", async () => {
    let tries = 0
    const fake = fakeLlama()
    const found = [() => Promise.reject(new Error("Cannot find package")), async () => ({ default: 1 }), fake.load]
    const model = llamaCpp({ file, load: () => (found[tries++] ?? fake.load)() })
    const failure = (await ask(model)).failure
    expect(failure).toEqual({
      code: "not_found",
      message: expect.stringContaining("node-llama-cpp, which is not installed"),
      retryable: false,
      hint: expect.stringContaining("npm run llama"),
    })
    expect((await ask(model)).failure).toEqual({ code: "server_error", message: "load() did not give the module node-llama-cpp", retryable: false })
    expect((await ask(model)).reply?.text).toBe("Shipped.")
  })

  test("the binding is never built, and gets as many threads as it is given", async () => {
    const fake = fakeLlama()
    const model = fakeModel(fake, { threads: 3, contextSize: 2000 })
    expect({ ...model, ask: 0, close: 0 }).toEqual({ name: "fake-llama.ts", contextWindow: 2000, functionCalling: false, constraint: "grammar", ask: 0, close: 0 })
    expect([fake.starts, fake.log]).toEqual([[], []])
    await ask(model)
    expect(fake.starts).toEqual([{ gpu: llamaDevice(), build: "never", skipDownload: true, progressLogs: false, logLevel: "error", logger: expect.any(Function), maxThreads: 3 }])
    expect(fake.contexts).toEqual([{ contextSize: 2000, threads: 3 }])
  })

  test("Apple's chips run on their GPU, everything else on the processor", () => {
    expect([llamaDevice("darwin", "arm64"), llamaDevice("darwin", "x64"), llamaDevice("linux", "arm64"), llamaDevice("win32", "x64")]).toEqual(["metal", false, false, false])
  })

  test("in this repository the part has a script; users of the package get one command for their machine", () => {
    vi.stubEnv("HELLO_AGENTS_CACHE", "/the cache")
    const folder = join("/the cache", "llama-cpp")
    const command = (binding: string) => `npm install --prefix "${folder}" --omit=optional --ignore-scripts node-llama-cpp@3.21.1 @node-llama-cpp/${binding}@3.21.1`
    expect(installCommand()).toBe("npm run llama")
    expect(installCommand(false, "linux", "x64")).toBe(command("linux-x64"))
    expect(installCommand(false, "darwin", "arm64")).toBe(command("mac-arm64-metal"))
    expect(installCommand(false, "win32", "x64")).toBe(command("win-x64"))
    expect(installCommand(false, "linux", "arm")).toBe(command("linux-armv7l"))
  })

  test("a file that cannot be loaded is a failure with the reason, and what was started is freed", async () => {
    const fake = fakeLlama({ before: (work) => (work === "open context" ? Promise.reject(new Error("not enough memory")) : undefined) })
    const { events } = await ask(fakeModel(fake))
    expect(events).toEqual([{ type: "failure", failure: { code: "server_error", message: "fake-llama.ts could not be loaded: not enough memory", retryable: false } }])
    expect(fake.log).toEqual(["load the file", "open context", "dispose"])
  })
})

describe("a request becomes a prompt", () => {
  const messages = [user("Where is it?"), { role: "assistant" as const, content: "Which order?" }, user("10001")]

  test("by the chat template of the file", async () => {
    const fake = fakeLlama()
    await ask(fakeModel(fake), { messages, notes: "Today is Monday." })
    expect(fake.prompts).toEqual(["a template: system=Be short.\n\nToday is Monday.|user=Where is it?|model=Which order?|user=10001|model="])
  })

  test("without instructions there is no system turn", async () => {
    const fake = fakeLlama()
    await ask(fakeModel(fake), { instructions: "" })
    expect(fake.prompts).toEqual(["a template: user=Where is order 10001?|model="])
  })

  test("by the library's form where it cannot read the template", async () => {
    const fake = fakeLlama({ template: "refused" })
    await ask(fakeModel(fake))
    expect(fake.prompts).toEqual(["the library's own: system=Be short.|user=Where is order 10001?|model="])
  })

  test("as labelled text where there is no template; the next label ends the reply", async () => {
    const fake = fakeLlama({ template: null, replies: [" On its way.\nUser: thanks."] })
    const { reply } = await ask(fakeModel(fake), { messages })
    expect(fake.prompts).toEqual(["Be short.\n\nUser: Where is it?\nAssistant: Which order?\nUser: 10001\nAssistant:"])
    expect(reply).toEqual({ text: "On its way.", reasoning: "", calls: [], finish: "stop", usage: usage(76, 18) })
  })

  test("with the token that begins a text, where the model wants one", async () => {
    const fake = fakeLlama({ template: null, begins: true })
    const { reply } = await ask(fakeModel(fake), { instructions: "" })
    expect(fake.prompts).toEqual(["<s>User: Where is order 10001?\nAssistant:"])
    expect(reply?.usage).toEqual(usage(39, 9))
  })

  test("the token that begins a text is there once, if the template has it", async () => {
    const fake = fakeLlama({ template: "<s>chat", begins: true })
    await ask(fakeModel(fake), { instructions: "" })
    expect(fake.prompts).toEqual(["<s>chat: user=Where is order 10001?|model="])
  })

  test("pictures count as nothing, results of tools are the user's", async () => {
    const fake = fakeLlama()
    const content = [
      { type: "text" as const, text: "See" },
      { type: "image" as const, image: "data:," },
    ]
    await ask(fakeModel(fake), {
      messages: [
        { role: "user", content },
        { role: "tool", callId: "1.1", content: "found" },
      ],
    })
    expect(fake.prompts).toEqual(["a template: system=Be short.|user=See|user=found|model="])
  })

  test("tools are refused: they come in the words of the text protocol", async () => {
    const { events } = await ask(fakeModel(fakeLlama()), { tools: [GET_ORDER] })
    expect(events).toEqual([
      {
        type: "failure",
        failure: {
          code: "invalid_request",
          message: "A local model does not support tools by itself.",
          retryable: false,
          hint: 'Let the agent speak the text protocol: protocol "auto" or "text".',
        },
      },
    ])
  })
})

describe("a reply is written", () => {
  test("whole, with its tokens counted", async () => {
    const { events } = await ask(fakeModel(fakeLlama()))
    expect(events).toEqual([{ type: "reply", reply: { text: "Shipped.", reasoning: "", calls: [], finish: "stop", usage: usage(62, 9) } }])
  })

  test("in deltas of whole characters", async () => {
    const { events, reply } = await ask(fakeModel(fakeLlama({ replies: ["  Où? 😀."] })), { stream: true })
    expect(events.slice(0, -1)).toEqual(["O", "ù", "?", " ", "😀", "."].map((text) => ({ type: "text", text })))
    expect(reply?.text).toBe("Où? 😀.")
  })

  test("up to a stop sequence, of which nothing is shown", async () => {
    const fake = fakeLlama({ replies: ["A: get\nOb: no\nObservation: made up."] })
    const { events, text } = await ask(fakeModel(fake), { stream: true, settings: { stop: ["\nObservation:", "never"] } })
    expect(text).toBe("A: get\nOb: no")
    expect(events.at(-1)).toEqual({ type: "reply", reply: { text: "A: get\nOb: no", reasoning: "", calls: [], finish: "stop", usage: usage(62, 26) } })
    expect(fake.log.at(-1)).toBe("stopped")
  })

  test("up to the first of several stop sequences", async () => {
    expect((await ask(fakeModel(fakeLlama({ replies: ["one ab."] })), { settings: { stop: ["b.", "ab."] } })).reply?.text).toBe("one ")
  })

  test("without a character that the limit cuts in the middle", async () => {
    expect((await ask(fakeModel(fakeLlama({ replies: ["a😀"] })), { settings: { maxTokens: 3 } })).reply).toMatchObject({ text: "a", usage: { outputTokens: 3 } })
  })

  test("with the beginning of a stop sequence, if it ends there", async () => {
    const { text, reply } = await ask(fakeModel(fakeLlama({ replies: ["done\nObs."] })), { stream: true, settings: { stop: ["\nObs.ervation", ""] } })
    expect([text, reply?.text]).toEqual(["done\nObs.", "done\nObs."])
  })

  test("up to the most tokens, what was held back included", async () => {
    const { text, reply } = await ask(fakeModel(fakeLlama({ replies: ["one two three"] })), { stream: true, settings: { maxTokens: 7, stop: ["two."] } })
    expect(text).toBe("one two")
    expect(reply).toEqual({ text: "one two", reasoning: "", calls: [], finish: "length", usage: usage(62, 7) })
  })

  test("at most 1024 tokens long unless asked, and never beyond the context", async () => {
    const long = fakeLlama({ replies: ["on and on"] })
    expect((await ask(fakeModel(long))).reply?.usage).toEqual(usage(62, 1024))
    expect((await ask(fakeModel(long, { contextSize: 100 }))).reply).toMatchObject({ finish: "length", usage: usage(62, 38) })
    const small = fakeLlama({ replies: ["on and on"], trained: 96 })
    expect((await ask(fakeModel(small))).reply).toMatchObject({ finish: "length", usage: usage(62, 34) })
  })

  test("a prompt that leaves no room is too long, not cut", async () => {
    const model = fakeModel(fakeLlama(), { contextSize: 69 })
    const failure = { code: "context_length", message: "The prompt has 62 tokens and the reply needs room for 8, but the context holds 69.", retryable: false, hint: "contextSize" }
    expect((await ask(model)).events).toEqual([{ type: "failure", failure }])
    expect((await ask(model, { settings: { maxTokens: 7 } })).reply?.text).toBe("Shipped")
  })

  test("greedily by default; with what the request says, and the model's seed where it says none", async () => {
    const fake = fakeLlama()
    await ask(fakeModel(fake))
    await ask(fakeModel(fake, { seed: 5 }), { settings: { temperature: 0.7, topP: 0.9 } })
    await ask(fakeModel(fake, { seed: 5 }), { settings: { temperature: 0.7, seed: 6 } })
    expect(fake.samplings).toEqual([
      { temperature: 0, yieldEogToken: true },
      { temperature: 0.7, topP: 0.9, seed: 5, yieldEogToken: true },
      { temperature: 0.7, seed: 6, yieldEogToken: true },
    ])
  })

  test("an error of the library is a failure; the next question is answered", async () => {
    let broken = true
    const fake = fakeLlama({ before: (work) => (work === "write" && broken ? Promise.reject(new Error("Eval has failed")) : undefined) })
    const model = fakeModel(fake)
    expect((await ask(model)).events).toEqual([{ type: "failure", failure: { code: "server_error", message: "Eval has failed", retryable: false } }])
    broken = false
    expect((await ask(model)).reply?.text).toBe("Shipped.")
  })
})

describe("a grammar", () => {
  test("is compiled once per text and has a fresh state for each reply", async () => {
    const fake = fakeLlama()
    const model = fakeModel(fake)
    for (const grammar of ["root", "other", "root"]) await ask(model, { grammar })
    expect(fake.log.filter((work) => work.startsWith("compile"))).toEqual(["compile root", "compile other"])
    expect(fake.samplings.map(({ grammarEvaluationState }) => grammarEvaluationState)).toEqual(["root", "other", "root"].map((grammar) => ({ grammar: { compiled: grammar } })))
    expect(fake.samplings[0]?.grammarEvaluationState).not.toBe(fake.samplings[2]?.grammarEvaluationState)
  })

  test("that does not compile is said, and the reply is written without it", async () => {
    const fake = fakeLlama()
    const model = fakeModel(fake)
    for (const _ of [1, 2])
      expect(await ask(model, { grammar: "broken" })).toMatchObject({
        notes: ["the grammar does not compile; the reply is not constrained"],
        text: "",
        reply: { text: "Shipped." },
      })
    expect(fake.log.filter((work) => work.startsWith("compile"))).toEqual(["compile broken"])
    expect(fake.samplings[0]).toEqual({ temperature: 0, yieldEogToken: true })
  })

  test("only the last sixteen are kept", async () => {
    const fake = fakeLlama()
    const model = fakeModel(fake)
    const names = Array.from({ length: 17 }, (_, index) => `g${index}`)
    for (const grammar of [...names, "g1", "g0"]) await ask(model, { grammar })
    expect(fake.log.filter((work) => work.startsWith("compile"))).toEqual([...names, "g0"].map((name) => `compile ${name}`))
  })
})

describe("what was read before is not read again", () => {
  const long = user("x".repeat(300))
  const reading = (log: readonly string[]): string[] => log.filter((work) => /^(read|forget)/.test(work))

  test("in whole steps, so that a reply does not depend on what was asked before", async () => {
    const fake = fakeLlama()
    const model = fakeModel(fake)
    const first = await ask(model, { messages: [long] })
    expect(reading(fake.log.splice(0))).toEqual(["read 128", "read 128", "read 84"])
    const again = await ask(model, { messages: [long] })
    expect(reading(fake.log.splice(0))).toEqual(["forget from 256", "read 84"])
    const next = await ask(model, { messages: [long, { role: "assistant", content: "Shipped." }, user("And now?")] })
    expect(reading(fake.log.splice(0))).toEqual(["forget from 256", "read 113"])
    const other = await ask(model)
    expect(reading(fake.log.splice(0))).toEqual(["forget from 0", "read 61"])
    expect([first, again, next, other].map(({ reply }) => reply?.usage)).toEqual([usage(341, 9), usage(341, 9, 256), usage(370, 9, 256), usage(62, 9)])
    expect(fake.prompts[0]).toBe(fake.prompts[1])
  })

  test("without what the model wrote itself, even where the next prompt repeats it", async () => {
    const reply = `${"z".repeat(300)}.`
    const fake = fakeLlama({ replies: [reply] })
    const model = fakeModel(fake)
    const short = { instructions: "", messages: [user("y".repeat(129 - "a template: user=|model=".length))] }
    // the first prompt begins with the whole of the second one, which is not read anew and forgets the rest
    await ask(model, { instructions: "", messages: [user(`${short.messages[0]?.content}|model=${"w".repeat(400)}`)] })
    await ask(model, short)
    fake.log.length = 0
    const { reply: next } = await ask(model, { instructions: "", messages: [...short.messages, { role: "assistant", content: reply }, user("And now?")] })
    expect(reading(fake.log)).toEqual(["forget from 128", "read 128", "read 128", "read 66"])
    expect(next?.usage?.cachedTokens).toBe(128)
  })

  test("as much of it as the model can keep", async () => {
    const fake = fakeLlama({ keeps: 100 })
    const model = fakeModel(fake)
    const [first, second] = [await ask(model, { messages: [long] }), await ask(model, { messages: [long] })]
    expect(reading(fake.log).slice(3)).toEqual(["forget from 256", "read 28", "read 128", "read 84"])
    expect([first.reply?.usage, second.reply?.usage]).toEqual([usage(341, 9), usage(341, 9, 100)])
  })

  test("a prompt that ends at a step is read all the same: its last token gives the reply", async () => {
    const fake = fakeLlama()
    const model = fakeModel(fake)
    const exact = { instructions: "", messages: [user("y".repeat(129 - "a template: user=|model=".length))] }
    for (const _ of [1, 2]) expect((await ask(model, exact)).reply?.text).toBe("Shipped.")
    expect(reading(fake.log)).toEqual(["read 128", "forget from 128"])
    expect(fake.prompts[0]).toBe(fake.prompts[1])
  })
})

describe("one reply at a time", () => {
  test("questions wait for each other, in their order, and the file is loaded once", async () => {
    const fake = fakeLlama({ replies: ["one.", "two.", "three."] })
    const model = fakeModel(fake)
    const replies = await Promise.all([1, 2, 3].map(() => ask(model)))
    expect(replies.map(({ reply }) => reply?.text)).toEqual(["one.", "two.", "three."])
    expect(fake.overlaps).toBe(0)
    expect(fake.log.filter((work) => work.startsWith("load"))).toEqual(["load the file"])
  })

  test.each(["load the file", "open context", "compile root", "read 61", "write"])(
    "an abort during %s ends the call at once; the next one begins when that work has ended",
    async (stuck) => {
      const started = gate()
      const finished = gate()
      let first = true
      const fake = fakeLlama({
        before: (work) => {
          if (work !== stuck || !first) return
          first = false
          started.open()
          return finished.passed
        },
      })
      const model = fakeModel(fake)
      const stop = new AbortController()
      const aborted = eventsOf(model.ask(request({ signal: stop.signal, grammar: "root" })))
      const next = ask(model)
      await started.passed
      stop.abort()
      expect(await aborted).toEqual([])
      const before = fake.log.length
      // the second question is in the queue and must not touch the model yet
      await new Promise((resolve) => setImmediate(resolve))
      expect(fake.log.slice(before)).toEqual([])
      finished.open()
      expect((await next).reply?.text).toBe("Shipped.")
      expect(fake.overlaps).toBe(0)
    },
  )

  test("an abort before its turn, or before the call, costs the others nothing", async () => {
    const finished = gate()
    const fake = fakeLlama({ before: (work) => (work === "open context" ? finished.passed : undefined) })
    const model = fakeModel(fake)
    const stop = new AbortController()
    const first = ask(model)
    const waiting = eventsOf(model.ask(request({ signal: stop.signal })))
    const third = ask(model)
    stop.abort()
    expect(await waiting).toEqual([])
    expect(await eventsOf(model.ask(request({ signal: AbortSignal.abort() })))).toEqual([])
    finished.open()
    expect([(await first).reply?.text, (await third).reply?.text]).toEqual(["Shipped.", "Shipped."])
    expect([fake.overlaps, fake.prompts.length]).toEqual([0, 2])
  })

  test("a reader who leaves early stops the writing and makes room", async () => {
    const fake = fakeLlama({ replies: ["on and on", "Done."] })
    const model = fakeModel(fake)
    for await (const event of model.ask(request({ stream: true }))) if (event.type === "text") break
    expect(fake.log.at(-1)).toBe("stopped")
    expect((await ask(model)).reply?.text).toBe("Done.")
  })

  test("nothing listens to the signal when a call is over", async () => {
    const { signal } = new AbortController()
    const [add, remove] = [vi.spyOn(signal, "addEventListener"), vi.spyOn(signal, "removeEventListener")]
    await eventsOf(fakeModel(fakeLlama()).ask(request({ signal })))
    expect(add.mock.calls.map(([, listener]) => listener)).toEqual(remove.mock.calls.map(([, listener]) => listener))
  })
})

describe("close", () => {
  test("waits for the reply that is being written, frees the memory, and the next question loads the file again", async () => {
    const fake = fakeLlama()
    const model = fakeModel(fake)
    const asked = ask(model)
    await model.close()
    expect((await asked).reply?.text).toBe("Shipped.")
    expect(fake.log.slice(-2)).toEqual(["stopped", "dispose"])
    expect((await ask(model)).reply?.text).toBe("Shipped.")
    expect(fake.log.filter((work) => work === "load the file")).toHaveLength(2)
  })

  test("of a model that was never asked does nothing", async () => {
    const fake = fakeLlama()
    await fakeModel(fake).close()
    expect(fake.log).toEqual([])
  })
})
