// The order agent on real weights through the text protocol: `npm run real -- [--tasks 20] [--mode all|plain|sample|grammar] [--language en|zh]`.
// What must hold for any model, however bad, is checked and fails the script; how good these weights are is printed and is no gate.
import { existsSync, readdirSync } from "node:fs"
import { availableParallelism, homedir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { createJiti } from "jiti"
import { stream } from "hello-agents"
import { llamaCpp } from "hello-agents/llama-cpp"

/** Results are shorter than usual: reading them is what takes the time. */
const DEFAULTS = { tasks: "20", mode: "all", maxTokens: 100, seed: 7, turns: 6, maxResultChars: 300 }
const MODES = ["plain", "sample", "grammar"]
const { values } = parseArgs({
  options: {
    tasks: { type: "string", default: DEFAULTS.tasks },
    mode: { type: "string", default: DEFAULTS.mode },
    file: { type: "string" },
    verbose: { type: "boolean", default: false },
  },
})

const file = values.file ?? findWeights()
const { default: orders } = await createJiti(import.meta.url).import("../examples/order-support/agent.ts")
const definition = {
  ...orders.definition,
  tools: orders.definition.tools.map((tool) => ({ ...tool, maxResultChars: DEFAULTS.maxResultChars })),
  members: () => new Map([[orders.name, definition]]),
}
const support = { name: orders.name, definition }
const tasks = makeTasks(Number(values.tasks))
// one core is left free: threads wait for each other, and on a busy machine the last one costs more than it gives
const weights = llamaCpp({ file, seed: DEFAULTS.seed, threads: Math.max(1, availableParallelism() - 1) })

let broken = 0
const rows = []
for (const mode of MODES.filter((name) => values.mode === "all" || values.mode === name)) {
  const row = { mode, stops: {}, final: 0, right: 0, calls: 0, unreadable: 0, replies: 0, ms: Date.now() }
  for (const [index, task] of tasks.entries()) {
    const outcome = await play(task, inMode(weights, mode))
    for (const fault of invariantsBroken(outcome, mode)) {
      broken++
      process.stdout.write(`BROKEN ${mode} task ${index + 1} (${task.question}): ${fault}\n`)
    }
    count(row, outcome, task)
    process.stderr.write(`${mode} ${index + 1}/${tasks.length} ${outcome.reason}${values.verbose ? `: ${outcome.result.answer}` : ""}\n`)
  }
  rows.push({ ...row, ms: Date.now() - row.ms })
}
await weights.close()
report(rows)
const constrained = rows.find(({ mode }) => mode === "grammar")
if (constrained !== undefined && constrained.unreadable > 0) process.stdout.write(`BROKEN grammar: ${constrained.unreadable} actions could not be read\n`)
process.exit(broken > 0 || (constrained?.unreadable ?? 0) > 0 ? 1 : 0)

/** The questions: one order each, asked in different words, every fifth in Chinese. */
function makeTasks(wanted) {
  const orders = [
    ["A1001", /shipped|已发货/i],
    ["A1002", /await|payment|pay|付款/i],
    ["A1003", null],
    ["A1004", null],
    ["A1005", null],
    ["A9999", /not|no such|unknown|没有|找不到/i],
  ]
  const asks = ["Where is order {id}?", "What is the status of order {id}?", "Has {id} been shipped yet?", "Please check {id} for me.", "订单 {id} 到哪了？"]
  return Array.from({ length: wanted }, (_, index) => {
    const [id, status] = orders[index % orders.length]
    return { id, status, question: asks[index % asks.length].replace("{id}", id) }
  })
}

/** plain: an unusable reply is answered without the format; sample: with it, as by default; grammar: replies are constrained. */
function inMode(model, mode) {
  const free = { ...model, constraint: undefined }
  if (mode === "grammar") return { ...model, constraint: "grammar" }
  if (mode === "sample") return free
  const withoutSample = (message) => (message.role === "user" && message.notice ? { role: "user", content: "Go on." } : message)
  return { ...free, ask: (request) => model.ask({ ...request, messages: request.messages.map(withoutSample) }) }
}

async function play(task, model) {
  const live = stream(support, task.question, { model, limits: { turns: DEFAULTS.turns }, settings: { maxTokens: DEFAULTS.maxTokens, seed: DEFAULTS.seed, temperature: 0 } })
  const events = []
  for await (const event of live) events.push(event)
  const result = await live.result
  return { result, events, reason: result.ok ? "final" : result.status === "waiting" ? "waiting" : result.stop.reason }
}

/** What must hold for any model. */
function invariantsBroken({ result, events, reason }) {
  const faults = []
  const named = ["final", "max_turns", "unknown_output", "repeated_call", "budget", "model_unavailable"]
  if (!named.includes(reason)) faults.push(`ended as ${reason}`)
  if (events.filter(({ type }) => type === "model_end").length > DEFAULTS.turns) faults.push("more model calls than the limit")
  if (result.ok !== (result.answer !== "")) faults.push(`ok is ${result.ok}, the answer is ${JSON.stringify(result.answer)}`)
  const calls = result.messages.flatMap((message) => message.calls ?? []).map(({ id }) => id)
  const results = result.messages.filter(({ role }) => role === "tool").map(({ callId }) => callId)
  if (JSON.stringify(calls) !== JSON.stringify(results)) faults.push("a call has no result, or a result no call")
  const believed = result.messages.filter(({ role }) => role === "assistant").find(({ content }) => /^\s*(?:Observation|观察)\s*[:：]/m.test(content))
  if (believed !== undefined) faults.push("an observation written by the model is in the history")
  const ends = (start, end) => events.filter(({ type }) => type === start).length === events.filter(({ type }) => end.includes(type)).length
  if (!ends("model_start", ["model_end", "model_fail"]) || !ends("tool_start", ["tool_end"])) faults.push("a start has no end")
  return faults
}

function count(row, { result, events, reason }, task) {
  row.stops[reason] = (row.stops[reason] ?? 0) + 1
  row.replies += events.filter(({ type }) => type === "model_end").length
  row.calls += events.filter(({ type }) => type === "tool_start").length
  // a call that was refused for its arguments, or a reply with the marks of a call that could not be read
  row.unreadable += events.filter((event) => event.type === "tool_check" && event.verdict.type === "refuse" && !event.verdict.outcome.text.startsWith("Not run")).length
  row.unreadable += events.filter(
    (event) => event.type === "model_end" && event.reading.type === "unknown" && /cannot|cut off before|can be read|which tool/.test(event.reading.feedback),
  ).length
  if (!result.ok) return
  row.final++
  const read = result.messages.some((message) => message.role === "tool" && message.content.includes(task.id))
  if (read && (task.status === null || task.status.test(result.answer))) row.right++
}

function report(all) {
  process.stdout.write(`weights ${file.split("/").at(-1)}, ${tasks.length} tasks a mode, temperature 0, seed ${DEFAULTS.seed}, at most ${DEFAULTS.maxTokens} tokens a reply\n\n`)
  process.stdout.write("| mode | final | right | tool calls | unreadable actions | replies | stop reasons | seconds |\n| --- | ---: | ---: | ---: | ---: | ---: | --- | ---: |\n")
  for (const row of all) {
    const stops = Object.entries(row.stops)
      .map(([reason, number]) => `${reason} ${number}`)
      .join(", ")
    process.stdout.write(`| ${row.mode} | ${row.final} | ${row.right} | ${row.calls} | ${row.unreadable} | ${row.replies} | ${stops} | ${Math.round(row.ms / 1000)} |\n`)
  }
  process.stdout.write(`\ninvariants broken: ${broken}\n`)
}

function findWeights() {
  const folder = join(process.env.HELLO_AGENTS_CACHE ?? join(homedir(), ".cache/hello-agents"), "models")
  const found = existsSync(folder)
    ? readdirSync(folder, { recursive: true }).find((name) => String(name).toLowerCase().includes("smollm2") && String(name).endsWith(".gguf"))
    : undefined
  if (found !== undefined) return join(folder, String(found))
  process.stderr.write("There are no weights in the cache: run `npm run model` and `npm run llama` first.\n")
  process.exit(2)
}
