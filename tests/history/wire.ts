// A thin adapter between OpenAI wire messages and ours, for the corpus: everything that matters happens in `checkedHistory` and `pruneHistory`.
import type { Message, ToolCall } from "../../src/contract/message.ts"
import { pruneHistory } from "../../src/capability/memory/prune.ts"
import { checkedHistory } from "../../src/infrastructure/history/history.ts"
import type { HistoryProfile } from "../../src/infrastructure/history/history.ts"

// biome-ignore lint/suspicious/noExplicitAny: wire messages are faulty on purpose
type Wire = Record<string, any>

export interface HistoryInput {
  readonly op: "prepare" | "trim" | "abort" | "handoff" | "tool_result"
  readonly messages: readonly Wire[]
  readonly limits?: { readonly maxMessages?: number }
  readonly next?: Wire
  readonly results?: Readonly<Record<string, string>>
  readonly handoff?: { readonly callId: string; readonly to: string; readonly system?: string }
  readonly callId?: string
  readonly jsValue?: string
}

export function runHistoryRow(input: HistoryInput, profile: HistoryProfile, resultText: (kind: string) => string): { messages: Wire[]; inputMutated: boolean } {
  const before = JSON.stringify(input.messages)
  const said = input.messages.filter(({ role }) => role === "system" || role === "developer").map(({ content }) => content)
  const systems = input.handoff?.system === undefined ? said : [input.handoff.system]
  const added: Message[] = []
  if (input.next !== undefined) added.push(...fromWire([input.next]))
  if (input.handoff !== undefined) added.push({ role: "tool", callId: input.handoff.callId, content: `Transferred to ${input.handoff.to}.` })
  for (const [callId, content] of Object.entries(input.results ?? {})) added.push({ role: "tool", callId, content })
  if (input.jsValue !== undefined) added.push({ role: "tool", callId: input.callId ?? "", content: resultText(input.jsValue) })
  const whole = checkedHistory([...fromWire(input.messages), ...added])
  const maxMessages = input.limits?.maxMessages === undefined ? null : input.limits.maxMessages - Math.min(systems.length, 1)
  const fitted = checkedHistory(pruneHistory(whole, { maxMessages, maxTokens: null }), profile)
  return { messages: toWire(systems.join("\n\n"), fitted), inputMutated: JSON.stringify(input.messages) !== before }
}

function fromWire(messages: readonly Wire[]): Message[] {
  return messages.flatMap((message): Message[] => {
    if (message.role === "user") return [{ role: "user", content: message.content }]
    if (message.role === "tool") return [{ role: "tool", callId: message.tool_call_id, content: message.content }]
    if (message.role !== "assistant") return []
    const calls = message.tool_calls?.map(
      (call: Wire): ToolCall => ({
        id: call.id,
        name: call.function.name,
        arguments: call.function.arguments,
        ...(call.extra_content === undefined ? {} : { extra: { extra_content: call.extra_content } }),
      }),
    )
    return [
      {
        role: "assistant",
        content: message.content,
        ...(calls === undefined ? {} : { calls }),
        ...(message.reasoning_content === undefined ? {} : { reasoning: message.reasoning_content }),
      },
    ]
  })
}

function toWire(system: string, messages: readonly Message[]): Wire[] {
  const wire = messages.map((message): Wire => {
    if (message.role === "user") return { role: "user", content: message.content }
    if (message.role === "tool") return { role: "tool", tool_call_id: message.callId, content: message.content }
    const calls = message.calls?.map((call) => ({ id: call.id, type: "function", function: { name: call.name, arguments: call.arguments }, ...call.extra }))
    return {
      role: "assistant",
      content: message.content,
      ...(calls === undefined ? {} : { tool_calls: calls }),
      ...(message.reasoning === undefined ? {} : { reasoning_content: message.reasoning }),
    }
  })
  return system === "" ? wire : [{ role: "system", content: system }, ...wire]
}
