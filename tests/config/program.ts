// The built program in a folder of its own, with an environment of its own. `input` is piped in. Used by the tests of the commands.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import type { ServerAnswer } from "../support/model-server.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export interface Place {
  readonly folder: string
  readonly put: (path: string, content: string | object) => string
  readonly run: (words: readonly string[], environment?: Readonly<Record<string, string>>, input?: string) => Promise<Ended>
  readonly remove: () => void
}

export function makePlace(): Place {
  const folder = mkdtempSync(join(tmpdir(), "hello-agents-program-"))
  return {
    folder,
    put(path, content) {
      const full = join(folder, path)
      mkdirSync(dirname(full), { recursive: true })
      writeFileSync(full, typeof content === "string" ? content : JSON.stringify(content, null, 2))
      return full
    },
    async run(words, environment = {}, input) {
      const env = { PATH: process.env["PATH"] ?? "", HOME: folder, NO_COLOR: "1", ...environment }
      const child = spawn(process.execPath, [join(root, "dist/cli/main.js"), ...words], { cwd: folder, env, stdio: ["pipe", "pipe", "pipe"] })
      // a program that does not read has its input closed under our hands
      child.stdin.on("error", () => {})
      child.stdin.end(input ?? "")
      const written = { out: "", err: "" }
      child.stdout.setEncoding("utf8").on("data", (text: string) => (written.out += text))
      child.stderr.setEncoding("utf8").on("data", (text: string) => (written.err += text))
      const [code] = (await once(child, "close")) as [number | null]
      return { code, ...written }
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** What a real server said, byte for byte. */
export function recorded(name: string): ServerAnswer {
  return { pieces: [readFileSync(join(root, `tests/fixtures/recordings/llama-cpp-python/${name}.response.http`))], after: "keep" }
}
