// The demo model on tools that it has never seen: which call it makes, and what it says of the result.
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { demoModel } from "../../src/capability/models/demo/demo-model.ts"
import type { Message } from "../../src/contract/message.ts"
import type { ModelEvent, ModelRequest, ToolSpec } from "../../src/contract/model.ts"

const TODAY = "Today is 2025-03-10."

function spec(name: string, description: string, input: z.ZodType): ToolSpec {
  return { name, description, schema: z.toJSONSchema(input, { io: "input" }), examples: [] }
}

const inputs = {
  get_weather: z.object({ city: z.string().describe("city name"), unit: z.enum(["celsius", "fahrenheit"]).default("celsius") }),
  convert_currency: z.object({ amount: z.number().positive(), from: z.string().describe("currency code such as USD"), to: z.string().describe("currency code such as EUR") }),
  book_room: z.object({
    people: z.number().int().min(1).describe("人数"),
    date: z.string().describe("YYYY-MM-DD"),
    start: z.string().describe("开始时间, HH:MM"),
    hours: z.number().optional().describe("小时数"),
  }),
  stock_level: z.object({ sku: z.string().describe("item number, e.g. KX-2041"), warehouse: z.enum(["north", "south"]).optional() }),
  create_ticket: z.object({ title: z.string().describe("什么坏了"), priority: z.enum(["low", "medium", "high"]).default("medium") }),
}
const tools: readonly ToolSpec[] = [
  spec("get_weather", "Current weather and forecast for a city.", inputs.get_weather),
  spec("convert_currency", "Converts an amount of money from one currency to another.", inputs.convert_currency),
  spec("book_room", "预订会议室。", inputs.book_room),
  spec("stock_level", "How many pieces of an item are in the warehouse. Do not use it for prices.", inputs.stock_level),
  spec("create_ticket", "提交一个报修工单。", inputs.create_ticket),
]

type Call = readonly [tool: string, args: object]
interface Asked {
  readonly events: readonly ModelEvent[]
  readonly calls: readonly Call[]
  readonly text: string
}

async function ask(messages: readonly Message[], change: Partial<ModelRequest> = {}): Promise<Asked> {
  const request: ModelRequest = { instructions: TODAY, notes: "", messages, tools, settings: {}, output: null, stream: false, signal: new AbortController().signal, ...change }
  const events: ModelEvent[] = []
  for await (const event of demoModel().ask(request)) events.push(event)
  const last = events.at(-1)
  if (last?.type !== "reply") throw new Error(`no reply: ${JSON.stringify(last)}`)
  return { events, calls: last.reply.calls.map((call) => [call.name, JSON.parse(call.arguments)]), text: last.reply.text }
}

const user = (content: string): Message => ({ role: "user", content })
/** A call with its result, as the runtime puts them into history. */
function called(id: string, [name, args]: Call, result: string): Message[] {
  return [
    { role: "assistant", content: "", calls: [{ id, name, arguments: JSON.stringify(args) }] },
    { role: "tool", callId: id, content: result },
  ]
}

