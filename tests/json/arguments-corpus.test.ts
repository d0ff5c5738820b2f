// Every reported fault of tool call arguments in the corpus (tests/fixtures/corpus/README.md), judged by the corpus' own judge.
import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import type { FinishReason } from "../../src/contract/model.ts"
import type { JsonSchema } from "../../src/contract/schema.ts"
import { readArguments } from "../../src/infrastructure/json/arguments.ts"

interface Row {
  readonly id: string
  readonly why: string
  readonly input: unknown
  readonly context: { readonly tool: string; readonly schema: JsonSchema; readonly finishReason?: FinishReason }
}
interface Verdict {
  readonly pass: boolean
  readonly exact?: boolean
  readonly reason?: string
}

const folder = new URL("../fixtures/corpus/", import.meta.url)
const { judge } = (await import(new URL("verify/compare.mjs", folder).href)) as { judge: (row: Row, actual: unknown) => Verdict }
const rows = readFileSync(new URL("all/arguments.jsonl", folder), "utf8")
  .trim()
  .split("\n")
  .map((line): Row => JSON.parse(line))

function outcome(row: Row): unknown {
  const options = { tool: row.context.tool, schema: row.context.schema, examples: [], finish: row.context.finishReason ?? "tool_calls" }
  const reading = readArguments(row.input, options)
  switch (reading.type) {
    case "ok":
      return { value: reading.value }
    case "several":
      return { calls: reading.texts.map((text) => argumentsOf(readArguments(text, options))) }
    case "refused":
      return { error: { code: reading.code, message: reading.message } }
  }
}

function argumentsOf(reading: ReturnType<typeof readArguments>): unknown {
  return reading.type === "ok" ? reading.value : reading
}

describe("arguments of the corpus", () => {
  test.each(rows)("$id: $why", (row) => {
    const { pass, reason } = judge(row, outcome(row))
    expect({ pass, reason }).toEqual({ pass: true, reason: undefined })
  })

  test("at least 95 % have the preferred outcome, not only an acceptable one", () => {
    const second = rows.filter((row) => judge(row, outcome(row)).exact !== true).map((row) => row.id)
    expect(second).toEqual(["arg-missing-final-brace", "arg-concat-brace-in-string", "arg-html-entities-xai"])
    expect(1 - second.length / rows.length).toBeGreaterThanOrEqual(0.95)
  })
})
