// What a model without function calling is told: its tools, the format, one worked example; in English or Chinese. Called by text-protocol.ts.
// The labels are those that labels.ts reads back.
import type { Message } from "../../contract/message.ts"
import type { ToolSpec } from "../../contract/model.ts"
import type { JsonSchema } from "../../contract/schema.ts"
import { exampleOf } from "../../infrastructure/json/example.ts"

export type PromptLanguage = "en" | "zh"

export interface Labels {
  readonly thought: string
  readonly action: string
  readonly input: string
  readonly observation: string
  readonly final: string
}

export const LABELS: { readonly [language in PromptLanguage]: Labels } = {
  en: { thought: "Thought: ", action: "Action: ", input: "Action Input: ", observation: "Observation: ", final: "Final Answer: " },
  zh: { thought: "思考：", action: "行动：", input: "行动输入：", observation: "观察：", final: "最终答案：" },
}

/** The part of the instructions that stays the same in every turn: it stands in the cacheable prefix. */
export function textPrompt(tools: readonly ToolSpec[], language: PromptLanguage): string {
  const labels = LABELS[language]
  const words = WORDS[language]
  if (tools.length === 0) return `${words.noTools}\n${labels.final}`
  const list = tools.map((tool) => describe(tool, labels, words)).join("\n")
  return `${words.tools}\n${list}\n\n${words.toCall}\n${labels.thought}${words.oneLine}\n${labels.action}${words.name}\n${labels.input}${words.object}\n\n${words.toAnswer}\n${labels.thought}${words.oneLine}\n${labels.final}${words.answer}\n\n${words.rules}`
}

/**
 * A worked example as turns of their own, before the conversation: small models follow what was said far better than what was described
 * (tried once by hand with a 135M model: the right call for two of four questions instead of none). It holds no fact that could be taken for one.
 */
export function workedExample(tools: readonly ToolSpec[], language: PromptLanguage): readonly Message[] {
  const [tool] = tools
  if (tool === undefined) return []
  const labels = LABELS[language]
  const words = WORDS[language]
  const sample = sampleOf(tool)
  const values = Object.values(sample).filter((value) => typeof value !== "object")
  return [
    { role: "user", content: `${tool.name.replace(/_/g, " ")} ${values.join(" ")} ${words.anExample}` },
    { role: "assistant", content: `${labels.thought}${words.first(tool.name)}\n${labels.action}${tool.name}\n${labels.input}${JSON.stringify(sample)}` },
    { role: "user", content: `${labels.observation}${words.exampleResult}` },
    { role: "assistant", content: `${labels.thought}${words.known}\n${labels.final}${words.resultIs}${words.exampleResult}` },
  ]
}

interface Words {
  readonly noTools: string
  readonly tools: string
  readonly toCall: string
  readonly toAnswer: string
  readonly oneLine: string
  readonly name: string
  readonly object: string
  readonly answer: string
  readonly rules: string
  readonly optional: string
  readonly oneOf: string
  readonly anExample: string
  readonly first: (tool: string) => string
  readonly exampleResult: string
  readonly known: string
  readonly resultIs: string
}

const WORDS: { readonly [language in PromptLanguage]: Words } = {
  en: {
    noTools: "You have no tools. Begin your answer with the label:",
    tools: "Tools:",
    toCall: "To use a tool, reply in this form, and stop:",
    toAnswer: "When an Observation has told you what you need, reply in this form:",
    oneLine: "one line",
    name: "name of a tool",
    object: "one JSON object",
    answer: "the answer",
    rules: "Observations are written by the system, never by you. Use only facts from observations and from the user. If a tool fails, say so.",
    optional: "optional",
    oneOf: "one of",
    anExample: "(an example)",
    first: (tool) => `I need ${tool} first.`,
    exampleResult: "example result",
    known: "Now I know it.",
    resultIs: "The result is: ",
  },
  zh: {
    noTools: "你没有工具。请用以下标签开始回答：",
    tools: "工具：",
    toCall: "要使用工具，请按以下格式回复，然后停止：",
    toAnswer: "当观察给出了所需信息后，请按以下格式回复：",
    oneLine: "一行",
    name: "工具名",
    object: "一个 JSON 对象",
    answer: "答案",
    rules: "观察由系统写出，不要自己写。只使用观察和用户给出的事实。如果工具失败，请说明。",
    optional: "可选",
    oneOf: "其中之一",
    anExample: "（示例）",
    first: (tool) => `我先需要 ${tool}。`,
    exampleResult: "示例结果",
    known: "现在我知道了。",
    resultIs: "结果是：",
  },
}

function describe(tool: ToolSpec, labels: Labels, words: Words): string {
  const details = detailsOf(tool.schema, words)
  return `- ${tool.name}: ${tool.description.replace(/\s+/g, " ").trim()} ${labels.input}${JSON.stringify(sampleOf(tool))}${details === "" ? "" : ` (${details})`}`
}

/** What an example cannot show: optional arguments, choices, nested shapes. */
function detailsOf(schema: JsonSchema, words: Words): string {
  const required = new Set(Array.isArray(schema["required"]) ? schema["required"] : [])
  const properties = typeof schema["properties"] === "object" && schema["properties"] !== null ? Object.entries(schema["properties"]) : []
  const lines = properties.map(([name, property]: [string, JsonSchema]) => {
    const kinds = [required.has(name) ? "" : words.optional, Array.isArray(property["enum"]) ? `${words.oneOf} ${property["enum"].join(", ")}` : nestedShape(property)]
    const told = kinds.filter((kind) => kind !== "").join(", ")
    return told === "" ? "" : `${name}: ${told}`
  })
  return lines.filter((line) => line !== "").join("; ")
}

function nestedShape(property: JsonSchema): string {
  return ["object", "array"].includes(String(property["type"])) || "anyOf" in property || "$ref" in property ? JSON.stringify(property) : ""
}

function sampleOf(tool: ToolSpec): object {
  const sample = tool.examples[0] ?? exampleOf(tool.schema)
  return typeof sample === "object" && sample !== null ? sample : {}
}
