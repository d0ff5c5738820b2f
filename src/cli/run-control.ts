// `hello-agents cancel`, `say` and `fork`: stored runs from outside, whoever drives them. Needs no agent and no model.
import { setTimeout as passed } from "node:timers/promises"
import type { Command } from "commander"
import { cancel, foldEvents, fork, send } from "../doors/runs.ts"
import type { FileStore } from "../doors/stores.ts"
import { commandLine } from "./command-line.ts"
import { storedRun } from "./drive.ts"
import { EXIT } from "./exit-codes.ts"
import { UsageError } from "./failure.ts"
import { findRun } from "./find-run.ts"
import type { StoreFlags } from "./run-options.ts"
import { openStore } from "./run-options.ts"
import type { Shell } from "./shell.ts"
import type { SpeakTalk } from "./talk-texts.ts"
import { speakTalk } from "./talk-texts.ts"

/** How long a cancelled run has to end; the process that drives it looks twice a second. */
const PATIENCE_MS = 2_000
const LOOK_AGAIN_MS = 100

interface Control extends Shell {
  readonly tell: SpeakTalk
  readonly store: FileStore
  readonly flags: StoreFlags
}

export function registerRunControl(program: Command, shell: () => Shell): void {
  const { say, language } = shell()
  const tell = speakTalk(language)
  const control = async (flags: StoreFlags): Promise<Control> => ({ ...shell(), tell, flags, store: await openStore(flags, shell()) })
  const command = (name: string, about: Parameters<SpeakTalk>[0]): Command =>
    program.command(name).description(tell(about)).argument("<run>", tell("runArgument")).option("--store <folder>", say("storeOption"))
  command("cancel", "cancelAbout")
    .option("--reason <text>", tell("reasonOption"))
    .action(async (run: string, flags: StoreFlags & { readonly reason?: string }) => {
      process.exitCode = await cancelRun(run, flags.reason, await control(flags))
    })
  command("say", "sayAbout")
    .argument("<text...>", tell("sayArgument"))
    .action(async (run: string, words: string[], flags: StoreFlags) => {
      process.exitCode = await sayTo(run, words.join(" "), await control(flags))
    })
  command("fork", "forkAbout")
    .option("--at <seq>", tell("atOption"))
    .action(async (run: string, flags: StoreFlags & { readonly at?: string }) => {
      process.exitCode = await forkRun(run, flags.at, await control(flags))
    })
}

async function cancelRun(asked: string, reason: string | undefined, { store, tell, output, flags }: Control): Promise<number> {
  const run = await findRun(store, asked, tell)
  await cancel(store, run, reason ?? tell("cancelReason"))
  for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += LOOK_AGAIN_MS) {
    if (foldEvents(await store.read(run))?.status.type === "stopped") {
      output.progress(tell("cancelled", { run }))
      return EXIT.ok
    }
    await passed(LOOK_AGAIN_MS)
  }
  output.error(output.yellow(tell("cancelAsked", { run })))
  output.error(`  ${tell("cancelAskedHint", { command: commandLine(["resume", run], flags) })}`)
  return EXIT.ok
}

async function sayTo(asked: string, text: string, { store, tell, output }: Control): Promise<number> {
  const run = await findRun(store, asked, tell)
  await send(store, run, text)
  const { status } = await storedRun({ store }, run)
  output.progress(tell(status.type === "paused" ? "saidWaiting" : "said", { run }))
  return EXIT.ok
}

async function forkRun(asked: string, at: string | undefined, { store, tell, output, flags }: Control): Promise<number> {
  const run = await findRun(store, asked, tell)
  const last = (await store.read(run)).length
  const seq = at === undefined ? last : Number(at)
  if (!Number.isSafeInteger(seq) || seq < 1 || seq > last) throw new UsageError(tell("badEvent", { last, value: at ?? "" }))
  const copy = await fork(store, run, { at: seq })
  output.progress(tell("forked", { count: seq, last, command: commandLine(["resume", copy], flags) }))
  return (await output.data(copy)) ? EXIT.ok : EXIT.failed
}
