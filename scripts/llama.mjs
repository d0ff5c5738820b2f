// Installs node-llama-cpp, which runs GGUF files, by the lock in optional/llama-cpp: `npm run llama`. It goes into a folder of its own,
// because the package with all it offers takes 732 MB; the binding for this machine alone, without the GPU ones, takes 83 MB.
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { cacheFolder } from "./cache-folder.mjs"

const part = fileURLToPath(new URL("../optional/llama-cpp/", import.meta.url))
const DONE = "node_modules/.package-lock.json"

const readJson = (file) => JSON.parse(readFileSync(join(part, file), "utf8"))

/** The name of the package with the binding for a system (`process.platform`, `process.arch`). */
export function bindingFor(platform, architecture) {
  const system = { darwin: "mac", win32: "win" }[platform] ?? platform
  return `@node-llama-cpp/${system}-${architecture === "arm" ? "armv7l" : architecture}${platform === "darwin" && architecture === "arm64" ? "-metal" : ""}`
}

/** The part's package.json and lock for one system: its binding becomes a dependency, so that all that is optional can be left out. */
export function partFor(platform, architecture) {
  const manifest = readJson("package.json")
  const lock = readJson("package-lock.json")
  const binding = bindingFor(platform, architecture)
  const locked = lock.packages[`node_modules/${binding}`]
  if (!locked) throw new Error(`there is no binding for ${platform} on ${architecture}`)
  delete locked.optional
  manifest.dependencies[binding] = locked.version
  lock.packages[""].dependencies = manifest.dependencies
  return { manifest, lock }
}

/** Installs into `folder` unless that is done already; gives true when the part is there. */
export function installLlama(folder = join(cacheFolder(), "llama-cpp")) {
  const { manifest, lock } = partFor(process.platform, process.arch)
  const files = { "package.json": `${JSON.stringify(manifest, null, 2)}\n`, "package-lock.json": `${JSON.stringify(lock, null, 2)}\n` }
  const isThere =
    existsSync(join(folder, DONE)) && Object.entries(files).every(([name, text]) => existsSync(join(folder, name)) && readFileSync(join(folder, name), "utf8") === text)
  const what = `node-llama-cpp ${manifest.dependencies["node-llama-cpp"]}`
  if (isThere) {
    console.error(`${what} is already in ${folder}`)
    return true
  }
  console.error(`installing ${what} (MIT, 83 MB) into ${folder} …`)
  rmSync(join(folder, DONE), { force: true })
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const started = performance.now()
  // Its install script would build from source where the prebuilt binding does not suit; that is never wanted here.
  const options = ["ci", "--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund"]
  const npm = process.env.npm_execpath
  const [command, args] = npm?.endsWith("js") ? [process.execPath, [npm, ...options]] : ["npm", options]
  const { status, error } = spawnSync(command, args, { cwd: folder, stdio: ["ignore", 2, 2], shell: process.platform === "win32" && command === "npm" })
  if (status !== 0) {
    rmSync(join(folder, DONE), { force: true })
    console.error(`the installation failed${error ? `: ${error.message}` : ""}`)
    return false
  }
  console.error(`ready in ${((performance.now() - started) / 1000).toFixed(0)} s`)
  return true
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  try {
    process.exitCode = installLlama() ? 0 : 1
  } catch (error) {
    console.error(error.message)
    process.exitCode = 1
  }
}
