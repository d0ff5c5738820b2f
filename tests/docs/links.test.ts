// Every document of the project: links lead somewhere, commands exist, nothing is said of one machine.
import { existsSync, readFileSync } from "node:fs"
import { dirname, join, normalize } from "node:path"
import { expect, test } from "vitest"
import { allDocuments, linkTargets, root } from "./documents.ts"
import type { Document } from "./documents.ts"

const documents = allDocuments()
const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: Record<string, string> }

function brokenLinks(where: Document): readonly string[] {
  const inside = linkTargets(where).filter((target) => !/^(https?:|#|mailto:)/.test(target))
  return inside.filter((target) => !existsSync(join(root, dirname(where.name), target.replace(/#.*/, "")))).map((target) => `${where.name}: ${target}`)
}

/** `npm run x`, and programs of the project: `node scripts/x.mjs`. `npm ci` and the like are npm's own. */
function brokenCommands({ name, text }: Document): readonly string[] {
  const runs = [...text.matchAll(/\bnpm run (?:-s )?([a-z][a-z:-]*)/g)].map(([, script = ""]) => script)
  const tests = /\bnpm test\b/.test(text) ? ["test"] : []
  const programs = [...text.matchAll(/\bnode ((?:scripts|bench|dist)\/[\w./-]+\.m?js)/g)].map(([, program = ""]) => program.replace(/^dist\/(.+)\.js$/, "src/$1.ts"))
  const missing = [...runs, ...tests].filter((script) => !(script in scripts)).map((script) => `${name}: npm run ${script}`)
  return [...missing, ...programs.filter((program) => !existsSync(join(root, program))).map((program) => `${name}: node ${program}`)]
}

/** Files in backquotes: `src/contract/state.ts`, `tests/store/store-contract.ts`. A pattern names no one file. */
function brokenFiles({ name, text }: Document): readonly string[] {
  const named = [...text.matchAll(/`((?:src|tests|docs|bench|scripts|examples|api)\/[\w./-]+)`/g)].map(([, path = ""]) => path)
  return named.filter((path) => !existsSync(join(root, normalize(path)))).map((path) => `${name}: ${path}`)
}

/** An agent is named by its option, not by its place. */
function wrongRuns({ name, text }: Document): readonly string[] {
  return [...text.matchAll(/^(?:npx )?hello-agents run (?!.*--agent).*/gm)].map(([line]) => `${name}: ${line}`)
}

test("links, commands, files and runs that documents name are real", () => {
  expect(documents.length).toBeGreaterThan(20)
  expect(documents.flatMap((where) => [...brokenLinks(where), ...brokenCommands(where), ...brokenFiles(where), ...wrongRuns(where)])).toEqual([])
})

test("documents say nothing of the machine they were written on", () => {
  const personal = documents.flatMap(({ name, text }) => (text.match(/(?:\/home|\/root|\/work|\/Users|\/tmp)\/[\w./-]+/g) ?? []).map((path) => `${name}: ${path}`))
  expect(personal).toEqual([])
})

test("a planted fault of each kind is found", () => {
  const planted: Document = {
    name: "docs/planted.md",
    text: "[a](gone.md) [b](architecture.md#layers) `npm run nothing` and node scripts/gone.mjs, see `src/gone.ts` and `src/index.ts`.\nhello-agents run agent.ts\n",
  }
  expect([...brokenLinks(planted), ...brokenCommands(planted), ...brokenFiles(planted), ...wrongRuns(planted)]).toEqual([
    "docs/planted.md: gone.md",
    "docs/planted.md: npm run nothing",
    "docs/planted.md: node scripts/gone.mjs",
    "docs/planted.md: src/gone.ts",
    "docs/planted.md: hello-agents run agent.ts",
  ])
})
