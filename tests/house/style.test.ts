// What no linter knows of the house style (docs/architecture.md).
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import ts from "typescript"
import { expect, test } from "vitest"
import { root } from "./plant.ts"

interface Source {
  name: string
  text: string
}

const sources: readonly Source[] = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => ({ name: `src/${file}`, text: readFileSync(join(root, "src", file), "utf8") }))

/** Names of the files of which `broken` says something, with what it says. */
function findings(files: readonly Source[], broken: (source: Source) => readonly string[]): string[] {
  return files.flatMap((source) => broken(source).map((what) => `${source.name}: ${what}`))
}

function header({ text }: Source): readonly string[] {
  const lines = text.split("\n")
  const first = lines[0]?.startsWith("#!") ? 1 : 0
  const end = lines.findIndex((line, index) => index >= first && !line.startsWith("//"))
  const count = (end < 0 ? lines.length : end) - first
  if (count === 0) return ["does not say what it is responsible for"]
  return count > 3 ? [`says it in ${count} lines, at most three`] : []
}

/** What a server turned out to be, remembered with the model made for it: the one thing that runs share on purpose. */
const serverProfiles = ["src/capability/protocol/text-protocol.ts#LEARNT"]

/** A module-level variable, or a container that starts empty, is a place where runs would meet. */
function sharedState({ name, text }: Source): readonly string[] {
  const tree = ts.createSourceFile(name, text, ts.ScriptTarget.ES2023, true)
  return tree.statements.filter(ts.isVariableStatement).flatMap(({ declarationList }) =>
    declarationList.declarations.flatMap(({ name: variable, initializer: value }) => {
      const isLet = (declarationList.flags & ts.NodeFlags.Const) === 0
      const isEmpty =
        value !== undefined &&
        ((ts.isNewExpression(value) && /^(Weak)?(Map|Set)$/.test(value.expression.getText()) && !value.arguments?.length) ||
          (ts.isArrayLiteralExpression(value) && value.elements.length === 0) ||
          (ts.isObjectLiteralExpression(value) && value.properties.length === 0))
      return (isLet || isEmpty) && !serverProfiles.includes(`${name}#${variable.getText()}`) ? [`${variable.getText()} can change and is shared by all runs`] : []
    }),
  )
}

/** Names from `docs/decisions`: spelled out, the field's words. */
function names({ text }: Source): readonly string[] {
  return [...new Set(text.match(/(?<!node:)\b(ctx|cfg|mgr|utils?|\w+(Manager|Helper))\b/g) ?? [])].map((word) => `"${word}" is not a name here`)
}

test("every file starts with one to three lines that say what it is responsible for", () => {
  expect(findings(sources, header)).toEqual([])
})

test("nothing that changes lives at module level", () => {
  expect(findings(sources, sharedState)).toEqual([])
})

test("names are spelled out", () => {
  expect(findings(sources, names)).toEqual([])
})

test("a planted fault of each kind is found", () => {
  const planted = (text: string): Source[] => [{ name: "planted.ts", text }]
  expect(findings(planted("export const a = 1\n"), header)).toEqual(["planted.ts: does not say what it is responsible for"])
  expect(findings(planted("#!/usr/bin/env node\n// 1\n// 2\n// 3\n// 4\n"), header)).toEqual(["planted.ts: says it in 4 lines, at most three"])
  const state =
    "let count = 0\nconst seen = new Map<string, string>()\nexport const all: string[] = []\nconst words = new Set(['a'])\nfunction f() { let inside = 0; return inside }\n"
  expect(findings(planted(state), sharedState).map((line) => line.split(" ")[1])).toEqual(["count", "seen", "all"])
  expect(findings(planted("const ctx = 1; class RunManager {}\n"), names)).toEqual([`planted.ts: "ctx" is not a name here`, `planted.ts: "RunManager" is not a name here`])
})
