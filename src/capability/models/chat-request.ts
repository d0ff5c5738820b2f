// Writes a request as the JSON text of the Chat Completions API. Called by openai.ts, once per model instance.
// History only grows between compactions, so the text of every message is made once; the same goes for tools and instructions.
import type { AssistantMessage, Message, Part, ToolCall } from "../../contract/message.ts"
import type { ModelRequest, Settings, ToolSpec } from "../../contract/model.ts"
import type { JsonSchema } from "../../contract/schema.ts"
import { checkedHistory, growingHistory } from "../../infrastructure/history/history.ts"
import { toProviderTools } from "./schema-dialect.ts"
import type { ServerForms } from "./server-profile.ts"

export interface ChatRequest {
  readonly body: string
  /** The name that a tool has here, by the name the server knows it by. */
  readonly originalName: (name: string) => string
}

/** What was written before, for one set of forms. */
interface Written {
  readonly messages: WeakMap<Message, string>
  /** By the first message of a history: how far it was found valid. Histories that share it only check more often. */
  readonly checks: WeakMap<Message, ReturnType<typeof growingHistory>>
  readonly tools: WeakMap<readonly ToolSpec[], WrittenTools>
  instructions: { readonly text: string; readonly json: string }
}
interface WrittenTools {
  /** Empty: there are none. */
  readonly json: string
  /** The server's names of tools that have another one here. */
  readonly names: ReadonlyMap<string, string>
  readonly originalName: (name: string) => string
  /** Messages whose calls have the server's names. */
  readonly renamed: WeakMap<Message, Message>
}

const ANSWER_FORMAT = "Give the final answer as JSON that fits this JSON Schema, and nothing else:"

/** `forms` are compared by identity: what was written in other forms is not used. */
export function chatWriter(model: string): (request: ModelRequest, forms: ServerForms, streamed: boolean) => ChatRequest {
  const head = `{"model":${JSON.stringify(model)},"messages":[`
  const written = new WeakMap<ServerForms, Written>()
  return (request, forms, streamed) => {
    const known = written.get(forms) ?? { messages: new WeakMap(), checks: new WeakMap(), tools: new WeakMap(), instructions: { text: "", json: "" } }
    written.set(forms, known)
    const tools = writtenTools(request.tools, forms, known)
    const output = outputForm(request, forms)
    const parts = [head, writtenMessages(request, forms, { known, tools, output }), "]", tools.json]
    if (tools.json !== "" && forms.toolChoice !== "absent") parts.push(`,"tool_choice":${toolChoice(request.settings, forms, tools)}`)
    if (request.output !== null && output !== "prompt") parts.push(`,"response_format":${responseFormat(request.output, output)}`)
    if (request.grammar !== undefined) parts.push(`,"grammar":${JSON.stringify(request.grammar)}`)
    parts.push(settingsText(request.settings, forms))
    if (streamed) parts.push(forms.without.includes("stream_options") ? ',"stream":true' : ',"stream":true,"stream_options":{"include_usage":true}')
    parts.push("}")
    return { body: parts.join(""), originalName: tools.originalName }
  }
}

/** Local servers that constrain the output do so from the first token on: no tool could be called any more. The prompt has to do. */
function outputForm(request: ModelRequest, forms: ServerForms): ServerForms["output"] {
  return request.tools.length > 0 && request.settings.toolChoice !== "none" ? "prompt" : forms.output
}

function writtenTools(tools: readonly ToolSpec[], forms: ServerForms, known: Written): WrittenTools {
  const found = known.tools.get(tools)
  if (found !== undefined) return found
  const made = tools.length === 0 ? [] : toProviderTools(tools, forms.schema)
  const names = new Map(made.filter(({ name, original }) => name !== original).map(({ name, original }) => [original, name]))
  const originals = new Map(made.map(({ name, original }) => [name, original]))
  const list = made.map(({ name, description, parameters }) => ({ type: "function", function: { name, description, parameters } }))
  const fresh: WrittenTools = {
    json: list.length === 0 ? "" : `,"tools":${JSON.stringify(list)}`,
    names,
    originalName: (name) => originals.get(name) ?? name,
    renamed: new WeakMap(),
  }
  known.tools.set(tools, fresh)
  return fresh
}

function writtenMessages(request: ModelRequest, forms: ServerForms, context: { known: Written; tools: WrittenTools; output: ServerForms["output"] }): string {
  const { known, tools, output } = context
  let instructions = request.instructions
  if (request.output !== null && output !== "json_schema") instructions = joined(instructions, `${ANSWER_FORMAT}\n${JSON.stringify(request.output)}`)
  const inside = forms.notes === "in_instructions" || forms.instructionsRole === "user"
  if (inside) instructions = joined(instructions, request.notes)
  const history = checked(instructed(renamedMessages(request.messages, tools), instructions, forms), forms, known)
  const texts: string[] = []
  if (instructions !== "" && forms.instructionsRole !== "user") texts.push(instructionsText(instructions, forms, known))
  if (!inside && request.notes !== "") texts.push(`{"role":"${forms.instructionsRole}","content":${JSON.stringify(request.notes)}}`)
  for (const message of history) {
    const before = known.messages.get(message)
    const text = before ?? JSON.stringify(wireMessage(message, forms))
    if (before === undefined) known.messages.set(message, text)
    texts.push(text)
  }
  return texts.join(",")
}

