// The desk agent of the fixtures in a folder of its own, and the built program run there. Used by the tests of chat, resume, approve and their kin.
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Limits } from "hello-agents"
import { run } from "hello-agents"
import { fileStore } from "../../src/doors/stores.ts"
import type { StoredEvent } from "../../src/doors/trace.ts"
import type { Ended, Place } from "../config/program.ts"
import { makePlace } from "../config/program.ts"
import agent from "../fixtures/cli/desk-agent.ts"

const agentFile = fileURLToPath(new URL("../fixtures/cli/desk-agent.ts", import.meta.url))

export interface Desk extends Place {
  /** `hello-agents …words`, with the agent where the command takes one. */
  readonly ask: (words: readonly string[], input?: string) => Promise<Ended>
  /** A run that began before, in another process as far as the program can tell; gives its id. Not for what ends the process. */
  readonly begin: (prompt: string, limits?: Limits) => Promise<string>
  /** What the tools did to the world. */
  readonly effects: () => readonly unknown[]
  /** The id of the newest run, and its log. */
  readonly newest: () => Promise<{ readonly id: string; readonly events: readonly StoredEvent[] }>
}

export function makeDesk(): Desk {
  const place = makePlace()
  place.put("desk.ts", readFileSync(agentFile, "utf8"))
  const store = fileStore(join(place.folder, ".hello-agents/runs"))
  return {
    ...place,
    ask: ([command = "", ...words], input) => place.run([command, ...words, ...(["cancel", "say", "fork"].includes(command) ? [] : ["--agent", "desk.ts"])], {}, input),
    begin: async (prompt, limits) => (await run(agent, prompt, { store, limits })).runId,
    effects() {
      const file = join(place.folder, "effects.log")
      return existsSync(file)
        ? readFileSync(file, "utf8")
            .trimEnd()
            .split("\n")
            .map((line) => JSON.parse(line) as unknown)
        : []
    },
    async newest() {
      const summaries = await store.list()
      for (const { runId } of summaries) {
        const events = await store.read(runId)
        if (events[0]?.type === "run_start") return { id: runId, events }
      }
      throw new Error("no run was kept")
    },
  }
}
