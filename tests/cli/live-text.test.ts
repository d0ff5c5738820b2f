import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { LiveText } from "../../src/cli/live-text.ts"
import { createLiveText, printable } from "../../src/cli/live-text.ts"
import type { Output } from "../../src/cli/output.ts"
import { textWidth } from "../../src/doors/trace.ts"

/** A terminal that knows what is needed here: wrapping, line feed, return, cursor up, clear to the end. A cell that a wide character covers is "". */
function makeScreen(width: number, height: number) {
  const lines: string[][] = [[]]
  let row = 0
  let cell = 0
  const put = (character: string): void => {
    const cells = textWidth(character)
    if (cell + cells > width) down()
    const line = lines[row] ?? []
    for (let filled = line.length; filled < cell; filled++) line[filled] = " "
    line[cell] = character
    if (cells === 2) line[cell + 1] = ""
    cell += cells
  }
  const down = (): void => {
    row++
    cell = 0
    lines[row] ??= []
  }
  const write = (text: string): void => {
    for (let at = 0; at < text.length; ) {
      const rest = text.slice(at)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: this is what is looked for
      const up = /^\u001b\[(\d+)A/.exec(rest)
      if (up !== null) {
        // nothing above the visible lines can be reached
        row = Math.max(row - Number(up[1]), lines.length - height, 0)
        at += up[0].length
      } else if (rest.startsWith("\u001b[J")) {
        lines.length = row + 1
        lines[row]?.splice(cell)
        at += 3
      } else {
        const character = String.fromCodePoint(rest.codePointAt(0) ?? 0)
        if (character === "\n") down()
        else if (character === "\r") cell = 0
        else put(character)
        at += character.length
      }
    }
  }
  return { write, text: () => lines.map((line) => line.join("")).join("\n") }
}

function at(width: number, height: number): { live: LiveText; screen: ReturnType<typeof makeScreen> } {
  const screen = makeScreen(width, height)
  const same = (text: string): string => text
  const output: Output = {
    data: async () => true,
    piece: screen.write,
    progress: (line) => screen.write(`${line}\n`),
    error: (line) => screen.write(`${line}\n`),
    isTerminal: true,
    width,
    height,
    bold: same,
    dim: same,
    red: same,
    yellow: same,
    green: same,
  }
  screen.write("before\n")
  return { live: createLiveText(output, "back"), screen }
}

describe("text that is taken back", () => {
  const pieces = fc.array(fc.string({ unit: fc.constantFrom("a", "b", " ", "\n", "中", "文", "😀", "\t", "\u001b", "é"), maxLength: 12 }), { minLength: 1, maxLength: 5 })

  it("is gone from the screen, whatever its width and line breaks, and a line says so", () => {
    fc.assert(
      fc.property(pieces, fc.integer({ min: 6, max: 11 }), (texts, width) => {
        const { live, screen } = at(width, 200)
        for (const text of texts) live.read({ type: "text_delta", text })
        live.read({ type: "text_reset" })
        expect(screen.text()).toBe("before\n↩ back\n")
        expect(live.shown()).toBe("")
      }),
      { seed: 7, numRuns: 300 },
    )
  })

  it("stays where it has left the screen, and the line says so all the same", () => {
    const { live, screen } = at(10, 3)
    live.read({ type: "text_delta", text: "1\n2\n3\n4" })
    live.read({ type: "text_reset" })
    expect(screen.text()).toBe("before\n1\n2\n3\n4\n↩ back\n")
  })

  it("stays where the cursor cannot be moved", () => {
    const { live, screen } = at(10, 0)
    live.read({ type: "text_delta", text: "half" })
    live.read({ type: "text_reset" })
    expect(screen.text()).toBe("before\nhalf\n↩ back\n")
  })
})

describe("text of a model", () => {
  it("cannot steer the terminal", () => {
    expect(printable("a\u001b[2Jb\u009b1Ac\r\u202ed\te\nf\u0007")).toBe("a[2Jb1Acd    e\nf")
  })

  it("ends with a line end, and a character cut in two is one", () => {
    const { live, screen } = at(20, 10)
    live.read({ type: "text_delta", text: "ok \ud83d" })
    live.read({ type: "text_delta", text: "\ude00" })
    live.close()
    live.close()
    expect([screen.text(), live.shown()]).toEqual(["before\nok 😀\n", "ok 😀"])
  })
})
