// A cassette as a file on this machine, for cassette.ts. Users get it from `hello-agents/testing`.
import { appendFile, mkdir, readFile } from "node:fs/promises"
import { dirname } from "node:path"
import type { CassetteFile } from "./cassette.ts"

/** A JSON Lines file at `path`; its folder is made when the first call is recorded. Replaying a file that is not there is an error, not an empty cassette. */
export function cassette(path: string): CassetteFile {
  return {
    read: () => readFile(path, "utf8"),
    append: async (line) => {
      await mkdir(dirname(path), { recursive: true })
      await appendFile(path, line)
    },
  }
}
