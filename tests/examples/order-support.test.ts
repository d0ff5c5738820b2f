// The order-support example, run as a user would: real tools, real data file, the demo model instead of a language model.
import { writeFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { run } from "hello-agents"
import type { Message } from "hello-agents"
import { demoModel } from "hello-agents/demo"
import { call, say, scripted } from "hello-agents/testing"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import support from "../../examples/order-support/agent.ts"

let folder = ""
beforeEach(async () => {
  vi.stubEnv("ORDERS_FILE", "")
  folder = await mkdtemp(join(tmpdir(), "orders-"))
})
afterEach(async () => {
  await rm(folder, { recursive: true })
})

async function ask(
  input: string | readonly Message[],
): Promise<{ answer: string; calls: readonly (readonly [string, unknown])[]; results: readonly string[]; messages: readonly Message[] }> {
  const result = await run(support, input, { model: demoModel() })
  expect(result).toMatchObject({ ok: true, status: "final", agent: "order-support" })
  const opened = result.messages.findLastIndex((message) => message.role === "user")
  const latest = result.messages.slice(opened)
  return {
    answer: result.answer,
    calls: latest.flatMap((message) => (message.role === "assistant" ? (message.calls ?? []).map((one) => [one.name, JSON.parse(one.arguments)] as const) : [])),
    results: latest.flatMap((message) => (message.role === "tool" ? [message.content] : [])),
    messages: result.messages,
  }
}

/** Words of the data that an answer about nothing must not contain. */
const claims = /shipped|delivered|paid|refunded|已发货|已送达|已支付|2025-01/i

describe("an order that is known", () => {
  it("is looked up and answered in English", async () => {
    const { answer, calls } = await ask("When was A1001 shipped?")
    expect(calls).toEqual([["get_order", { order_id: "A1001" }]])
    expect(answer).toContain("status: shipped")
    expect(answer).toContain("2025-01-16 10:20")
    expect(answer).toContain("SF1390027714")
  })

  it("is looked up and answered in Chinese", async () => {
    const { answer, calls } = await ask("请问订单A1001发货了吗？")
    expect(calls).toEqual([["get_order", { order_id: "A1001" }]])
    expect(answer).toContain("状态: shipped（已发货）")
    expect(answer).toContain("发货时间: 2025-01-16 10:20")
  })

  it("is said to await payment, and nothing else", async () => {
    const { answer } = await ask("Is A1002 paid?")
    expect(answer).toContain("status: awaiting payment")
    expect(answer).not.toMatch(/shipped|delivered|refunded/)
  })

  it("leads to the other orders of its customer", async () => {
    const { answer, calls } = await ask("Look up A1003 and list the other orders of its customer")
    expect(calls).toEqual([
      ["get_order", { order_id: "A1003" }],
      ["list_orders", { customer_id: "C001" }],
    ])
    for (const id of ["A1001", "A1003", "A1011"]) expect(answer).toContain(id)
  })

  it("leads to its parcel", async () => {
    const { answer, calls } = await ask("Track the parcel of A1009")
    expect(calls).toEqual([
      ["get_order", { order_id: "A1009" }],
      ["track_parcel", { tracking_number: "YD6612874590" }],
    ])
    expect(answer).toContain("delayed by snow")
  })
})

describe("a customer", () => {
  it.each([["Which orders does customer C002 have?"], ["客户C002有哪些订单？"]])("has orders: %s", async (question) => {
    const { answer, calls } = await ask(question)
    expect(calls).toEqual([["list_orders", { customer_id: "C002" }]])
    expect(answer.indexOf("A1002")).toBeLessThan(answer.indexOf("A1005"))
    expect(answer.indexOf("A1002")).toBeGreaterThan(-1)
  })
})

describe("an order that is unknown", () => {
  it.each([
    ["Where is A9999?", "found nothing"],
    ["订单A9999到哪了？", "没有找到"],
  ])("is said to be unknown: %s", async (question, words) => {
    const { answer, calls } = await ask(question)
    expect(calls).toEqual([["get_order", { order_id: "A9999" }]])
    expect(answer).toContain(words)
    expect(answer).not.toMatch(claims)
  })

  it("is asked for when no number was given", async () => {
    const { answer, calls } = await ask("Where is my order?")
    expect(calls).toEqual([])
    expect(answer).toContain("such as A1001")
  })
})

describe("a backend that fails", () => {
  it.each([
    ["Where is A1001?", "did not work"],
    ["订单A1001到哪了？", "没有成功"],
  ])("makes the call fail, and the answer claims nothing: %s", async (question, words) => {
    vi.stubEnv("ORDERS_FILE", join(folder, "gone.json"))
    const { answer, results } = await ask(question)
    expect(results).toEqual(["Error: get_order failed: The order data cannot be read (ENOENT). Nothing is known about any order right now."])
    expect(answer).toContain(words)
    expect(answer).not.toMatch(claims)
  })

  it.each([
    ["not JSON", "{", "The order data is not JSON. Nothing is known about any order right now."],
    ["not a list of orders", '{"orders":[{"order_id":"A1001"}]}', "The order data is malformed at orders.0.customer_id: "],
  ])("says what is wrong with a file that is %s", async (_, text, message) => {
    vi.stubEnv("ORDERS_FILE", join(folder, "orders.json"))
    writeFileSync(join(folder, "orders.json"), text)
    const { answer, results } = await ask("Where is A1001?")
    expect(results).toHaveLength(1)
    expect(results[0]).toContain(`Error: get_order failed: ${message}`)
    expect(answer).toContain("did not work")
    expect(answer).not.toMatch(claims)
  })

  it("works again as soon as the data is back", async () => {
    vi.stubEnv("ORDERS_FILE", join(folder, "gone.json"))
    const { messages } = await ask("Where is A1001?")
    vi.stubEnv("ORDERS_FILE", "")
    const { answer } = await ask([...messages, { role: "user", content: "Try A1001 again" }])
    expect(answer).toContain("status: shipped")
  })
})

describe("a customer who changes their mind", () => {
  it.each([
    ["Sorry, I meant A1002.", "Where is A1001?"],
    ["不对，我说的是A1002", "订单A1001到哪了？"],
  ])("gets the latest order only: %s", async (second, first) => {
    const { messages } = await ask(first)
    const { answer, calls } = await ask([...messages, { role: "user", content: second }])
    expect(calls).toEqual([["get_order", { order_id: "A1002" }]])
    expect(answer).toContain("awaiting payment")
    expect(answer).not.toContain("A1001")
  })

  it("gets nothing looked up after taking the question back", async () => {
    const { messages } = await ask("Where is A1001?")
    const { answer, calls } = await ask([...messages, { role: "user", content: "Never mind." }])
    expect(calls).toEqual([])
    expect(answer).toContain("I leave it")
  })

  it("keeps the order in mind that the second message points at", async () => {
    const { messages } = await ask("Where is A1003?")
    const { calls } = await ask([...messages, { role: "user", content: "Which other orders does the customer have?" }])
    expect(calls).toEqual([["list_orders", { customer_id: "C001" }]])
  })
})

it("runs with a scripted model as well, with lower-case and padded numbers", async () => {
  const model = scripted([call("get_order", { order_id: " a1006 " }), say("It was refunded on 2025-01-13.")])
  const result = await run(support, "What became of A1006?", { model })
  expect(result.ok && result.answer).toBe("It was refunded on 2025-01-13.")
  expect(model.requests.at(-1)?.messages.at(-1)?.content).toContain('"status":"refunded"')
})
