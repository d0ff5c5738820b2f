// Makes TypeScript test programs start as fast as a user's: compiled once, over the built package, for tests that start hundreds of processes.
// The copies stand in a folder whose `src` is `dist`, so that their imports find the built files.
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import ts from "typescript"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** Compiles `files` (relative to the project) into `folder` and gives the path of the first. `dist` must be built. */
export function builtProgram(folder: string, files: readonly string[]): string {
  symlinkSync(join(root, "dist"), join(folder, "src"))
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }')
  const paths = files.map((file) => {
    const { outputText } = ts.transpileModule(readFileSync(join(root, file), "utf8"), {
      compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true, rewriteRelativeImportExtensions: true },
    })
    const path = join(folder, file.replace(/\.ts$/, ".js"))
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, outputText)
    return path
  })
  return paths[0] ?? ""
}
