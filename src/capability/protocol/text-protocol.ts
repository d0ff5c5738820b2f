// Lets a model without function calling use tools: a model around a model, that writes calls and results as labelled text.
// Replies go on as they are and are read by read-reply.ts like any other. `autoProtocol` falls back to it when a server rejects tools.
import type { AssistantMessage, Message, ToolMessage, UserMessage } from "../../contract/message.ts"
import { textOf } from "../../contract/message.ts"
import type { ModelEvent, ModelFailure, ModelRequest } from "../../contract/model.ts"
import type { Model } from "../../contract/ports.ts"
import { replyGrammar } from "./grammar.ts"
import { replySchema } from "./reply-schema.ts"
import type { Labels, PromptLanguage } from "./text-prompt.ts"
import { LABELS, textPrompt, workedExample } from "./text-prompt.ts"

const REJECTS_TOOLS =
  /(?:does not|doesn't|do not|not|no|un)\s?-?(?:support|allow|accept|available|enabled|recogni[sz]ed?)\w*\b.{0,60}\b(?:tools?|tool_choice|functions?|function.?calling)\b|\b(?:tools?|tool_choice|functions?|function.?calling)\b.{0,60}\b(?:not|un|n't)\s?-?(?:support|allow|accept|available|enabled|permitted)/i

/** No `tools` and no `tool_choice` are sent; the prompt carries tools, format and example. Where the model can be constrained, it is. */
export function textProtocol(model: Model, language: PromptLanguage): Model {
  return { ...model, functionCalling: true, ask: (request) => asText(model, request, language) }
}

/** Function calling first; the text protocol from the moment a server says that it has none, remembered in this model. */
export function autoProtocol(model: Model, language: PromptLanguage): Model {
  if (model.functionCalling === false) return textProtocol(model, language)
  const learnt = learntOf(model)
  return { ...model, ask: (request) => (learnt.text ? asText(model, request, language) : nativeFirst(model, request, { language, learnt })) }
}

interface Learnt {
  text: boolean
}

/** What a server turned out to be is remembered with the model that was made for it. */
const LEARNT = new WeakMap<Model, Learnt>()

function learntOf(model: Model): Learnt {
  const known = LEARNT.get(model) ?? { text: false }
  LEARNT.set(model, known)
  return known
}

async function* nativeFirst(model: Model, request: ModelRequest, mode: { language: PromptLanguage; learnt: Learnt }): AsyncGenerator<ModelEvent> {
  for await (const event of model.ask(request)) {
    if (event.type !== "failure" || request.tools.length === 0 || !rejectsTools(event.failure)) {
      yield event
      continue
    }
    mode.learnt.text = true
    yield { type: "note", note: "the server has no function calling; the text protocol is used from now on" }
    yield* asText(model, request, mode.language)
    return
  }
}

function rejectsTools(failure: ModelFailure): boolean {
  return !failure.retryable && REJECTS_TOOLS.test(failure.message)
}

async function* asText(model: Model, request: ModelRequest, language: PromptLanguage): AsyncGenerator<ModelEvent> {
  for await (const event of model.ask(toTextRequest(request, language, model.constraint))) {
    yield event.type === "reply" ? { type: "reply", reply: { ...event.reply, labelled: request.tools.length > 0 } } : event
  }
}

function toTextRequest(request: ModelRequest, language: PromptLanguage, constraint: Model["constraint"]): ModelRequest {
  const labels = LABELS[language]
  const { toolChoice, ...settings } = request.settings
  const offered = toolChoice === "none" ? [] : request.tools
  const stop = [...(settings.stop ?? []), `\n${labels.observation.trim()}`]
  // an answer of a given shape is asked for as before, once no tool is on offer
  const constrained =
    offered.length === 0 || constraint === undefined ? {} : constraint === "grammar" ? { grammar: replyGrammar(offered, labels) } : { output: replySchema(offered) }
  return {
    ...request,
    instructions: `${request.instructions}\n\n${textPrompt(offered, language)}`.trim(),
    messages: [...workedExample(offered, language), ...toTextMessages(request.messages, labels)],
    tools: [],
    settings: { ...settings, stop },
    ...constrained,
  }
}

/** Calls become labelled text, results become observations of the user's side: results of one reply in one message. */
export function toTextMessages(messages: readonly Message[], labels: Labels): readonly Message[] {
  const out: (UserMessage | AssistantMessage)[] = []
  const names = new Map<string, string>()
  let results: ToolMessage[] = []
  const flush = (): void => {
    if (results.length > 0) out.push({ role: "user", content: results.map((result) => observation(result, { labels, names, several: results.length > 1 })).join("\n") })
    results = []
  }
  for (const message of messages) {
    if (message.role === "tool") {
      results.push(message)
      continue
    }
    flush()
    if (message.role === "user") out.push(message)
    else {
      for (const call of message.calls ?? []) names.set(call.id, call.name)
      out.push({ role: "assistant", content: written(message, labels) })
    }
  }
  flush()
  return out
}

function written({ content, calls = [] }: AssistantMessage, labels: Labels): string {
  if (calls.length === 0) return content.includes(labels.final.trim()) ? content : `${labels.final}${content}`
  const thought = content.trim() === "" ? [] : [`${labels.thought}${textOf(content).replace(/\s+/g, " ").trim()}`]
  return [...thought, ...calls.flatMap((call) => [`${labels.action}${call.name}`, `${labels.input}${call.arguments.replace(/\s*\n\s*/g, " ")}`])].join("\n")
}

function observation({ callId, content }: ToolMessage, form: { labels: Labels; names: ReadonlyMap<string, string>; several: boolean }): string {
  return `${form.labels.observation}${form.several ? `[${form.names.get(callId) ?? callId}] ` : ""}${content}`
}
