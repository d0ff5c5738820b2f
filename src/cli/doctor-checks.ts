// What `doctor` looks at, one function per question; each answers with lines. Changes nothing on this machine and in no server.
import { existsSync } from "node:fs"
import { mkdtemp, rmdir } from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import type { Environment } from "../doors/config.ts"
import { maskUrl } from "../doors/config.ts"
import { askModels } from "./ask-models.ts"
import type { ChosenModel } from "./choose-model.ts"
import type { CliConfig } from "./load-config.ts"
import type { LocalServer } from "./local-servers.ts"
import type { Output } from "./output.ts"
import type { Speak, TextKey } from "./texts.ts"

export interface Check {
  readonly id: "node" | "config" | "model" | "key" | "server" | "local_server" | "store" | "optional" | "terminal"
  readonly status: "ok" | "warning" | "failed"
  readonly text: string
  /** What to do; empty where there is nothing to do. */
  readonly remedy: string
  /** What a failure means for the exit code. */
  readonly fault: "usage" | "infrastructure"
}

const LEAST_NODE = [20, 19] as const
const SERVER_TIMEOUT_MS = 3_000
/** What an application may add; the versions are those that run on the oldest Node we support. */
const OPTIONAL_PARTS: readonly (readonly [name: string, install: string, purpose: TextKey])[] = [
  ["zod", "zod@4", "purposeSchema"],
  ["@photostructure/sqlite", "@photostructure/sqlite@1.2.1", "purposeSqlite"],
  ["node-llama-cpp", "node-llama-cpp@3", "purposeLocal"],
]
/** Names under which people have a key already. */
const OTHER_KEYS = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "DEEPSEEK_API_KEY", "DASHSCOPE_API_KEY", "MOONSHOT_API_KEY", "ZHIPUAI_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY"]

export function line(id: Check["id"], status: Check["status"], text: string, rest: { remedy?: string; fault?: Check["fault"] } = {}): Check {
  return { id, status, text, remedy: rest.remedy ?? "", fault: rest.fault ?? "usage" }
}

export function checkNode(version: string, say: Speak): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  const isNew = major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1])
  return isNew
    ? line("node", "ok", say("nodeOk", { version }))
    : line("node", "failed", say("nodeOld", { version }), { remedy: say("nodeRemedy", { least: LEAST_NODE.join(".") }) })
}

export function checkFile({ file }: CliConfig, say: Speak): Check {
  return line("config", "ok", file === null ? say("noConfigFile") : say("configFile", { file }))
}

export function checkModel(chosen: ChosenModel, say: Speak): Check {
  const text = say("modelUsed", { model: chosen.name, why: chosen.why })
  return line("model", "ok", text, chosen.isDemo ? { remedy: say("modelRemedy") } : {})
}

/** Which keys are there; never what they are. */
export function checkKeys(chosen: ChosenModel, { origins }: CliConfig, { environment, say }: { environment: Environment; say: Speak }): readonly Check[] {
  if (origins["llm.api_key"] !== "default") return [line("key", "ok", say("keySet", { origin: origins["llm.api_key"] }))]
  if (chosen.server !== null && isLocal(chosen.server.baseUrl)) return [line("key", "ok", say("keyNotNeeded"))]
  const others = OTHER_KEYS.filter((name) => (environment[name] ?? "") !== "")
  if (others.length > 0) return [line("key", "warning", say("keyElsewhere", { names: others.join(", ") }), { remedy: say("keyElsewhereRemedy", { name: `$${others[0] ?? ""}` }) })]
  return chosen.server === null ? [] : [line("key", "warning", say("keyMissing"), { remedy: say("keyRemedy") })]
}

function isLocal(baseUrl: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(baseUrl).hostname)
}

