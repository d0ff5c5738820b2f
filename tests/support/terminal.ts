// A program at a pseudo terminal (`script` of util-linux): types keys, waits for what the screen shows. For the slow tests of the command line.
import { spawn } from "node:child_process"
import { once } from "node:events"

export interface Terminal {
  /** Sends keys as they are; `\r` is Enter, `\x03` Ctrl-C, `\x04` Ctrl-D. */
  readonly type: (keys: string) => void
  /** Waits until the text, colours and cursor moves left out, holds `expected` after what was seen before; gives back what came until then. */
  readonly see: (expected: string | RegExp) => Promise<string>
  /** Waits for the end. */
  readonly end: () => Promise<number | null>
  /** Everything the program wrote, byte for byte. */
  readonly raw: () => string
  readonly kill: () => void
}

const PATIENCE_MS = 20_000
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
const SEQUENCE = /\u001b\[[0-9;?]*[A-Za-z]/g

export interface TerminalOptions {
  readonly cwd: string
  readonly environment?: Readonly<Record<string, string>>
  readonly columns?: number
}

export function openTerminal(words: readonly string[], { cwd, environment = {}, columns = 80 }: TerminalOptions): Terminal {
  const command = `stty cols ${columns} rows 24; exec ${words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ")}`
  const env = { PATH: process.env["PATH"] ?? "", HOME: cwd, TERM: "xterm", NO_COLOR: "1", ...environment }
  const child = spawn("script", ["-q", "-e", "-f", "-c", command, "/dev/null"], { cwd, env, stdio: "pipe" })
  let raw = ""
  let seen = 0
  let look = (): void => {}
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    raw += text
    look()
  })
  child.stdin.on("error", () => {})
  const ended = once(child, "close").then(([code]) => {
    look()
    return code as number | null
  })
  const plain = (): string => raw.replace(SEQUENCE, "").replaceAll("\r", "")
  return {
    type: (keys) => void child.stdin.write(keys),
    see: (expected) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`The screen never showed ${String(expected)}; it shows:\n${plain().slice(seen)}`)), PATIENCE_MS)
        look = () => {
          const text = plain().slice(seen)
          const found = typeof expected === "string" ? text.indexOf(expected) : text.search(expected)
          if (found < 0) return
          const length = typeof expected === "string" ? expected.length : (expected.exec(text)?.[0].length ?? 0)
          clearTimeout(timer)
          look = () => {}
          seen += found + length
          resolve(text.slice(0, found + length))
        }
        look()
      }),
    end: () => ended,
    raw: () => raw,
    kill: () => void child.kill("SIGKILL"),
  }
}
