// The resume law as a scenario: a run with parallel calls, a retry, an approval, a shortened history, a failing tool and a failing model.
// The model answers by what it is shown, so that it goes on after a restart as it would have before.
import { z } from "zod"
import type { Answer } from "../../src/contract/answer.ts"
import type { ModelReply, ModelRequest } from "../../src/contract/model.ts"
import type { Clock, Model, Store } from "../../src/contract/ports.ts"
import type { RunResult } from "../../src/contract/run.ts"
import type { AnyAgent, End } from "../../src/index.ts"
import { agent, HelloAgentsError, tool } from "../../src/index.ts"
import { resumeRun } from "../../src/interface/resume.ts"

export type LawResult = RunResult<object, End>

/** What happened in the world outside, by idempotency key: survives a crash, like a table in another system. */
export interface Outside {
  readonly effects: Map<string, number>
  attempts: number
}

export function outside(): Outside {
  return { effects: new Map(), attempts: 0 }
}

export function scenario(world: Outside): AnyAgent {
  const act = (key: string): void => void world.effects.set(key, (world.effects.get(key) ?? 0) + 1)
  const text = z.object({ text: z.string() })
  const look = tool({ name: "look", description: "reads", input: text, hints: { readOnly: true }, execute: ({ text: what }) => `saw ${what} ${"x".repeat(400)}` })
  const note = tool({
    name: "note",
    description: "writes under a key",
    input: text,
    hints: { idempotent: true },
    retries: 1,
    context: z.object({ notes: z.string().optional() }),
    execute: ({ text: what }, { idempotencyKey, result }) => {
      if (world.attempts++ === 0) throw new Error("try again")
      act(idempotencyKey)
      return result(`noted ${what}`, { context: { notes: what } })
    },
  })
  const pay = tool({
    name: "pay",
    description: "pays",
    input: z.object({ amount: z.number() }),
    approval: ({ amount }) => amount > 100,
    execute: ({ amount }, { idempotencyKey }) => {
      act(idempotencyKey)
      return `paid ${amount}`
    },
  })
  const broken = tool({
    name: "broken",
    description: "fails",
    execute: () => {
      throw new Error("always down")
    },
  })
  return agent({
    name: "law",
    instructions: "",
    context: z.object({ notes: z.string().optional() }),
    tools: [look, note, pay, broken],
    model: byHistory(),
    limits: { contextTokens: 260 },
  })
}

/** Turn by turn: reads and writes side by side, a failing tool, a payment to approve, a payment that needs none, the answer. */
function byHistory(): Model {
  return {
    name: "by-history",
    async *ask(request) {
      yield { type: "reply", reply: replyTo(request) }
    },
  }
}

const TURNS: readonly (readonly [string, object][])[] = [
  [
    ["look", { text: "a" }],
    ["note", { text: "b" }],
    ["broken", {}],
  ],
  [
    ["pay", { amount: 250 }],
    ["look", { text: "c" }],
  ],
  [
    ["pay", { amount: 5 }],
    ["note", { text: "d" }],
  ],
]

function replyTo(request: ModelRequest): ModelReply {
  // the turn is read off the last call's number, since old messages may have been cut away
  const last = request.messages.findLast((message) => message.role === "tool")
  const done = last === undefined ? 0 : Number(last.callId.slice(1))
  const starts = [0, 3, 5, 7]
  const turn = TURNS[starts.indexOf(done)]
  const base = { reasoning: "", usage: null } as const
  if (turn === undefined) return { ...base, text: "All done.", calls: [], finish: "stop" }
  return { ...base, text: "", calls: turn.map(([name, args]) => ({ id: "x", name, arguments: JSON.stringify(args) })), finish: "tool_calls" }
}

/** Time that stands still and waits that are over at once. */
export const stillClock: Clock = { now: () => 1_000, random: () => 0.5, newId: () => "law", wait: async () => {} }

/** Answers as a person who looks at the world outside: what is there has happened. */
function answersTo(result: LawResult, world: Outside): Answer[] {
  if (result.status !== "waiting") return []
  return result.waiting.map((question): Answer => {
    if (question.reason !== "unfinished") return { id: question.id, type: "approve" }
    const happened = world.effects.has(question.idempotencyKey)
    const amount = JSON.parse(String(question.arguments)).amount
    return happened ? { id: question.id, type: "happened", result: `paid ${amount}` } : { id: question.id, type: "retry" }
  })
}

/** Resumes and answers until the run has ended. `asked`: the keys of the unfinished calls it asked about. */
export async function toTheEnd(store: Store, world: Outside, first: LawResult | null): Promise<{ result: LawResult; asked: string[] }> {
  const asked: string[] = []
  let result = first ?? (await resumeRun(scenario(world), "law", { options: { store }, clock: stillClock, owned: false }).result)
  for (let round = 0; result.status === "waiting" && round < 9; round++) {
    const answers = answersTo(result, world)
    asked.push(...result.waiting.flatMap((question) => (question.reason === "unfinished" ? [question.idempotencyKey] : [])))
    result = await resumeRun(scenario(world), "law", { options: { store, answers }, clock: stillClock, owned: false }).result
  }
  return { result, asked }
}

/** A store that loses power: after `left` events nothing more is kept, and whoever writes finds out. */
export class PowerCut extends HelloAgentsError {
  constructor() {
    super("store_failed", "the power went out")
  }
}
