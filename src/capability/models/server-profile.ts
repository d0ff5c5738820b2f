// The forms in which a server is asked, and which form to try when it refuses one. What works is remembered for that server by openai.ts.
// Nothing is guessed from a server's name: a form changes only when a refusal says so. Leaves writing the forms to chat-request.ts.
import type { Message } from "../../contract/message.ts"
import type { ModelFailure, ModelRequest } from "../../contract/model.ts"
import type { HistoryProfile } from "../../infrastructure/history/history.ts"
import type { SchemaProfile } from "./schema-dialect.ts"

export interface ServerForms {
  readonly instructionsRole: "system" | "developer" | "user"
  /** Notes stand in a second system message, or at the end of the instructions where only one is allowed. */
  readonly notes: "second_system" | "in_instructions"
  /** `content` of an assistant message that only has calls. */
  readonly emptyContent: "null" | "empty" | "absent"
  readonly maxTokens: "max_tokens" | "max_completion_tokens"
  readonly output: "json_schema" | "json_object" | "prompt"
  readonly toolChoice: "as_asked" | "auto" | "absent"
  readonly streaming: "always" | "without_tools" | "never"
  /** Parameters that are not sent. */
  readonly without: readonly string[]
  readonly schema: SchemaProfile
  readonly history: HistoryProfile
}

/** The most compatible forms first. */
export const FIRST_FORMS: ServerForms = {
  instructionsRole: "system",
  notes: "second_system",
  emptyContent: "null",
  maxTokens: "max_tokens",
  output: "json_schema",
  toolChoice: "as_asked",
  streaming: "always",
  without: [],
  schema: { rootMustBeObject: true, namePattern: "^[a-zA-Z0-9_-]{1,64}$" },
  history: {},
}

/** A failed call whose reason may be a form. `said`: the server's own words. */
export interface Refusal {
  readonly failure: ModelFailure
  readonly said: string
  readonly streamed: boolean
}

export interface FormChange {
  readonly change: Partial<ServerForms>
  /** For the trace: what was refused and what is sent now. */
  readonly note: string
}

const LIMITS = { saidChars: 4_000 }
const REFUSED =
  /unsupported|not supported|n't support|not support|unknown|unrecogni[sz]ed|unexpected|not permitted|not allowed|not available|extra inputs|extra fields|no such|only the default|invalid_literal|literal_error/
const PARAMETERS = ["temperature", "top_p", "stop", "seed", "reasoning_effort", "stream_options"]

/** The next form that fits the refusal; null: it is not about a form, or all forms were refused. */
export function nextForms(forms: ServerForms, request: ModelRequest, refusal: Refusal): FormChange | null {
  if (refusal.failure.code !== "invalid_request" && refusal.failure.code !== "server_error") return null
  const said = refusal.said.slice(0, LIMITS.saidChars).toLowerCase()
  const question = { forms, request, said, streamed: refusal.streamed }
  for (const rule of RULES) {
    const found = rule(question)
    if (found !== null) return found
  }
  return null
}

interface Question {
  readonly forms: ServerForms
  readonly request: ModelRequest
  readonly said: string
  readonly streamed: boolean
}
type Rule = (question: Question) => FormChange | null

const maxTokens: Rule = ({ forms, request, said }) => {
  if (request.settings.maxTokens === undefined || forms.maxTokens !== "max_tokens") return null
  if (!said.includes("max_completion_tokens") && !(/\bmax_tokens\b/.test(said) && REFUSED.test(said))) return null
  return { change: { maxTokens: "max_completion_tokens" }, note: "`max_tokens` was refused; `max_completion_tokens` is sent instead" }
}

const output: Rule = ({ forms, request, said }) => {
  if (request.output === null || forms.output === "prompt" || !/response_format|json_schema|json schema|json_object|structured output|grammar|mime.?type/.test(said)) return null
  const next = forms.output === "json_schema" && !/json_object.{0,40}(?:not|un)supported/.test(said) ? "json_object" : "prompt"
  const instead = next === "prompt" ? "the schema stands in the prompt only" : "`json_object` with the schema in the prompt is sent instead"
  return { change: { output: next }, note: `the response format \`${forms.output}\` was refused; ${instead}` }
}

