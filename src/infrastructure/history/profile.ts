// What some servers demand of a history beyond validity. Called by history.ts; which server demands what is the adapter's knowledge.
import type { AssistantMessage, Message, ToolMessage, UserMessage } from "../../contract/message.ts"
import { isBlank } from "./mend.ts"

/** Absent: no demand. Unique ids and non-empty replies are always given; wire matters (`content: null`, system role) are the adapter's. */
export interface HistoryProfile {
  /** A regular expression, as text. */
  readonly callIdPattern?: string | undefined
  readonly nonEmptyToolResult?: boolean | undefined
  /** user, assistant, user…, beginning with user. Neighbours of one role are joined; results belong to the assistant's side. */
  readonly alternate?: boolean | undefined
  readonly firstRoleUser?: boolean | undefined
  readonly lastRoleNotAssistant?: boolean | undefined
  /** false: `extra` of calls is dropped. */
  readonly keepExtraContent?: boolean | undefined
  readonly reasoning?: "required_in_tool_turns" | "forbidden" | undefined
}

const EMPTY_RESULT = "No data."
const BEGIN: UserMessage = { role: "user", content: "[The conversation begins with the assistant.]", notice: true }
const GO_ON: UserMessage = { role: "user", content: "Please go on.", notice: true }

/** `messages` must be valid; so is what comes back. The same array when every demand is met. */
export function fitProfile(messages: readonly Message[], profile: HistoryProfile): readonly Message[] {
  const ids = newCallIds(messages, profile.callIdPattern)
  const fitted: Message[] = []
  for (const message of messages) {
    const next = message.role === "user" ? message : message.role === "tool" ? fitResult(message, profile, ids) : fitReply(message, profile, ids)
    const joined = profile.alternate ? join(fitted.at(-1), next) : null
    if (joined === null) fitted.push(next)
    else fitted[fitted.length - 1] = joined
  }
  if ((profile.firstRoleUser || profile.alternate) && fitted[0]?.role === "assistant") fitted.unshift(BEGIN)
  if (profile.lastRoleNotAssistant && fitted.at(-1)?.role === "assistant") fitted.push(GO_ON)
  return sameMessages(fitted, messages) ? messages : fitted
}

export function sameMessages(first: readonly Message[], second: readonly Message[]): boolean {
  return first.length === second.length && first.every((message, index) => message === second[index])
}

type NewIds = ReadonlyMap<string, string>

function fitResult(message: ToolMessage, profile: HistoryProfile, ids: NewIds): ToolMessage {
  const content = profile.nonEmptyToolResult && isBlank(message.content) ? EMPTY_RESULT : message.content
  const callId = ids.get(message.callId) ?? message.callId
  return content === message.content && callId === message.callId ? message : { ...message, callId, content }
}

function fitReply(message: AssistantMessage, profile: HistoryProfile, ids: NewIds): AssistantMessage {
  const { reasoning, calls, ...rest } = message
  const required = profile.reasoning === "required_in_tool_turns" && calls !== undefined ? "" : undefined
  const kept = profile.reasoning === "forbidden" ? undefined : (reasoning ?? required)
  const fitted = calls?.map((call) => {
    const { extra, ...plain } = call
    const id = ids.get(call.id) ?? call.id
    return extra !== undefined && profile.keepExtraContent === false ? { ...plain, id } : id === call.id ? call : { ...call, id }
  })
  if (kept === reasoning && (fitted === undefined || fitted.every((call, index) => call === calls?.[index]))) return message
  return { ...rest, ...(fitted === undefined ? {} : { calls: fitted }), ...(kept === undefined ? {} : { reasoning: kept }) }
}

/** New ids for those that do not match, numbered by their place, so that they are the same in every request. */
function newCallIds(messages: readonly Message[], pattern: string | undefined): NewIds {
  const renamed = new Map<string, string>()
  if (pattern === undefined) return renamed
  const fits = new RegExp(pattern)
  const ids = messages.flatMap((message) => (message.role === "assistant" ? (message.calls ?? []).map((call) => call.id) : []))
  const kept = new Set(ids.filter((id) => fits.test(id)))
  let number = 0
  for (const id of ids) {
    if (kept.has(id)) continue
    const shapes = (): string[] => [`c${++number}`, `call_${number}`, `c${String(number).padStart(8, "0")}`, `call_${String(number).padStart(24, "0")}`]
    let fresh = shapes().find((shape) => fits.test(shape))
    while (fresh !== undefined && kept.has(fresh)) fresh = shapes().find((shape) => fits.test(shape))
    if (fresh !== undefined) renamed.set(id, fresh)
  }
  return renamed
}

/** Two neighbours of one role as one message; null when they may stand as they are. */
function join(first: Message | undefined, second: Message): Message | null {
  if (first?.role === "user" && second.role === "user") {
    const flags = { ...(first.pinned || second.pinned ? { pinned: true } : {}), ...(first.notice && second.notice ? { notice: true } : {}) }
    return { role: "user", content: joinContent(first.content, second.content), ...flags }
  }
  if (first?.role !== "assistant" || second.role !== "assistant") return null
  const content = [first.content, second.content].filter((text) => text !== "").join("\n\n")
  const thoughts = [first.reasoning, second.reasoning].filter((text) => text !== undefined)
  return { ...second, content, ...(thoughts.length === 0 ? {} : { reasoning: thoughts.join("\n\n") }) }
}

function joinContent(first: UserMessage["content"], second: UserMessage["content"]): UserMessage["content"] {
  if (typeof first === "string" && typeof second === "string") return `${first}\n\n${second}`
  return [first, second].flatMap((content) => (typeof content === "string" ? [{ type: "text" as const, text: content }] : content))
}
