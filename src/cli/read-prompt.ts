// The prompt of a command: its words, and what is piped in. `-` stands for standard input; piped text after a prompt is an attachment.
import { UsageError } from "./failure.ts"
import type { Speak } from "./texts.ts"

export async function readPrompt(words: readonly string[], say: Speak): Promise<string> {
  const written = words
    .filter((word) => word !== "-")
    .join(" ")
    .trim()
  const wantsInput = words.includes("-") || written === ""
  const piped = wantsInput && process.stdin.isTTY !== true ? (await readAll(process.stdin)).trim() : ""
  const prompt = [written, piped].filter((text) => text !== "").join("\n\n")
  if (prompt === "") throw new UsageError(say("emptyPrompt"), say("emptyPromptHint"))
  return prompt
}

async function readAll(stream: NodeJS.ReadStream): Promise<string> {
  stream.setEncoding("utf8")
  let text = ""
  for await (const piece of stream) text += piece
  return text
}