const toolChoice: Rule = ({ forms, request, said }) => {
  if (request.tools.length === 0 || forms.toolChoice === "absent") return null
  const asked = request.settings.toolChoice ?? "auto"
  const forced = asked === "required" || typeof asked === "object"
  // A server that cannot force a tool may say nothing at all: `{"error":{"message":""}}`.
  const wordless = forced && forms.toolChoice === "as_asked" && (said.trim() === "" || /"message": ?""/.test(said))
  if (!wordless && !/tool[_ -]?choice/.test(said)) return null
  const name = typeof asked === "object" ? asked.tool : asked
  if (forced && forms.toolChoice === "as_asked") return { change: { toolChoice: "auto" }, note: `tool_choice \`${name}\` was refused; \`auto\` is sent instead` }
  return { change: { toolChoice: "absent" }, note: "`tool_choice` was refused and is no longer sent" }
}

const NO_CONTENT =
  /no attribute 'content'|nonetype|\bcontent\b.{0,80}(?:null|none\b|valid string|required|expected (?:a )?string|must be a string|missing)|(?:missing|required|null).{0,40}\bcontent\b/s

const emptyContent: Rule = ({ forms, request, said }) => {
  if (forms.emptyContent === "absent" || !request.messages.some(hasOnlyCalls)) return null
  const refused = forms.emptyContent === "null" ? NO_CONTENT.test(said) : /\bcontent\b.{0,80}(?:empty|at least (?:1|one)|too short|blank)/s.test(said)
  if (!refused) return null
  const place = /(?:'messages',|messages\W{1,2}) ?(\d{1,5})/.exec(said)?.[1]
  const where = place === undefined ? "an assistant message with calls" : `message ${place} (assistant, with calls)`
  const [next, words] = forms.emptyContent === "null" ? (["empty", '`""`'] as const) : (["absent", "no content"] as const)
  return { change: { emptyContent: next }, note: `\`content: ${forms.emptyContent === "null" ? "null" : '""'}\` of ${where} was refused; ${words} is sent instead` }
}

function hasOnlyCalls(message: Message): boolean {
  return message.role === "assistant" && message.content === "" && message.calls !== undefined && message.calls.length > 0
}

const instructionsRole: Rule = ({ forms, said }) => {
  if (forms.instructionsRole === "user") return null
  const refused =
    /system.{0,30}role.{0,40}(?:not supported|unsupported|not allowed)|(?:unsupported|unknown|invalid).{0,20}role.{0,20}system|'input': 'system'|system messages? (?:is|are) not/
  if (!refused.test(said) && !(forms.instructionsRole === "developer" && said.includes("developer"))) return null
  const next = said.includes("developer") && forms.instructionsRole === "system" ? "developer" : "user"
  return { change: { instructionsRole: next }, note: `the role \`${forms.instructionsRole}\` was refused; instructions are sent as \`${next}\`` }
}

const order: Rule = ({ forms, said }) => {
  if (/roles? must alternate|must alternate|alternate between/.test(said)) {
    if (forms.history.alternate !== true) return withHistory(forms, { alternate: true, firstRoleUser: true }, "roles must alternate: neighbours of one role are joined")
    if (forms.instructionsRole !== "user") return { change: { instructionsRole: "user" }, note: "a system message is not allowed: instructions are sent as `user`" }
  }
  if (forms.notes === "second_system" && /system message.{0,60}(?:beginning|first|start|only|one)|(?:only|multiple|single|one).{0,20}system message/.test(said)) {
    return { change: { notes: "in_instructions" }, note: "a second system message was refused: notes stand at the end of the instructions" }
  }
  if (forms.history.firstRoleUser !== true && /first message.{0,40}user|(?:start|begin)s? with.{0,20}user/.test(said)) {
    return withHistory(forms, { firstRoleUser: true }, "the first message must be the user's")
  }
  if (forms.history.lastRoleNotAssistant !== true && /last message.{0,40}(?:user|tool)|(?:end|final).{0,30}assistant|prefill/.test(said)) {
    return withHistory(forms, { lastRoleNotAssistant: true }, "the last message must not be the assistant's")
  }
  return null
}

