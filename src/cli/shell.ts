// What every command gets from main.ts: where to write, in which language to speak, the configuration.
import type { CliConfig, ConfigFlags } from "./load-config.ts"
import type { Output } from "./output.ts"
import type { Language, Speak } from "./texts.ts"

export interface Shell {
  readonly output: Output
  readonly say: Speak
  readonly language: Language
  /** The file of `--config`; undefined: none was named. */
  readonly configFile: string | undefined
  /** The configuration with these flags over it. @throws what `loadCliConfig` does. */
  readonly config: (flags?: ConfigFlags) => Promise<CliConfig>
}
