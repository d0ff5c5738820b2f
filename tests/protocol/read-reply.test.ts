// What a reply is read as, kind by kind: neighbours of the corpus, and the rules it leaves open.
import { describe, expect, it } from "vitest"
import type { Reading } from "../../src/contract/event.ts"
import type { FinishReason, ModelReply, ToolSpec } from "../../src/contract/model.ts"
import { readReply } from "../../src/capability/protocol/read-reply.ts"

function tool(name: string, properties: Record<string, object>, required: readonly string[] = Object.keys(properties)): ToolSpec {
  return { name, description: "", schema: { type: "object", properties, required }, examples: [] }
}
const tools = [
  tool("get_weather", { city: { type: "string" }, days: { type: "integer" } }, ["city"]),
  tool("run", { command: { type: "string" } }),
  tool("ping", {}),
  tool("set_flags", { flags: { type: "array", items: { type: "object" } }, deep: { type: "boolean" } }, ["flags"]),
]
const weather = ["get_weather", '{"city": "Oslo"}']
const date = ["run", '{"command": "date"}']

const reply = (text: string, more: Partial<ModelReply> = {}): ModelReply => ({ text, reasoning: "", calls: [], finish: "stop", usage: null, ...more })
const read = (text: string, finish: FinishReason = "stop"): Reading => readReply(reply(text, { finish }), tools).reading
/** Name and arguments of the calls, or the state and text of what is none. */
const brief = (text: string, finish: FinishReason = "stop"): unknown => {
  const reading = read(text, finish)
  return reading.type === "action" ? reading.calls.map((call) => [call.name, call.arguments]) : `${reading.type}: ${reading.text}`
}