const messageDemands: Rule = ({ forms, said }) => {
  const { history } = forms
  if (history.callIdPattern === undefined && /tool.?call.?id.{0,80}(?:length of 9|9 char|a-z)/.test(said)) {
    return withHistory(forms, { callIdPattern: "^[a-zA-Z0-9]{9}$" }, "ids of calls must have nine letters or digits")
  }
  if (history.reasoning === undefined && /reasoning_content.{0,80}(?:must|require|miss|pass)|(?:missing|require).{0,40}reasoning_content/.test(said)) {
    return withHistory(forms, { reasoning: "required_in_tool_turns" }, "the reasoning of earlier turns is demanded back")
  }
  if (history.reasoning === "required_in_tool_turns" && said.includes("reasoning_content"))
    return withHistory(forms, { reasoning: "forbidden" }, "the reasoning of earlier turns was refused")
  if (history.keepExtraContent !== false && /extra_content/.test(said) && REFUSED.test(said)) {
    return withHistory(forms, { keepExtraContent: false }, "fields of another provider's calls were refused and are left out")
  }
  if (history.nonEmptyToolResult !== true && /(?:content|message).{0,60}(?:non-?empty|not be empty|be blank|is empty|at least (?:1|one) character)/.test(said)) {
    return withHistory(forms, { nonEmptyToolResult: true }, "empty tool results were refused")
  }
  return null
}

function withHistory(forms: ServerForms, demand: HistoryProfile, note: string): FormChange {
  return { change: { history: { ...forms.history, ...demand } }, note }
}

const schema: Rule = ({ forms, request, said }) => {
  if (request.tools.length === 0 || forms.schema.geminiSubset === true) return null
  if (!/\$ref|\$defs|additionalproperties|anyof|oneof|allof|json schema|(?:function|tool)s?\b.{0,60}(?:schema|parameters)|schema.{0,60}(?:function|tool)/.test(said)) return null
  if (forms.schema.noRefs !== true) {
    return {
      change: { schema: { ...forms.schema, noRefs: true, noAllOf: true, noTypeArrays: true } },
      note: "a tool's schema was refused; it is sent without references, `allOf` and lists of types",
    }
  }
  return { change: { schema: { ...forms.schema, geminiSubset: true } }, note: "a tool's schema was refused again; it is sent with the most common keywords only" }
}

const streaming: Rule = ({ forms, request, said, streamed }) => {
  if (!streamed || !/\bstream(?:ing|ed)?\b/.test(said) || !(REFUSED.test(said) || /cannot|can't|disable/.test(said))) return null
  if (request.tools.length > 0 && forms.streaming === "always") return { change: { streaming: "without_tools" }, note: NO_STREAM_WITH_TOOLS }
  return { change: { streaming: "never" }, note: "streaming was refused; the server is asked unstreamed" }
}

export const NO_STREAM_WITH_TOOLS = "streaming with tools does not work on this server; it is asked unstreamed when tools are sent"

const parameters: Rule = ({ forms, request, said }) => {
  if (!REFUSED.test(said)) return null
  const { temperature, topP, stop, seed, reasoningEffort } = request.settings
  const sent = [temperature, topP, stop, seed, reasoningEffort, request.stream ? true : undefined]
  const name = PARAMETERS.find((parameter, i) => sent[i] !== undefined && !forms.without.includes(parameter) && new RegExp(`\\b${parameter}\\b`).test(said))
  return name === undefined ? null : { change: { without: [...forms.without, name] }, note: `the parameter \`${name}\` was refused and is no longer sent` }
}

const RULES: readonly Rule[] = [maxTokens, output, toolChoice, emptyContent, instructionsRole, order, messageDemands, schema, parameters, streaming]
