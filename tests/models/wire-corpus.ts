// Rows of the corpus about the wire: what a server sends, and what must come out. Judged by the corpus' own judge.
import { readFileSync } from "node:fs"
import type { ModelFailure, ModelReply } from "../../src/contract/model.ts"

const CORPUS = new URL("../fixtures/corpus/", import.meta.url)
const { judge, chunkBytes, expandRepeats } = (await import(new URL("verify/compare.mjs", CORPUS).href)) as {
  judge: (row: unknown, actual: unknown) => { pass: boolean; exact?: boolean; reason?: string }
  chunkBytes: (reads: unknown) => Uint8Array[]
  expandRepeats: (value: unknown) => unknown
}

export interface StreamRow {
  readonly id: string
  readonly why: string
  readonly reads: readonly Uint8Array[]
  readonly context: { readonly end: "eof" | "reset"; readonly headers: Record<string, string>; readonly tools?: readonly string[]; readonly level?: "http" }
  readonly verdict: (actual: object) => { pass: boolean; exact?: boolean; reason?: string }
}
export interface ResponseRow {
  readonly id: string
  readonly why: string
  readonly input: { readonly status: number; readonly headers: Record<string, string>; readonly body: string }
  readonly verdict: StreamRow["verdict"]
}

function rows(kind: string): Record<string, unknown>[] {
  const lines = readFileSync(new URL(`all/${kind}.jsonl`, CORPUS), "utf8").trim()
  return lines.split("\n").map((line) => JSON.parse(line))
}

export const streamRows = rows("sse").map((row) => ({ ...row, reads: chunkBytes(row.input), verdict: (actual: object) => judge(row, actual) })) as unknown as readonly StreamRow[]
export const responseRows = rows("response").map((row) => ({
  ...row,
  input: expandRepeats(row.input),
  verdict: (actual: object) => judge(row, actual),
})) as unknown as readonly ResponseRow[]

/** In the words of the corpus. */
export function inCorpusWords(outcome: { reply: ModelReply | null; failure: ModelFailure | null }): object {
  const { reply, failure } = outcome
  if (reply === null) return { toolCalls: [], finishReason: "error", error: failure }
  return {
    content: reply.text,
    reasoning: reply.reasoning,
    toolCalls: reply.calls.map(({ id, name, arguments: text }) => ({ id, name, ...parsedArguments(text) })),
    finishReason: reply.finish === "unknown" ? null : reply.finish,
    ...(reply.usage !== null && { usage: { promptTokens: reply.usage.inputTokens, completionTokens: reply.usage.outputTokens } }),
  }
}

function parsedArguments(text: string): object {
  try {
    return { args: JSON.parse(text) }
  } catch {
    return { invalidArgs: true }
  }
}
