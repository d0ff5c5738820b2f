// The tool `list_files`: names and sizes of the files. Made by file-tools.ts.
import type { Tool } from "../index.ts"
import { jsonSchema, tool } from "../index.ts"
import type { FileAccess } from "./file-access.ts"
import { walk } from "./walk.ts"

const MAX_SHOWN = 200

export function listFilesTool({ jail: files, maxChars }: FileAccess): Tool {
  return tool({
    name: "list_files",
    description: `Lists the documents: all files of the folder, and of the folders in it, with their sizes.
Use it to see which there are, or to get an exact name before you read one.
Call it without arguments for everything, or with a folder, e.g. {"folder": "reports"}.`,
    input: jsonSchema<{ folder?: string }>({
      type: "object",
      properties: { folder: { type: "string", description: 'folder inside the root, such as "reports"; everything if left out' } },
      additionalProperties: false,
    }),
    hints: { readOnly: true, idempotent: true, privateData: true, untrusted: true },
    examples: [{}, { folder: "reports" }],
    maxResultChars: maxChars,
    execute: async ({ folder = "" }, { signal }) => {
      const entries = await walk(files, folder, signal)
      if (entries === null) throw new Error(`There is no folder ${JSON.stringify(folder)}. Call list_files without arguments to see all.`)
      const found = entries.filter(({ type }) => type === "file").sort((a, b) => (a.path < b.path ? -1 : 1))
      if (found.length === 0) return "There are no files here."
      const lines = found.slice(0, MAX_SHOWN).map(({ path, bytes }) => `${path} (${sizeText(bytes)})`)
      const more = found.length - lines.length
      return [...lines, ...(more > 0 ? [`[${more} more files are not shown. List one folder, or use search_files.]`] : [])].join("\n")
    },
  })
}

function sizeText(bytes: number): string {
  if (bytes < 1_000) return bytes === 1 ? "1 byte" : `${bytes} bytes`
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}
