// A person at the terminal: asks a line at a time on stderr, so that stdout stays data. Used by commands that need a decision or a message.
// Between questions the terminal is left alone, so that Ctrl-C is a signal like any other.
import type { Interface } from "node:readline"
import { createInterface } from "node:readline"
import { setTimeout as passed } from "node:timers/promises"

export type Heard =
  | { readonly type: "line"; readonly text: string }
  /** Ctrl-C on an empty line, or the run was cancelled while we asked. */
  | { readonly type: "interrupted" }
  /** Ctrl-D, or the terminal is gone. */
  | { readonly type: "ended" }

export interface Person {
  /** A decision: what was typed before the question stood there is no answer to it. `prefill` can be edited. */
  decide(question: string, options?: { prefill?: string; signal?: AbortSignal }): Promise<Heard>
  /** A message: the history of messages is at hand, and a pasted text of several lines is several messages. */
  message(prompt: string): Promise<Heard>
}

/** How long the terminal is emptied of what was typed ahead. */
const EMPTYING_MS = 30
const MESSAGES_REMEMBERED = 100

/** null: nobody is there. */
export function personAtTerminal(): Person | null {
  const { stdin, stderr } = process
  if (!stdin.isTTY || !stderr.isTTY) return null
  let history: readonly string[] = []
  const ahead: string[] = []
  let begun = ""
  const onMore: Asked["onMore"] = ({ text, isWhole }) => {
    if (isWhole) ahead.push(text)
    else begun = text
  }
  return {
    async decide(question, { prefill = "", signal } = {}) {
      await dropTyped(stdin)
      return askLine(createInterface({ input: stdin, output: stderr, terminal: true, history: [] }), { prompt: question, prefill, signal, onMore: () => {} })
    },
    async message(prompt) {
      const text = ahead.shift()
      if (text !== undefined) {
        stderr.write(`${prompt}${text}\n`)
        return { type: "line", text }
      }
      const reader = createInterface({ input: stdin, output: stderr, terminal: true, history: [...history], historySize: MESSAGES_REMEMBERED, removeHistoryDuplicates: true })
      reader.on("history", (lines) => (history = [...lines]))
      const prefill = begun
      begun = ""
      return askLine(reader, { prompt, prefill, signal: undefined, onMore })
    },
  }
}

interface Asked {
  readonly prompt: string
  readonly prefill: string
  readonly signal: AbortSignal | undefined
  /** Lines that came in one go with the first, and the part of a line after them. */
  readonly onMore: (more: { readonly text: string; readonly isWhole: boolean }) => void
}

function askLine(reader: Interface, { prompt, prefill, signal, onMore }: Asked): Promise<Heard> {
  return new Promise((resolve) => {
    let heard: Heard = { type: "ended" }
    const interrupt = (): void => {
      heard = { type: "interrupted" }
      reader.close()
    }
    reader.on("line", (text) => {
      if (heard.type === "line") return onMore({ text, isWhole: true })
      heard = { type: "line", text }
      // closed at once, the rest of what was pasted would be lost
      setImmediate(() => {
        if (reader.line !== "") onMore({ text: reader.line, isWhole: false })
        reader.close()
      })
    })
    reader.on("SIGINT", () => (reader.line === "" ? interrupt() : clearLine(reader)))
    reader.on("close", () => {
      signal?.removeEventListener("abort", interrupt)
      if (heard.type !== "line") process.stderr.write("\n")
      resolve(heard)
    })
    signal?.addEventListener("abort", interrupt, { once: true })
    reader.setPrompt(prompt)
    reader.prompt()
    if (prefill !== "") reader.write(prefill)
    if (signal?.aborted === true) interrupt()
  })
}

function clearLine(reader: Interface): void {
  reader.write(null, { ctrl: true, name: "e" })
  reader.write(null, { ctrl: true, name: "u" })
}

async function dropTyped(stdin: NodeJS.ReadStream): Promise<void> {
  const drop = (): void => {}
  stdin.on("data", drop)
  stdin.resume()
  await passed(EMPTYING_MS)
  stdin.off("data", drop)
  stdin.pause()
}
