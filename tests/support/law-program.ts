// Starts lives of the resume law (law-life.ts) in processes of their own, hundreds of them: the programs are compiled once, over the built package.
// The copies stand in a folder whose `src` is `dist`, so that their imports find the built files.
import { spawn } from "node:child_process"
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import ts from "typescript"
import type { LifeOrder, LifeReport } from "./law-life.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** Puts the program of a life into `folder` and gives its path. `dist` must be built. */
export function lawProgram(folder: string): string {
  symlinkSync(join(root, "dist"), join(folder, "src"))
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }')
  for (const name of ["law-life", "resume-law", "unsynced-files"]) {
    const { outputText } = ts.transpileModule(readFileSync(join(root, `tests/support/${name}.ts`), "utf8"), {
      compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true, rewriteRelativeImportExtensions: true },
    })
    const path = join(folder, `tests/support/${name}.js`)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, outputText)
  }
  return join(folder, "tests/support/law-life.js")
}

/** report null: it did not live long enough to say anything. */
export async function live(program: string, order: LifeOrder): Promise<{ signal: NodeJS.Signals | null; report: LifeReport | null }> {
  mkdirSync(join(order.folder, "disk"), { recursive: true, mode: 0o700 })
  const child = spawn(process.execPath, [program, JSON.stringify(order)], { stdio: ["ignore", "pipe", "inherit"] })
  const gone = new Promise<NodeJS.Signals | null>((resolve) => child.on("exit", (_, signal) => resolve(signal)))
  const said = await text(child.stdout)
  return { signal: await gone, report: said === "" ? null : JSON.parse(said) }
}
