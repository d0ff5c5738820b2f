// One contender of the overhead bench in a process of its own: runs what it is told and says what that cost. Started by overhead.mjs.
// A run counts only if every step ran once, in order, and the answer came back whole.
const [file, baseURL] = process.argv.slice(2)
const contender = await import(file)

let ran = 0
const tool = {
  name: "step",
  description: "Does one step.",
  parameters: { type: "object", properties: { number: { type: "integer" } }, required: ["number"] },
  execute: ({ number }) => {
    if (number !== ++ran) throw new Error(`step ${number} ran as number ${ran}`)
    return `result ${number}`
  },
}
await contender.setup({ baseURL, apiKey: "bench", model: "bench", system: "You do the steps.", tool })

async function once({ steps, words, stream }) {
  ran = 0
  let heard = ""
  const onDelta = (text) => {
    heard += text
  }
  const { text } = await contender.run({ prompt: `do ${steps} steps, then say ${words} words`, maxTurns: steps + 2, stream, onDelta })
  const wanted = "word ".repeat(words).trim()
  if (ran !== steps) throw new Error(`${ran} of ${steps} steps ran`)
  if (text.trim() !== wanted || (stream && heard.trim() !== wanted)) throw new Error("the answer is not whole")
}

process.on("message", async ({ runs, ...task }) => {
  try {
    const [cpu, wall] = [process.cpuUsage(), performance.now()]
    for (let run = 0; run < runs; run++) await once(task)
    const { user, system } = process.cpuUsage(cpu)
    process.send({ cpuMs: (user + system) / 1000, wallMs: performance.now() - wall })
  } catch (error) {
    process.send({ error: error?.stack ?? String(error) })
  }
})
process.send({ ready: true })