describe("dialects", () => {
  it.each([
    ["Hermes", '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'],
    ["Hermes, other order", '<tool_call>{"arguments": {"city": "Oslo"}, "id": "1", "name": "get_weather"}</tool_call>'],
    ["Hermes, CRLF", '<tool_call>\r\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\r\n</tool_call>\r\n'],
    ["Hermes, no closing tag", '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}'],
    ["Hermes, arguments as a string", '<tool_call>{"name": "get_weather", "arguments": "{\\"city\\": \\"Oslo\\"}"}</tool_call>'],
    ["Hermes, arguments beside the name", '<tool_call>{"name": "get_weather", "city": "Oslo"}</tool_call>'],
    ["Hermes, function object", '<tool_call>{"type": "function", "function": {"name": "get_weather", "arguments": {"city": "Oslo"}}}</tool_call>'],
    ["Hermes, in a fence", '```xml\n<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>\n```'],
    ["Hermes, plural and list", '<tool_calls>[{"name": "get_weather", "arguments": {"city": "Oslo"}}]</tool_calls>'],
    ["function_call", '<function_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</function_call>'],
    ["Nemotron", '<TOOLCALL>[{"name": "get_weather", "arguments": {"city": "Oslo"}}]</TOOLCALL>'],
    ["Granite", '<|tool_call|>[{"name": "get_weather", "arguments": {"city": "Oslo"}}]'],
    ["Llama", '{"name": "get_weather", "parameters": {"city": "Oslo"}}'],
    ["Llama, python tag", '<|python_tag|>{"name": "get_weather", "parameters": {"city": "Oslo"}}<|eom_id|>'],
    ["Llama, python tag and Python", '<|python_tag|>get_weather(city="Oslo")'],
    ["Llama, function tag", '<function=get_weather>{"city": "Oslo"}</function>'],
    ["Mistral", '[TOOL_CALLS] [{"name": "get_weather", "arguments": {"city": "Oslo"}}]'],
    ["Mistral, name and object", '[TOOL_CALLS]get_weather{"city": "Oslo"}'],
    ["Mistral, id and arguments", '[TOOL_CALLS]get_weather[CALL_ID]a1B2c3[ARGS]{"city": "Oslo"}'],
    ["DeepSeek V3", '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n{"city": "Oslo"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>'],
    ["DeepSeek V3.1", '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city": "Oslo"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>'],
    ["DeepSeek DSML", '<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter string="true" name="city">Oslo</｜DSML｜parameter>\n</｜DSML｜invoke>'],
    ["Kimi", '<|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city": "Oslo"}<|tool_call_end|>'],
    ["GLM", "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n</tool_call>"],
    ["GLM, CRLF", "<tool_call>get_weather\r\n<arg_key>city</arg_key>\r\n<arg_value>Oslo</arg_value>\r\n</tool_call>"],
    ["Qwen coder", "<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n</function>\n</tool_call>"],
    ["Qwen coder, CRLF", "<tool_call>\r\n<function=get_weather>\r\n<parameter=city>\r\nOslo\r\n</parameter>\r\n</function>\r\n</tool_call>"],
    ["Qwen coder, parameter never closed", "<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</function>\n</tool_call>"],
    ["Qwen coder, quoted names", '<function="get_weather"><parameter="city">Oslo</parameter></function>'],
    ["Seed", "<seed:tool_call><function=get_weather><parameter=city>Oslo</parameter></function></seed:tool_call>"],
    ["MiniMax", '<minimax:tool_call>\n<invoke name="get_weather">\n<parameter name="city">Oslo</parameter>\n</invoke>\n</minimax:tool_call>'],
    ["Claude", "<function_calls><invoke name='get_weather'><parameter name='city'>Oslo</parameter></invoke></function_calls>"],
    ["MiniCPM", '<function name="get_weather"><param name="city">Oslo</param></function>'],
    ["Gemma", '<|tool_call>call:get_weather{city:<|"|>Oslo<|"|>}<tool_call|>'],
    ["FunctionGemma", "<start_function_call>call:get_weather{city:<escape>Oslo<escape>}<end_function_call>"],
    ["Gemma, tool_code", '```tool_code\nget_weather(city="Oslo")\n```'],
    ["harmony", '<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": "Oslo"}<|call|>'],
    ["harmony, recipient first", '<|start|>assistant to=functions.get_weather<|channel|>commentary<|message|>{"city": "Oslo"}'],
    ["Python list", '[get_weather(city="Oslo")]'],
    ["Python list, positional", "[get_weather('Oslo')]"],
    ["Python list in tokens", '<|tool_call_start|>[get_weather(city="Oslo")]<|tool_call_end|>'],
    ["OLMo", '<function_calls>\nget_weather(city="Oslo")\n</function_calls>'],
    ["Cohere", '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "get_weather", "parameters": {"city": "Oslo"}}]<|END_ACTION|>'],
    ["InternLM", '<|action_start|><|plugin|>{"name": "get_weather", "parameters": {"city": "Oslo"}}<|action_end|>'],
    ["JSON list", '[{"name": "get_weather", "arguments": {"city": "Oslo"}}]'],
    ["fenced JSON", '```json\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n```'],
    ["fenced JSON after prose", 'I look it up.\n\n```json\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n```\n'],
    ["fenced JSON, never closed", '```json\n{"name": "get_weather", "arguments": {"city": "Oslo"}}'],
    ["JSON after prose", 'I look it up.\n{"name": "get_weather", "arguments": {"city": "Oslo"}}'],
    ["JSON before prose", '{"name": "get_weather", "arguments": {"city": "Oslo"}}\nI wait for the result.'],
    ["OpenAI message", '{"tool_calls": [{"id": "1", "type": "function", "function": {"name": "get_weather", "arguments": "{\\"city\\": \\"Oslo\\"}"}}]}'],
    ["JSON form", '{"thought": "Look it up.", "action": "get_weather", "arguments": {"city": "Oslo"}}'],
    ["name in other case", '<tool_call>{"name": "Get-Weather", "arguments": {"city": "Oslo"}}</tool_call>'],
    ["Hermes, fence inside the tag", '<tool_call>\n```json\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n```\n</tool_call>'],
    ["Hermes, one brace too many", '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}}</tool_call>'],
    ["ChatML around it", '<|im_start|>assistant\n<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call><|im_end|>'],
    ["harmony, tokens lost", 'commentary to=functions.get_weather json{"city": "Oslo"}'],
    ["plain input", '{"action": "get_weather", "action_input": "Oslo"}'],
    ["tool key", '<tool_call>{"tool": "get_weather", "args": {"city": "Oslo"}}</tool_call>'],
  ])("%s", (_, text) => {
    expect(brief(text)).toEqual([[weather[0], expect.stringMatching(/^\{\s*"?city"?:\s*"Oslo"\}$/)]])
    if (!text.includes("I ")) expect(read(`我先查一下天气。\n${text}`)).toMatchObject({ type: "action", text: "我先查一下天气。" })
  })

  it("reads several calls, in tags of their own, in one tag and in a list", () => {
    const [a, b] = ['{"name": "get_weather", "arguments": {"city": "Oslo"}}', '{"name": "run", "arguments": {"command": "date"}}']
    for (const text of [
      `<tool_call>${a}</tool_call><tool_call>${b}</tool_call>`,
      `<tool_call>\n${a}\n${b}\n</tool_call>`,
      `[${a}, ${b}]`,
      `${a}\n${b}`,
      `${a}${b}`,
      `${a}; ${b}`,
      `\`\`\`json\n${a}\n${b}\n\`\`\``,
      `<|python_tag|>${a}; ${b}`,
      `[TOOL_CALLS]${a}[TOOL_CALLS]${b}`,
    ]) {
      expect(brief(text)).toEqual([weather, date])
    }
    expect(brief("[ping(), run(command='date')]")).toEqual([["ping", "{}"], date])
  })

  it("takes parameter values literally, and as JSON where the schema wants no text", () => {
    const call = (flags: string, deep: string): string => `<function=set_flags><parameter=flags>${flags}</parameter><parameter=deep>${deep}</parameter></function>`
    expect(brief(call('[{"name": "a"}]', "true"))).toEqual([["set_flags", '{"flags": [{"name": "a"}], "deep": true}']])
    expect(brief("<function=run>\n<parameter=command>\necho '</parameter>' <b>&amp;\n  007\n</parameter>\n</function>")).toEqual([
      ["run", '{"command": "echo \'</parameter>\' <b>&amp;\\n  007"}'],
    ])
    expect(brief("<function=run><parameter=command>007</parameter></function>")).toEqual([["run", '{"command": "007"}']])
  })

  it("reads a reply that is one Python call, if the name is known", () => {
    expect(brief("get_weather(city='Oslo')")).toEqual([["get_weather", '{"city": "Oslo"}']])
    expect(brief("plot(city='Oslo')")).toBe("final: plot(city='Oslo')")
  })

  it("reads a very long list of calls", () => {
    expect(read(`[${"ping(), ".repeat(200_000)}]`)).toMatchObject({ type: "action", calls: expect.objectContaining({ length: 200_000 }) })
  })

  it("takes a final answer in a fence after prose as the answer", () => {
    expect(brief('I know it.\n```json\n{"action": "Final Answer", "action_input": "42"}\n```')).toBe("final: 42")
  })

  it("keeps long numbers and repeated text of arguments as they were written", () => {
    expect(brief('<tool_call>{"name": "run", "arguments": {"command": 12345678901234567890}}</tool_call>')).toEqual([["run", '{"command": 12345678901234567890}']])
  })

  it("leaves tags inside arguments alone", () => {
    const command = "<think>no</think> </tool_call> [TOOL_CALLS] ```"
    expect(brief(`<tool_call>{"name": "run", "arguments": {"command": "${command}"}}</tool_call>`)).toEqual([["run", `{"command": "${command}"}`]])
  })
})

