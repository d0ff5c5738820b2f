// Random histories for property tests: valid ones, and ones with every fault we know of.
import fc from "fast-check"
import type { AssistantMessage, Message, ToolCall, ToolMessage, UserMessage } from "../../src/contract/message.ts"

const text = fc.oneof(fc.string({ maxLength: 12 }), fc.string({ unit: "binary", maxLength: 6 }), fc.constantFrom("", " ", "half \ud83e end", "\udd8a\ud83e", "你好"))
/** Few ids, so that they repeat and meet the ids that renaming makes. */
const id = fc.constantFrom("a", "b", "call", "c1", "c2", "a_2", "a_3", "", "x\ud800")
const args = fc.constantFrom("{}", '{"q":1}', '{"q":', "[1]", "null", "", "\ud800", '{"q":"\ud83e"}', "plain words")
const call: fc.Arbitrary<ToolCall> = fc.record(
  { id, name: fc.constantFrom("find", "", "查询", "a.b", "n".repeat(80), "get_order:"), arguments: args, extra: fc.constant({ sign: "s" }) },
  { requiredKeys: ["id", "name", "arguments"] },
)

const user: fc.Arbitrary<UserMessage> = fc.record(
  {
    role: fc.constant("user" as const),
    content: fc.oneof(text, fc.array(fc.record({ type: fc.constant("text" as const), text }), { maxLength: 2 })),
    pinned: fc.boolean(),
    notice: fc.boolean(),
  },
  { requiredKeys: ["role", "content"] },
)
const assistant: fc.Arbitrary<AssistantMessage> = fc.record(
  { role: fc.constant("assistant" as const), content: text, calls: fc.array(call, { maxLength: 3 }), reasoning: text },
  { requiredKeys: ["role", "content"] },
)
const tool: fc.Arbitrary<ToolMessage> = fc.record({ role: fc.constant("tool" as const), callId: id, content: text })

export const brokenHistory: fc.Arbitrary<Message[]> = fc.array(fc.oneof(user, assistant, tool, tool), { maxLength: 14 })

/** Exchanges as a run writes them: calls numbered, each answered. */
export const wholeHistory: fc.Arbitrary<Message[]> = fc
  .array(
    fc.record({
      question: fc.string({ minLength: 1, maxLength: 8 }),
      pinned: fc.boolean(),
      turns: fc.array(fc.array(fc.string({ maxLength: 300 }), { minLength: 1, maxLength: 3 }), { maxLength: 3 }),
      answer: fc.option(fc.constant("Done."), { nil: undefined }),
    }),
    { maxLength: 6 },
  )
  .map((exchanges) => {
    let next = 1
    return exchanges.flatMap(({ question, pinned, turns, answer }): Message[] => [
      { role: "user", content: question, ...(pinned ? { pinned } : {}) },
      ...turns.flatMap((results): Message[] => {
        const calls = results.map((): ToolCall => ({ id: `c${next++}`, name: "find", arguments: "{}" }))
        return [{ role: "assistant", content: "", calls }, ...results.map((content, index): Message => ({ role: "tool", callId: calls[index]?.id ?? "", content }))]
      }),
      ...(answer === undefined ? [] : [{ role: "assistant", content: answer } as const]),
    ])
  })

/** What is wrong with a history, said independently of the code under test; null: nothing. */
export function historyFault(messages: readonly Message[]): string | null {
  const ids = new Set<string>()
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index]
    if (message?.role === "tool") return `result without a call at ${index}`
    if (
      /\p{Surrogate}/u.test(JSON.stringify(message, (_, value: unknown) => value).replace(/\\u(d[89a-f]..)/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16))))
    )
      return `half a character at ${index}`
    if (message?.role !== "assistant") continue
    if (message.calls === undefined && message.content.trim() === "") return `empty reply at ${index}`
    for (const { id: callId, name, arguments: raw } of message.calls ?? []) {
      if (callId === "" || ids.has(callId)) return `id ${callId} at ${index}`
      ids.add(callId)
      if (!/^[\w-]{1,64}$/.test(name)) return `name ${name}`
      if (Object.prototype.toString.call(JSON.parse(raw)) !== "[object Object]") return `arguments ${raw}`
      const result = messages[++index]
      if (result?.role !== "tool" || result.callId !== callId) return `no result for ${callId}`
    }
    if (message.calls?.length === 0) return `empty list of calls at ${index}`
  }
  return null
}
