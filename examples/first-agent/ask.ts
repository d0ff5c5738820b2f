// Asking the first agent from code: only `ok` is an answer, every other end says why. README.md shows this very file.
import { run } from "hello-agents"
import type { Model } from "hello-agents"
import stock from "./agent.ts"

export async function ask(question: string, model: Model): Promise<string> {
  const result = await run(stock, question, { model })
  if (result.ok) return result.answer
  if (result.status === "waiting") return `It waits for a person: ${result.waiting.map(({ reason }) => reason).join(", ")}.`
  return `No answer (${result.stop.reason}): ${result.stop.message} ${result.stop.hint}`
}
