// Measures the sizes that the design promises: `npm run budgets` prints the table, tests/house/budgets.test.ts fails past a number.
// Raising a number is a commit of its own with its reason; squeezing lines to stay below one is worse than raising it.
import { spawnSync } from "node:child_process"
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join, posix } from "node:path"
import { fileURLToPath } from "node:url"
import ts from "typescript"

const root = fileURLToPath(new URL("..", import.meta.url))
const { adapters } = createRequire(import.meta.url)("./layers.cjs")

const adapterFiles = new RegExp(`^src/(${adapters.join("|")})/`)
const outsideCore = /^src\/(builtin|cli|evals|studio|doors|index\.ts|interface\/(http|mcp|server)|orchestration\/(workflow|coordinator|patterns))/

const contract = /^src\/contract\//
const decide = /^src\/orchestration\/decide\.ts$/
const apply = /^src\/orchestration\/apply(-[a-z-]+)?\.ts$/
const loop = /^src\/orchestration\/loop\.ts$/
const workflow = /^src\/orchestration\/(workflow|coordinator|patterns)/
/** Whatever else stands in orchestration is part of performing, so that nothing escapes the heart's budget. */
const perform = { test: (file) => /^src\/orchestration\//.test(file) && ![decide, apply, loop, workflow].some((other) => other.test(file)) }
const runner = /^src\/interface\/(?!http|mcp|server)/
const reading = /^src\/(infrastructure\/(json|history)\/|capability\/protocol\/(?!text-protocol))/
const core = { test: (file) => !outsideCore.test(file) && (!adapterFiles.test(file) || /^src\/infrastructure\/(store\/|trace\/([a-z]+-)?spans?[-.])/.test(file)) }

/** Code lines: neither blank nor comment, counted after formatting. `files`: at most so many. `later`: may still be missing. */
const scopes = [
  { name: "trunk: state, event, decide, loop", limit: 400, parts: [/^src\/contract\/(state|event)\.ts$/, decide, loop] },
  { name: "heart: decide", limit: 115, parts: [decide], files: 1 },
  { name: "heart: apply", limit: 350, parts: [apply], files: 2 },
  { name: "heart: perform", limit: 560, parts: [perform] },
  { name: "heart: loop", limit: 70, parts: [loop], files: 1 },
  {
    name: "thin runtime: vocabulary, heart, running a tool, runner",
    limit: 1500,
    parts: [
      /^src\/contract\/(message|model|tool|event|state|ports)\.ts$/,
      decide,
      apply,
      loop,
      /^src\/orchestration\/(perform|perform-model|check-calls|run-calls)\.ts$/,
      /^src\/capability\/tools\/execute\.ts$/,
      /^src\/interface\/(runner|launch)\.ts$/,
    ],
  },
  { name: "runtime, whole: contract, heart, tools, interface", limit: 2850, parts: [contract, decide, apply, perform, loop, /^src\/capability\/tools\//, runner] },
  { name: "reading: json, protocol, history", limit: 2600, parts: [reading] },
  { name: "workflow, coordinator, patterns", limit: 400, parts: [workflow], later: true },
  { name: "core", limit: 7600, parts: [core] },
]
const limits = { file: 300, adapter: 350, function: 60, parameters: 3, rootNames: 40, runOptions: 12, errorClasses: 1, cycles: 0 }

/** Adapters that nobody needs to read; the reason stands in docs/decisions/019. */
const adapterLimits = { "src/capability/models/demo": 1200 }

/** Flat exhaustive switches, one line or two per case: `file#function`. They may be longer than a function's 60 lines. */
const flatSwitches = []

/** All measurements of the sources under `folder`. Throws if there are none. */
export function measure(folder = root) {
  const formatted = formattedCopy(folder)
  try {
    const files = readSources(formatted)
    if (files.length === 0) throw new Error(`no source files under ${folder}`)
    return measureFiles(files)
  } finally {
    rmSync(formatted, { recursive: true, force: true })
  }
}

function measureFiles(files) {
  return {
    scopes: scopes.map((scope) => {
      const inside = files.filter(({ name }) => scope.parts.some((part) => part.test(name)))
      const missing = scope.parts.filter((part) => !files.some(({ name }) => part.test(name))).length
      return { ...scope, lines: sum(inside), count: inside.length, inside, missing: scope.later ? 0 : missing }
    }),
    adapters: adapterUnits(files),
    files: files.map(({ name, lines }) => ({ name, lines, limit: adapterFiles.test(name) ? limits.adapter : limits.file })),
    functions: files.flatMap(functionsOf),
    rootNames: [...namesOf(files, "src/index.ts")].sort(),
    runOptions: [...optionsOf(files, "RunOptions")],
    errorClasses: files.filter(({ name }) => !name.startsWith("src/cli/")).flatMap(errorClassesOf),
    cycles: cyclesOf(files),
  }
}

/** One sentence for each broken number; an empty list means that the house keeps its size. */
export function overBudget(measured) {
  const longFunctions = measured.functions.filter(({ lines }) => lines > limits.function).map(({ id }) => id)
  const over = (what, value, limit) => (value > limit ? [`${what}: ${value}, at most ${limit}`] : [])
  return [
    ...measured.scopes.flatMap(({ name, lines, limit, count, files, missing }) => [
      ...over(`${name} (lines)`, lines, limit),
      ...over(`${name} (files)`, count, files ?? Number.POSITIVE_INFINITY),
      ...(missing > 0 ? [`${name}: ${missing} of its parts match no file, so nothing is measured there`] : []),
    ]),
    ...measured.adapters.flatMap(({ name, lines, limit }) => over(`adapter ${name} (lines)`, lines, limit)),
    ...measured.files.flatMap(({ name, lines, limit }) => over(`${name} (lines)`, lines, limit)),
    ...longFunctions.filter((id) => !flatSwitches.includes(id)).map((id) => `${id} (lines): ${measured.functions.find((one) => one.id === id).lines}, at most ${limits.function}`),
    ...flatSwitches.filter((id) => !longFunctions.includes(id)).map((id) => `${id} is excepted as a long flat switch and is none: take it off the list`),
    ...measured.functions
      .filter(({ parameters }) => parameters > limits.parameters)
      .map(({ id, parameters }) => `${id} (parameters before options): ${parameters}, at most ${limits.parameters}`),
    ...over("names at the root door", measured.rootNames.length, limits.rootNames),
    ...over("options of run", measured.runOptions.length, limits.runOptions),
    ...(measured.runOptions.length === 0 ? ["options of run: the type RunOptions was not found"] : []),
    ...over(`error classes (${measured.errorClasses.join(", ")})`, measured.errorClasses.length, limits.errorClasses),
    ...measured.cycles.map((cycle) => `import cycle: ${cycle.join(" → ")}`),
  ]
}

const sum = (files) => files.reduce((total, { lines }) => total + lines, 0)

/** Unformatted lines would make the count a matter of taste; work in progress is formatted before it is counted. */
function formattedCopy(folder) {
  const copy = mkdtempSync(join(tmpdir(), "budgets-"))
  cpSync(join(folder, "src"), join(copy, "src"), { recursive: true })
  cpSync(join(root, "biome.json"), join(copy, "biome.json"))
  spawnSync(process.execPath, [join(root, "node_modules/@biomejs/biome/bin/biome"), "format", "--write", "src"], { cwd: copy })
  return copy
}

function readSources(folder) {
  return readdirSync(join(folder, "src"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .sort()
    .map((file) => {
      const name = posix.join("src", file.replaceAll("\\", "/"))
      const tree = ts.createSourceFile(name, readFileSync(join(folder, name), "utf8"), ts.ScriptTarget.ES2023, true)
      const code = codeLinesOf(tree)
      return { name, tree, code, lines: code.size }
    })
}

/** Numbers of the lines that carry a token; a blank line inside a template string is blank all the same. */
function codeLinesOf(tree) {
  const text = tree.text.split("\n")
  const lines = new Set()
  const visit = (node) => {
    if (node.kind >= ts.SyntaxKind.FirstJSDocNode && node.kind <= ts.SyntaxKind.LastJSDocNode) return
    const children = node.getChildren(tree)
    if (children.length > 0) return children.forEach(visit)
    if (node.end === node.getStart(tree)) return
    const last = tree.getLineAndCharacterOfPosition(node.end).line
    for (let line = tree.getLineAndCharacterOfPosition(node.getStart(tree)).line; line <= last; line++) if (text[line].trim() !== "") lines.add(line)
  }
  visit(tree)
  return lines
}

function functionsOf({ name, tree, code }) {
  const found = []
  const visit = (node) => {
    if (ts.isFunctionLike(node)) {
      const from = tree.getLineAndCharacterOfPosition(node.getStart(tree)).line
      const to = tree.getLineAndCharacterOfPosition(node.end).line
      const lines = "body" in node && node.body ? [...code].filter((line) => line >= from && line <= to).length : 0
      found.push({ id: `${name}#${functionName(node) ?? `line ${from + 1}`}`, lines, parameters: parametersBeforeOptions(node, tree) })
    }
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

function functionName(node) {
  if (node.name) return node.name.getText()
  if (ts.isConstructorDeclaration(node)) return "constructor"
  return node.parent?.name && !ts.isFunctionLike(node.parent) ? node.parent.name.getText() : undefined
}

/** What a callback is given is decided by whoever calls it (`replace`, `reduce`). The one options object after the parameters does not count either: a destructured one, one written as an object type, or one named so. */
function parametersBeforeOptions(node, tree) {
  if (ts.isCallExpression(node.parent) && node.parent.arguments.includes(node)) return 0
  const parameters = node.parameters.filter((parameter) => parameter.name.getText(tree) !== "this")
  const last = parameters.at(-1)
  if (!last) return 0
  const type = last.type?.getText(tree) ?? ""
  const isOptions =
    ts.isObjectBindingPattern(last.name) || (last.type && ts.isTypeLiteralNode(last.type)) || /options$/i.test(last.name.getText(tree)) || /^\w*Options\b/.test(type)
  return isOptions ? parameters.length - 1 : parameters.length
}

/** A unit is a file or folder together with the files that carry its name: `openai.ts`, `openai-stream.ts`. Only units that a door names are adapters. */
function adapterUnits(files) {
  const named = files
    .filter(({ name }) => /^src\/(index|doors\/[^/]+)\.ts$/.test(name))
    .flatMap((door) => importsOf(door))
    .filter((name) => adapterFiles.test(name))
  const unitOf = (name) => adapters.flatMap((folder) => (name.startsWith(`src/${folder}/`) ? [`src/${folder}/${name.slice(`src/${folder}/`.length).split(/[/.]/)[0]}`] : []))
  const units = [...new Set(named.flatMap(unitOf))].sort()
  return units
    .filter((unit) => !units.some((other) => unit.startsWith(`${other}-`)))
    .map((unit) => ({
      name: unit,
      lines: sum(files.filter(({ name }) => name === `${unit}.ts` || name.startsWith(`${unit}-`) || name.startsWith(`${unit}/`))),
      limit: adapterLimits[unit] ?? limits.adapter,
    }))
}

function moduleNamesOf(tree) {
  const found = []
  const visit = (node) => {
    if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier) found.push(node.moduleSpecifier.text)
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword && ts.isStringLiteral(node.arguments[0])) found.push(node.arguments[0].text)
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) found.push(node.argument.literal.text)
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

const importsOf = ({ name, tree }) =>
  moduleNamesOf(tree)
    .filter((target) => target.startsWith("."))
    .map((target) => posix.join(dirname(name), target))

/** Exported names of a file, types counted, `export *` followed. */
function namesOf(files, name) {
  const file = files.find((one) => one.name === name)
  if (!file) return new Set()
  return new Set(
    file.tree.statements.flatMap((statement) => {
      if (ts.isExportDeclaration(statement)) {
        if (statement.exportClause && ts.isNamedExports(statement.exportClause)) return statement.exportClause.elements.map((element) => element.name.text)
        if (statement.exportClause) return [statement.exportClause.name.text]
        return [...namesOf(files, posix.join(dirname(name), statement.moduleSpecifier.text))]
      }
      if (!ts.canHaveModifiers(statement) || !ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return []
      if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.map((declaration) => declaration.name.getText(file.tree))
      return statement.name ? [statement.name.text] : []
    }),
  )
}

function optionsOf(files, typeName) {
  const declarations = files.flatMap(({ tree }) =>
    tree.statements.filter((statement) => (ts.isTypeAliasDeclaration(statement) || ts.isInterfaceDeclaration(statement)) && statement.name.text === typeName),
  )
  const collect = (type) => {
    if (ts.isTypeLiteralNode(type) || ts.isInterfaceDeclaration(type)) return type.members.map((member) => member.name?.getText() ?? "[index]")
    if (ts.isIntersectionTypeNode(type) || ts.isUnionTypeNode(type)) return type.types.flatMap(collect)
    if (ts.isParenthesizedTypeNode(type)) return collect(type.type)
    return ts.isConditionalTypeNode(type) ? [...collect(type.trueType), ...collect(type.falseType)] : []
  }
  return new Set(declarations.flatMap((declaration) => collect(ts.isTypeAliasDeclaration(declaration) ? declaration.type : declaration)))
}

function errorClassesOf({ name, tree }) {
  const found = []
  const visit = (node) => {
    if (ts.isClassLike(node) && node.heritageClauses?.some((clause) => clause.types.some((type) => /Error$/.test(type.expression.getText(tree)))))
      found.push(`${name}#${node.name?.text ?? "class"}`)
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

/** One path for each file that can reach itself through imports, type imports counted; each cycle once. */
function cyclesOf(files) {
  const targets = new Map(files.map((file) => [file.name, importsOf(file)]))
  const cycles = new Map()
  const finished = new Set()
  const visit = (name, path) => {
    const start = path.indexOf(name)
    if (start >= 0) return cycles.set([...path.slice(start)].sort().join(), [...path.slice(start), name])
    if (finished.has(name)) return
    for (const target of targets.get(name) ?? []) visit(target, [...path, name])
    finished.add(name)
  }
  for (const name of targets.keys()) visit(name, [])
  return [...cycles.values()]
}

function table(measured) {
  const row = (name, value, limit) => `${value > limit ? "over " : "     "}${String(value).padStart(6)} of ${String(limit).padStart(5)}  ${name}`
  const longest = (list) => [...list].sort((a, b) => b.lines - a.lines)
  return [
    ...measured.scopes.flatMap(({ name, lines, limit, inside }) => [
      row(`${name} (${inside.length} ${inside.length === 1 ? "file" : "files"})`, lines, limit),
      // Where a scope is too big, a reader wants to know what is in it.
      ...(lines > limit ? longest(inside).map((file) => `           ${String(file.lines).padStart(10)}    ${file.name}`) : []),
    ]),
    ...measured.adapters.map(({ name, lines, limit }) => row(`adapter ${name}`, lines, limit)),
    ...longest(measured.files)
      .slice(0, 3)
      .map(({ name, lines, limit }) => row(name, lines, limit)),
    ...longest(measured.functions)
      .slice(0, 3)
      .map(({ id, lines }) => row(id, lines, limits.function)),
    row("names at the root door", measured.rootNames.length, limits.rootNames),
    row("options of run", measured.runOptions.length, limits.runOptions),
    row("error classes", measured.errorClasses.length, limits.errorClasses),
    row("import cycles", measured.cycles.length, limits.cycles),
    row("all of src", sum(measured.files), Number.POSITIVE_INFINITY).replace("of Infinity", "           "),
  ].join("\n")
}

if (process.argv[1] && existsSync(process.argv[1]) && fileURLToPath(import.meta.url) === process.argv[1]) {
  const measured = measure()
  const broken = overBudget(measured)
  console.log(`code lines and counts\n${table(measured)}\n${broken.length > 0 ? `\nover budget:\n  ${broken.join("\n  ")}` : "\nwithin budget"}`)
  process.exitCode = broken.length > 0 ? 1 : 0
}
