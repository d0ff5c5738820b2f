// Where the messages of a chat come from: a person at the terminal, or lines from a pipe or file, each one a turn. Used by chat.ts.
import type { Heard, Person } from "./person.ts"

export interface ChatInput {
  next(prompt: string): Promise<Heard>
}

export function chatInput(person: Person | null, echo: (line: string) => void): ChatInput {
  if (person !== null) return { next: (prompt) => person.message(prompt) }
  const lines = linesOf(process.stdin)
  return {
    async next(prompt) {
      const line = await lines.next()
      if (line.done === true) return { type: "ended" }
      if (line.value.trim() !== "") echo(`${prompt}${line.value}`)
      return { type: "line", text: line.value }
    },
  }
}

/** Ends at line feeds only: other separators are part of a message. */
async function* linesOf(stream: NodeJS.ReadStream): AsyncGenerator<string, undefined> {
  stream.setEncoding("utf8")
  let rest = ""
  for await (const piece of stream) {
    const [first = "", ...more] = String(piece).split("\n")
    const whole = [rest + first, ...more]
    rest = whole.pop() ?? ""
    for (const line of whole) yield line.endsWith("\r") ? line.slice(0, -1) : line
  }
  if (rest !== "") yield rest
  return undefined
}
