// `hello-agents trace` in this process, over a folder, with what it writes.
import { Command } from "commander"
import { loadCliConfig } from "../../src/cli/load-config.ts"
import type { Output } from "../../src/cli/output.ts"
import type { Language } from "../../src/cli/texts.ts"
import { speak } from "../../src/cli/texts.ts"
import { registerTrace } from "../../src/cli/trace.ts"

/** Runs `trace …words` and gives back what it wrote. */
export async function traceProgram(folder: string, words: readonly string[], language: Language = "en"): Promise<{ out: string; err: string }> {
  const written = { out: "", err: "" }
  const plain = (text: string): string => text
  const toErr = (line: string): void => {
    written.err += `${line}\n`
  }
  const output: Output = {
    data: async (text) => {
      written.out += `${text}\n`
      return true
    },
    piece: () => {},
    progress: toErr,
    error: toErr,
    isTerminal: false,
    width: 100,
    height: 0,
    bold: plain,
    dim: plain,
    red: plain,
    yellow: plain,
    green: plain,
  }
  const program = new Command().exitOverride()
  registerTrace(program, () => ({ output, language, config: (flags) => loadCliConfig({ file: undefined, flags: flags ?? {}, say: speak(language) }) }), speak(language))
  await program.parseAsync(["trace", ...words, "--store", folder], { from: "user" })
  return written
}
