// What the runtime costs on top of a hand-written loop: `npm run bench`, or `node bench/overhead.mjs [--rounds N]` on built code.
// The model is a local server in a process of its own that answers at once; each contender has its process; rounds alternate between them.
import { fork } from "node:child_process"
import { loadavg } from "node:os"
import { fileURLToPath } from "node:url"

const at = process.argv.indexOf("--rounds")
const ROUNDS = at < 0 ? 7 : Number(process.argv[at + 1])
const CONTENDERS = ["raw", "raw-http", "ours"]
/** `calls`: model calls in all runs of one sample, by which its cost is divided. */
const CASES = [
  { name: "a: 10 tool calls, one by one", unit: "ms per model call", task: { steps: 10, words: 20, stream: false, runs: 40 }, calls: 440 },
  { name: "a: 50 tool calls, one by one", unit: "ms per model call", task: { steps: 50, words: 20, stream: false, runs: 8 }, calls: 408 },
  { name: "e: 20,000 words, streamed", unit: "ms per answer", task: { steps: 0, words: 20_000, stream: true, runs: 4 }, calls: 4 },
]

const file = (name) => fileURLToPath(new URL(name, import.meta.url))
const started = (name, words = []) => {
  const child = fork(file(name), words, { env: { ...process.env, NODE_ENV: "production" } })
  return answered(child).then((said) => ({ child, said }))
}

function answered(child) {
  return new Promise((resolve, reject) => {
    const gone = (code) => reject(new Error(`a process of the bench ended with ${code}`))
    child.once("exit", gone)
    child.once("message", (message) => {
      child.off("exit", gone)
      if (message.error === undefined) resolve(message)
      else reject(new Error(message.error))
    })
  })
}

function sample({ child }, task) {
  child.send(task)
  return answered(child)
}

const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

const before = loadavg()
const server = await started("overhead-server.mjs")
const workers = await Promise.all(CONTENDERS.map((name) => started("overhead-worker.mjs", [new URL(`${name}.mjs`, import.meta.url).href, server.said.baseURL])))
try {
  console.log("| case | contender | CPU, median | min–max | ratio | wall, median | ratio |")
  console.log("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
  for (const { name, unit, task, calls } of CASES) {
    for (const worker of workers) await sample(worker, task)
    const samples = CONTENDERS.map(() => [])
    for (let round = 0; round < ROUNDS; round++) {
      // The order turns with each round, so that nobody always runs after a noisy neighbour.
      for (const turn of CONTENDERS.keys()) {
        const who = (turn + round) % CONTENDERS.length
        samples[who].push(await sample(workers[who], task))
      }
    }
    const cost = samples.map((all) => ({ cpu: all.map(({ cpuMs }) => cpuMs / calls), wall: all.map(({ wallMs }) => wallMs / calls) }))
    for (const [who, { cpu, wall }] of cost.entries()) {
      const ratio = (of) => (median(cost[who][of]) / median(cost[0][of])).toFixed(2)
      const range = `${Math.min(...cpu).toFixed(2)}–${Math.max(...cpu).toFixed(2)}`
      console.log(`| ${name} | ${CONTENDERS[who]} | ${median(cpu).toFixed(2)} ${unit} | ${range} | ${ratio("cpu")} | ${median(wall).toFixed(2)} | ${ratio("wall")} |`)
    }
  }
  const load = (values) => values.map((value) => value.toFixed(1)).join(" ")
  console.log(`\nNode ${process.versions.node}, ${ROUNDS} rounds; load average (1, 5, 15 min) before: ${load(before)}, after: ${load(loadavg())}`)
} finally {
  for (const { child } of [...workers, server]) child.kill()
}
