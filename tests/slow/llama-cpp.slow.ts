// A real GGUF file through the real library: `npm run llama` and `npm run model` bring both. Without them these tests are skipped, which is said.
import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { agent, run, tool } from "hello-agents"
import { llamaCpp } from "hello-agents/llama-cpp"
import { afterAll, expect, test } from "vitest"
import { z } from "zod"
import { cacheFolder } from "../../scripts/cache-folder.mjs"
import { modelFile } from "../../scripts/model.mjs"
import { plant } from "../house/plant.ts"
import { ask, eventsOf, request } from "../models/ask.ts"

const file = modelFile()
const isHere = existsSync(file) && existsSync(join(cacheFolder(), "llama-cpp/node_modules/node-llama-cpp"))
const onWeights = test.runIf(isHere)
// One thread: with more, a core that something else keeps busy makes it a hundred times slower.
const open = () => llamaCpp({ file, threads: 1, contextSize: 2048 })
const model = isHere ? open() : null
const local = () => model ?? open()
afterAll(() => model?.close())

const question = { instructions: "You are a helpful assistant.", messages: [{ role: "user" as const, content: "What is the capital of France?" }] }

onWeights("loads, answers, counts its tokens exactly", async () => {
  const { text, reply, failure } = await ask(local(), { ...question, stream: true })
  expect(failure).toBe(null)
  expect(reply).toEqual({
    text: "The capital of France is Paris.",
    reasoning: "",
    calls: [],
    finish: "stop",
    usage: { inputTokens: 27, outputTokens: 8, cachedTokens: 0, reasoningTokens: 0, cost: 0 },
  })
  expect(text).toBe(reply?.text)
})

onWeights("writes tokens at a rate that can be worked with", async () => {
  const started = performance.now()
  const { reply } = await ask(local(), { messages: [{ role: "user", content: "Tell me a long story about a dog." }], settings: { maxTokens: 100 } })
  const seconds = (performance.now() - started) / 1000
  expect(reply).toMatchObject({ finish: "length", usage: { outputTokens: 100 } })
  process.stderr.write(`${(100 / seconds).toFixed(0)} tokens/s on one thread\n`)
  expect(100 / seconds).toBeGreaterThan(1)
})

onWeights("the same seed gives the same text, whatever was asked in between, and another seed another one", async () => {
  const told = async (seed: number) =>
    (await ask(local(), { messages: [{ role: "user", content: `A word: ${"blue sky ".repeat(100)}` }], settings: { temperature: 1, seed, maxTokens: 30 } })).reply
  const [first, , second, other] = [await told(7), await ask(local(), question), await told(7), await told(8)]
  expect(second?.text).toBe(first?.text)
  expect(other?.text).not.toBe(first?.text)
  const again = await told(7)
  expect([again?.text, again?.usage?.cachedTokens]).toEqual([first?.text, 128])
})

onWeights("a grammar holds, and ends the reply", async () => {
  const grammar = `root ::= "Action: " ("get_order" | "search") "\\nAction Input: {\\"id\\": \\"" [0-9]{3,6} "\\"}"`
  const { reply } = await ask(local(), { ...question, grammar })
  expect(reply?.text).toMatch(/^Action: (get_order|search)\nAction Input: \{"id": "\d{3,6}"\}$/)
  expect(reply?.finish).toBe("stop")
})

onWeights("what is not a character of the vocabulary comes out whole", async () => {
  const { text, reply } = await ask(local(), { ...question, grammar: `root ::= "订单 😀 é"`, stream: true })
  expect([text, reply?.text]).toEqual(["订单 😀 é", "订单 😀 é"])
})

onWeights("a special token in a message is text, not the end of a turn", async () => {
  const tokens = async (content: string) => (await ask(local(), { messages: [{ role: "user", content }], settings: { maxTokens: 1 } })).reply?.usage?.inputTokens ?? 0
  expect((await tokens("<|im_end|>")) - (await tokens("a"))).toBeGreaterThan(2)
})

onWeights("a prompt that does not fit is a failure, an abort ends soon", async () => {
  const long = { messages: [{ role: "user" as const, content: "order ".repeat(3000) }] }
  expect((await ask(local(), long)).failure?.code).toBe("context_length")
  const stop = new AbortController()
  let seen = 0
  for await (const event of local().ask(request({ ...question, stream: true, signal: stop.signal }))) {
    seen++
    if (event.type === "text") stop.abort()
  }
  expect(seen).toBe(1)
  expect(await eventsOf(local().ask(request({ signal: AbortSignal.abort() })))).toEqual([])
})

onWeights("a file that is no model is a failure with its name", async () => {
  const broken = join(plant({}), "broken.gguf")
  writeFileSync(broken, "no weights")
  const { failure } = await ask(llamaCpp({ file: broken, threads: 1 }))
  expect(failure).toMatchObject({ code: "server_error", retryable: false, message: expect.stringMatching(/^broken\.gguf could not be loaded: ./) })
})

onWeights("an agent with a tool: every call that the model writes is a valid one", async () => {
  const seen: string[] = []
  const getOrder = tool({
    name: "get_order",
    description: "Looks up one order by its number",
    input: z.object({ order_id: z.string(), detail: z.enum(["status", "items"]) }),
    execute: ({ order_id, detail }) => {
      seen.push(`${typeof order_id} ${detail}`)
      return "shipped on Monday"
    },
  })
  const desk = agent({ name: "desk", instructions: "Answer questions about orders.", tools: [getOrder], model: local() })
  for (const question of ["Use get_order to look up order 10001.", "What is the status of order 10001?", "订单 10001 到哪了？"]) {
    const { messages } = await run(desk, question, { limits: { turns: 3 }, settings: { maxTokens: 200 } })
    expect(messages.filter(({ role, content }) => role === "tool" && !String(content).startsWith("shipped on Monday"))).toEqual([])
  }
  expect(seen.length).toBeGreaterThan(0)
  expect(seen.filter((call) => !/^string (status|items)$/.test(call))).toEqual([])
})
