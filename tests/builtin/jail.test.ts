// The file tools never leave their root: tried with real links, pipes, sockets, devices, and with a disk that changes between a check and its use.
import { execFileSync, fork } from "node:child_process"
import { once } from "node:events"
import { linkSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import * as fileSystem from "node:fs/promises"
import { createServer } from "node:net"
import { join } from "node:path"
import { fileTools } from "hello-agents/tools"
import { describe, expect, it, onTestFinished, test } from "vitest"
import type { FileSystem } from "../../src/builtin/jail.ts"
import { jail } from "../../src/builtin/jail.ts"
import { folderWith, makePipe, SECRET } from "./folder.ts"
import { runTool } from "./run-tool.ts"

const example = 'Give a path inside the folder as list_files shows it, such as "reports/2024.md".'
type ToolName = "list_files" | "search_files" | "read_file"

function use(root: string, name: ToolName, args: object, options: Parameters<typeof fileTools>[1] = {}): Promise<string> {
  const tool = fileTools(root, options).find((one) => one.name === name)
  if (tool === undefined) throw new Error(`no ${name}`)
  return runTool(tool, args)
}

const read = (root: string, path: string, options: Parameters<typeof fileTools>[1] = {}): Promise<string> => use(root, "read_file", { path }, options)

describe("a path that points out of the folder by its words", () => {
  const absolute = `Error: read_file failed: Absolute paths, drives and addresses are not opened. ${example}`
  const dots = `Error: read_file failed: The path has .. in it, which is not opened. ${example}`
  const backslash = `Error: read_file failed: The path has a \\ in it. Write / between folder names. ${example}`
  const control = `Error: read_file failed: The path has a control character in it. ${example}`
  const device = `Error: read_file failed: The path names a device, which is not opened. ${example}`
  test.each([
    ["/etc/passwd", absolute],
    ["//etc/passwd", absolute],
    ["/", absolute],
    ["/proc/self/environ", absolute],
    ["/dev/zero", absolute],
    ["\\\\server\\share\\a.txt", absolute],
    ["\\etc\\passwd", absolute],
    ["C:\\Windows\\win.ini", absolute],
    ["C:/Windows/win.ini", absolute],
    ["c:secret.txt", absolute],
    ["file:///etc/passwd", absolute],
    ["https://example.com/a", absolute],
    ["..", dots],
    ["../root-outside/secret.txt", dots],
    ["a/../../root-outside/secret.txt", dots],
    ["a/..", dots],
    ["./../root-outside/secret.txt", dots],
    ["a//..//..//root-outside/secret.txt", dots],
    ["..\\root-outside\\secret.txt", backslash],
    ["a\\..\\..\\root-outside\\secret.txt", backslash],
    ["a/b.txt\u0000.md", control],
    ["\u0000", control],
    ["a\nb", control],
    ["a\u007fb", control],
    ["nul", device],
    ["a/CON.txt", device],
    ["x".repeat(1_001), `Error: read_file failed: The path has more than 1000 characters. ${example}`],
  ])("%j is refused", async (path, message) => {
    const { root } = folderWith({ "a/b.txt": "inside" })
    expect(await read(root, path)).toBe(message)
    expect(await use(root, "list_files", { folder: path })).toBe(message.replace("read_file", "list_files"))
    expect(await use(root, "search_files", { query: "secret", folder: path })).toBe(message.replace("read_file", "search_files"))
  })

  test.each([
    ["~/secret.txt"],
    ["~root/secret.txt"],
    ["%2e%2e/root-outside/secret.txt"],
    ["%2e%2e%2froot-outside%2fsecret.txt"],
    ["．．/root-outside/secret.txt"],
    ["$HOME/secret.txt"],
    ["a/b.txt/secret.txt"],
    ["...//secret.txt"],
    [`${"a/".repeat(400)}secret.txt`],
    ["y".repeat(300)],
  ])("%j is only a name that does not exist", async (path) => {
    const { root } = folderWith({ "a/b.txt": "inside" })
    expect(await read(root, path, { hidden: true })).toMatch(/^Error: read_file failed: There is no file /)
  })

  it.each([["a/b.txt"], ["./a/b.txt"], ["a//b.txt"], ["a/./b.txt"], ["a/b.txt/"]])("%j is opened", async (path) => {
    const { root } = folderWith({ "a/b.txt": "inside" })
    expect(await read(root, path)).toContain("inside")
  })

  it("a neighbour whose name begins like the root is not inside", async () => {
    const { root, outside } = folderWith({})
    symlinkSync(outside, join(root, "near"))
    expect(await read(root, "near/secret.txt")).toBe('Error: read_file failed: "near/secret.txt" is behind a link that leads out of the folder or nowhere, and is not opened.')
  })
})

describe("a link", () => {
  const behind = (path: string): string => `Error: read_file failed: ${JSON.stringify(path)} is behind a link that leads out of the folder or nowhere, and is not opened.`

  it("to a file in the folder is read and listed", async () => {
    const { root } = folderWith({ "a/b.txt": "inside" })
    symlinkSync("a/b.txt", join(root, "short.txt"))
    symlinkSync(join(root, "a"), join(root, "also-a"))
    expect(await read(root, "short.txt")).toBe("[short.txt, lines 1 to 1 of 1]\ninside")
    expect(await read(root, "also-a/b.txt")).toBe("[also-a/b.txt, lines 1 to 1 of 1]\ninside")
    expect(await use(root, "list_files", {})).toBe("a/b.txt (6 bytes)\nshort.txt (6 bytes)")
  })

  it.each([
    ["an absolute file", (outside: string) => join(outside, "secret.txt"), "link"],
    ["a relative file", () => "../root-outside/secret.txt", "link"],
    ["a folder, and on through it", (outside: string) => outside, "link/secret.txt"],
    ["the folder above", () => "..", "link/root-outside/secret.txt"],
    ["the root of the disk", () => "/", "link/etc/passwd"],
    ["a system file", () => "/etc/passwd", "link"],
    ["the memory of this process", () => "/proc/self/environ", "link"],
    ["the root by way of the process", () => "/proc/self/root", "link/etc/passwd"],
    ["the standard input", () => "/proc/self/fd/0", "link"],
    ["an endless device", () => "/dev/zero", "link"],
    ["the terminal", () => "/dev/tty", "link"],
    ["nothing", () => "not-here.txt", "link"],
    ["nothing outside", (outside: string) => join(outside, "not-here.txt"), "link"],
    ["itself", () => "link", "link"],
  ])("to %s is refused, not listed and not searched", async (_, target, path) => {
    const { root, outside } = folderWith({ "a.txt": "inside" })
    symlinkSync(target(outside), join(root, "link"))
    for (const hidden of [false, true]) {
      expect(await read(root, path, { hidden })).toBe(behind(path))
      expect(await use(root, "list_files", {}, { hidden })).toBe("a.txt (6 bytes)")
      expect(await use(root, "search_files", { query: `${SECRET} root inside` }, { hidden })).toBe('{"matches":[{"path":"a.txt","line":1,"text":"inside"}]}')
    }
  })

  it("through other links inside is refused at the last one", async () => {
    const { root, outside } = folderWith({ "a.txt": "inside" })
    symlinkSync(outside, join(root, "third"))
    symlinkSync("third", join(root, "second"))
    symlinkSync("second", join(root, "first"))
    expect(await read(root, "first/secret.txt")).toBe(behind("first/secret.txt"))
    expect(await use(root, "list_files", { folder: "first" })).toBe(behind("first").replace("read_file", "list_files"))
  })

  it("does not tell what exists behind it", async () => {
    const { root, outside } = folderWith({})
    symlinkSync(outside, join(root, "out"))
    const answers = await Promise.all(
      ["out/secret.txt", "out/nothing.txt", "out/secret.txt/deeper", "out"].map(async (path) => (await read(root, path)).replace(JSON.stringify(path), "…")),
    )
    expect(new Set(answers).size).toBe(1)
  })

  it("in a circle ends the walk", async () => {
    const { root } = folderWith({ "a/b.txt": "inside" })
    symlinkSync("..", join(root, "a/up"))
    symlinkSync(root, join(root, "a/again"))
    expect(await use(root, "list_files", {})).toBe("a/b.txt (6 bytes)")
  })

  it("may be the root itself", async () => {
    const { root, outside } = folderWith({ "a.txt": "inside" })
    symlinkSync(root, join(outside, "way-in"))
    expect(await read(join(outside, "way-in"), "a.txt")).toContain("inside")
    expect(await read(join(outside, "way-in"), "../secret.txt")).toContain("not opened")
  })
})

describe("what is no regular file", () => {
  const special = (path: string): string => `Error: read_file failed: ${JSON.stringify(path)} is not a regular file (a device, a pipe or a socket) and is not opened.`

  it("is refused at once, though nobody writes to the pipe", async () => {
    const { root } = folderWith({ "a.txt": "inside" })
    makePipe(join(root, "pipe"))
    expect(await read(root, "pipe")).toBe(special("pipe"))
    expect(await use(root, "list_files", {})).toBe("a.txt (6 bytes)")
    expect(await use(root, "search_files", { query: "inside" })).toContain("a.txt")
  })

  it("is refused as a socket", async () => {
    const { root } = folderWith({ "a.txt": "inside" })
    const server = createServer().listen(join(root, "socket"))
    await once(server, "listening")
    onTestFinished(() => void server.close())
    expect(await read(root, "socket")).toBe(special("socket"))
    expect(await use(root, "list_files", {})).toBe("a.txt (6 bytes)")
  })

  it("is refused as a device, where this machine lets one be made", async () => {
    const { root } = folderWith({ "a.txt": "inside" })
    const made = (() => {
      try {
        execFileSync("mknod", [join(root, "zero"), "c", "1", "5"], { stdio: "ignore" })
        return true
      } catch {
        return false
      }
    })()
    expect(await read(root, "zero")).toBe(made ? special("zero") : 'Error: read_file failed: There is no file "zero". The files are: a.txt.')
  })

  it("is a folder, and the tools say which of them to use", async () => {
    const { root } = folderWith({ "a/b.txt": "inside" })
    expect(await read(root, "a")).toBe('Error: read_file failed: "a" is a folder. list_files shows what is in it.')
    expect(await use(root, "list_files", { folder: "a/b.txt" })).toBe('Error: list_files failed: "a/b.txt" is a file, not a folder. read_file shows its text.')
  })
})

describe("a hidden name", () => {
  const files = { ".env": "KEY=1", ".git/config": "x", "a.txt": "inside", "a/.note.txt": "x" }
  const hidden = (path: string): string => `Error: read_file failed: ${JSON.stringify(path)} is hidden (a name that begins with a dot) and is not opened.`

  it("is neither read, listed nor searched", async () => {
    const { root } = folderWith(files)
    expect(await Promise.all([".env", ".git/config", "a/.note.txt"].map((path) => read(root, path)))).toEqual([hidden(".env"), hidden(".git/config"), hidden("a/.note.txt")])
    expect(await use(root, "list_files", {})).toBe("a.txt (6 bytes)")
    expect(await use(root, "search_files", { query: "KEY" })).toContain('"found":false')
  })

  it("is not reached through a link with another name", async () => {
    const { root } = folderWith(files)
    symlinkSync(".env", join(root, "settings"))
    symlinkSync(".git", join(root, "git"))
    for (const path of ["settings", "git/config"]) expect(await read(root, path)).toContain("is behind a link")
    expect(await use(root, "list_files", {})).toBe("a.txt (6 bytes)")
  })

  it("is shown by option", async () => {
    const { root } = folderWith(files)
    expect(await read(root, ".env", { hidden: true })).toContain("KEY=1")
    expect(await use(root, "list_files", {}, { hidden: true })).toBe(".env (5 bytes)\n.git/config (1 byte)\na.txt (6 bytes)\na/.note.txt (1 byte)")
  })

  it("above the root hides nothing", async () => {
    const { root } = folderWith({ ".store/papers/a.txt": "inside" })
    expect(await read(join(root, ".store/papers"), "a.txt")).toContain("inside")
  })
})

describe("a disk that changes between a check and its use", () => {
  /** Linux tells where a handle is open; elsewhere the path is looked up again. Both must hold. */
  const systems: readonly (readonly [string, Partial<FileSystem>])[] = [
    ["where the system tells the path of a handle", {}],
    ["where it does not", { readlink: (() => Promise.reject(new Error("no /proc here"))) as unknown as FileSystem["readlink"] }],
  ]
  const refused = /is not opened\.$/
  /** The disk as it is, with `change` done just before anything is opened. */
  const changing = (system: Partial<FileSystem>, change: () => void): FileSystem => ({
    ...fileSystem,
    ...system,
    open: (async (path: string, flags: number) => {
      change()
      return fileSystem.open(path, flags)
    }) as FileSystem["open"],
  })
  const opened = async (root: string, path: string, files: FileSystem): Promise<string> => {
    const handle = await jail(root, { hidden: true, files }).open(path)
    const text = await handle?.readFile("utf8")
    await handle?.close()
    return text ?? "nothing"
  }

  it.each(systems)("opens what stands still, %s", async (_, system) => {
    const { root } = folderWith({ "a/b.txt": "inside" })
    expect(
      await opened(
        root,
        "a/b.txt",
        changing(system, () => {}),
      ),
    ).toBe("inside")
    expect(await jail(root, { hidden: true, files: changing(system, () => {}) }).list("a")).toEqual([{ path: "a/b.txt", type: "file", bytes: 6 }])
  })

  it.each(systems)("does not follow a link put in place of the file, %s", async (_, system) => {
    const { root, outside } = folderWith({ "a/b.txt": "inside" })
    const swap = (): void => {
      rmSync(join(root, "a/b.txt"))
      symlinkSync(join(outside, "secret.txt"), join(root, "a/b.txt"))
    }
    await expect(opened(root, "a/b.txt", changing(system, swap))).rejects.toThrow(refused)
  })

  it.each(systems)("does not follow a link put in place of a folder above it, %s", async (_, system) => {
    const { root, outside } = folderWith({ "a/secret.txt": "inside" })
    const swap = (): void => {
      renameSync(join(root, "a"), join(root, "moved"))
      symlinkSync(outside, join(root, "a"))
    }
    await expect(opened(root, "a/secret.txt", changing(system, swap))).rejects.toThrow(refused)
  })

  it.each(systems)("does not list a folder that became a link, %s", async (_, system) => {
    const { root, outside } = folderWith({ "a/deep/b.txt": "inside" })
    mkdirSync(join(outside, "deep"))
    const swap = (): void => {
      renameSync(join(root, "a"), join(root, "moved"))
      symlinkSync(outside, join(root, "a"))
    }
    await expect(jail(root, { hidden: true, files: changing(system, swap) }).list("a/deep")).rejects.toThrow(refused)
  })

  it.each(systems)("does not read what was outside while it was opened, though the folder is back, %s", async (_, system) => {
    const { root, outside } = folderWith({ "a/secret.txt": "inside" })
    const open = async (path: string, flags: number): Promise<fileSystem.FileHandle> => {
      renameSync(join(root, "a"), join(root, "moved"))
      symlinkSync(outside, join(root, "a"))
      return fileSystem.open(path, flags).finally(() => {
        rmSync(join(root, "a"))
        renameSync(join(root, "moved"), join(root, "a"))
      })
    }
    await expect(opened(root, "a/secret.txt", { ...fileSystem, ...system, open: open as FileSystem["open"] })).rejects.toThrow(refused)
  })

  it("does not list a link that comes where a folder went", async () => {
    const { root, outside } = folderWith({ "a/b.txt": "inside" })
    const open = async (path: string, flags: number): Promise<fileSystem.FileHandle> => {
      renameSync(join(root, "a"), join(root, "moved"))
      return fileSystem.open(path, flags).finally(() => symlinkSync(outside, join(root, "a")))
    }
    expect(await jail(root, { hidden: true, files: { ...fileSystem, open: open as FileSystem["open"] } }).list("a")).toBe(null)
  })

  it("does not wait for a pipe put in place of the file", async () => {
    const { root } = folderWith({ "a.txt": "inside" })
    const swap = (): void => {
      rmSync(join(root, "a.txt"))
      makePipe(join(root, "a.txt"))
    }
    await expect(opened(root, "a.txt", changing({}, swap))).rejects.toThrow(refused)
  })

  it("never shows the outside while another process swaps a folder and a link as fast as it can", async () => {
    const { root, outside } = folderWith({ "a/secret.txt": "inside" })
    symlinkSync(outside, join(root, "link"))
    const swapper = join(outside, "swapper.mjs")
    writeFileSync(
      swapper,
      `import { renameSync } from "node:fs"
const [root] = process.argv.slice(2)
process.send("ready")
for (;;) {
  renameSync(root + "/a", root + "/resting"); renameSync(root + "/link", root + "/a")
  renameSync(root + "/a", root + "/link"); renameSync(root + "/resting", root + "/a")
}`,
    )
    const child = fork(swapper, [root])
    onTestFinished(() => void child.kill("SIGKILL"))
    await once(child, "message")
    const inside = jail(root, { hidden: true })
    const seen = new Map<string, number>()
    for (let round = 0; round < 600; round += 1) {
      const text = await opened(root, "a/secret.txt", fileSystem).catch((error: Error) => error.message)
      seen.set(text, (seen.get(text) ?? 0) + 1)
      const names = await inside.list("a").catch(() => [])
      for (const { path, bytes } of names ?? []) expect([path, bytes]).toEqual(["a/secret.txt", 6])
    }
    child.kill("SIGKILL")
    await once(child, "exit")
    expect([...seen.keys()].filter((text) => text.includes(SECRET))).toEqual([])
    expect(seen.get("inside")).toBeGreaterThan(0)
    expect(seen.size).toBeGreaterThan(1)
  })
})

describe("the root", () => {
  it.each([
    ["empty", "  ", "The root of fileTools is empty."],
    ["the whole disk", "/", "The root of fileTools is the whole disk."],
    ["a long way to the whole disk", "/tmp/../", "The root of fileTools is the whole disk."],
    ["no file URL", new URL("https://example.com/"), "The root of fileTools is no file URL."],
  ])("is refused before any run if it is %s", (_, root, message) => {
    expect(() => fileTools(root)).toThrow(expect.objectContaining({ code: "tool_invalid", message }))
  })

  it("that is missing makes the calls fail, without a path", async () => {
    const { root } = folderWith({})
    const message = "The folder of these files cannot be opened (ENOENT). Nothing is known about any file right now."
    expect(await read(join(root, "gone"), "a.txt")).toBe(`Error: read_file failed: ${message}`)
    expect(await use(join(root, "gone"), "list_files", {})).toBe(`Error: list_files failed: ${message}`)
    mkdirSync(join(root, "gone"))
    expect(await use(join(root, "gone"), "list_files", {})).toBe("There are no files here.")
  })

  it("may be a file URL", async () => {
    const { root } = folderWith({ "a.txt": "inside" })
    const [, , readFile] = fileTools(new URL(`file://${root}/`))
    expect(readFile && (await runTool(readFile, { path: "a.txt" }))).toContain("inside")
  })
})

it("opens a hard link, which no system tells from a file", async () => {
  const { root, outside } = folderWith({})
  linkSync(join(outside, "secret.txt"), join(root, "hard.txt"))
  expect(await read(root, "hard.txt")).toContain(SECRET)
})

it("no message holds a path of this machine", async () => {
  const { root, outside } = folderWith({ "a.txt": "inside", "locked.txt": "x" })
  symlinkSync(join(outside, "secret.txt"), join(root, "link"))
  const paths = ["link", "../x", "/etc", "gone", "a.txt/b", "x".repeat(300), ".hidden"]
  const answers = await Promise.all(paths.flatMap((path) => [read(root, path), use(root, "list_files", { folder: path }), use(root, "search_files", { query: "x", folder: path })]))
  for (const answer of answers) {
    expect(answer).toMatch(/^Error: /)
    expect(answer).not.toContain(root)
    expect(answer).not.toContain("root-outside")
  }
})