function checked(messages: readonly Message[], forms: ServerForms, known: Written): readonly Message[] {
  const [first] = messages
  if (first === undefined || Object.keys(forms.history).length > 0) return checkedHistory(messages, forms.history)
  const check = known.checks.get(first) ?? growingHistory()
  known.checks.set(first, check)
  return check(messages)
}

function renamedMessages(messages: readonly Message[], { names, renamed }: WrittenTools): readonly Message[] {
  if (names.size === 0) return messages
  return messages.map((message) => {
    if (message.role !== "assistant" || message.calls === undefined) return message
    const before = renamed.get(message)
    if (before !== undefined) return before
    const fresh = { ...message, calls: message.calls.map((call) => ({ ...call, name: names.get(call.name) ?? call.name })) }
    renamed.set(message, fresh)
    return fresh
  })
}

function joined(first: string, second: string): string {
  return first === "" || second === "" ? first + second : `${first}\n\n${second}`
}

/** For servers without a role for instructions: they stand at the head of the first message, or in one of their own. */
function instructed(messages: readonly Message[], instructions: string, forms: ServerForms): readonly Message[] {
  if (forms.instructionsRole !== "user" || instructions === "") return messages
  const [first, ...rest] = messages
  if (first?.role !== "user") return [{ role: "user", content: instructions }, ...messages]
  const content = typeof first.content === "string" ? joined(instructions, first.content) : [{ type: "text" as const, text: instructions }, ...first.content]
  return [{ ...first, content }, ...rest]
}

function instructionsText(instructions: string, forms: ServerForms, known: Written): string {
  if (known.instructions.text !== instructions) {
    known.instructions = { text: instructions, json: `{"role":"${forms.instructionsRole}","content":${JSON.stringify(instructions)}}` }
  }
  return known.instructions.json
}

function wireMessage(message: Message, forms: ServerForms): object {
  switch (message.role) {
    case "user":
      return { role: "user", content: typeof message.content === "string" ? message.content : message.content.map(wirePart) }
    case "assistant":
      return wireAssistant(message, forms)
    case "tool":
      return { role: "tool", tool_call_id: message.callId, content: message.content }
    default:
      return message satisfies never
  }
}

function wireAssistant(message: AssistantMessage, forms: ServerForms): object {
  const { content, calls = [], reasoning } = message
  const keepsReasoning = forms.history.reasoning === "required_in_tool_turns" && reasoning !== undefined
  const said = calls.length === 0 || content !== "" || forms.emptyContent === "empty" ? { content } : forms.emptyContent === "null" ? { content: null } : {}
  return {
    role: "assistant",
    ...said,
    ...(keepsReasoning && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls.map((call) => wireCall(call, forms)) }),
  }
}

function wireCall(call: ToolCall, forms: ServerForms): object {
  const extra = forms.history.keepExtraContent === false ? undefined : call.extra
  return { id: call.id, type: "function", function: { name: call.name, arguments: call.arguments }, ...extra }
}

function wirePart(part: Part): object {
  if (part.type === "text") return { type: "text", text: part.text }
  const { image, mediaType = "image/png" } = part
  const url = typeof image === "string" ? image : image instanceof URL ? image.href : `data:${mediaType};base64,${base64(image)}`
  return { type: "image_url", image_url: { url } }
}

function base64(bytes: Uint8Array): string {
  let text = ""
  // In slices: an argument list has a limit.
  for (let at = 0; at < bytes.length; at += 8_192) text += String.fromCharCode(...bytes.subarray(at, at + 8_192))
  return btoa(text)
}

function toolChoice(settings: Settings, forms: ServerForms, tools: WrittenTools): string {
  const asked = settings.toolChoice ?? "auto"
  if (asked === "none") return '"none"'
  if (asked === "auto" || forms.toolChoice === "auto") return '"auto"'
  if (asked === "required") return '"required"'
  return JSON.stringify({ type: "function", function: { name: tools.names.get(asked.tool) ?? asked.tool } })
}

function responseFormat(schema: JsonSchema, form: "json_schema" | "json_object"): string {
  return JSON.stringify(form === "json_schema" ? { type: "json_schema", json_schema: { name: "answer", schema } } : { type: "json_object", schema })
}

function settingsText(settings: Settings, forms: ServerForms): string {
  const { temperature, topP, maxTokens, stop, seed, reasoningEffort } = settings
  const wire: Record<string, unknown> = { temperature, top_p: topP, [forms.maxTokens]: maxTokens, stop, seed, reasoning_effort: reasoningEffort }
  let text = ""
  for (const name in wire) if (wire[name] !== undefined && !forms.without.includes(name)) text += `,"${name}":${JSON.stringify(wire[name])}`
  return text
}
