// The first agent of the README, asked from code as the README shows it.
import { demoModel } from "hello-agents/demo"
import { call, fail, say, scripted } from "hello-agents/testing"
import { expect, it } from "vitest"
import { ask } from "../../examples/first-agent/ask.ts"

it("answers from its tool", async () => {
  expect(await ask('How many pieces of "desk lamp" are in stock?', demoModel())).toBe("get_stock (article desk lamp) says: 4")
})

it("tells the model of an article that does not exist", async () => {
  const model = scripted([call("get_stock", { article: "sofa" }), say("There are no sofas.")])
  expect(await ask("How many sofas are there?", model)).toBe("There are no sofas.")
  expect(model.requests.at(-1)?.messages.at(-1)?.content).toBe('There is no article "sofa".')
})

it("says why there is no answer", async () => {
  const refused = fail({ code: "auth", message: "HTTP 401: wrong key", hint: "Check LLM_API_KEY." })
  expect(await ask("How many sofas are there?", scripted([refused]))).toBe("No answer (model_unavailable): The model did not answer: HTTP 401: wrong key Check LLM_API_KEY.")
})
