// Puts tool results into words, in the language of the question, and says plainly what failed, what is missing and what is possible.
// Used by demo-model.ts. Adds nothing that the results do not say.
import type { ToolSpec } from "../../../contract/model.ts"
import type { JsonSchema } from "../../../contract/schema.ts"
import type { Scope } from "./arguments.ts"
import { fill } from "./arguments.ts"
import type { Parameter } from "./parameters.ts"
import { parametersOf } from "./parameters.ts"
import type { Language } from "./words.ts"
import { inChinese, wordsOf } from "./words.ts"

/** Lines and characters that an answer spends on one result. */
const LIMITS = { lines: 14, items: 10, text: 1200, inline: 160 }
const NOT_FOUND = /\bnot found\b|\bno such\b|\bdoes(?: not|n't) exist\b|\bthere is no\b|\bno [\w ]{1,40} (?:found|exists|matches)\b|未找到|没有找到|找不到|不存在|查无|没有这/i

/** A call of this exchange with what came back. */
export interface Step {
  readonly tool: string
  readonly args: { readonly [name: string]: unknown }
  readonly result: string
}
export interface Missing {
  readonly tool: ToolSpec
  readonly parameters: readonly Parameter[]
}
export type ResultState = "ok" | "empty" | "failed" | "uncertain"

/** How a result reads: our own runtime's prefixes first, then the usual shapes of an error in JSON or text. */
export function stateOf(result: string): ResultState {
  const text = result.trim()
  if (/^unknown:/i.test(text)) return "uncertain"
  const value = parsed(text)
  if (Array.isArray(value)) return value.length === 0 ? "empty" : "ok"
  if (typeof value === "object" && value !== null) return stateOfObject(value as Record<string, unknown>)
  if (text === "" || /^no data:/i.test(text)) return "empty"
  if (/^(?:error|failed|failure|exception|timeout|timed out|refused|rejected|not run|could not|cannot|unable|invalid|错误|失败|无法|超时|拒绝)/i.test(text))
    return NOT_FOUND.test(text) ? "empty" : "failed"
  return text.length < 300 && NOT_FOUND.test(text) ? "empty" : "ok"
}

export function answerFrom(steps: readonly Step[], missing: readonly Missing[], asked: { text: string; language: Language }): string {
  const parts = [...steps.map((step) => tell(step, asked)), ...missing.map((one) => askFor(one, asked.language))]
  return parts.join("\n\n")
}

/** What can be done here: for a request that fits no tool, or for a greeting. */
export function offer(tools: readonly ToolSpec[], { language, greeting }: { language: Language; greeting: boolean }): string {
  const zh = language === "zh"
  if (tools.length === 0)
    return zh
      ? "我是演示模型，不是语言模型；这里没有可用的工具，所以我回答不了。"
      : "I am a demo model, not a language model, and there is no tool here that I could use, so I cannot answer that."
  const opening = greeting
    ? zh
      ? "您好，我是演示模型，不是语言模型。"
      : "I am a demo model, not a language model."
    : zh
      ? "这个问题没有合适的工具可以回答。"
      : "None of my tools fits that."
  return `${opening}${zh ? "我能做的有：" : " What I can do:"}\n${tools.map((tool) => `- ${tool.name}: ${firstSentence(tool.description)}`).join("\n")}`
}

export function dismissed(language: Language): string {
  return language === "zh" ? "好的，那就不处理了。还需要什么请告诉我。" : "All right, I leave it. Tell me if you need anything else."
}

/** A value of the wanted shape: from results and their arguments, then from the question, else empty values. `answer` goes where a text is asked for. */
export function shaped(schema: JsonSchema, known: { steps: readonly Step[]; text: string; answer: string; scope: Scope }): unknown {
  if (typeof schema.properties !== "object" || schema.properties === null) return emptyOf(schema, known.answer)
  const sources = [...known.steps.filter((step) => stateOf(step.result) === "ok").map((step) => parsed(step.result)), ...known.steps.map((step) => step.args)]
  const tool: ToolSpec = { name: "output", description: "", schema, examples: [] }
  const said = fill(tool, [known.text], known.scope).args
  const entries = parametersOf(tool).map((one) => {
    const found = sources.map((source) => findKey(source, one.name)).find((value) => value !== undefined && fits(value, one.schema))
    // Names and texts of a question are seldom what a field of the answer means, unless there was nothing else to read.
    const isClear = known.steps.length === 0 ? one.kind !== "text" : !["text", "name", "list", "object"].includes(one.kind)
    return [one.name, found ?? (isClear ? said[one.name] : undefined) ?? emptyOf(one.schema, known.answer)]
  })
  return Object.fromEntries(entries)
}

/** The value under this key, wherever it stands. */
export function findKey(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null) return undefined
  if (!Array.isArray(value) && key in value) return (value as Record<string, unknown>)[key]
  for (const inner of Object.values(value)) {
    const found = findKey(inner, key)
    if (found !== undefined) return found
  }
  return undefined
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function stateOfObject(value: Record<string, unknown>): ResultState {
  if (value.found === false) return "empty"
  const error = value.error ?? value.errors
  const failed = (error !== undefined && error !== null && error !== false && error !== "") || value.ok === false || value.success === false || value.status === "error"
  if (failed) return NOT_FOUND.test(JSON.stringify(value)) ? "empty" : "failed"
  return value.status === "not_found" ? "empty" : "ok"
}

function tell(step: Step, { text, language }: { text: string; language: Language }): string {
  const what = `${step.tool}${argumentsText(step.args, language)}`
  const said = shorten(plainError(step))
  switch (stateOf(step.result)) {
    case "ok":
      return ok(what, parsed(step.result), { text, language })
    case "empty":
      return language === "zh" ? `${what}没有找到结果：${said}` : `${what} found nothing: ${said}`
    case "failed":
      return language === "zh"
        ? `${what}没有成功：${said}\n所以这一点我无法回答，也没有任何结果得到确认。`
        : `${what} did not work: ${said}\nSo I cannot answer that, and nothing has been confirmed.`
    case "uncertain":
      return language === "zh"
        ? `${what}是否已经执行并不确定：${said}\n请先核实，再决定是否重试。`
        : `It is not certain whether ${what} took effect: ${said}\nPlease check before trying again.`
  }
}

function ok(what: string, value: unknown, asked: { text: string; language: Language }): string {
  const zh = asked.language === "zh"
  if (typeof value !== "object" || value === null) return zh ? `${what}的结果：${shorten(String(value))}` : `${what} says: ${shorten(String(value))}`
  const lines = Array.isArray(value) ? listLines(value, asked.language) : fieldLines(value as Record<string, unknown>, asked)
  const shown = lines.slice(0, LIMITS.lines)
  if (lines.length > shown.length) shown.push(zh ? `- …还有 ${lines.length - shown.length} 项` : `- …and ${lines.length - shown.length} more`)
  return `${zh ? `${what}的结果：` : `${what} says:`}\n${shown.join("\n")}`
}

/** One line per field; those that the question names come first. */
function fieldLines(value: Record<string, unknown>, { text, language }: { text: string; language: Language }): string[] {
  const asked = wordsOf(text)
  const named = (key: string) => [...wordsOf(key)].some((word) => asked.has(word))
  const entries = Object.entries(value).filter(([, inner]) => inner !== null && inner !== undefined)
  const ordered = [...entries.filter(([key]) => named(key)), ...entries.filter(([key]) => !named(key))]
  return ordered.flatMap(([key, inner]) => {
    const label = `- ${labelOf(key, language)}`
    if (Array.isArray(inner) && inner.some((item) => typeof item === "object")) return [`${label}:`, ...listLines(inner, language).map((line) => `  ${line}`)]
    return [`${label}: ${inline(inner, language)}`]
  })
}

function listLines(values: readonly unknown[], language: Language): string[] {
  const lines = values.slice(0, LIMITS.items).map((value) => `- ${inline(value, language)}`)
  if (values.length > LIMITS.items) lines.push(language === "zh" ? `- …还有 ${values.length - LIMITS.items} 项` : `- …and ${values.length - LIMITS.items} more`)
  return lines
}

function inline(value: unknown, language: Language): string {
  if (Array.isArray(value)) return value.map((inner) => inline(inner, language)).join(", ")
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).filter(([, inner]) => inner !== null)
    return shorten(entries.map(([key, inner]) => `${labelOf(key, language)} ${inline(inner, language)}`).join(", "), LIMITS.inline)
  }
  const text = shorten(String(value))
  const translated = language === "zh" && /^[a-z][a-z _-]{2,30}$/.test(text) ? inChinese(text) : null
  return translated === null ? text : `${text}（${translated}）`
}