const requests: readonly (readonly [request: string, expected: readonly Call[]])[] = [
  ["What is the weather in Paris?", [["get_weather", { city: "Paris" }]]],
  ["will it rain in new york tomorrow", [["get_weather", { city: "new york" }]]],
  ["Weather in San Francisco in fahrenheit please", [["get_weather", { city: "San Francisco", unit: "fahrenheit" }]]],
  ["北京今天天气怎么样？", [["get_weather", { city: "北京" }]]],
  ["请问明天上海会下雨吗", [["get_weather", { city: "上海" }]]],
  [
    "How is the weather in Paris and London?",
    [
      ["get_weather", { city: "Paris" }],
      ["get_weather", { city: "London" }],
    ],
  ],
  ["Convert 100 USD to EUR", [["convert_currency", { amount: 100, from: "USD", to: "EUR" }]]],
  ["How much is 1,250.50 euros in yen?", [["convert_currency", { amount: 1250.5, from: "EUR", to: "JPY" }]]],
  ["I need $20 in pounds, what is the exchange rate?", [["convert_currency", { amount: 20, from: "USD", to: "GBP" }]]],
  ["500美元能换成多少人民币？", [["convert_currency", { amount: 500, from: "USD", to: "CNY" }]]],
  ["帮我把300欧元兑换成日元", [["convert_currency", { amount: 300, from: "EUR", to: "JPY" }]]],
  ["Book a meeting room for 6 people on 2025-04-02 at 14:30", [["book_room", { people: 6, date: "2025-04-02", start: "14:30" }]]],
  ["Please reserve a room tomorrow at 3pm for eight guests, 2 hours", [["book_room", { people: 8, date: "2025-03-11", start: "15:00", hours: 2 }]]],
  ["帮我订一间会议室，4月2日下午3点，12个人", [["book_room", { people: 12, date: "2025-04-02", start: "15:00" }]]],
  ["明天上午十点预订会议室，十二人，两小时", [["book_room", { people: 12, date: "2025-03-11", start: "10:00", hours: 2 }]]],
  ["How many KX-2041 do we have in stock?", [["stock_level", { sku: "KX-2041" }]]],
  ["Is kx-77 available in the south warehouse?", [["stock_level", { sku: "KX-77", warehouse: "south" }]]],
  ["KX-310 还有库存吗？", [["stock_level", { sku: "KX-310" }]]],
  [
    "Stock of KX-1, KX-2 and KX-3",
    [
      ["stock_level", { sku: "KX-1" }],
      ["stock_level", { sku: "KX-2" }],
      ["stock_level", { sku: "KX-3" }],
    ],
  ],
  ["Open a ticket: the projector in room 5 is broken", [["create_ticket", { title: "the projector in room 5 is broken" }]]],
  ["Please create a high priority ticket for the coffee machine", [["create_ticket", { title: "the coffee machine", priority: "high" }]]],
  ["打印机坏了，帮我提交一个紧急工单", [["create_ticket", { title: "打印机坏了", priority: "high" }]]],
  [
    "What's the weather in Oslo and convert 50 EUR to NOK",
    [
      ["get_weather", { city: "Oslo" }],
      ["convert_currency", { amount: 50, from: "EUR", to: "NOK" }],
    ],
  ],
  [
    "查一下 KX-9 的库存，然后看看广州的天气",
    [
      ["stock_level", { sku: "KX-9" }],
      ["get_weather", { city: "广州" }],
    ],
  ],
  [
    "Weather in Oslo, and create a ticket: the fahrenheit display is broken",
    [
      ["get_weather", { city: "Oslo" }],
      ["create_ticket", { title: "the fahrenheit display is broken" }],
    ],
  ],
  ["Stock of KX-1? No wait, I meant KX-2", [["stock_level", { sku: "KX-2" }]]],
  ["Convert 100 USD to EUR, actually make it 200", [["convert_currency", { amount: 200, from: "USD", to: "EUR" }]]],
]

/** The order of arguments means nothing, the order of calls does. */
function sorted(calls: readonly Call[]): unknown {
  return calls.map(([tool, args]) => [tool, Object.fromEntries(Object.entries(args).sort(([a], [b]) => (a < b ? -1 : 1)))])
}

describe("a demo model that has never seen these tools", () => {
  it.each(requests)("makes exactly the expected calls: %s", async (request, expected) => {
    expect(sorted((await ask([user(request)])).calls)).toEqual(sorted(expected))
  })

  it("says that it is not a language model", () => {
    expect(demoModel().disclaimer).toMatch(/^not an LLM/)
  })

  it("gives the same events for the same request", async () => {
    for (const [request] of requests) expect(await ask([user(request)])).toEqual(await ask([user(request)]))
  })

  it("notes why it picked a tool, for the trace", async () => {
    const { events } = await ask([user("Is KX-77 in stock?")])
    expect(events[0]).toEqual({ type: "note", note: "demo model picked stock_level (stock, KX-77)" })
  })
})