describe("what is no call", () => {
  it.each([
    "Qwen writes `<tool_call>` before a call.",
    'It looks like this:\n\n```\n<tool_call>{"name": "run", "arguments": {"command": "date"}}</tool_call>\n```\n\nThe tag closes it.',
    'For example:\n```json\n{"name": "run", "arguments": {"command": "date"}}\n```',
    'Sure, {"name": "run", "arguments": {"command": "date"}} would do it.',
    '{"name": "run", "age": 3}',
    '[{"name": "run", "age": 3}]',
    '{"results": [{"name": "run", "arguments": {"command": "date"}}]}',
    "run(command) is a function.",
    "[1] and [2] are sources.",
    "[Oslo](https://example.com) is a city.",
    "```ts\nfunction run(command: string) {}\n```",
    "A <function name> in XML, a <thought> too.",
    "x < y and y <z, so a<b>c</b>",
    "Let me know if you need more.",
    "**Action:** replace the filter.",
    "Risk: low\nAction: none needed for the pump",
    "Observation: the sky is blue.",
    'To call:\n\n    {"name": "run", "arguments": {"command": "date"}}\n\nlike that.',
    'First ```json\n{"name": "run", "arguments": {"command": "date"}}\n``` and then more.',
    "Thoughts: all fine.",
    "思路：先排序，再查找。",
    "Action: press the button\nInput: your name",
    '{"thought": "fine", "action": "approve"}',
    '{"final": 42}',
    "The tag </think> ends reasoning.",
  ])("%s", (text) => {
    expect(brief(text)).toBe(`final: ${text}`)
  })

  it("a name that nobody registered is still a call when the markup is clear, and is answered later", () => {
    expect(brief('<tool_call>{"name": "send_rocket", "arguments": {}}</tool_call>')).toEqual([["send_rocket", "{}"]])
    expect(brief("Thought: x\nAction: send_rocket\nAction Input: {}")).toEqual([["send_rocket", "{}"]])
    expect(brief('{"name": "send_rocket", "arguments": {"to": "moon"}}')).toEqual([["send_rocket", '{"to": "moon"}']])
  })
})

