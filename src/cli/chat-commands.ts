// The commands of a chat: lines that begin with a slash. They are about the conversation and never reach the model. Used by chat.ts.
import { buildSpans, fitToWidth, oneLine, redactEvents, renderWaterfall, textWidth } from "../doors/trace.ts"
import type { Prepared } from "./run-options.ts"
import type { SpeakTalk } from "./talk-texts.ts"

export type ChatCommand = "/help" | "/tools" | "/trace" | "/new" | "/exit"
const COMMANDS: Readonly<Record<ChatCommand, Parameters<SpeakTalk>[0]>> = {
  "/help": "helpHelp",
  "/tools": "helpTools",
  "/trace": "helpTrace",
  "/new": "helpNew",
  "/exit": "helpExit",
}

/** null: a message. A path or a sentence that begins with a slash is one too. */
export function readCommand(line: string): { readonly command: ChatCommand | null; readonly written: string } | null {
  const written = line.trim()
  if (!/^\/[a-z]+$/.test(written)) return null
  return { command: Object.hasOwn(COMMANDS, written) ? (written as ChatCommand) : null, written }
}

export function showHelp({ output, tell }: Prepared): void {
  table(
    Object.entries(COMMANDS).map(([command, text]) => [command, tell(text)]),
    output,
  )
}

export function showTools({ agent, output, tell }: Prepared): void {
  const { tools } = agent.definition
  if (tools.length === 0) output.error(tell("noTools", { agent: agent.name }))
  table(
    tools.map(({ name, description }) => [name, oneLine(description)]),
    output,
  )
}

export async function showTrace(runId: string | null, { store, output, tell, language }: Prepared): Promise<void> {
  if (runId === null) return output.error(tell("noTurnYet"))
  const spans = buildSpans(redactEvents(await store.read(runId)))
  output.error(renderWaterfall(spans, { width: output.width, language, color: false }).trimEnd())
}

function table(rows: readonly (readonly [string, string])[], output: Prepared["output"]): void {
  const widest = Math.max(0, ...rows.map(([name]) => textWidth(name)))
  for (const [name, text] of rows) output.error(`  ${output.bold(fitToWidth(name, widest))}  ${fitToWidth(text, Math.max(20, output.width - widest - 5)).trimEnd()}`)
}
