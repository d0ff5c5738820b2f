import { expect, test } from "vitest"
import { fail, say, scripted } from "../../src/doors/testing.ts"
import { agent, run, stream } from "../../src/index.ts"

const long = Array.from({ length: 40 }, (_, index) => ({ role: index % 2 === 0 ? ("user" as const) : ("assistant" as const), content: `${index} ${"word ".repeat(200)}` }))
const question = { role: "user" as const, content: "And now?" }
const tooLong = fail({ code: "context_length", message: "too many tokens", retryable: false })

test("a server that says too long makes the history half as long, once, and the run goes on", async () => {
  const model = scripted([tooLong, say("Now it fits.")])
  const live = stream(agent({ name: "a", instructions: "", model }), [...long, question])
  const edits: string[] = []
  for await (const event of live) if (event.type === "history_edit") edits.push(event.because)
  expect(await live.result).toMatchObject({ ok: true, answer: "Now it fits." })
  expect(edits).toEqual(["context_length"])
  const [first, second] = model.requests.map(({ messages }) => messages)
  expect(first).toHaveLength(41)
  expect(second?.length).toBeLessThanOrEqual(21)
  expect(second?.at(-1)).toMatchObject({ content: "And now?" })
})

test("a second time it is an end, with the reason", async () => {
  const model = scripted([tooLong, tooLong])
  expect(await run(agent({ name: "a", instructions: "", model }), [...long, question])).toMatchObject({ ok: false, stop: { reason: "model_unavailable", code: "context_length" } })
  expect(model.requests).toHaveLength(2)
})

test("a history over the limit is shortened before the model is asked; pairs stay whole", async () => {
  const model = scripted([say("ok")])
  await run(agent({ name: "a", instructions: "", model }), [...long, question], { limits: { messages: 10 } })
  expect(model.requests[0]?.messages.length).toBeLessThanOrEqual(10)
})
