// Writes api/hello-agents.api.md: every name that a door shows, with its declaration, so that a change of the public surface is seen in a diff.
// `npm run api` rewrites it, tests/house/api-report.test.ts compares. It reads the built declarations, not the sources: what users get.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import ts from "typescript"
import { build } from "./build.mjs"

const root = fileURLToPath(new URL("..", import.meta.url))
export const reportFile = join(root, "api/hello-agents.api.md")

const kinds = [
  [ts.SymbolFlags.Function, "function"],
  [ts.SymbolFlags.Class, "class"],
  [ts.SymbolFlags.Interface, "interface"],
  [ts.SymbolFlags.TypeAlias, "type"],
  [ts.SymbolFlags.Variable, "constant"],
  [ts.SymbolFlags.Enum, "enum"],
  [ts.SymbolFlags.Module, "namespace"],
]

/** The doors of a package: public name and declaration file, from its `exports`. Throws if a file is missing. */
function doorsOf(folder) {
  const { name, exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
  return Object.entries(exports)
    .filter(([, target]) => target.endsWith(".js"))
    .map(([path, target]) => {
      const file = join(folder, target.replace(/\.js$/, ".d.ts"))
      if (!existsSync(file)) throw new Error(`the door ${path} leads to ${relative(folder, file)}, which is not there`)
      return { door: name + path.slice(1), file }
    })
}

/** The report on the package in `folder`, which must be built. */
export function apiReport(folder = root) {
  const doors = doorsOf(folder)
  const program = ts.createProgram(
    doors.map(({ file }) => file),
    { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, target: ts.ScriptTarget.ES2023, types: [], strict: true, noEmit: true, noLib: true },
  )
  const checker = program.getTypeChecker()
  const shown = new Map()
  const sections = doors.map(({ door, file }) => {
    const source = program.getSourceFile(file)
    const symbol = source && checker.getSymbolAtLocation(source)
    const names = (symbol ? checker.getExportsOfModule(symbol) : []).map((exported) => ({ name: exported.name, target: resolved(exported, checker) })).sort(byName)
    const lines = names.map(({ name, target }) => {
      if (shown.has(target)) return `${name}: see ${shown.get(target)}\n`
      shown.set(target, door)
      return declared(name, target)
    })
    return `## ${door}\n\n${names.length} ${names.length === 1 ? "name" : "names"}\n\n${lines.join("\n")}`
  })
  return `# Public surface\n\nWritten by \`npm run api\`. Do not edit.\n\n${sections.join("\n")}\n${behindTheDoors(shown, checker, join(folder, "dist"))}`
}

/** Types that no door shows but a shown declaration mentions: a change there is a change of the surface too. */
function behindTheDoors(shown, checker, dist) {
  const seen = new Set(shown.keys())
  const hidden = []
  const queue = [...seen]
  for (let symbol = queue.pop(); symbol; symbol = queue.pop()) {
    for (const declaration of symbol.declarations ?? []) {
      forEachIdentifier(declaration, (identifier) => {
        const mentioned = checker.getSymbolAtLocation(identifier)
        if (!mentioned) return
        const target = resolved(mentioned, checker)
        const isTopLevel = target.declarations?.some((one) => ts.isSourceFile(statementOf(one).parent) && one.getSourceFile().fileName.startsWith(dist))
        if (!isTopLevel || seen.has(target) || (target.flags & ts.SymbolFlags.Module) !== 0) return
        seen.add(target)
        hidden.push(target)
        queue.push(target)
      })
    }
  }
  const lines = hidden.sort(byName).map((target) => declared(target.name, target))
  return lines.length > 0 ? `## Mentioned, not exported\n\n${lines.join("\n")}` : ""
}

const byName = (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)
const resolved = (symbol, checker) => ((symbol.flags & ts.SymbolFlags.Alias) !== 0 ? checker.getAliasedSymbol(symbol) : symbol)
/** A variable's statement holds its keyword. */
const statementOf = (declaration) => (ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration)

function forEachIdentifier(node, visit) {
  if (ts.isIdentifier(node)) visit(node)
  ts.forEachChild(node, (child) => forEachIdentifier(child, visit))
}

function declared(name, symbol) {
  const kind = kinds.filter(([flag]) => (symbol.flags & flag) !== 0).map(([, word]) => word)
  const printer = ts.createPrinter({ removeComments: true, newLine: ts.NewLineKind.LineFeed })
  const texts = (symbol.declarations ?? []).map((declaration) =>
    printer
      .printNode(ts.EmitHint.Unspecified, statementOf(declaration), declaration.getSourceFile())
      .replace(/^export /, "")
      .replace(/^declare /, ""),
  )
  return `${name} (${kind.join(", ") || "unknown"})\n\n\`\`\`ts\n${texts.join("\n")}\n\`\`\`\n`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (!build()) process.exit(1)
  mkdirSync(dirname(reportFile), { recursive: true })
  writeFileSync(reportFile, apiReport())
  console.log(`${relative(root, reportFile)} written`)
}
