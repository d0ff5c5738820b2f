// Loads the agent that a user's file exports: .js natively, .ts through jiti. Called by `run` and every command that needs an agent.
import { existsSync, readFileSync } from "node:fs"
import { resolve } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { createJiti } from "jiti"
import type { AnyAgent } from "../index.ts"
import { HelloAgentsError } from "../index.ts"
import { UsageError } from "./failure.ts"
import type { Speak } from "./texts.ts"

/** `where` is a path, with `#name` for an export other than the default. */
export async function loadAgent(where: string | undefined, say: Speak): Promise<AnyAgent> {
  if (where === undefined) throw new UsageError(say("noAgent"), say("noAgentHint"))
  const [file = where, name = "default"] = where.split("#")
  const path = resolve(file)
  if (!existsSync(path)) throw new UsageError(say("agentMissing", { file }), say("noAgentHint"))
  const exported = await importFile(path, { option: "--agent", file, say })
  const found = exported[name]
  if (isAgent(found)) return found
  const names = Object.keys(exported).filter((key) => isAgent(exported[key]))
  throw new UsageError(say("agentNotOne", { file, name }), say("agentNotOneHint", { names: names.join(", ") || "-" }))
}

/** @throws UsageError naming the option that asked for the file. */
export async function importFile(path: string, { option, file, say }: { option: string; file: string; say: Speak }): Promise<Record<string, unknown>> {
  try {
    if (!/\.[cm]?tsx?$/.test(path)) return await import(pathToFileURL(path).href)
    // the user's file and this program must share one copy of the library
    return await createJiti(import.meta.url, { alias: doors() }).import(path)
  } catch (error) {
    if (error instanceof HelloAgentsError || (error instanceof Error && "code" in error && "hint" in error)) throw error
    throw new UsageError(say("fileBroken", { option, file, message: error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error) }))
  }
}

/** Every door of this copy, by the name users import it under; longer names first, so that the root door does not take them. */
function doors(): Record<string, string> {
  const { exports } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { exports: Record<string, string> }
  const files = Object.entries(exports).filter(([, file]) => file.endsWith(".js"))
  return Object.fromEntries(files.reverse().map(([door, file]) => [door.replace(/^\./, "hello-agents"), fileURLToPath(new URL(`../../${file}`, import.meta.url))]))
}

function isAgent(value: unknown): value is AnyAgent {
  return typeof value === "object" && value !== null && "definition" in value && "name" in value
}
