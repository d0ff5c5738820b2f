// Finds the tool a model meant by what it wrote, and the nearest names for an error message. Never guesses between two.
// Called by the reader of replies, the tool checks and whoever answers an unknown name.

const LONGEST = 80
const PREFIX = /^(?:functions?|tools?|default_api|namespace|multi_tool_use)(?:\.|::?|\/)/i

/**
 * The known name that `written` stands for: exact, else without what servers and templates add (`functions.x`, `x:0`, `x<|channel|>…`, `x:`,
 * quotes, brackets), else the only one that differs in case, blanks, `-` and `_`. null: none, or more than one.
 */
export function resolveToolName(written: string, known: readonly string[]): string | null {
  if (known.includes(written)) return written
  const core = coreOf(written)
  for (const candidate of [core, core.replace(PREFIX, "")]) {
    if (candidate === "") continue
    if (known.includes(candidate)) return candidate
    const alike = known.filter((name) => fold(name) === fold(candidate))
    if (alike.length > 0) return alike.length === 1 ? (alike[0] ?? null) : null
  }
  return null
}

/** Up to `count` known names, nearest first: by edit distance, less for each `_`-separated segment they share. */
export function nearestNames(written: string, known: readonly string[], count = 3): readonly string[] {
  const folded = fold(coreOf(written))
  const segments = segmentsOf(written)
  return known
    .map((name) => {
      const shared = segmentsOf(name).filter((segment) => segments.includes(segment)).length
      return { name, score: editDistance(folded, fold(name).slice(0, LONGEST)) / Math.max(folded.length, name.length, 1) - shared / 2 }
    })
    .sort((a, b) => a.score - b.score)
    .slice(0, count)
    .map(({ name }) => name)
}

function coreOf(written: string): string {
  const token = written.search(/<[|｜]/)
  const plain = (token < 0 ? written : written.slice(0, token)).slice(0, 4 * LONGEST)
  return plain
    .replace(/^[\s"'`*([]+/, "")
    .replace(/[\s"'`*)\](:：]+$/, "")
    .replace(/:\d{1,4}$/, "")
}

function fold(name: string): string {
  return name.toLowerCase().replace(/[-_\s]+/g, "")
}

function segmentsOf(name: string): readonly string[] {
  return name
    .slice(0, LONGEST)
    .replace(/([a-z])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((segment) => segment !== "")
}

/** Levenshtein's edit distance, one row at a time. */
export function editDistance(a: string, b: string): number {
  const left = a.slice(0, LONGEST)
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= left.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const changed = (row[j - 1] ?? 0) + (left[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