function labelOf(key: string, language: Language): string {
  const plain = key.replace(/[_-]/g, " ")
  return language === "zh" ? (inChinese(key) ?? plain) : plain
}

function argumentsText(args: Step["args"], language: Language): string {
  const said = Object.entries(args).map(([name, value]) => `${labelOf(name, language)} ${shorten(typeof value === "string" ? value : JSON.stringify(value), 60)}`)
  if (said.length === 0) return ""
  return language === "zh" ? `（${said.join("，")}）` : ` (${said.join(", ")})`
}

function askFor({ tool, parameters }: Missing, language: Language): string {
  const zh = language === "zh"
  const wanted = parameters.map(({ name, description }) => (description === "" ? name : zh ? `${name}（${description}）` : `${name} (${description})`))
  return zh ? `要使用 ${tool.name}，还需要您告诉我：${wanted.join("、")}。` : `To use ${tool.name} I still need: ${wanted.join(", ")}. Could you tell me?`
}

function plainError({ tool, result }: Step): string {
  const value = parsed(result)
  if (typeof value !== "object" || value === null)
    return result
      .replace(/^(?:error|unknown|no data):\s*/i, "")
      .replace(`${tool} failed: `, "")
      .trim()
  const error = findKey(value, "error") ?? findKey(value, "message") ?? value
  return typeof error === "string" ? error : JSON.stringify(error)
}

function firstSentence(description: string): string {
  return /^[^.。!！\n]{1,200}/.exec(description)?.[0].trim() ?? ""
}

function shorten(text: string, limit: number = LIMITS.text): string {
  return text.length > limit ? `${text.slice(0, limit)}…` : text
}

function fits(value: unknown, { type, enum: options }: JsonSchema): boolean {
  if (Array.isArray(options)) return options.includes(value)
  if (type === "integer" || type === "number") return typeof value === "number"
  if (type === "array") return Array.isArray(value)
  return type === undefined || (typeof value === type && !Array.isArray(value))
}

function emptyOf(schema: JsonSchema, answer: string): unknown {
  if ("default" in schema) return schema.default
  if (Array.isArray(schema.enum)) return schema.enum[0]
  if ("const" in schema) return schema.const
  switch (schema.type) {
    case "string":
      return answer
    case "number":
    case "integer":
      return typeof schema.minimum === "number" ? schema.minimum : 0
    case "boolean":
      return false
    case "array":
      return []
    case "object":
      return Object.fromEntries(Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>).map(([name, inner]) => [name, emptyOf(inner, answer)]))
    default:
      return Array.isArray(schema.type) && schema.type.includes("null") ? null : answer
  }
}
