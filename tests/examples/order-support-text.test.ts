// The order agent with a model that knows no function calling: the same agent file, the same data, the text protocol.
import { describe, expect, test } from "vitest"
import support from "../../examples/order-support/agent.ts"
import { run } from "../../src/index.ts"
import { say, scripted } from "../../src/doors/testing.ts"

const plain = (...texts: string[]) => ({ ...scripted(texts.map((text) => say(text))), functionCalling: false })

describe("the order agent on the text protocol", () => {
  test("looks the order up and answers", async () => {
    const model = plain(
      'Thought: I need the order.\nAction: get_order\nAction Input: {"order_id": "A1001"}',
      "Thought: It was shipped.\nFinal Answer: A1001 was shipped on 2025-01-16 at 10:20.",
    )
    const result = await run(support, "Where is A1001?", { model })
    expect(result).toMatchObject({ ok: true, answer: "A1001 was shipped on 2025-01-16 at 10:20." })
    expect(result.messages.find(({ role }) => role === "tool")?.content).toContain("2025-01-16 10:20")
  })
  test("in Chinese, with labels and full-width signs of the model's own", async () => {
    const model = plain("思考：先查订单\n行动：get_order\n参数：{“order_id”：“A1002”}", "思考：还没有付款\n最终答案：订单 A1002 等待付款。")
    const result = await run(support, "A1002 到哪了？", { model, settings: { language: "zh" } })
    expect(result).toMatchObject({ ok: true, answer: "订单 A1002 等待付款。" })
    expect(result.messages.find(({ role }) => role === "tool")?.content).toContain("awaiting payment")
  })
  test("an answer made up together with the call is not believed", async () => {
    const model = plain(
      'Action: get_order\nAction Input: {"order_id": "A1002"}\nObservation: delivered\nFinal Answer: It was delivered.',
      "Final Answer: A1002 waits for its payment.",
    )
    const result = await run(support, "Where is A1002?", { model })
    expect(result).toMatchObject({ ok: true, answer: "A1002 waits for its payment." })
    expect(JSON.stringify(result.messages)).not.toContain("It was delivered")
  })
})
