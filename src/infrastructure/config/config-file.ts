// The configuration file: where it is, and reading it. The one file of this folder that needs Node. Called by applications and the command line.
// Leaves to the caller how a .ts file is imported.
import { existsSync, readFileSync } from "node:fs"
import { readFile, stat } from "node:fs/promises"
import { dirname, isAbsolute, join, relative, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { HelloAgentsError } from "../errors.ts"
import type { ConfigSource } from "./load-config.ts"
import { jsonSource } from "./sources.ts"

const FILE_NAMES = ["json", "ts", "mts", "js", "mjs"].map((ending) => `hello-agents.config.${ending}`)

/**
 * `hello-agents.config.json` (or .ts, .js) of this folder or the nearest one above, up to the root of the repository: a folder with `.git`
 * or a package.json with workspaces. Outside a repository only the folder itself is looked at, so that nobody else's file is taken. null: none.
 * @throws HelloAgentsError `config_invalid` if a folder has two.
 */
export function findConfigFile(folder: string): string | null {
  for (const each of foldersUpToRoot(resolve(folder))) {
    const [first, second] = FILE_NAMES.filter((name) => existsSync(join(each, name)))
    if (first === undefined) continue
    if (second !== undefined)
      throw new HelloAgentsError("config_invalid", `There are two configuration files, ${first} and ${second}, in one folder`, { hint: "Keep one of them." })
    return join(each, first)
  }
  return null
}

function foldersUpToRoot(start: string): readonly string[] {
  const folders: string[] = []
  for (let folder = start; ; folder = dirname(folder)) {
    folders.push(folder)
    if (isRoot(folder)) return folders
    if (dirname(folder) === folder) return [start]
  }
}

function isRoot(folder: string): boolean {
  if (existsSync(join(folder, ".git"))) return true
  const manifest = join(folder, "package.json")
  try {
    return existsSync(manifest) && JSON.parse(readFileSync(manifest, "utf8"))?.workspaces !== undefined
  } catch {
    return false
  }
}

/** What importing a module file gives: its exports. `name` is for messages. */
export type ImportFile = (path: string, name: string) => Promise<Readonly<Record<string, unknown>>>

/**
 * A .json file, or a module whose default export is the settings. Named by its path from `from`, the working directory by default.
 * Paths that stand in it are meant from its own folder.
 * @throws HelloAgentsError `config_invalid` if it cannot be read.
 */
export function configFileSource(path: string, options: { from?: string | undefined; importFile?: ImportFile | undefined } = {}): ConfigSource {
  const full = resolve(path)
  const from = options.from ?? process.cwd()
  const name = relative(from, full)
  const resolvePath = (inside: string): string => (isAbsolute(inside) ? inside : relative(from, resolve(dirname(full), inside)) || ".")
  if (/\.json$/i.test(full)) return { ...jsonSource(name, () => readFile(full, "utf8").catch((cause: unknown) => unreadable(name, cause))), resolvePath }
  return {
    name,
    resolvePath,
    read: async () => {
      const exports = await (options.importFile ?? importAnew)(full, name)
      const settings = exports["default"]
      if (typeof settings === "object" && settings !== null && !Array.isArray(settings)) return settings as Record<string, unknown>
      throw new HelloAgentsError("config_invalid", `${name} must export its settings`, { hint: 'It looks like export default { llm: { model: "…" } }.' })
    },
  }
}

/** Node keeps modules by their address: with the time of the last change in it, a changed file is read again. */
async function importAnew(path: string, name: string): Promise<Readonly<Record<string, unknown>>> {
  const { mtimeMs } = await stat(path).catch((cause: unknown) => unreadable(name, cause))
  return import(`${pathToFileURL(path).href}?changed=${mtimeMs}`)
}

function unreadable(name: string, cause: unknown): never {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : String(cause)
  throw new HelloAgentsError("config_invalid", code === "ENOENT" ? `There is no configuration file ${name}` : `${name} cannot be read (${code})`, {
    hint: "Name another with --config, or leave it out.",
    cause,
  })
}
