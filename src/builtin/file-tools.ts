// The tools `list_files`, `search_files` and `read_file` over one folder. Given to agents by users, from `hello-agents/tools`.
// Staying in the folder is jail.ts; what is text is read-text.ts; which lines fit is best-lines.ts.
import { parse, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import type { Tool } from "../index.ts"
import { HelloAgentsError } from "../index.ts"
import type { FileAccess } from "./file-access.ts"
import { jail } from "./jail.ts"
import { listFilesTool } from "./list-files.ts"
import { readFileTool } from "./read-file.ts"
import { searchFilesTool } from "./search-files.ts"

const DEFAULTS = { maxChars: 8_000, maxBytes: 5_000_000 }

export interface FileToolsOptions {
  /** What the files are about, in a few words: "the rules and reports of the shop". Models choose tools by their descriptions. */
  about?: string | undefined
  /** Whether names that begin with a dot are listed and opened. false */
  hidden?: boolean | undefined
  /** Characters that one call of read_file gives. 8,000 */
  maxChars?: number | undefined
  /** Of a larger file only so much is read. 5,000,000 */
  maxBytes?: number | undefined
  /** For files that are neither UTF-8 nor marked UTF-16, a name that `TextDecoder` knows: `gb18030`. Without it they are refused. */
  fallbackEncoding?: string | undefined
}
/**
 * Tools to list, search and read the files below `root`, and nothing else: `..`, absolute paths, links that lead out, devices, pipes and sockets
 * are refused. The folder is looked up at every call. Hard links cannot be told from files, so whoever may write into it decides what is read.
 * @throws HelloAgentsError `tool_invalid` for an empty root, one that is no file URL, the root of the disk, or an unknown encoding.
 */
export function fileTools(root: string | URL, options: FileToolsOptions = {}): readonly Tool[] {
  const access: FileAccess = {
    jail: jail(folderOf(root), { hidden: options.hidden ?? false }),
    about: options.about === undefined ? "" : ` (${options.about})`,
    maxChars: options.maxChars ?? DEFAULTS.maxChars,
    maxBytes: options.maxBytes ?? DEFAULTS.maxBytes,
    fallbackEncoding: options.fallbackEncoding === undefined ? null : encodingOf(options.fallbackEncoding),
  }
  return [listFilesTool(access), searchFilesTool(access), readFileTool(access)]
}

function folderOf(root: string | URL): string {
  const hint = 'Give the folder as a path or as a file URL: new URL("./documents/", import.meta.url).'
  if (root instanceof URL && root.protocol !== "file:") throw new HelloAgentsError("tool_invalid", "The root of fileTools is no file URL.", { hint })
  const path = root instanceof URL ? fileURLToPath(root) : root
  if (path.trim() === "") throw new HelloAgentsError("tool_invalid", "The root of fileTools is empty.", { hint })
  const folder = resolve(path)
  if (parse(folder).root === folder) throw new HelloAgentsError("tool_invalid", "The root of fileTools is the whole disk.", { hint: "Give the one folder that a model may read." })
  return folder
}

function encodingOf(name: string): string {
  try {
    return new TextDecoder(name).encoding
  } catch (cause) {
    throw new HelloAgentsError("tool_invalid", `"${name}" is not an encoding.`, { hint: "Use a name that TextDecoder knows, such as gb18030.", cause })
  }
}