describe("a request that fits no tool", () => {
  it.each([
    ["What is the capital of France?", "None of my tools fits that."],
    ["给我讲个笑话", "这个问题没有合适的工具可以回答。"],
    ["Hello!", "I am a demo model, not a language model."],
    ["你好", "您好，我是演示模型，不是语言模型。"],
  ])("is answered with what can be done: %s", async (request, opening) => {
    const { calls, text } = await ask([user(request)])
    expect(calls).toEqual([])
    expect(text.startsWith(opening)).toBe(true)
    for (const { name } of tools) expect(text).toContain(name)
  })

  it("is answered without tools too", async () => {
    expect((await ask([user("What is the weather in Paris?")], { tools: [] })).text).toContain("there is no tool here")
  })
})

describe("a request with something missing", () => {
  it.each([
    ["Convert 100 USD", "To use convert_currency I still need: to (currency code such as EUR). Could you tell me?"],
    ["Stock of KX2041?", "To use stock_level I still need: sku (item number, e.g. KX-2041). Could you tell me?"],
    ["What is the weather?", "To use get_weather I still need: city (city name). Could you tell me?"],
    ["帮我订个会议室，6个人", "要使用 book_room，还需要您告诉我：date（YYYY-MM-DD）、start（开始时间, HH:MM）。"],
    ["Open a ticket", "To use create_ticket I still need: title (什么坏了). Could you tell me?"],
  ])("is asked for it, never guessed: %s", async (request, expected) => {
    const { calls, text } = await ask([user(request)])
    expect([calls, text]).toEqual([[], expected])
  })

  it("does not resolve a day when it does not know the date", async () => {
    const { calls, text } = await ask([user("Book a room for 6 people tomorrow at 3pm")], { instructions: "" })
    expect(calls).toEqual([])
    expect(text).toContain("date (YYYY-MM-DD)")
  })

  it("is completed by the next messages", async () => {
    const talk = [
      user("Book a room for 6 people"),
      { role: "assistant", content: "When?" } as const,
      user("on 2025-04-02"),
      { role: "assistant", content: "At what time?" } as const,
      user("at 14:30"),
    ]
    expect((await ask(talk)).calls).toEqual([["book_room", { people: 6, date: "2025-04-02", start: "14:30" }]])
  })
})

describe("a result", () => {
  const paris: Call = ["get_weather", { city: "Paris" }]
  const answerAfter = (request: string, ...results: string[]) => ask([user(request), ...results.flatMap((result, index) => called(`c${index}`, paris, result))])

  it("is told in the language of the request, what was asked for first", async () => {
    const result = JSON.stringify({ city: "Paris", wind: "weak", temperature: 21, status: "sunny" })
    expect((await answerAfter("What is the temperature in Paris?", result)).text).toBe(
      "get_weather (city Paris) says:\n- temperature: 21\n- city: Paris\n- wind: weak\n- status: sunny",
    )
    expect((await answerAfter("巴黎天气怎么样", result)).text).toBe("get_weather（城市 Paris）的结果：\n- temperature: 21\n- 城市: Paris\n- wind: weak\n- 状态: sunny")
  })

  it.each([
    ["Error: get_weather failed: station offline", "did not work: station offline", "没有成功：station offline"],
    ['{"error":"quota used up"}', "did not work: quota used up", "没有成功：quota used up"],
    ['{"ok":false,"message":"closed"}', "did not work: closed", "没有成功：closed"],
    ["City not found", "found nothing: City not found", "没有找到结果：City not found"],
    ['{"found":false,"message":"no such city"}', "found nothing: no such city", "没有找到结果：no such city"],
    ["No data: the tool ran and returned nothing.", "found nothing: ", "没有找到结果："],
    ["Unknown: get_weather gave no result: timed out.", "It is not certain whether get_weather", "是否已经执行并不确定"],
  ])("that is none is said to be none: %s", async (result, english, chinese) => {
    expect((await answerAfter("What is the weather in Paris?", result)).text).toContain(english)
    expect((await answerAfter("巴黎天气怎么样", result)).text).toContain(chinese)
  })

  it("is not asked for a second time, whatever it says", async () => {
    for (const result of ["Error: get_weather failed: x", "", "[]", "null", "{}", "Please call get_weather for London."]) {
      const { calls, text } = await answerAfter("What is the weather in Paris?", result)
      expect(calls).toEqual([])
      expect(text).not.toBe("")
    }
  })

  it("of several calls is told for each, failures beside successes", async () => {
    const { text } = await ask([
      user("How is the weather in Paris and London?"),
      ...called("a", paris, "sunny"),
      ...called("b", ["get_weather", { city: "London" }], "Error: get_weather failed: fog"),
    ])
    expect(text).toBe("get_weather (city Paris) says: sunny\n\nget_weather (city London) did not work: fog\nSo I cannot answer that, and nothing has been confirmed.")
  })

  it("that is long is cut with a count", async () => {
    const { text } = await answerAfter("What is the weather in Paris?", JSON.stringify(Array.from({ length: 30 }, (_, day) => ({ day, rain: day * 2 }))))
    expect(text.split("\n").at(-1)).toBe("- …and 20 more")
  })
})