describe("native calls", () => {
  const call = { id: "x1", name: "functions.run:0", arguments: '{"command": "date"}', extra: { signature: "s" } }
  it("win whatever the finish reason says; text and name are cleaned, exact copies are one call", () => {
    const text = "<think>Need it.</think>I look.<｜DSML｜function_calls"
    expect(readReply(reply(text, { calls: [call, { ...call }, { ...call, id: "x2" }], finish: "stop" }), tools)).toEqual({
      reading: {
        type: "action",
        text: "I look.",
        calls: [
          { ...call, name: "run" },
          { ...call, id: "x2", name: "run" },
        ],
      },
      reasoning: "Need it.",
      notes: [
        "reasoning taken out of the text",
        'tool name "functions.run:0" was read as run',
        "a second copy of the call x1 was dropped",
        'tool name "functions.run:0" was read as run',
        "calls came with the finish reason stop",
      ],
    })
  })
  it("keep an unknown or empty name, for it is answered like any other call", () => {
    const calls = [
      { ...call, name: "" },
      { ...call, id: "x2", name: "rnu" },
    ]
    expect(readReply(reply("", { calls }), tools).reading).toEqual({ type: "action", text: "", calls })
  })
  it("without an id are never copies of each other", () => {
    const calls = [
      { ...call, id: "" },
      { ...call, id: "" },
    ]
    expect(readReply(reply("", { calls }), tools).reading).toMatchObject({ calls: [{ name: "run" }, { name: "run" }] })
  })
  it("beside a final answer: the answer is dropped", () => {
    expect(readReply(reply("Thought: look\nFinal Answer: It is done.", { calls: [call] }), tools)).toMatchObject({
      reading: { type: "action", text: "look" },
      notes: expect.arrayContaining(["an answer beside a call was dropped: it was written before the result was seen"]),
    })
  })
})

