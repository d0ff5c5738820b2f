// The reader of replies must be linear: 2 MB of a nasty character may cost at most 2.6 times what 1 MB costs. And a gated delta well under a microsecond.
// Runs on built code: `npm run build && node bench/reader-linear.mjs [folder of the build]`. Exit code 1 when a bound is broken.
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"

const dist = process.argv[2] === undefined ? new URL("../dist/", import.meta.url) : pathToFileURL(`${resolve(process.argv[2])}/`)
const { readReply } = await import(new URL("capability/protocol/read-reply.js", dist).href)
const { createStreamGate } = await import(new URL("capability/protocol/stream-gate.js", dist).href)

const MEGABYTE = 1_000_000
const LARGEST_RATIO = 2.6
/** Below this a ratio says nothing: a quadratic reader needs seconds for 2 MB. */
const SMALLEST_MS = 40
const tools = [{ name: "run", description: "", schema: { type: "object", properties: { command: { type: "string" } } }, examples: [] }]
const prefixes = ["", "<tool_call>", "[", "Thought: a\n", "<think>\n"]
const units = [
  ...["{", "[", "<", " ", "`", "\n", "'", '"', "(", "\\", "*", "_", "-", "1", "：", "思考", "a", "</", "<|", "[[", "{}", "{\n", "[\n", "```\n", "``` ", "````"],
  ...[
    "Action:",
    "Action:\n",
    "Action: run\n",
    "Action: run Action Input: ",
    "Action Input:\n",
    "Thought:\n",
    "Final Answer: ",
    "Final Answer:\n",
    "Observation:\n",
    "Answer:\n",
    "Question:\n",
    "行动：\n",
  ],
  ...["Action: run\nAction Input: {\n", "Action: run\nAction Input: x\n", "Action: run[\n", "Action: run(\n", "Action: {\n", "Thought: a\nAction: none\n"],
  ...[
    "<tool_call>",
    "</tool_call>",
    "<tool_call>\n",
    "<tool_call>{",
    '<tool_call>{"name":',
    "<tool_call>run<arg_key>",
    "<tool_call>run<arg_key>a</arg_key><arg_value>",
    "<tool_call>run(",
    "<tool_call> ",
  ],
  ...[
    "<function=run>",
    "<function=x></function>",
    "a <function=run><parameter=a>",
    "<function ",
    "<function=run>\n<parameter=a>\n",
    "<invoke name=",
    '<invoke name="run">',
    "</parameter>",
    "</function>",
  ],
  ...["<think>", "<think>\n", "</think>", "a.</think>", "<think></think>", "\n<think>a</think>", "[THINK]", "[TOOL_CALLS]", "[TOOL_CALLS][", "[AAAA", "[A", "`<tool_call>`"],
  ...["<|channel|>", "<|start|>", "<|channel|>final<|message|>", "<|channel|>analysis<|message|>", "<|channel|>commentary to=run<|message|>{", "<|message|>", "<|end|>"],
  ...[
    '{"name":',
    '{"a":{',
    '{"tool_call":',
    '[{"tool_calls":',
    '{"name":"run","arguments":{}}\n',
    '{"a":1}\n',
    "[run(",
    "[run()]\n",
    "run(), ",
    "run(",
    '```json\n{"name":"run","arguments":{}}\n```\n',
    "```\na\n```\n",
  ],
  ...[
    "<|tool_call>call:run{",
    '<|"|>',
    "<escape>",
    "<tool_response>",
    "a <tool_response>",
    "x\n\n",
    "\r\n",
    "a:\n",
    "**a**: b\n",
    "function<｜tool▁sep｜>",
    "<｜tool▁call▁begin｜>function<｜tool▁sep｜>",
  ],
]

const failures = []
let slowest = { unit: "", ms: 0 }
for (const unit of units) {
  for (const prefix of prefixes) {
    const [shorter, longer] = [MEGABYTE, 2 * MEGABYTE].map((size) => prefix + unit.repeat(Math.ceil(size / unit.length)))
    let [one, two] = [once(shorter), once(longer)]
    // CPU time, and the best of several: one measurement on a busy machine is easily wrong; a quadratic reader stays wrong.
    for (let round = 0; round < 8 && isTooSlow(one, two); round++) [one, two] = [Math.min(one, once(shorter)), Math.min(two, once(longer))]
    if (two > slowest.ms) slowest = { unit: prefix + unit, ms: two }
    if (isTooSlow(one, two)) failures.push(`${JSON.stringify(prefix + unit)}: 1 MB ${one.toFixed(1)} ms, 2 MB ${two.toFixed(1)} ms`)
  }
}
console.log(`${units.length * prefixes.length} texts of 2 MB, the slowest ${JSON.stringify(slowest.unit)} in ${slowest.ms.toFixed(0)} ms`)

/** Deltas with something to look at may cost more; most have nothing. */
for (const [name, delta, limit] of [
  ["words", "word ", 0.5],
  ["Chinese", "今天天气", 0.5],
  ["lines", "word and word\n", 2],
  ["brackets", "a [b] ", 2],
]) {
  const us = deltaCost(delta)
  console.log(`gate, ${name}: ${us.toFixed(3)} µs per delta`)
  if (us > limit) failures.push(`gate, ${name}: ${us.toFixed(3)} µs per delta`)
}
for (const failure of failures) console.error(`FAILED ${failure}`)
process.exit(failures.length === 0 ? 0 : 1)

function isTooSlow(one, two) {
  return two > SMALLEST_MS && two / one > LARGEST_RATIO
}

function once(text) {
  const start = process.cpuUsage()
  readReply({ text, reasoning: "", calls: [], finish: "stop", usage: null }, tools)
  return process.cpuUsage(start).user / 1000
}

function deltaCost(delta) {
  const count = 20_000
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < 8; round++) {
    const gate = createStreamGate()
    const start = process.cpuUsage()
    for (let index = 0; index < count; index++) gate.push(delta)
    best = Math.min(best, process.cpuUsage(start).user / 1000)
  }
  return (best / count) * 1000
}
