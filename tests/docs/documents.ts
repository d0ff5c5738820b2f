// Reads the project's Markdown: files, headings, code blocks, links, tables. Used by the tests of the documents.
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

export const root: string = fileURLToPath(new URL("../..", import.meta.url))
const PLACES = ["docs", "examples", "src", "tests", "optional"]
/** Not written by hand, or about the data of others. */
const LEFT_OUT = /(^|\/)(node_modules|fixtures)\//

export interface Document {
  /** Path from the root of the project. */
  readonly name: string
  readonly text: string
}

export function document(name: string): Document {
  return { name, text: readFileSync(join(root, name), "utf8") }
}

export function allDocuments(): readonly Document[] {
  const inside = PLACES.flatMap((place) => readdirSync(join(root, place), { recursive: true, encoding: "utf8" }).map((file) => join(place, file)))
  const top = readdirSync(root)
  return [...top, ...inside].filter((name) => name.endsWith(".md") && !LEFT_OUT.test(name)).map(document)
}

/** Without code blocks, whose lines are no Markdown. */
function prose({ text }: Document): string {
  return text.replace(/^```[\s\S]*?^```$/gm, "")
}

export interface Block {
  readonly language: string
  readonly code: string
}
export function codeBlocks({ text }: Document): readonly Block[] {
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = "", code = ""]) => ({ language, code }))
}

/** The code block after the first line that begins with `start`. */
export function blockAfter(where: Document, start: string): string {
  const at = where.text.indexOf(`\n${start}`)
  return at < 0 ? "" : (codeBlocks({ ...where, text: where.text.slice(at) })[0]?.code ?? "")
}

export function headingLevels(where: Document): readonly number[] {
  return [...prose(where).matchAll(/^(#+) /gm)].map(([, marks = ""]) => marks.length)
}

/** Rows of all tables as lists of trimmed cells, heads and rules left out. */
export function tableRows({ text }: Document): readonly (readonly string[])[] {
  const lines = text.split("\n")
  const isRule = (line: string | undefined): boolean => line !== undefined && /^\|[ :|-]+\|$/.test(line)
  return lines
    .filter((line, index) => line.startsWith("|") && !isRule(line) && !isRule(lines[index + 1]))
    .map((line) =>
      line
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.trim()),
    )
}

/** What links point at: paths, addresses, places in the page. */
export function linkTargets(where: Document): readonly string[] {
  return [...prose(where).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target)
}
