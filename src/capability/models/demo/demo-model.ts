// The demo model: picks tools by comparing words, fills arguments from the text, answers from the results. Deterministic, and no language model.
// Given to runs by the CLI and the examples when no key is set. Words, arguments and answers stand in the files beside it.
import type { Message, ToolCall } from "../../../contract/message.ts"
import { textOf } from "../../../contract/message.ts"
import type { ModelEvent, ModelRequest, ToolSpec } from "../../../contract/model.ts"
import type { Model } from "../../../contract/ports.ts"
import type { Missing, Step } from "./answer.ts"
import { answerFrom, dismissed, findKey, offer, parsed, shaped, stateOf } from "./answer.ts"
import type { Filled, Scope } from "./arguments.ts"
import { fill } from "./arguments.ts"
import type { Parameter } from "./parameters.ts"
import { idExamplesOf, parametersOf } from "./parameters.ts"
import type { Language } from "./words.ts"
import { conceptOf, languageOf, wordsOf } from "./words.ts"

const NAME = "demo"
const DISCLAIMER = "not an LLM: a rule-based demo model that matches words. Set LLM_MODEL and LLM_API_KEY to use a real model."
/** Characters of a message that are read. */
const READ_CHARS = 4000
/** What a matching word is worth by where the tool has it, and from which sum a tool is picked (a second one in the same request: more). */
const WEIGHTS = { name: 3, description: 1.5, parameter: 0.75, evidence: 2, missing: -0.25 }
const PICK_FROM = 1.2
const SECOND_FROM = 2.5
const OLDER_TEXTS = 3

