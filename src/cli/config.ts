// `hello-agents config`: every setting, where it comes from, secrets masked.
import type { Command } from "commander"
import type { DescribedSetting } from "../doors/config.ts"
import { describeConfig } from "../doors/config.ts"
import { EXIT } from "./exit-codes.ts"
import type { Shell } from "./shell.ts"
import type { Speak } from "./texts.ts"

export function registerConfig(program: Command, shell: () => Shell, say: Speak): void {
  program
    .command("config")
    .description(say("configAbout"))
    .option("--json", say("configJsonOption"))
    .action(async (flags: { readonly json?: boolean }) => {
      process.exitCode = await showConfig(flags.json === true, shell())
    })
}

async function showConfig(asJson: boolean, { output, say, config }: Shell): Promise<number> {
  const loaded = await config()
  const settings = describeConfig(loaded)
  if (asJson) {
    const values = Object.fromEntries(settings.map(({ key, value, usual, origin }) => [key, { value: value ?? usual, origin }]))
    return written(await output.data(JSON.stringify({ file: loaded.file, values }, null, 2)))
  }
  const rows = settings.map((setting) => [setting.key, shown(setting), originOf(setting, say)] as const)
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const lines = rows.map(([key, value, origin]) => `${key.padEnd(widths[0] ?? 0)}  ${value.padEnd(widths[1] ?? 0)}  ${origin}`)
  output.progress(loaded.file === null ? say("noConfigFile") : say("configFile", { file: loaded.file }))
  return written(await output.data(lines.join("\n")))
}

function written(ok: boolean): number {
  return ok ? EXIT.ok : EXIT.failed
}

/** A value from a file is text of others: what would move the cursor is taken out. */
function shown({ value, usual }: DescribedSetting): string {
  const text = Array.isArray(value) ? value.join(", ") : String(value ?? usual ?? "–")
  return text.replace(/\p{Cc}+/gu, " ")
}

function originOf({ value, usual, origin }: DescribedSetting, say: Speak): string {
  if (origin !== "default") return origin
  return value === null && usual === null ? say("notSet") : say("defaultValue")
}
