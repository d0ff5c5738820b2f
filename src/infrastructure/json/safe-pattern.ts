// Decides whether a schema's `pattern` can be run on text from a model without hanging, and runs it.
// Called by check-schema.ts and json-schema.ts. Patterns that it will not run are left unchecked.

/** Steps that a match may take at worst. */
const MAX_STEPS = 10_000_000

/**
 * A test for the pattern, or undefined when it is no regular expression or may backtrack without end: a repeated group, a look-around
 * or a back-reference. The test gives undefined for text so long that even the plain repetitions could be slow.
 */
export function safePattern(pattern: string): ((text: string) => boolean | undefined) | undefined {
  const repetitions = countRepetitions(pattern)
  if (repetitions === undefined) return undefined
  const expression = compile(pattern)
  if (expression === undefined) return undefined
  const exponent = repetitions + (pattern.startsWith("^") ? 0 : 1)
  return (text) => (text.length ** exponent > MAX_STEPS ? undefined : expression.test(text))
}

function compile(pattern: string): RegExp | undefined {
  for (const flags of ["u", ""]) {
    try {
      return new RegExp(pattern, flags)
    } catch {
      // Not valid with this flag.
    }
  }
  return undefined
}

/** How many parts repeat; undefined when one of them is a group, or the pattern looks around or back. Sets like `[a-z+]` and escapes hold no repetitions. */
function countRepetitions(pattern: string): number | undefined {
  const bare = pattern.replace(/\\[^1-9k]/g, "_").replace(/\[(?:\\.|[^\]\\])*\]/g, "_")
  if (/\\|\(\?[=!<]|\)[*+{]/.test(bare)) return undefined
  return [...bare.matchAll(/[*+]|\{(?:\d+,|\d*\d\d)/g)].length
}
