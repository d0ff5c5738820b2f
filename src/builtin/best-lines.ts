// Finds the lines that say most of what was asked: rare words count more than common ones, and so does the file they stand in.
// Used by search-files.ts. Plain words only: a pattern from a model could run for ever.

const LIMITS = { words: 30, files: 5, linesOfFile: 5, candidatesOfFile: 500, lineChars: 200, contextChars: 60, wholeWordUpTo: 3, leastShare: 0.2 }
/** Words of a question that say nothing about what is asked. Left in if there are no others. */
const EMPTY_WORDS = new Set(
  "a an the and or of in on at to for from by with is are was were be do does did have has had how what which who when where why much many can could will would should i you we our your they it its this that there about say tell me please if not".split(
    " ",
  ),
)

export interface SearchedFile {
  readonly path: string
  readonly lines: readonly string[]
}
export interface Match {
  readonly path: string
  /** From 1. */
  readonly line: number
  readonly text: string
}
export interface Query {
  /** In quotes: must occur exactly so, but for capitals. */
  readonly phrases: readonly string[]
  readonly words: readonly string[]
}
interface FoundLine {
  readonly line: number
  readonly words: ReadonlySet<string>
}
/** What one file holds of a query. The text of the file is not kept. */
export interface FileFinding {
  readonly path: string
  readonly named: ReadonlySet<string>
  readonly words: ReadonlySet<string>
  readonly lines: readonly (FoundLine & { readonly text: string })[]
}

/** Words without plural s and without those that say nothing; Chinese as pairs of characters. */
export function readQuery(query: string): Query {
  const phrases: string[] = []
  const rest = query.toLowerCase().replace(/"([^"]{1,200})"|“([^”]{1,200})”|「([^」]{1,200})」/g, (_, straight = "", curved = "", corner = "") => {
    phrases.push(`${straight}${curved}${corner}`.trim())
    return " "
  })
  const words = [...rest.matchAll(/\p{Script=Han}+|(?:(?!\p{Script=Han})[\p{L}\p{N}])+/gu)].flatMap(([run]) => (/\p{Script=Han}/u.test(run) ? pairsOf(run) : [singular(run)]))
  const telling = words.filter((word) => !EMPTY_WORDS.has(word))
  const kept = telling.length > 0 || phrases.length > 0 ? telling : words
  return { phrases: phrases.filter((phrase) => phrase !== "").slice(0, LIMITS.words), words: [...new Set(kept)].slice(0, LIMITS.words) }
}

export function findIn({ path, lines }: SearchedFile, { phrases, words }: Query): FileFinding {
  const wanted = [...phrases, ...words]
  const named = new Set(wanted.filter((word) => holds(path.toLowerCase(), word)))
  const inFile = new Set(named)
  const found: (FoundLine & { text: string })[] = []
  for (const [index, text] of lines.entries()) {
    const lower = text.toLowerCase()
    if (!phrases.every((phrase) => lower.includes(phrase))) continue
    const inLine = new Set(wanted.filter((word) => phrases.includes(word) || holds(lower, word)))
    if (inLine.size === 0) continue
    for (const word of inLine) inFile.add(word)
    if (found.length < LIMITS.candidatesOfFile) found.push({ line: index + 1, words: inLine, text: excerpt(text, inLine) })
  }
  // a file that is only named like it opens with what it is about
  const first = lines.findIndex((line) => line.trim() !== "")
  if (found.length === 0 && phrases.length === 0 && named.size > 0 && first >= 0) found.push({ line: first + 1, words: named, text: excerpt(lines[first] ?? "", named) })
  return { path, named, words: inFile, lines: found }
}

/** The best file first, and its lines in their order. A word in a file's name counts twice; lines far behind the best are left out. */
export function bestLines(findings: readonly FileFinding[]): Match[] {
  const counts = new Map<string, number>()
  for (const { words } of findings) for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  const worth = (words: ReadonlySet<string>): number => [...words].reduce((total, word) => total + Math.log((findings.length + 1) / ((counts.get(word) ?? 0) + 0.5)), 0)
  const valued = findings.map(({ lines, ...finding }) => ({
    path: finding.path,
    worth: worth(finding.words) + worth(finding.named),
    lines: lines.map((found) => ({ ...found, worth: worth(found.words) })),
  }))
  const least = LIMITS.leastShare * valued.reduce((most, { lines }) => lines.reduce((better, line) => Math.max(better, line.worth), most), 0)
  const ranked = valued.map((file) => ({ ...file, lines: file.lines.filter((line) => line.worth >= least) })).filter(({ lines }) => lines.length > 0)
  const best = ranked.sort((a, b) => b.worth - a.worth).slice(0, LIMITS.files)
  return best.flatMap(({ path, lines }) =>
    lines
      .sort((a, b) => b.worth - a.worth)
      .slice(0, LIMITS.linesOfFile)
      .sort((a, b) => a.line - b.line)
      .map(({ line, text }) => ({ path, line, text })),
  )
}

/** Words of letters count from the beginning of a word, so "return" is found in "returned" and "ship" not in "hardship"; short ones count whole. */
function holds(text: string, word: string): boolean {
  if (/\p{Script=Han}/u.test(word)) return text.includes(word)
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (!isLetter(text[at - 1]) && (word.length > LIMITS.wholeWordUpTo || !isLetter(text[at + word.length]))) return true
  }
  return false
}

function isLetter(character = ""): boolean {
  return /[\p{L}\p{N}]/u.test(character) && !/\p{Script=Han}/u.test(character)
}

function pairsOf(run: string): string[] {
  const characters = [...run]
  return characters.length === 1 ? [run] : characters.slice(1).map((character, index) => `${characters[index] ?? ""}${character}`)
}

function singular(word: string): string {
  return word.length > 3 && word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word
}

function excerpt(text: string, words: ReadonlySet<string>): string {
  const plain = text.trim()
  if (plain.length <= LIMITS.lineChars) return plain
  const lower = plain.toLowerCase()
  const first = Math.min(...[...words].map((word) => lower.indexOf(word)).filter((at) => at >= 0), plain.length)
  const start = Math.max(0, Math.min(first - LIMITS.contextChars, plain.length - LIMITS.lineChars))
  return `${start > 0 ? "…" : ""}${plain.slice(start, start + LIMITS.lineChars)}${start + LIMITS.lineChars < plain.length ? "…" : ""}`.toWellFormed()
}