/** Asks the configured server for its models. */
export async function checkServer({ server }: ChosenModel, say: Speak): Promise<readonly Check[]> {
  if (server === null) return []
  const url = maskUrl(server.baseUrl)
  const answer = await askModels({ baseUrl: server.baseUrl, apiKey: server.apiKey, timeoutMs: SERVER_TIMEOUT_MS })
  const status = (code: number, said: string): string => (said === "" ? String(code) : `${code}, ${said}`)
  switch (answer.type) {
    case "models": {
      const missing = server.names.filter((name) => !answer.names.includes(name) && !answer.names.includes(`${name}:latest`))
      if (missing.length === 0) return [line("server", "ok", say("serverHas", { url, model: server.names.join(", ") }))]
      return [line("server", "warning", say("serverLacks", { url, model: missing.join(", ") }), { remedy: say("serverModels", { models: some(answer.names) }) })]
    }
    case "no_list":
      return [line("server", "warning", say("serverNoList", { url, status: status(answer.status, answer.said) }), { remedy: say("serverNoListRemedy") })]
    case "key_refused":
      return [line("server", "failed", say("serverRefuses", { url, status: answer.status }), { remedy: say("keyRemedy") })]
    case "failing":
      return [line("server", "failed", say("serverFails", { url, status: status(answer.status, answer.said) }), { remedy: say("serverFailsRemedy"), fault: "infrastructure" })]
    case "unreachable":
      return [line("server", "failed", say("serverSilent", { url, why: answer.why }), { remedy: say("serverSilentRemedy"), fault: "infrastructure" })]
  }
}

export function offerServers(servers: readonly LocalServer[], chosen: ChosenModel | null, say: Speak): readonly Check[] {
  return servers
    .filter(({ baseUrl }) => chosen === null || chosen.server === null || new URL(chosen.server.baseUrl).port !== new URL(baseUrl).port || !isLocal(chosen.server.baseUrl))
    .map(({ name, baseUrl, models }) =>
      line("local_server", "ok", say("localServer", { name, url: baseUrl, models: some(models) }), { remedy: say("localServerRemedy", { url: baseUrl, model: models[0] ?? "…" }) }),
    )
}

function some(names: readonly string[]): string {
  const shown = names
    .slice(0, 8)
    .join(", ")
    .slice(0, 400)
    .replace(/\p{Cc}+/gu, " ")
  return names.length > 8 ? `${shown}, …` : shown || "–"
}

/** Makes and removes an empty folder where the runs would be, or would be made: asking for permissions does not tell of a read-only disk. */
export async function checkStore({ value }: CliConfig, say: Speak): Promise<Check> {
  const { folder } = value.store
  let existing = resolve(folder)
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing)
  try {
    await rmdir(await mkdtemp(join(existing, ".hello-agents-doctor-")))
    return line("store", "ok", say("storeOk", { folder }))
  } catch (error) {
    const why = error instanceof Error && "code" in error ? String(error.code) : String(error)
    return line("store", "failed", say("storeBad", { folder, why }), { remedy: say("storeRemedy") })
  }
}

/** Looked for where Node would: from the working directory, then from this program. */
export function checkOptional(say: Speak): Check {
  const folders = [join(process.cwd(), "_.js"), fileURLToPath(import.meta.url)].flatMap((from) => createRequire(from).resolve.paths("zod") ?? [])
  const missing = OPTIONAL_PARTS.filter(([name]) => !folders.some((folder) => existsSync(join(folder, name, "package.json"))))
  if (missing.length === 0) return line("optional", "ok", say("optionalAll", { names: OPTIONAL_PARTS.map(([name]) => name).join(", ") }))
  const named = missing.map(([name, , purpose]) => say("optionalPart", { name, what: say(purpose) }))
  return line("optional", "warning", say("optionalMissing", { names: named.join(", ") }), { remedy: `npm install ${missing.map(([, install]) => install).join(" ")}` })
}

export function checkTerminal(output: Output, { origins }: CliConfig, say: Speak): Check {
  const origin = origins.language === "default" ? say("defaultValue") : origins.language
  return line("terminal", "ok", say(output.isTerminal ? "terminal" : "noTerminal", { width: output.width, origin }))
}
