// The tool `search_files`: lines that hold given words, in all text files of the folder. Made by file-tools.ts.
// Which lines fit best is best-lines.ts.
import type { Tool } from "../index.ts"
import { jsonSchema, tool } from "../index.ts"
import type { FileFinding, Match, Query } from "./best-lines.ts"
import { bestLines, findIn, readQuery } from "./best-lines.ts"
import type { FileAccess } from "./file-access.ts"
import { readText } from "./read-text.ts"
import { walk } from "./walk.ts"

const LIMITS = { files: 500, fileBytes: 1_000_000, allBytes: 20_000_000 }

interface Search {
  readonly query: Query
  readonly folder: string
  readonly signal: AbortSignal
}

export function searchFilesTool(access: FileAccess): Tool {
  return tool({
    name: "search_files",
    description: `Finds the lines in the text files of the folder${access.about} that hold the given words, the best first, with file and line number.
Use it before reading, whenever you do not know which file has the answer; after it, read the file itself.
Give a few plain words in the language of the texts, e.g. {"query": "delivery time islands"}. Words in double quotes must stand there exactly so.`,
    input: jsonSchema<{ query: string; folder?: string }>({
      type: "object",
      properties: {
        query: { type: "string", minLength: 1, maxLength: 1_000, description: "plain words to look for, such as delivery time islands" },
        folder: { type: "string", description: 'only files in this folder, such as "reports"; all if left out' },
      },
      required: ["query"],
      additionalProperties: false,
    }),
    hints: { readOnly: true, idempotent: true, privateData: true, untrusted: true },
    examples: [{ query: "delivery time islands" }, { query: '"net 30 days"' }],
    maxResultChars: access.maxChars,
    execute: async ({ query: asked, folder = "" }, { signal }) => {
      const query = readQuery(asked)
      if (query.phrases.length + query.words.length === 0) throw new Error("The query has no words. Give a few plain words to look for.")
      const { matches, unsearched } = await search(access, { query, folder, signal })
      const note = unsearched > 0 ? { note: `Files that were not searched, being too many, too large or not readable: ${unsearched}. Search one folder.` } : {}
      if (matches.length > 0) return { matches, ...note }
      return { matches, message: "There is no line with these words. Try other words, or list_files.", found: false, ...note }
    },
  })
}

async function search(access: FileAccess, { query, folder, signal }: Search): Promise<{ matches: readonly Match[]; unsearched: number }> {
  const entries = await walk(access.jail, folder, signal)
  if (entries === null) throw new Error(`There is no folder ${JSON.stringify(folder)}. Leave it out to search all files.`)
  const findings: FileFinding[] = []
  let unsearched = 0
  let room = LIMITS.allBytes
  for (const { path, type, bytes } of entries) {
    if (type === "folder") continue
    const count = Math.min(bytes, access.maxBytes)
    const lines = findings.length < LIMITS.files && count <= Math.min(room, LIMITS.fileBytes) ? await textLines(access, path, signal) : null
    if (lines === null) unsearched += 1
    else findings.push(findIn({ path, lines }, query))
    room -= lines === null ? 0 : count
  }
  return { matches: bestLines(findings), unsearched }
}

/** Binary files have no lines; a file that may not be read is null. */
async function textLines({ jail, fallbackEncoding }: FileAccess, path: string, signal: AbortSignal): Promise<readonly string[] | null> {
  const handle = await jail.open(path).catch(() => null)
  if (handle === null) return null
  try {
    const reading = await readText(handle, { maxBytes: LIMITS.fileBytes, fallbackEncoding, signal })
    return reading.type === "text" ? reading.lines : []
  } finally {
    await handle.close()
  }
}
