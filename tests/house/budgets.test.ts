import { describe, expect, test } from "vitest"
import { measure, overBudget } from "../../scripts/budgets.mjs"
import { plant } from "./plant.ts"

test("the house keeps its sizes (`npm run budgets` prints the table)", () => {
  expect(overBudget(measure())).toEqual([])
}, 60_000)

const lines = (count: number, line: (index: number) => string): string => Array.from({ length: count }, (_, index) => line(index)).join("\n")
const statements = (count: number): string => lines(count, (index) => `  console.log(${index})`)
/** A house with all its parts, each far below its budget. */
const house = {
  "src/index.ts": `export { run } from "./interface/runner.ts"\nexport type { RunOptions } from "./contract/run.ts"`,
  "src/contract/state.ts": "export type State = string",
  "src/contract/event.ts": "export type StoredEvent = string",
  "src/contract/run.ts": "export type RunOptions<I> = { a?: 1; b?: 2 } & ({} extends I ? { context?: I } : { context: I })",
  "src/orchestration/decide.ts": "export const decide = 1",
  "src/orchestration/apply.ts": "export const apply = 1",
  "src/orchestration/perform.ts": "export const perform = 1",
  "src/orchestration/loop.ts": "export const loop = 1",
  "src/capability/tools/execute.ts": "export const execute = 1",
  "src/interface/runner.ts": "export const run = 1",
  "src/infrastructure/history/history.ts": "export const history = 1",
  "src/infrastructure/errors.ts": "export class HelloAgentsError extends Error {}",
}
const broken = (files: Record<string, string>): string[] => overBudget(measure(plant({ ...house, ...files })))

describe("a measured house", { timeout: 60_000 }, () => {
  test("is content with a small one", () => {
    expect(broken({})).toEqual([])
  })

  test("counts code after formatting, neither blank lines nor comments", () => {
    const text = `// A comment.\n\n/** A doc\n * comment. */\nexport const a = 1; export const b = 2 // two statements\nexport const c = \`one\n\n// two\`\n/* three */ export interface D { /** doc */\n  e: string\n}\n`
    const { files } = measure(plant({ ...house, "src/contract/odd.ts": text }))
    expect(files.find(({ name }) => name === "src/contract/odd.ts")?.lines).toBe(7)
  })

  test("names a scope, a file and a function that grew too long", () => {
    const decide = `export function decide(): void {\n${statements(113)}\n}\nexport const more = 1`
    const long = lines(301, (index) => `export const a${index} = 1`)
    expect(broken({ "src/orchestration/decide.ts": decide, "src/infrastructure/long.ts": long })).toEqual([
      "heart: decide (lines): 116, at most 115",
      "src/infrastructure/long.ts (lines): 301, at most 300",
      "src/orchestration/decide.ts#decide (lines): 115, at most 60",
    ])
  })

  test("counts a helper of the heart wherever it stands in orchestration, and a third file of apply", () => {
    const part = lines(280, (index) => `export const a${index} = 1`)
    expect(
      broken({
        "src/orchestration/model-step.ts": part,
        "src/orchestration/tool-step.ts": part,
        "src/orchestration/apply-a.ts": "export const a = 1",
        "src/orchestration/apply-b.ts": "export const b = 1",
      }),
    ).toEqual(["heart: apply (files): 3, at most 2", "heart: perform (lines): 561, at most 560"])
  })

  test("counts an adapter with all files that carry its name", () => {
    const part = lines(180, (index) => `export const a${index} = 1`)
    const files = {
      "src/doors/openai.ts": `export { a0 } from "../capability/models/openai.ts"`,
      "src/capability/models/openai.ts": part,
      "src/capability/models/openai-stream.ts": part,
    }
    expect(broken(files)).toEqual(["adapter src/capability/models/openai (lines): 360, at most 350"])
  })

  test("allows three parameters and one options object", () => {
    const text = [
      "export function four(a: 1, b: 2, c: 3, d: 4): void {}",
      "export function withOptions(a: 1, b: 2, c: 3, options: { d: 4 }): void {}",
      "export const destructured = (a: 1, b: 2, c: 3, { d }: { d: 4 }): void => {}",
      `export const callback = "a".replace(/(a)(b)(c)/, (all, a, b, c) => all + a + b + c)`,
      "export interface Port { five: (a: 1, b: 2, c: 3, d: 4, options: { e: 5 }) => void }",
    ].join("\n")
    expect(broken({ "src/contract/parameters.ts": text })).toEqual([
      "src/contract/parameters.ts#four (parameters before options): 4, at most 3",
      "src/contract/parameters.ts#five (parameters before options): 4, at most 3",
    ])
  })

  test("counts the names of the root door, types and `export *` too, and the options of run", () => {
    const names = lines(39, (index) => `export type A${index} = 1`)
    const options = `export type RunOptions<I> = { ${lines(12, (index) => `a${index}?: { nested: 1 };`).replaceAll("\n", " ")} } & ({} extends I ? { context?: I } : { context: I })`
    expect(
      broken({ "src/index.ts": `export * from "./contract/names.ts"\nexport const one = 1, two = 2`, "src/contract/names.ts": names, "src/contract/run.ts": options }),
    ).toEqual(["names at the root door: 41, at most 40", "options of run: 13, at most 12"])
  })

  test("finds a second error class and a cycle of types", () => {
    const files = {
      "src/infrastructure/more.ts": "export class StoreError extends TypeError {}",
      "src/contract/one.ts": `import type { Two } from "./two.ts"\nexport type One = Two`,
      "src/contract/two.ts": `export type Two = import("./one.ts").One | string`,
    }
    expect(broken(files)).toEqual([
      "error classes (src/infrastructure/errors.ts#HelloAgentsError, src/infrastructure/more.ts#StoreError): 2, at most 1",
      "import cycle: src/contract/one.ts → src/contract/two.ts → src/contract/one.ts",
    ])
  })

  test("does not take a part that it cannot find for a small one", () => {
    const { "src/orchestration/loop.ts": _, ...rest } = house
    expect(overBudget(measure(plant(rest)))).toEqual([
      "trunk: state, event, decide, loop: 1 of its parts match no file, so nothing is measured there",
      "heart: loop: 1 of its parts match no file, so nothing is measured there",
      "thin runtime: vocabulary, heart, running a tool, runner: 1 of its parts match no file, so nothing is measured there",
      "runtime, whole: contract, heart, tools, interface: 1 of its parts match no file, so nothing is measured there",
    ])
    expect(() => measure(plant({ "src/empty.txt": "" }))).toThrow("no source files")
  })
})
