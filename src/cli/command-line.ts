// Commands as a person can type them: what is printed to go on with a run is exact, with the agent, the store and the model of this command.
import type { RunFlags } from "./run-options.ts"

/** `npm run demo` in a clone runs the built file: there is no command of that name on the path. */
const PROGRAM = process.env["npm_lifecycle_event"] === "demo" ? "node dist/cli/main.js" : "hello-agents"
/** What stands in for a file that was not named. */
const FILE = "FILE"
const PLAIN = /^[\w@%+=:,./-]+$/

/** `flags`: those of the command that prints it; only what the next command needs is taken over. */
export function commandLine(words: readonly string[], flags: Partial<RunFlags>, options: { agent?: boolean } = {}): string {
  const given: readonly (readonly [option: string, value: string | undefined])[] = [
    ["--agent", options.agent === false ? undefined : (flags.agent ?? FILE)],
    ["--store", flags.store],
    ["--config", flags.config],
    ["--model", options.agent === false ? undefined : flags.model],
    ["--base-url", options.agent === false ? undefined : flags.baseUrl],
  ]
  const added = given.flatMap(([option, value]) => (value === undefined ? [] : [option, quote(value)]))
  const demo = flags.demo === true && options.agent !== false ? ["--demo"] : []
  return [PROGRAM, ...words.map(quote), ...added, ...demo].join(" ")
}

/** For a POSIX shell. */
function quote(word: string): string {
  return PLAIN.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