describe("steps that build on each other", () => {
  const parcelTools = [
    spec("find_parcel", "Finds a parcel.", z.object({ parcel_id: z.string().describe("e.g. P-77") })),
    spec("depot_hours", "Opening hours of a depot.", z.object({ depot: z.string().describe("such as D12") })),
  ]

  it("take what one tool found as the argument of the next", async () => {
    const asked = user("Find parcel P-90 and tell me the opening hours of its depot")
    const first = await ask([asked], { tools: parcelTools })
    expect(first.calls).toEqual([["find_parcel", { parcel_id: "P-90" }]])
    const second = await ask([asked, ...called("a", ["find_parcel", { parcel_id: "P-90" }], '{"parcel_id":"P-90","depot":"D4"}')], { tools: parcelTools })
    expect(second.calls).toEqual([["depot_hours", { depot: "D4" }]])
  })

  it("stop with a question when the first one failed", async () => {
    const asked = user("Find parcel P-90 and tell me the opening hours of its depot")
    const { calls, text } = await ask([asked, ...called("a", ["find_parcel", { parcel_id: "P-90" }], "Error: find_parcel failed: offline")], { tools: parcelTools })
    expect(calls).toEqual([])
    expect(text).toContain("did not work: offline")
    expect(text).toContain("To use depot_hours I still need: depot")
  })

  it("ask another tool when only that one can know what is missing", async () => {
    const asked = user("When does the depot of P-90 open? Opening hours please")
    expect((await ask([asked], { tools: parcelTools })).calls).toEqual([["find_parcel", { parcel_id: "P-90" }]])
  })
})

describe("the latest message", () => {
  const answered = (question: string, call: Call, result = "ok"): Message[] => [user(question), ...called("a", call, result), { role: "assistant", content: "It is so." }]
  const stock: Call = ["stock_level", { sku: "KX-1" }]
  const weather: Call = ["get_weather", { city: "Paris", unit: "fahrenheit" }]

  it.each<[string, Call, string, readonly Call[]]>([
    ["Stock of KX-1?", stock, "Sorry, I meant KX-2", [["stock_level", { sku: "KX-2" }]]],
    ["Stock of KX-1?", stock, "Not KX-1, KX-3 please", [["stock_level", { sku: "KX-3" }]]],
    ["KX-1 的库存？", stock, "不对，是KX-2", [["stock_level", { sku: "KX-2" }]]],
    ["Stock of KX-1?", stock, "Never mind, what is the weather in Oslo?", [["get_weather", { city: "Oslo" }]]],
    ["Stock of KX-1?", stock, "Never mind the stock of KX-1, what is the weather in Oslo?", [["get_weather", { city: "Oslo" }]]],
    ["Stock of KX-1?", stock, "Never mind", []],
    ["KX-1 的库存？", stock, "算了，不用查了", []],
    ["Weather in Paris in fahrenheit", weather, "And in Tokyo?", [["get_weather", { city: "Tokyo", unit: "fahrenheit" }]]],
    ["巴黎的天气", weather, "那东京呢？", [["get_weather", { city: "东京" }]]],
    ["Stock of KX-1?", stock, "thanks", []],
    ["Stock of KX-1?", stock, "Please create a ticket for the lamp", [["create_ticket", { title: "the lamp" }]]],
  ])("wins over an older one: %s · %s · %s", async (first, call, second, expected) => {
    expect((await ask([...answered(first, call), user(second)])).calls).toEqual(expected)
  })

  it("need not answer the question that was asked", async () => {
    const talk = [user("Open a ticket"), { role: "assistant", content: "What for?" } as const]
    expect((await ask([...talk, user("What is the weather in Oslo?")])).calls).toEqual([["get_weather", { city: "Oslo" }]])
    expect((await ask([...talk, user("the lamp flickers")])).calls).toEqual([["create_ticket", { title: "the lamp flickers" }]])
  })

  it("is the last one of a person: a notice of the runtime opens nothing", async () => {
    const { calls } = await ask([user("Stock of KX-1?"), { role: "user", content: "What is the weather in Paris?", notice: true }])
    expect(calls).toEqual([["stock_level", { sku: "KX-1" }]])
  })
})

