// Asks a model in tests and gathers what it says.
import type { ModelEvent, ModelFailure, ModelReply, ModelRequest, ToolSpec } from "../../src/contract/model.ts"
import type { Model } from "../../src/contract/ports.ts"

export function request(changes: Partial<ModelRequest> = {}): ModelRequest {
  return {
    instructions: "Be short.",
    notes: "",
    messages: [{ role: "user", content: "Where is order 10001?" }],
    tools: [],
    settings: {},
    output: null,
    stream: false,
    signal: new AbortController().signal,
    ...changes,
  }
}

export const GET_ORDER: ToolSpec = {
  name: "get_order",
  description: "Looks up one order",
  schema: { type: "object", properties: { order_id: { type: "string" } }, required: ["order_id"] },
  examples: [],
}

export interface Heard {
  readonly text: string
  readonly reasoning: string
  readonly notes: readonly string[]
  readonly reply: ModelReply | null
  readonly failure: ModelFailure | null
  readonly events: readonly ModelEvent[]
}

export async function ask(model: Model, changes: Partial<ModelRequest> = {}): Promise<Heard> {
  return hear(await eventsOf(model.ask(request(changes))))
}

export async function eventsOf(events: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  const seen: ModelEvent[] = []
  for await (const event of events) seen.push(event)
  return seen
}

export function hear(events: readonly ModelEvent[]): Heard {
  const last = events.at(-1)
  const texts = (type: "text" | "reasoning") => events.map((event) => (event.type === type ? event.text : "")).join("")
  return {
    text: texts("text"),
    reasoning: texts("reasoning"),
    notes: events.flatMap((event) => (event.type === "note" ? [event.note] : [])),
    reply: last?.type === "reply" ? last.reply : null,
    failure: last?.type === "failure" ? last.failure : null,
    events,
  }
}
