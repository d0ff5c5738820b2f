// What is said in a run. History is a list of these; every tool call has exactly one tool message (see infrastructure/history).

export type Part = { readonly type: "text"; readonly text: string } | { readonly type: "image"; readonly image: string | URL | Uint8Array; readonly mediaType?: string | undefined }

/** A call as the model wrote it. `id` is ours and unique in a history; `arguments` is the raw text, parsed only while the tool runs. */
export interface ToolCall {
  readonly id: string
  readonly name: string
  readonly arguments: string
  /** Fields that a provider wants back unchanged with the call (thought signatures). Plain JSON. */
  readonly extra?: { readonly [key: string]: unknown } | undefined
}

export interface UserMessage {
  readonly role: "user"
  readonly content: string | readonly Part[]
  /** Kept when history is shortened. */
  readonly pinned?: boolean | undefined
  /** Written by the runtime, not by a person: it opens no new exchange. */
  readonly notice?: boolean | undefined
}
export interface AssistantMessage {
  readonly role: "assistant"
  readonly content: string
  readonly calls?: readonly ToolCall[] | undefined
  /** Kept only where a provider demands it back. */
  readonly reasoning?: string | undefined
}
export interface ToolMessage {
  readonly role: "tool"
  readonly callId: string
  readonly content: string
}
export type Message = UserMessage | AssistantMessage | ToolMessage
export type Input = string | readonly Message[]

/** The text of a message; images count as nothing. */
export function textOf(content: string | readonly Part[]): string {
  if (typeof content === "string") return content
  return content.map((part) => (part.type === "text" ? part.text : "")).join("")
}
