// Builds dist/ if the sources changed since the last build. Called by npm scripts and tests; leaves compiling to tsc.
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const cache = join(root, "node_modules/.cache/hello-agents")
const stampFile = join(cache, "build.stamp")
const lockFile = join(cache, "build.lock")
/** Milliseconds after which a lock is void whoever wrote it: far longer than a build takes. */
const LOCK_AGE = 300_000

const filesUnder = (folder) =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .sort()
    : []
const outputOf = (source) => join(root, "dist", source.slice(join(root, "src/").length).replace(/\.ts$/, ".js"))
const sources = () => filesUnder(join(root, "src")).filter((file) => file.endsWith(".ts"))

function stampOf(files) {
  const hash = createHash("sha256")
  for (const file of [...files, ...["tsconfig.json", "tsconfig.build.json", "package.json", "node_modules/typescript/package.json"].map((name) => join(root, name))]) {
    hash
      .update(`${file.slice(root.length)}\0`)
      .update(readFileSync(file))
      .update("\0")
  }
  return hash.digest("hex")
}

const complete = (files) => files.every((file) => existsSync(outputOf(file)) && existsSync(outputOf(file).replace(/\.js$/, ".d.ts")))
const isFresh = (files) => existsSync(stampFile) && readFileSync(stampFile, "utf8") === stampOf(files) && complete(files)

/** A builder that was killed leaves its lock behind. */
function isAbandoned() {
  try {
    if (Date.now() - statSync(lockFile).mtimeMs > LOCK_AGE) return true
    process.kill(Number(readFileSync(lockFile, "utf8")) || process.pid, 0)
    return false
  } catch (error) {
    return error.code === "ESRCH"
  }
}

/** Two test processes may ask at the same time; the second waits and then finds everything done. */
function withLock(work) {
  mkdirSync(cache, { recursive: true })
  for (;;) {
    try {
      writeFileSync(lockFile, String(process.pid), { flag: "wx" })
      break
    } catch (error) {
      if (error.code !== "EEXIST") throw error
      if (isAbandoned()) rmSync(lockFile, { force: true })
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
    }
  }
  try {
    return work()
  } finally {
    rmSync(lockFile, { force: true })
  }
}

function compile(files) {
  const started = performance.now()
  process.stderr.write("building dist … ")
  // tsc writes only what changed; without its outputs that memory is wrong.
  if (!complete(files)) rmSync(join(cache, "build.tsbuildinfo"), { force: true })
  rmSync(stampFile, { force: true })
  const stamp = stampOf(files)
  const result = spawnSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", "tsconfig.build.json"], { cwd: root, encoding: "utf8" })
  if (result.status !== 0) {
    process.stderr.write(`failed\n${result.stdout}${result.stderr}`)
    return false
  }
  const wanted = new Set(files.flatMap((file) => [outputOf(file), outputOf(file).replace(/\.js$/, ".d.ts")]))
  for (const file of filesUnder(join(root, "dist"))) if (!wanted.has(file)) rmSync(file)
  const program = join(root, "dist/cli/main.js")
  if (existsSync(program)) chmodSync(program, 0o755)
  mkdirSync(dirname(stampFile), { recursive: true })
  writeFileSync(stampFile, stamp)
  process.stderr.write(`${((performance.now() - started) / 1000).toFixed(1)} s\n`)
  return true
}

/** True when dist/ is what the sources say. Says nothing if there was nothing to do. */
export function build() {
  if (isFresh(sources())) return true
  return withLock(() => {
    const files = sources()
    return isFresh(files) || compile(files)
  })
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) process.exitCode = build() ? 0 : 1