describe("labels", () => {
  const body = '{"command": "date"}'
  it.each([
    ["plain", `Thought: t\nAction: run\nAction Input: ${body}`],
    ["upper case", `THOUGHT: t\nACTION: run\nACTION INPUT: ${body}`],
    ["no thought", `Action: run\nAction Input: ${body}`],
    ["CRLF", `Thought: t\r\nAction: run\r\nAction Input: ${body}\r\n`],
    ["bold", `**Thought**: t\n**Action**: **run**\n**Action Input**: ${body}`],
    ["list", `1. Thought: t\n2. Action: run\n3. Action Input: ${body}`],
    ["headings", `### Thought: t\n### Action: run\n### Action Input: ${body}`],
    ["numbers", `Thought 1: t\nAction 1: run\nAction Input 1: ${body}`],
    ["in a fence", `\`\`\`\nThought: t\nAction: run\nAction Input: ${body}\n\`\`\``],
    ["in one line", `Thought: t. Action: run Action Input: ${body}`],
    ["input on the action line", `Thought: t\nAction: run(${body})`],
    ["input in brackets after a blank", `Thought: t\nAction: run (${body})`],
    ["Python on the action line", 'Thought: t\nAction: run(command="date")'],
    ["brackets", "Thought: t\nAction: run[date]"],
    ["bare word", "Thought: t\nAction: run\nAction Input: date"],
    ["input with a blank line", `Thought: t\n\nAction: run\n\nAction Input:\n\n${body}`],
    ["input in a fence on its own line", `Thought: t\nAction: run\nAction Input:\n\`\`\`json\n${body}\n\`\`\``],
    ["JSON action", `Thought: t\nAction: {"name": "run", "arguments": ${body}}`],
    ["underscores", `Thought: t\nAction: run\nAction_Input: ${body}`],
    ["observation follows", `Thought: t\nAction: run\nAction Input: ${body}\nObservation: Monday\nThought: I know\nFinal Answer: Monday`],
    ["next thought follows", `Thought: t\nAction: run\nAction Input: ${body}\nThought: now the next\nAction: ping\nAction Input: {}`],
    ["Chinese", `思考：想\n行动：run\n行动输入：${body}`],
    ["Chinese, bold and numbered", `**1. 思考**：想\n**2. 行动**：run\n**3. 参数**：${body}`],
    ["Chinese, parameters", `思考: 想\n动作: run\n动作输入: ${body}\n观察结果: 星期一\n最终答案: 星期一`],
    ["markup after a thought", `Thought: t\n<tool_call>{"name": "run", "arguments": ${body}}</tool_call>`],
  ])("a call: %s", (_, text) => {
    expect(brief(text)).toEqual([["run", expect.stringMatching(/^\{"command": ?"date"\}$/)]])
  })
  it.each([
    ["plain", "Thought: t\nFinal Answer: 42"],
    ["upper case", "THOUGHT: t\nFINAL ANSWER: 42"],
    ["bold", "**Thought:** t\n\n**Final Answer:** 42"],
    ["own line", "Thought: t\nFinal Answer:\n\n42"],
    ["same line as the thought", "Thought: I know it. Final Answer: 42"],
    ["no thought", "Final Answer: 42"],
    ["next question", "Thought: t\nFinal Answer: 42\n\nQuestion: and 43?\nThought: hm"],
    ["observation", "Thought: t\nFinal Answer: 42\nObservation: ok"],
    ["no action wanted", "Thought: t\nAction: None\nFinal Answer: 42"],
    ["no action wanted, with input", "Thought: t\nAction: N/A\nAction Input: N/A\nFinal Answer: 42"],
    ["Finish", "Thought: t\nAction: Finish[42]"],
    ["Final Answer as an action", 'Thought: t\nAction: Final Answer\nAction Input: "42"'],
    ["Final Answer as JSON action", 'Thought: t\nAction:\n```json\n{"action": "Final Answer", "action_input": "42"}\n```'],
    ["JSON form", '{"thought": "t", "final": "42"}'],
    ["JSON form, fenced", '```json\n{"thought": "t", "final": "42"}\n```'],
    ["question first", "Question: what?\nThought: t\nFinal Answer: 42"],
    ["in a fence", "```\nThought: t\nFinal Answer: 42\n```"],
    ["Chinese", "思考：想\n最终答案：42"],
    ["Chinese, bold", "**思考：** 想\n**最终答案：** 42"],
    ["after thinking", "<think>Action: run</think>\nThought: t\nFinal Answer: 42"],
  ])("an answer: %s", (_, text) => {
    expect(brief(text)).toBe("final: 42")
  })
  it("keeps an answer of several lines, and labels inside a line", () => {
    expect(brief("Final Answer: one\n\n- two: Action: three\n- Thought: no")).toBe("final: one\n\n- two: Action: three")
    expect(brief("Question: what?\nIt depends.")).toBe("final: Question: what?\nIt depends.")
    expect(brief("Q1\nAnswer: a\nQ2\nAnswer: b")).toBe("final: Q1\nAnswer: a\nQ2\nAnswer: b")
  })
  it("reads several actions without a thought between them", () => {
    expect(brief("Action: ping\nAction: run\nAction Input: date")).toEqual([
      ["ping", "{}"],
      ["run", '{"command":"date"}'],
    ])
  })
  it("shows a thought as the text of the action, and as reasoning of the answer", () => {
    expect(readReply(reply("Thought: look\nAction: ping"), tools)).toMatchObject({ reading: { type: "action", text: "look" }, reasoning: "" })
    expect(readReply(reply("Thought: I know\nFinal Answer: 42"), tools)).toEqual({ reading: { type: "final", text: "42" }, reasoning: "I know", notes: [] })
  })
})

describe("reasoning", () => {
  it.each([
    ["<think>a\nb</think>\n42", "a\nb", "42"],
    ["<thinking>a</thinking>42", "a", "42"],
    ["<reasoning>a</reasoning>42", "a", "42"],
    ["[THINK]a[/THINK]42", "a", "42"],
    ["a\n</think>\n\n42", "a", "42"],
    ["a.</think>42", "a.", "42"],
    ["One.<think>a</think>\nTwo.\n<think>b</think>\nThree.", "a\nb", "One.\nTwo.\n\nThree."],
    ["<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>42<|return|>", "a", "42"],
  ])("%j", (text, reasoning, answer) => {
    expect(readReply(reply(text), tools)).toMatchObject({ reading: { type: "final", text: answer }, reasoning })
  })
  it("keeps the calls in it from running", () => {
    const call = '<tool_call>{"name": "run", "arguments": {"command": "date"}}</tool_call>'
    expect(brief(`<think>Maybe ${call}?</think>No need.`)).toBe("final: No need.")
    expect(brief(`Maybe\n${call}\nNo.\n</think>\n42`)).toBe("final: 42")
    expect(brief(`<think>Maybe\n${call}\nor not`)).toBe("unknown: ")
    expect(brief(`<think>I do it.\n${call}`, "length")).toBe("unknown: ")
    expect(brief(`<think>I do it.\n${call}`)).toEqual([date])
  })
})

