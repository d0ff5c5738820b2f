// What a model without function calling is told: its tools, the format, one worked example; in English or Chinese. Called by text-protocol.ts.
// The labels are those that labels.ts reads back.
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
  if (tools.length === 0) return `${words.noTools}\n\n${labels.final}${words.yourAnswer}`
  const list = tools.map((tool) => describe(tool, words)).join("\n")
  const [first] = tools
  const example = first === undefined ? "" : workedExample(first, labels, words)
  return `${words.intro}\n${list}\n\n${words.toCall}\n\n${labels.thought}${words.why}\n${labels.action}${words.oneName}\n${labels.input}${words.oneObject}\n\n${words.thenStop}\n\n${labels.thought}${words.enough}\n${labels.final}${words.yourAnswer}\n\n${words.example}\n\n${example}\n\n${words.rules}`
}

interface Words {
  readonly noTools: string
  readonly intro: string
  readonly arguments: string
  readonly noArguments: string
  readonly sample: string
  readonly toCall: string
  readonly why: string
  readonly oneName: string
  readonly oneObject: string
  readonly thenStop: string
  readonly enough: string
  readonly yourAnswer: string
  readonly example: string
  readonly question: string
  readonly exampleQuestion: string
  readonly exampleThought: string
  readonly exampleObservation: string
  readonly exampleAnswer: string
  readonly rules: string
}

const WORDS: { readonly [language in PromptLanguage]: Words } = {
  en: {
    noTools: "You have no tools. Write your answer in one piece, beginning with the label:",
    intro: "You can use these tools:",
    arguments: "arguments",
    noArguments: "no arguments: {}",
    sample: "such as",
    toCall: "To use a tool, write exactly these three lines and then stop:",
    why: "why you need it, in one line",
    oneName: "the name of one tool",
    oneObject: "one JSON object with its arguments",
    thenStop: "The result will be given to you after the label Observation. Never write an Observation yourself. When you know the answer, write:",
    enough: "what you know now",
    yourAnswer: "your answer to the user",
    example: "An example of the form (not of the task):",
    question: "Question: ",
    exampleQuestion: "(a question that needs this tool)",
    exampleThought: "I need a result of this tool first.",
    exampleObservation: "(the result, given by the system)",
    exampleAnswer: "(an answer that says what the observation says)",
    rules: "One action at a time. Use only facts from observations and from the user. If a tool fails, say so in your answer.",
  },
  zh: {
    noTools: "你没有工具。请用以下标签开头，一次写完答案：",
    intro: "你可以使用以下工具：",
    arguments: "参数",
    noArguments: "无参数：{}",
    sample: "例如",
    toCall: "要使用工具，请严格写以下三行，然后停止：",
    why: "为什么需要它，一行",
    oneName: "一个工具的名字",
    oneObject: "一个 JSON 对象，写它的参数",
    thenStop: "结果会在“观察”标签之后给你。不要自己写观察。知道答案后，请写：",
    enough: "你现在知道什么",
    yourAnswer: "给用户的答案",
    example: "格式示例（不是当前任务）：",
    question: "问题：",
    exampleQuestion: "（一个需要此工具的问题）",
    exampleThought: "我需要先得到这个工具的结果。",
    exampleObservation: "（系统给出的结果）",
    exampleAnswer: "（根据观察写出的答案）",
    rules: "每次只做一个行动。只使用观察和用户给出的事实。如果工具失败，请在答案中说明。",
  },
}

function describe(tool: ToolSpec, words: Words): string {
  const example = sampleOf(tool)
  const shown = example === "{}" ? words.noArguments : `${words.arguments} ${JSON.stringify(compact(tool.schema))}, ${words.sample} ${example}`
  return `- ${tool.name}: ${tool.description.replace(/\s+/g, " ").trim()} (${shown})`
}

function workedExample(tool: ToolSpec, labels: Labels, words: Words): string {
  return [
    `${words.question}${words.exampleQuestion}`,
    `${labels.thought}${words.exampleThought}`,
    `${labels.action}${tool.name}`,
    `${labels.input}${sampleOf(tool)}`,
    `${labels.observation}${words.exampleObservation}`,
    `${labels.thought}${words.enough}`,
    `${labels.final}${words.exampleAnswer}`,
  ].join("\n")
}

function sampleOf(tool: ToolSpec): string {
  return JSON.stringify(tool.examples[0] ?? exampleOf(tool.schema) ?? {})
}

/** A schema without what only machines read: short prompts are read better by small models. */
function compact(schema: JsonSchema): unknown {
  return JSON.parse(JSON.stringify(schema, (key, value) => (["additionalProperties", "$schema", "title", "default"].includes(key) ? undefined : value)))
}
