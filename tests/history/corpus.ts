// Reads rows of the corpus and judges outcomes with its own judge. Called by the tests of pure modules.
import { readFileSync } from "node:fs"

const CORPUS = new URL("../fixtures/corpus/", import.meta.url)
const { judge, expandRepeats } = (await import(new URL("verify/compare.mjs", CORPUS).href)) as {
  judge: (row: unknown, actual: unknown) => Verdict
  expandRepeats: (value: unknown) => unknown
}
const { jsValue } = (await import(new URL("verify/js-value.mjs", CORPUS).href)) as { jsValue: (kind: string) => unknown }

export { jsValue }

export interface Verdict {
  readonly pass: boolean
  readonly exact?: boolean
  readonly reason?: string
}

export interface CorpusRow<Input, Context> {
  readonly id: string
  readonly why: string
  readonly input: Input
  readonly context: Context
  readonly verdict: (actual: unknown) => Verdict
}

export function corpusRows<Input, Context>(kind: string): CorpusRow<Input, Context>[] {
  const lines = readFileSync(new URL(`all/${kind}.jsonl`, CORPUS), "utf8")
    .trim()
    .split("\n")
  return lines.map((line) => {
    const row = JSON.parse(line) as CorpusRow<Input, Context>
    return { ...row, input: expandRepeats(row.input) as Input, verdict: (actual) => judge(row, actual) }
  })
}