describe("unknown replies say what is wrong and what to write", () => {
  const format =
    'Tools: get_weather, run, ping, set_flags. To use one, call it, or write two lines such as:\nAction: get_weather\nAction Input: {"city":"text"}\nTo answer, begin with the label:\nFinal Answer:'
  it.each<[string, ModelReply, string]>([
    ["empty", reply(" \n"), "Your reply was empty."],
    ["only reasoning", reply("", { reasoning: "hm" }), "Your reply held only reasoning, no answer and no tool call."],
    ["only reasoning, in the text", reply("<think>hm"), "Your reply held only reasoning, no answer and no tool call."],
    ["cut answer", reply("It is abou", { finish: "length" }), "Your reply was cut off by the output limit. Answer again, shorter."],
    ["cut reasoning", reply("<think>hm", { finish: "length" }), "Your reply held only reasoning, no answer and no tool call."],
    [
      "cut call",
      reply('<tool_call>{"name": "run", "arguments": {"comm'),
      "Your tool call was cut off before its end and was not run. Write it again, whole and shorter, with every bracket and quote closed.",
    ],
    [
      "cut labelled call",
      reply('Action: run\nAction Input: {"command": "da'),
      "Your tool call was cut off before its end and was not run. Write it again, whole and shorter, with every bracket and quote closed.",
    ],
    [
      "cut bare call",
      reply('{"name": "run", "arguments": {"command": "da', { finish: "length" }),
      "Your tool call was cut off before its end and was not run. Write it again, whole and shorter, with every bracket and quote closed.",
    ],
    [
      "cut plain input",
      reply("Action: run\nAction Input: rm -rf /tmp", { finish: "length" }),
      "Your tool call was cut off before its end and was not run. Write it again, whole and shorter, with every bracket and quote closed.",
    ],
    ["markup without a call", reply("<tool_call>\nplease run it\n</tool_call>"), "Your reply has the markup of a tool call but no call that can be read. Nothing was run."],
    [
      "a sentence for a name",
      reply("Thought: t\nAction: I will run it\nAction Input: {}"),
      "Your tool call does not say which tool to use: the name must be exactly one of the tools. Nothing was run.",
    ],
    [
      "input without an action",
      reply("Thought: t\nAction Input: {}"),
      "Your tool call does not say which tool to use: the name must be exactly one of the tools. Nothing was run.",
    ],
    ["made-up result", reply("<tool_response>ok</tool_response>\nDone."), "You wrote a tool result yourself. Results come only from tools; what you wrote was dropped."],
    ["made-up observation", reply("Thought: t\nObservation: 42\nFinal Answer: 42"), "You wrote a tool result yourself. Results come only from tools; what you wrote was dropped."],
    ["only a thought", reply("Thought: hm"), "Your reply has neither a tool call nor a final answer."],
    ["an announcement", reply("I'll call the run tool now."), "You announced a tool call but did not make it. Nothing was run."],
    ["an announcement in Chinese", reply("让我使用 get_weather 工具查询天气。"), "You announced a tool call but did not make it. Nothing was run."],
  ])("%s", (_, given, first) => {
    expect(readReply(given, tools).reading).toMatchObject({ type: "unknown", feedback: `${first}\n${format}` })
  })
  it("names no tools where there are none, and the first twenty of many", () => {
    expect(readReply(reply(""), []).reading).toEqual({ type: "unknown", text: "", feedback: "Your reply was empty.\nTo answer, begin with the label:\nFinal Answer:" })
    const many = Array.from({ length: 22 }, (_, index) => tool(`t${index}`, {}))
    expect(readReply(reply(""), many).reading).toMatchObject({ feedback: expect.stringContaining(", t19 and 2 more. To use one") })
  })
})
