// Where a command writes: data to stdout, progress to stderr; colour only where it is wanted; a closed pipe is noticed, never a crash.
// Made once in main.ts and handed to the commands.

export interface Output {
  /** Data, to stdout, with a line end. Resolves when it is handed over; false if stdout is closed. */
  data(text: string): Promise<boolean>
  /** A piece of data, to stdout as it is. */
  piece(text: string): void
  /** A line to stderr; nothing when quiet. */
  progress(line: string): void
  /** A line to stderr, always. */
  error(line: string): void
  readonly isTerminal: boolean
  /** Columns of the terminal; 100 where there is none. */
  readonly width: number
  /** Lines of the terminal; 0 where the cursor cannot be moved. */
  readonly height: number
  bold(text: string): string
  dim(text: string): string
  red(text: string): string
  yellow(text: string): string
  green(text: string): string
}

export interface Streams {
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly quiet: boolean
}

export function createOutput({ stdout, stderr, environment, quiet }: Streams): Output {
  let closed = false
  stdout.on("error", () => (closed = true))
  stderr.on("error", () => {})
  const color = wantsColor(stderr, environment)
  const paint =
    (code: number) =>
    (text: string): string =>
      color ? `\u001b[${code}m${text}\u001b[0m` : text
  return {
    data: (text) =>
      new Promise((resolve) => {
        if (closed) return resolve(false)
        stdout.write(`${text}\n`, (error) => resolve(error === null || error === undefined))
      }),
    piece: (text) => void (closed || stdout.write(text)),
    progress: (line) => void (quiet || stderr.write(`${line}\n`)),
    error: (line) => void stderr.write(`${line}\n`),
    isTerminal: stdout.isTTY === true,
    // a terminal can change its size
    get width() {
      return stdout.columns ?? 100
    },
    get height() {
      return stdout.isTTY === true && environment["TERM"] !== "dumb" ? (stdout.rows ?? 0) : 0
    },
    bold: paint(1),
    dim: paint(2),
    red: paint(31),
    yellow: paint(33),
    green: paint(32),
  }
}

/** NO_COLOR (non-empty) turns colour off, FORCE_COLOR on; else a terminal decides. */
export function wantsColor(stream: NodeJS.WriteStream, environment: Streams["environment"]): boolean {
  if ((environment["NO_COLOR"] ?? "") !== "") return false
  const forced = environment["FORCE_COLOR"]
  if (forced !== undefined) return forced !== "0" && forced !== "false"
  return stream.isTTY === true && environment["TERM"] !== "dumb"
}
