// Writes a request as the tokens that a local model continues: by the chat template of its file, or as labelled text if it has none.
// Called by llama-cpp.ts.
import type { Message } from "../../contract/message.ts"
import { textOf } from "../../contract/message.ts"
import type { ModelRequest } from "../../contract/model.ts"
import type { LlamaLibrary, LlamaModel, LlamaTemplate, LlamaTurn } from "./llama-cpp-library.ts"

const LABELS = { user: "User:", assistant: "Assistant:" }

export interface LlamaPrompt {
  readonly tokens: (request: ModelRequest) => readonly number[]
  /** Texts at which a reply of this form ends, beside the model's own end token. */
  readonly stop: readonly string[]
}

export function llamaPrompt(library: LlamaLibrary, model: LlamaModel): LlamaPrompt {
  const text = model.fileInfo.metadata.tokenizer?.chat_template
  const template = typeof text === "string" && text.trim() !== "" ? chatTemplate(library, model, text) : null
  const { bos, shouldPrependBosToken } = model.tokens
  const begun = (tokens: readonly number[]): readonly number[] => (shouldPrependBosToken && bos !== null && tokens[0] !== bos ? [bos, ...tokens] : tokens)
  if (template === null) return { tokens: (request) => begun(model.tokenize(labelled(request))), stop: [`\n${LABELS.user}`] }
  return { tokens: (request) => begun(template.generateContextState({ chatHistory: turns(request) }).contextText.tokenize(model.tokenizer)), stop: [] }
}

/** The file's own template comes first: the library's own form of the same family may add a token. */
function chatTemplate(library: LlamaLibrary, model: LlamaModel, template: string): LlamaTemplate {
  try {
    return new library.JinjaTemplateChatWrapper({ template, tokenizer: model.tokenizer })
  } catch {
    return library.resolveChatWrapper(model, { warningLogs: false })
  }
}

/** Texts stay texts here: what looks like a special token in a message is not read as one. The last, empty turn is the one to write. */
function turns(request: ModelRequest): LlamaTurn[] {
  const system = systemText(request)
  return [...(system === "" ? [] : [{ type: "system" as const, text: system }]), ...request.messages.map(turn), { type: "model", response: [] }]
}

function turn(message: Message): LlamaTurn {
  return message.role === "assistant" ? { type: "model", response: [message.content] } : { type: "user", text: textOf(message.content) }
}

function labelled(request: ModelRequest): string {
  const system = systemText(request)
  const lines = request.messages.map((message) => `${message.role === "assistant" ? LABELS.assistant : LABELS.user} ${textOf(message.content)}`)
  return [...(system === "" ? [] : [`${system}\n`]), ...lines, LABELS.assistant].join("\n")
}

function systemText({ instructions, notes }: ModelRequest): string {
  return [instructions, notes].filter((part) => part !== "").join("\n\n")
}
