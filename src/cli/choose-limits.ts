// The limits of a run: the command line, else the tighter one of the agent's and the configuration's. Called by commands that run agents.
import type { Config } from "../doors/config.ts"
import { limitsOf } from "../doors/config.ts"
import type { AnyAgent, Limits } from "../index.ts"
import { UsageError } from "./failure.ts"
import type { Speak } from "./texts.ts"

export interface LimitFlags {
  readonly maxTurns?: string
  readonly maxSeconds?: string
  readonly maxTokens?: string
  readonly maxCost?: string
}

/** @throws UsageError for a flag that is no number above 0. */
export function readLimits(flags: LimitFlags, say: Speak): Limits {
  const turns = positive("--max-turns", flags.maxTurns, say)
  const seconds = positive("--max-seconds", flags.maxSeconds, say)
  const tokens = positive("--max-tokens", flags.maxTokens, say)
  const cost = positive("--max-cost", flags.maxCost, say)
  return {
    ...(turns !== undefined && { turns }),
    ...(seconds !== undefined && { ms: seconds * 1000 }),
    ...(tokens !== undefined && { tokens }),
    ...(cost !== undefined && { cost }),
  }
}

/** Whoever operates an agent sets caps that its code cannot lift; who calls it by hand pays the bill, and may. */
export function chooseLimits(agent: AnyAgent, config: Config, flagged: Limits): Limits {
  const own = agent.definition.limits
  const capped: Record<string, number> = {}
  for (const limits of [own, limitsOf(config)]) {
    for (const [name, value] of Object.entries(limits)) if (typeof value === "number") capped[name] = Math.min(value, capped[name] ?? Number.POSITIVE_INFINITY)
  }
  return { ...capped, ...flagged }
}

function positive(option: string, value: string | undefined, say: Speak): number | undefined {
  if (value === undefined) return undefined
  const number = Number(value)
  if (!(number > 0)) throw new UsageError(say("badNumber", { option, value }))
  return number
}
