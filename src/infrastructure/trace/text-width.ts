// Text in a terminal: how many cells it takes, and cut or filled to a number of them. Called by everything that prints columns.
// Also the place where text from outside loses what could steer a terminal.

/** Blocks that terminals draw two cells wide (Unicode 16 East Asian Width W and F, and emoji), as pairs of first and last code point. */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x231a, 0x231b],
  [0x23e9, 0x23ec],
  [0x2614, 0x2615],
  [0x26a1, 0x26a1],
  [0x2705, 0x2705],
  [0x274c, 0x274e],
  [0x2753, 0x2757],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97c],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f300, 0x1f64f],
  [0x1f680, 0x1f6ff],
  [0x1f7e0, 0x1f7eb],
  [0x1f900, 0x1faff],
  [0x20000, 0x3fffd],
]
const NO_CELL = /^[\p{Mn}\p{Me}\p{Cf}]$/u
/** Controls (also of 8 bits, which some terminals obey), halves of surrogate pairs, and marks that turn the direction of a line. */
const STEERING = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu

/** A colour or cursor sequence; without it the part after the escape character would stay as rubbish. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const ESCAPE_SEQUENCE = /[\u001b\u009b]\[?[0-9;?]*[ -/]*[@-~]/g

/** Cells that `text` takes in one line. */
export function textWidth(text: string): number {
  let cells = 0
  for (const character of text) cells += cellsOf(character)
  return cells
}

/** At most `cells` wide; a "…" marks what was cut. */
export function cutToWidth(text: string, cells: number): string {
  let used = 0
  let kept = ""
  let shorter = ""
  for (const character of text) {
    used += cellsOf(character)
    if (used > cells) return cells > 0 ? `${shorter}…` : ""
    kept += character
    if (used < cells) shorter = kept
  }
  return kept
}

/** Exactly `cells` wide: cut, or filled with spaces on the right (`"left"`) or on the left (`"right"`). */
export function fitToWidth(text: string, cells: number, align: "left" | "right" = "left"): string {
  const cut = cutToWidth(text, cells)
  const fill = " ".repeat(cells - textWidth(cut))
  return align === "left" ? cut + fill : fill + cut
}

/** Text of a model or tool on one line, unable to move the cursor or change colours. Looks at `maxChars` characters only. */
export function oneLine(text: string, maxChars = 2_000): string {
  return text.slice(0, maxChars).replace(ESCAPE_SEQUENCE, "").replace(STEERING, " ").replace(/ {2,}/g, " ").trim()
}

function cellsOf(character: string): number {
  const code = character.codePointAt(0) ?? 0
  if (code < 0x300) return 1
  if (NO_CELL.test(character)) return 0
  return WIDE.some(([first, last]) => code >= first && code <= last) ? 2 : 1
}