const CORRECTION = /\b(?:no,? wait|wait,? no|i mean(?:t)?|actually|correction|make (?:it|that)|rather)\b[,:]?|说错了|不对|更正|应该是|改成|改为|不是.{1,20}?而是/gi
const NEGATED = /\b(?:not|instead of|rather than|except)(?: (?:the|order|for|in|from))? [\w-]+|(?<!是)不是 ?[\p{L}\d-]{1,12}(?=[,，])/giu
const DISMISSED =
  /^\W*(?:(?:oh|ok|okay|actually|please|no|sorry)[\s,]+)*(?:never ?mind|forget (?:it|that|about|the)|no need|don't (?:bother|need|want|do)|do not (?:bother|need|want|do)|skip (?:it|that|the)|cancel that)|^(?:算了|不用|不需要|先别|别查|别管|不要了)/i
const REFERS = /\b(?:it|its|that|this|them|they|those|the same)\b|它|这个|那个|这单|这笔|该|上述|刚才|同一/i
const CLAUSE = /[,，;；。！？!?\n]|\.(?=\s|$)|\b(?:and|then|also|plus)\b|然后|并且|再帮|以及|还有|另外|顺便/gi
/** Sentences of a description that say when to use a tool or what it is not for, not what it does. */
const ASIDE = /\b(?:do not|don't|never|not for|cannot|only (?:after|when|if)|use it (?:before|after|when)|before|after)\b|不要|不能|不用于|不适用|仅在|之前|之后/i

interface Exchange {
  readonly text: string
  readonly steps: readonly Step[]
}
interface Choice {
  readonly tool: ToolSpec
  readonly score: number
  /** A word of the tool was said; else only a value fits it. */
  readonly named: boolean
  readonly because: readonly string[]
}
/** A tool that the request asks for, with the texts its arguments come from, nearest first. */
interface Wish {
  readonly tool: ToolSpec
  readonly texts: readonly string[]
  readonly optionalFrom: number
  readonly named: boolean
  readonly because: readonly string[]
}
type Decision = { readonly type: "calls"; readonly calls: readonly ToolCall[]; readonly note: string } | { readonly type: "answer"; readonly text: string }

/** Runs agents without a key. What it says comes from tool results, its own few set phrases, and the question; it holds no knowledge. */
export function demoModel(): Model {
  return {
    name: NAME,
    disclaimer: DISCLAIMER,
    ask: async function* (request) {
      if (request.signal.aborted) return
      const decision = decide(request)
      if (decision.type === "calls") {
        yield { type: "note", note: decision.note }
        yield { type: "reply", reply: { text: "", reasoning: "", calls: decision.calls, finish: "tool_calls", usage: null } }
        return
      }
      if (request.stream) yield* inWords(decision.text, request.signal)
      if (!request.signal.aborted) yield { type: "reply", reply: { text: decision.text, reasoning: "", calls: [], finish: "stop", usage: null } }
    },
  }
}

function decide(request: ModelRequest): Decision {
  const exchanges = exchangesOf(request.messages)
  const latest = exchanges.at(-1) ?? { text: "", steps: [] }
  const language = languageFor(exchanges)
  const scope: Scope = { today: todayIn(`${request.instructions}\n${request.notes}`), examples: idExamplesOf(request.tools), optionalFrom: 1 }
  const wishes = wishesOf(request, exchanges, scope)
  const { calls, missing, because } = settle(wishes, { request, exchanges, scope })
  if (calls.length > 0) return { type: "calls", calls, note: `demo model picked ${because.join("; ")}` }
  const asked = { text: latest.text, language }
  const answer =
    latest.steps.length + missing.length > 0
      ? answerFrom(latest.steps, missing, asked)
      : isDismissal(latest.text)
        ? dismissed(language)
        : offer(request.tools, { language, greeting: wordsOf(latest.text).size === 0 })
  if (request.output === null) return { type: "answer", text: answer }
  return { type: "answer", text: JSON.stringify(shaped(request.output, { steps: latest.steps, text: latest.text, answer, scope })) }
}

// ── which tools ──

/** What the latest message asks for; an older message only completes it ("and Tokyo?"), it never competes. */
function wishesOf({ tools, settings }: ModelRequest, exchanges: readonly Exchange[], scope: Scope): Wish[] {
  const { text, steps } = exchanges.at(-1) ?? { text: "", steps: [] }
  const choice = settings.toolChoice ?? "auto"
  if (choice === "none" || tools.length === 0 || text === "") return []
  if (typeof choice === "object")
    return tools.filter((tool) => tool.name === choice.tool).map((tool) => ({ tool, texts: [text], optionalFrom: 1, named: true, because: ["asked for by the setting"] }))
  if (isDismissal(text) && kept(text) === "") return []
  const earlier = exchanges.slice(0, -1)
  const own = segments(kept(text), tools, scope)
  // A bare value answers the question that was just asked; it does not repeat an action that was already taken.
  const wasAsked = earlier.length > 0 && earlier.at(-1)?.steps.length === 0
  const prior = own.length === 0 || (wasAsked && !own.some((wish) => wish.named)) ? followUp(text, { tools, earlier, scope }) : null
  if (prior) return [prior]
  if (own.length > 0) return own.map((wish) => completed(wish, earlier, scope))
  const any = choice === "required" && steps.length === 0 ? rank(text, tools, scope).find(({ tool }) => fill(tool, [text], scope).missing.length === 0) : undefined
  return any ? [{ tool: any.tool, texts: [text], optionalFrom: 1, named: false, because: ["some tool is required"] }] : []
}

/** Cuts a request into parts that ask for different tools. A part that asks for none belongs to the one before it. */
function segments(text: string, tools: readonly ToolSpec[], scope: Scope): Wish[] {
  const parts: { choice: Choice | null; start: number; end: number }[] = []
  for (const { start, end } of clausesOf(text)) {
    const best = rank(text.slice(start, end), tools, scope)[0]
    const last = parts.at(-1)
    const choice = best && best.score >= (last?.choice ? SECOND_FROM : PICK_FROM) ? best : null
    if (last && (choice === null || last.choice === null || choice.tool === last.choice.tool)) parts[parts.length - 1] = { choice: last.choice ?? choice, start: last.start, end }
    else parts.push({ choice, start, end })
  }
  const chosen = parts.flatMap(({ choice, start, end }) => (choice ? [{ choice, text: text.slice(start, end) }] : []))
  if (chosen.length === 0) {
    const whole = rank(text, tools, scope)[0]
    if (whole && whole.score >= PICK_FROM) chosen.push({ choice: whole, text })
  }
  return chosen.map(({ choice, text: part }) => {
    const texts = correctedFirst(part)
    return { tool: choice.tool, texts: part === text ? texts : [...texts, text], optionalFrom: texts.length, named: choice.named, because: choice.because }
  })
}

function clausesOf(text: string): { start: number; end: number }[] {
  const marks = [...text.matchAll(CLAUSE)].map((match) => match.index + match[0].length)
  return [...marks, text.length].map((end, index) => ({ start: marks[index - 1] ?? 0, end })).filter(({ start, end }) => text.slice(start, end).trim() !== "")
}

function rank(text: string, tools: readonly ToolSpec[], scope: Scope): Choice[] {
  const said = wordsOf(text)
  const described = tools.map((tool) => ({
    name: wordsOf(tool.name),
    description: wordsOf(purposeOf(tool)),
    parameters: new Set(parametersOf(tool).flatMap((one) => [...one.words])),
  }))
  const choices = tools.map((tool, index): Choice => {
    const own = described[index]
    const because: string[] = []
    let score = 0
    for (const word of said) {
      const weight = own?.name.has(word) ? WEIGHTS.name : own?.description.has(word) ? WEIGHTS.description : own?.parameters.has(word) ? WEIGHTS.parameter : 0
      if (weight === 0) continue
      // A word that many tools share tells little about which one is meant.
      score += weight / Math.sqrt(described.filter((other) => other.name.has(word) || other.description.has(word)).length || 1)
      because.push(word)
    }
    const named = because.length > 0
    const filled = fill(tool, [text], scope)
    if (filled.evidence > 0) because.push(...Object.values(filled.args).map(String))
    score += filled.evidence * WEIGHTS.evidence
    return { tool, named, score: score > 0 ? score + filled.missing.length * WEIGHTS.missing : 0, because }
  })
  return choices.sort((a, b) => b.score - a.score)
}

function purposeOf({ description }: ToolSpec): string {
  const sentences = description.split(/[.。!！\n]/)
  return sentences.filter((sentence, index) => index === 0 || !ASIDE.test(sentence)).join(" ")
}

/** A message that names no tool but gives a new value for the last one, or points back at it. */
function followUp(text: string, { tools, earlier, scope }: { tools: readonly ToolSpec[]; earlier: readonly Exchange[]; scope: Scope }): Wish | null {
  for (const older of earlier.toReversed()) {
    const wish = segments(kept(older.text), tools, scope).at(-1)
    // A bare value that answered a question is part of the request before it.
    if (!wish || (!wish.named && older.steps.length === 0)) continue
    const given = fill(wish.tool, [text], scope)
    const answers = Object.keys(given.args).some((name) => parametersOf(wish.tool).find((one) => one.name === name)?.kind !== "text") || older.steps.length === 0
    if (wordsOf(text).size + Object.keys(given.args).length === 0 || !(answers || REFERS.test(text))) return null
    if (Object.keys(given.args).length === 0 && !REFERS.test(text)) return null
    const since = earlier.slice(earlier.indexOf(older)).toReversed()
    return { tool: wish.tool, texts: [...correctedFirst(text), ...since.map((one) => kept(one.text))], optionalFrom: 9, named: wish.named, because: ["the request before"] }
  }
  return null
}

/** Older messages that led to no call, and the one that is being corrected, say what the latest leaves out. */
function completed(wish: Wish, earlier: readonly Exchange[], scope: Scope): Wish {
  if (fill(wish.tool, wish.texts, scope).missing.length === 0) return wish
  const older: string[] = []
  for (const { text, steps } of earlier.slice(-OLDER_TEXTS).toReversed()) {
    if (steps.length > 0) break
    older.push(text)
  }
  const corrected = earlier.at(-1)
  if (older.length === 0 && corrected && correctedFirst(wish.texts[0] ?? "").length > 1) older.push(corrected.text)
  return { ...wish, texts: [...wish.texts, ...older] }
}

// ── which calls ──

interface Settled {
  readonly calls: readonly ToolCall[]
  readonly missing: readonly Missing[]
  readonly because: readonly string[]
}

/** Calls that can be made now. One with something missing waits for results, or for a tool that may find it; in the end it is asked for. */
function settle(wishes: readonly Wish[], { request, exchanges, scope }: { request: ModelRequest; exchanges: readonly Exchange[]; scope: Scope }): Settled {
  const steps = exchanges.at(-1)?.steps ?? []
  const calls: ToolCall[] = []
  const missing: Missing[] = []
  const because: string[] = []
  const planned = new Map<string, number>()
  const add = (tool: ToolSpec, args: Filled["args"], why: readonly string[]): void => {
    const count = (planned.get(tool.name) ?? 0) + 1
    planned.set(tool.name, count)
    if (steps.filter((step) => step.tool === tool.name).length >= count) return
    calls.push({ id: `demo_${steps.length + calls.length + 1}`, name: tool.name, arguments: JSON.stringify(args) })
    because.push(`${tool.name} (${why.join(", ")})`)
  }
  const unfilled: { wish: Wish; parameters: readonly Parameter[] }[] = []
  for (const wish of wishes) {
    const filled = fill(wish.tool, wish.texts, { ...scope, optionalFrom: wish.optionalFrom })
    const found = Object.fromEntries(filled.missing.flatMap((one) => foundFor(one, exchanges)))
    const parameters = filled.missing.filter((one) => !(one.name in found))
    if (parameters.length > 0 && !steps.some((step) => step.tool === wish.tool.name)) {
      unfilled.push({ wish, parameters })
      continue
    }
    const args = { ...filled.args, ...found }
    add(wish.tool, args, wish.because)
    for (const value of filled.more?.values ?? []) add(wish.tool, { ...args, [filled.more?.name ?? ""]: value }, wish.because)
  }
  for (const { wish, parameters } of unfilled) {
    const source = calls.length > 0 ? undefined : sourceFor(wish, { tools: request.tools, steps, scope })
    if (source) add(source.tool, source.args, [`may know ${parameters.map((one) => one.name).join(", ")}`])
    else missing.push({ tool: wish.tool, parameters })
  }
  return { calls, missing, because }
}

/** Another tool that the text fills without doubt, and that has not been asked yet. */
function sourceFor(
  wish: Wish,
  { tools, steps, scope }: { tools: readonly ToolSpec[]; steps: readonly Step[]; scope: Scope },
): { tool: ToolSpec; args: Filled["args"] } | undefined {
  for (const tool of tools) {
    if (tool === wish.tool || steps.some((step) => step.tool === tool.name)) continue
    const { args, missing, evidence } = fill(tool, wish.texts, scope)
    if (evidence > 0 && missing.length === 0) return { tool, args }
  }
  return undefined
}

/** From this exchange's results; from older ones only where the message points back ("cancel it", "the order"). */
function foundFor(parameter: Parameter, exchanges: readonly Exchange[]): [string, unknown][] {
  const latest = exchanges.at(-1)
  if (!latest) return []
  const pointed = REFERS.test(latest.text) || [...latest.text.toLowerCase().matchAll(/\bthe ([a-z]+)/g)].some(([, word = ""]) => parameter.nameWords.has(conceptOf(word)))
  for (const exchange of pointed ? exchanges.toReversed() : [latest]) {
    for (const { args, result } of exchange.steps.toReversed()) {
      if (parameter.name in args) return [[parameter.name, args[parameter.name]]]
      const value = stateOf(result) === "ok" ? fromResult(parameter, parsed(result)) : undefined
      if (value !== undefined) return [[parameter.name, value]]
    }
  }
  return []
}

function fromResult(parameter: Parameter, result: unknown): unknown {
  const bare = parameter.name.replace(/_?(?:id|Id|code|number)$/, "")
  const value = findKey(result, parameter.name) ?? (bare === "" ? undefined : findKey(result, bare))
  if (typeof value === "object" && value !== null) return findKey(value, "id") ?? findKey(value, "name")
  return value
}

// ── reading the conversation ──

/** A message of a person opens an exchange; the runtime's own notices do not. */
function exchangesOf(messages: readonly Message[]): Exchange[] {
  const exchanges: { text: string; steps: Step[] }[] = []
  const calls = new Map<string, ToolCall>()
  for (const message of messages) {
    if (message.role === "user" && message.notice !== true) exchanges.push({ text: textOf(message.content).slice(0, READ_CHARS), steps: [] })
    if (message.role === "assistant") for (const call of message.calls ?? []) calls.set(call.id, call)
    const call = message.role === "tool" ? calls.get(message.callId) : undefined
    if (message.role !== "tool" || !call) continue
    const args = parsed(call.arguments)
    exchanges.at(-1)?.steps.push({ tool: call.name, args: typeof args === "object" && args !== null ? (args as Step["args"]) : {}, result: message.content })
  }
  return exchanges
}

/** The language of the latest message that has words, since "A1002" alone has none. */
function languageFor(exchanges: readonly Exchange[]): Language {
  const worded = exchanges.findLast(({ text }) => languageOf(text) === "zh" || /(?<![\p{L}\d])[a-z]{2,}(?![\p{L}\d])/u.test(text))
  return languageOf(worded?.text ?? exchanges.at(-1)?.text ?? "")
}

function isDismissal(text: string): boolean {
  return DISMISSED.test(text.trim())
}

/** The text without clauses that take something back and without values that are ruled out ("not A1001"). */
function kept(text: string): string {
  const clauses = clausesOf(text).map(({ start, end }) => text.slice(start, end))
  return clauses
    .filter((clause) => !isDismissal(clause))
    .join("")
    .replace(NEGATED, " ")
    .trim()
}

/** What follows the last "I meant", then the whole: values are taken from the correction first. */
function correctedFirst(text: string): string[] {
  const mark = [...text.matchAll(CORRECTION)].at(-1)
  const after = mark ? text.slice(mark.index + mark[0].length).trim() : ""
  return after === "" ? [text] : [after, text]
}

function todayIn(text: string): string | null {
  return /(?:today|date|今天|日期)[^\d\n]{0,20}(\d{4}-\d{2}-\d{2})/i.exec(text)?.[1] ?? null
}

function* inWords(text: string, signal: AbortSignal): Generator<ModelEvent> {
  for (const [piece] of text.matchAll(/\p{Script=Han}{1,2}|[^\s\p{Script=Han}]+\s*|\s+/gu)) {
    if (signal.aborted) return
    yield { type: "text", text: piece }
  }
}
