// docs/failure-modes.md names for every kind and every decision a test that exists, and its table adds up.
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { document, root, tableRows } from "./documents.ts"

const page = document("docs/failure-modes.md")
const corpusIds: ReadonlySet<string> = new Set(
  readdirSync(join(root, "tests/fixtures/corpus/all")).flatMap((file) =>
    readFileSync(join(root, "tests/fixtures/corpus/all", file), "utf8")
      .split("\n")
      .flatMap((line) => (line === "" ? [] : [(JSON.parse(line) as { id: string }).id])),
  ),
)

interface Proof {
  readonly file: string
  readonly name: string
}
/** `Test: [file](link) › name; [file](link) › name` at the end of a line. */
function proofs(text: string): readonly Proof[] {
  return [...text.matchAll(/^.*Test: (.*)$/gm)].flatMap(([, list = ""]) =>
    [...list.matchAll(/\[([^\]]+)\]\(\.\.\/\1\) › (.*?)(?=; \[|$)/g)].map(([, file = "", name = ""]) => ({ file, name })),
  )
}

/** A test of this name stands in the file; or the name is a row of the corpus, and the file reads the corpus. */
function isThere({ file, name }: Proof): boolean {
  if (!existsSync(join(root, file))) return false
  const text = readFileSync(join(root, file), "utf8")
  const titles = [`"${name}"`, `'${name}'`, `\`${name}\``]
  return titles.some((title) => text.includes(title)) || (corpusIds.has(name) && /corpus/.test(text))
}

const [kinds = "", decisions = "", beside = ""] = page.text.split("\n## ").slice(1)

describe("the kinds", () => {
  test("are at least twelve, each with trigger, behaviour and test", () => {
    const sections = kinds.split("\n### ").slice(1)
    expect(sections.length).toBeGreaterThanOrEqual(12)
    const incomplete = sections.filter((text) => !/^- Trigger: .+\n- Runtime: .+\n- Test: \[/m.test(text) || proofs(text).length === 0)
    expect(incomplete).toEqual([])
  })
  test("are proved by tests that exist", () => {
    expect(proofs(kinds).filter((proof) => !isThere(proof))).toEqual([])
  })
})

describe("the decisions", () => {
  test("answer every input that the corpus calls ambiguous, each with a test that exists", () => {
    const items = [...decisions.matchAll(/^\d+\. \*\*/gm)]
    expect(items.length).toBeGreaterThanOrEqual(14)
    expect(proofs(decisions).length).toBe(items.length)
    expect(proofs(decisions).filter((proof) => !isThere(proof))).toEqual([])
  })
  test("are as many as the corpus leaves open", () => {
    const open = document("tests/fixtures/corpus/README.md").text.split("## Decisions the corpus leaves open")[1] ?? ""
    const list = open.slice(open.indexOf("main ones:") + 10).split(";")
    expect(list.length).toBe(14)
    // the fifteenth is the repeated key, which a row of the corpus adds
    expect([...decisions.matchAll(/^\d+\. \*\*/gm)].length).toBe(list.length + 1)
  })
})

test("the comparison adds up: 54 rows, and the last line counts them", () => {
  const rows = tableRows({ name: "beside", text: beside })
  const graded = rows.filter((row) => row.length === 11 && row[0] !== "")
  const sums = rows.find((row) => row[1] === "ok of those that apply")?.slice(2)
  expect(graded.length).toBe(54)
  const counted = (sums ?? []).map((_, column) => {
    const grades = graded.map((row) => row[column + 2])
    return `${grades.filter((grade) => grade === "ok").length} of ${grades.filter((grade) => grade !== "n/a").length}`
  })
  expect(sums).toEqual(counted)
})

test("a proof that does not exist is found", () => {
  const planted = "- Test: [tests/gone.test.ts](../tests/gone.test.ts) › a; [tests/docs/links.test.ts](../tests/docs/links.test.ts) › no such test"
  expect(proofs(planted).map(isThere)).toEqual([false, false])
})