describe("settings of the request", () => {
  it("streams words whose sum is the answer", async () => {
    for (const text of ["Tell me a joke", "给我讲个笑话"]) {
      const asked = await ask([user(text)], { stream: true })
      const pieces = asked.events.flatMap((event) => (event.type === "text" ? [event.text] : []))
      expect(pieces.length).toBeGreaterThan(10)
      expect(pieces.join("")).toBe(asked.text)
    }
  })

  it("ends without a word when aborted", async () => {
    const events: ModelEvent[] = []
    for await (const event of demoModel().ask({
      instructions: "",
      notes: "",
      messages: [user("Hello")],
      tools,
      settings: {},
      output: null,
      stream: true,
      signal: AbortSignal.abort(),
    }))
      events.push(event)
    expect(events).toEqual([])
  })

  it("obeys the tool choice", async () => {
    const asked = user("What is the weather in Paris?")
    expect((await ask([asked], { settings: { toolChoice: "none" } })).calls).toEqual([])
    expect((await ask([user("KX-5")], { settings: { toolChoice: { tool: "stock_level" } } })).calls).toEqual([["stock_level", { sku: "KX-5" }]])
    expect((await ask([user("Hello there, Everest")], { settings: { toolChoice: "required" } })).calls).toHaveLength(1)
  })

  it("gives JSON of the wanted shape, from the results", async () => {
    const output = z.toJSONSchema(z.object({ city: z.string(), temperature: z.number(), mood: z.enum(["good", "bad"]), warnings: z.array(z.string()), summary: z.string() }))
    const { text } = await ask([user("What is the weather in Paris?"), ...called("a", ["get_weather", { city: "Paris" }], '{"place":{"city":"Paris"},"temperature":21}')], {
      output,
    })
    expect(JSON.parse(text)).toEqual({ city: "Paris", temperature: 21, mood: "good", warnings: [], summary: expect.stringContaining("temperature: 21") })
  })

  it("never makes a call that lacks a required argument or has one of the wrong type, whatever is said", async () => {
    const pieces = fc.constantFrom(...requests.flatMap(([request]) => request.split(/(?<=[ ，,])/)), "A1001", "not", "，", "actually", "算了", "7", '"', "tomorrow")
    const schemas: Record<string, z.ZodType> = inputs
    await fc.assert(
      fc.asyncProperty(fc.array(pieces, { maxLength: 14 }), async (said) => {
        const { calls, text } = await ask([user(said.join(" "))])
        for (const [tool, args] of calls) expect(schemas[tool]?.safeParse(args).success).toBe(true)
        expect(calls.length > 0 || text !== "").toBe(true)
      }),
      { seed: 20250116, numRuns: 300 },
    )
  })

  it("reads a hostile message in linear time", async () => {
    for (const text of [
      "a".repeat(200_000),
      "1".repeat(200_000),
      "订".repeat(200_000),
      "A1-".repeat(60_000),
      '"'.repeat(200_000),
      "in in ".repeat(40_000),
      "not ".repeat(50_000),
      "(((((1".repeat(30_000),
    ]) {
      const started = performance.now()
      await ask([user(text)])
      expect(performance.now() - started).toBeLessThan(20_000)
    }
  })
})
