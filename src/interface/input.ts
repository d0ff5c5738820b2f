// What a caller passes in becomes what is stored: messages as plain frozen JSON with valid pairs and our call ids, context checked by its schema.
// Called by the runner before the first event.
import type { AgentDefinition } from "../contract/agent.ts"
import type { Input, Message, Part } from "../contract/message.ts"
import { textOf } from "../contract/message.ts"
import { HelloAgentsError } from "../infrastructure/errors.ts"
import { deepFreeze } from "../infrastructure/freeze.ts"
import { checkedHistory, renumberCalls } from "../infrastructure/history/history.ts"
import { validate } from "../infrastructure/json/json-schema.ts"

/** @throws HelloAgentsError `input_invalid` if there is nothing to answer. */
export function readInput(input: Input): readonly Message[] {
  const messages = typeof input === "string" ? [{ role: "user" as const, content: input }] : input
  const last = messages.at(-1)
  const empty = last === undefined || (last.role === "user" && typeof last.content === "string" && textOf(last.content).trim() === "")
  if (empty) throw new HelloAgentsError("input_invalid", "The input is empty: there is nothing to answer.", { hint: "Pass the user's text, or messages that end with it." })
  return renumberCalls(checkedHistory(messages.map(plain)))
}

/** Messages of an earlier run are frozen and taken as they are, so that what adapters know of them still holds. */
function plain(message: Message): Message {
  if (Object.isFrozen(message) && (typeof message.content === "string" || Object.isFrozen(message.content))) return message
  if (message.role === "user" && typeof message.content !== "string") return deepFreeze({ ...message, content: message.content.map(plainPart) })
  return deepFreeze(structuredClone(message))
}

function plainPart(part: Part): Part {
  if (part.type === "text") return { ...part }
  const { image, mediaType } = part
  if (typeof image === "string") return { ...part }
  if (image instanceof URL) return { ...part, image: image.href }
  return { type: "image", image: `data:${mediaType ?? "image/png"};base64,${base64(image)}`, ...(mediaType !== undefined && { mediaType }) }
}

function base64(bytes: Uint8Array): string {
  let binary = ""
  for (let start = 0; start < bytes.length; start += 0x8000) binary += String.fromCharCode(...bytes.subarray(start, start + 0x8000))
  return btoa(binary)
}

/** @throws HelloAgentsError `context_invalid` naming the key and what was expected. */
export async function readContext(definition: AgentDefinition, context: object | undefined): Promise<Record<string, unknown>> {
  if (definition.context === null) return toJson(context ?? {})
  const result = await validate(definition.context, context ?? {})
  if (result.issues === undefined) return toJson(result.value as object)
  const issues = result.issues.map((issue) => `${(issue.path ?? []).map((step) => String(typeof step === "object" ? step.key : step)).join(".") || "context"}: ${issue.message}`)
  throw new HelloAgentsError("context_invalid", `The context of ${definition.name} does not fit: ${issues.join("; ")}.`, { hint: "Pass { context: … } with the run." })
}

function toJson(value: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(value))
}
