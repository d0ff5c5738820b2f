// Every reply of the corpus (kinds text_tool_call and react, names of tool_call) is read as expected or as one of the other accepted outcomes.
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import type { FinishReason, ToolSpec } from "../../src/contract/model.ts"
import { readReply } from "../../src/capability/protocol/read-reply.ts"
import { readArguments } from "../../src/infrastructure/json/arguments.ts"
import { nearestNames, resolveToolName } from "../../src/infrastructure/names.ts"
// @ts-expect-error The judge is plain JavaScript.
import { judge } from "../fixtures/corpus/verify/compare.mjs"

interface Tool {
  readonly name: string
  readonly schema: ToolSpec["schema"]
}
interface Row {
  readonly id: string
  readonly input: unknown
  readonly context: { tools: Tool[]; finishReason?: FinishReason; structuredCalls?: { id: string; function: { name: string; arguments: string } }[] }
  readonly expected: { readonly errors?: readonly { readonly mentions?: readonly string[] }[]; readonly calls: readonly { readonly name: string }[] }
}

/** A call whose arguments cannot be read is answered with what is wrong and never runs: to the corpus that is `unknown`. */
function outcomeOf(row: Row): object {
  const tools = row.context.tools.map((tool) => ({ ...tool, description: "", examples: [] }))
  const finish = row.context.finishReason ?? "stop"
  const native = (row.context.structuredCalls ?? []).map((call) => ({ id: call.id, name: call.function.name, arguments: call.function.arguments }))
  const { reading } = readReply({ text: String(row.input), reasoning: "", calls: native, finish, usage: null }, tools)
  if (reading.type !== "action") return { state: reading.type, calls: [], text: reading.text, ...(reading.type === "final" ? { answer: reading.text } : {}) }
  const calls = reading.calls.map((call) => {
    const tool = tools.find(({ name }) => name === call.name)
    const args = readArguments(call.arguments, { tool: call.name, schema: tool?.schema ?? { type: "object" }, examples: [], finish })
    return args.type === "ok" ? { name: call.name, args: args.value } : null
  })
  const runnable = calls.filter((call) => call !== null)
  return runnable.length === 0 ? { state: "unknown", calls: [], text: reading.text } : { state: "action", calls: runnable, text: reading.text }
}

function rowsOf(kind: string): readonly Row[] {
  const file = new URL(`../fixtures/corpus/all/${kind}.jsonl`, import.meta.url)
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line) as Row)
}

describe.each(["text_tool_call", "react"])("corpus kind %s", (kind) => {
  const rows = rowsOf(kind)
  it.each(rows.map((row) => [row.id, row] as const))("%s", (_, row) => {
    const outcome = outcomeOf(row)
    expect({ outcome, verdict: judge(row, outcome) }).toMatchObject({ verdict: { pass: true } })
  })
  it("finds the preferred outcome in at least 95 % of the rows", () => {
    const others = rows.filter((row) => judge(row, outcomeOf(row)).exact !== true).map((row) => row.id)
    expect({ others, isEnough: others.length <= rows.length * 0.05 }).toMatchObject({ isEnough: true })
  })
})

describe("names of the corpus kind tool_call", () => {
  it.each(rowsOf("tool_call").map((row) => [row.id, row] as const))("%s", (_, row) => {
    const known = row.context.tools.map((tool) => tool.name)
    const written = (row.input as { tool_calls: { function: { name: string } }[] }).tool_calls.map((call) => call.function.name)
    const mentioned = (row.expected.errors ?? []).flatMap((error) => error.mentions ?? [])
    const unknown = written.filter((name) => resolveToolName(name, known) === null)
    expect(written.map((name) => resolveToolName(name, known)).filter((name) => name !== null)).toEqual(row.expected.calls.map((call) => call.name))
    expect(unknown.flatMap((name) => nearestNames(name, known))).toEqual(expect.arrayContaining([...mentioned]))
  })
})
