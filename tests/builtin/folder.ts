// A real folder for the file tools, with a neighbour that no tool may see. Gone when the test is over.
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { onTestFinished } from "vitest"

/** Stands in every file outside of the root. */
export const SECRET = "the-secret-outside"

export interface Folder {
  readonly root: string
  /** Beside the root; holds `secret.txt`. */
  readonly outside: string
}

export function folderWith(files: { readonly [path: string]: string | Uint8Array }): Folder {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "file-tools-")))
  onTestFinished(() => rmSync(top, { recursive: true }))
  const [root, outside] = [join(top, "root"), join(top, "root-outside")]
  mkdirSync(root)
  mkdirSync(outside)
  writeFileSync(join(outside, "secret.txt"), SECRET)
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  return { root, outside }
}

/** A named pipe that nobody writes to: opening it plainly would wait for ever. */
export function makePipe(path: string): void {
  execFileSync("sh", ["-c", 'mkfifo "$1"', "sh", path])
}
