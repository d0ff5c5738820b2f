// Folds one event into the state: what was said and done becomes what is. Deterministic, without effects; called by the loop and by resume.
// Changes in place only containers that it made itself, so a step costs the same at turn 500 as at turn 5. Calls of a turn: apply-calls.ts.
import type { AnswerGiven, HistoryEdit, StoredEvent } from "../contract/event.ts"
import type { AssistantMessage, Message } from "../contract/message.ts"
import type { Usage } from "../contract/model.ts"
import type { Call, Phase, State } from "../contract/state.ts"
import { estimateMessageTokens } from "../infrastructure/tokens.ts"
import { answerCall, checkCall, endCall, isHandoff, LOST_HANDOFF, settleQuestion, startCall, unfinishedText } from "./apply-calls.ts"
import { countRepeat } from "./repeats.ts"

type EventOf<Type extends StoredEvent["type"]> = Extract<StoredEvent, { type: Type }>

const OUTSIDE: ReadonlySet<StoredEvent["type"]> = new Set(["run_start", "run_resume", "run_fork", "run_abort", "answer_given", "message_given", "thread_run", "history_edit"])
/** The question of step mode. */
export const STEP = "step"
const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0, cost: 0 }

/** The state after `event`. Pass null for the first event, which must be `run_start`. */
export function apply(state: State | null, event: StoredEvent): State {
  if (state === null) {
    if (event.type !== "run_start") throw new TypeError(`A log must begin with run_start, not ${event.type}`)
    return start(event)
  }
  if (!OUTSIDE.has(event.type)) state.activeMs += Math.max(0, event.at - state.at)
  state.seq = event.seq
  state.at = event.at
  change(state, event)
  return state
}

function change(state: State, event: StoredEvent): void {
  switch (event.type) {
    case "run_start":
      throw new TypeError("A log has one run_start, at its beginning")
    case "run_resume":
      return reopen(state, event)
    case "run_fork":
      state.runId = event.runId
      return
    case "run_abort":
      if (state.status.type === "running" || state.status.type === "paused") state.status = { type: "aborting", reason: event.reason }
      return
    case "answer_given":
      return event.id === STEP ? answerStep(state, event.answer) : answerCall(state, event)
    case "message_given":
      return giveMessage(state, event)
    case "thread_run":
      return
    case "history_edit":
      return shorten(state, event)
    case "guardrail_end":
      if (event.verdict === "stop") state.status = { type: "refused", rule: event.rule, reason: event.reason }
      return
    case "model_start":
      stepTaken(state)
      if (state.phase.type === "model" && state.phase.modelIndex !== event.modelIndex)
        state.phase = { ...newModelPhase(), modelIndex: event.modelIndex, shortened: state.phase.shortened }
      return
    case "model_end":
      return readReply(state, event)
    case "model_fail":
      if (state.phase.type === "model") state.phase.failures.push(event.failure)
      return
    case "tool_check":
      return checkCall(state, event)
    case "tool_start":
      stepTaken(state)
      return startCall(state, event)
    case "tool_end":
      return endCall(state, event)
    case "turn_end":
      return closeTurn(state, event)
    case "run_pause":
      state.status = { type: "paused", waiting: event.waiting }
      return
    case "run_end":
      return end(state, event)
    default:
      event satisfies never
  }
}

function start(event: EventOf<"run_start">): State {
  const state: State = {
    runId: event.runId,
    seq: event.seq,
    at: event.at,
    activeMs: 0,
    agent: event.agent,
    limits: event.limits,
    guarded: event.guarded,
    models: Object.fromEntries(Object.entries(event.models).map(([agent, names]) => [agent, names.length])),
    turn: 0,
    usage: NO_USAGE,
    unreported: 0,
    budgetTokens: 0,
    status: { type: "running" },
    phase: newModelPhase(),
    messages: [],
    messageTokens: 0,
    calls: 0,
    context: event.context,
    unknownReplies: 0,
    repeats: {},
    transfers: { pair: "", count: 0 },
    step: event.step ? "ask" : "off",
    inbox: [],
  }
  for (const message of event.input) {
    addMessage(state, message)
    if (message.role === "assistant") state.calls += message.calls?.length ?? 0
  }
  return state
}

function stepTaken(state: State): void {
  if (state.step === "go") state.step = "ask"
}

function answerStep(state: State, answer: AnswerGiven): void {
  if (answer.type === "step") state.step = "go"
  if (answer.type === "continue") state.step = "off"
  settleQuestion(state, STEP)
  if (answer.type === "stop") state.status = { type: "aborting", reason: "by a person, in step mode" }
}

/** A further message from outside. In the middle of a turn it waits for the turn's end: results stand directly after their calls. */
function giveMessage(state: State, event: EventOf<"message_given">): void {
  if (state.status.type === "stopped") return
  if (state.phase.type === "tools") {
    state.inbox.push(event.message)
    return
  }
  if (state.phase.type === "final") {
    addMessage(state, { role: "assistant", content: state.phase.text })
    state.phase = newModelPhase()
  }
  addMessage(state, event.message)
}

/** Takes a stopped or paused run up again. Only `reopen` wakes one that ended; it resets the breakers. */
function reopen(state: State, event: EventOf<"run_resume">): void {
  state.guarded = event.guarded
  if (event.limits !== null) state.limits = event.limits
  if (state.status.type === "stopped") {
    if (!event.reopen) return
    state.status = { type: "running" }
    state.unknownReplies = 0
    state.repeats = {}
    state.transfers = { pair: "", count: 0 }
    state.phase = newModelPhase()
  }
}

function readReply(state: State, event: EventOf<"model_end">): void {
  state.turn++
  state.usage = addUsage(state.usage, event.usage)
  state.budgetTokens += event.usage === null ? event.estimatedTokens : event.usage.inputTokens + event.usage.outputTokens
  if (event.usage === null) state.unreported++
  const { reading } = event
  state.phase = newModelPhase()
  if (reading.type === "unknown") {
    state.unknownReplies++
    if (reading.text !== "") addMessage(state, { role: "assistant", content: reading.text })
    addMessage(state, { role: "user", content: reading.feedback, notice: true })
    return
  }
  state.unknownReplies = 0
  if (reading.type === "final") {
    state.phase = { type: "final", text: reading.text }
    return
  }
  state.calls += reading.calls.length
  const calls = reading.calls.map((call): Call => ({ call, key: "", hints: {}, allowRepeats: false, retries: 0, approved: false, attempts: 0, stage: { type: "asked" } }))
  state.phase = { type: "tools", text: reading.text, reasoning: event.reasoning, calls }
}

function closeTurn(state: State, event: EventOf<"turn_end">): void {
  if (state.phase.type !== "tools") return
  enterHistory(state, state.phase)
  state.context = changedContext(state.context, event)
  state.phase = newModelPhase()
  if (event.handoff === undefined) return
  const pair = pairOf(state.agent, event.handoff)
  state.transfers = { pair, count: state.transfers.pair === pair ? state.transfers.count + 1 : 1 }
  state.agent = event.handoff
}

/** Tools hold the old context while their turn lasts, so a changed one is a new object. */
function changedContext(before: State["context"], { context, removed }: EventOf<"turn_end">): State["context"] {
  if (removed.length === 0 && Object.keys(context).length === 0) return before
  const after: State["context"] = { ...before, ...context }
  for (const key of removed) delete after[key]
  return Object.freeze(after)
}

/** The open turn enters history whole: what the model said and exactly one result per call, in call order. */
function enterHistory(state: State, phase: Extract<Phase, { type: "tools" }>): void {
  const message: AssistantMessage = {
    role: "assistant",
    content: phase.text,
    calls: phase.calls.map(({ call }) => call),
    ...(phase.reasoning !== "" && { reasoning: phase.reasoning }),
  }
  addMessage(state, message)
  const taken = phase.calls.find(isHandoff)
  for (const call of phase.calls) {
    const lost = taken !== undefined && call !== taken && isHandoff(call)
    const text = call.stage.type === "done" ? countRepeat(state, call, lost ? LOST_HANDOFF : call.stage.outcome.text) : unfinishedText(call)
    addMessage(state, { role: "tool", callId: call.call.id, content: text })
  }
  for (const waiting of state.inbox.splice(0)) addMessage(state, waiting)
}

function end(state: State, event: EventOf<"run_end">): void {
  if (state.phase.type === "tools") enterHistory(state, state.phase)
  if (event.stop.reason === "final") addMessage(state, { role: "assistant", content: event.answer })
  state.phase = newModelPhase()
  state.status = { type: "stopped", stop: event.stop, answer: event.answer, fallback: event.fallback ?? null }
}

/** Edits name places in the history as it was before; the last place is edited first, so that they do not move each other. */
function editHistory(state: State, edits: readonly HistoryEdit[]): void {
  for (const edit of edits.toSorted((first, second) => second.at - first.at)) {
    const removed = state.messages.splice(edit.at, edit.remove, ...edit.insert)
    for (const message of removed) state.messageTokens -= estimateMessageTokens(message)
    for (const message of edit.insert) state.messageTokens += estimateMessageTokens(message)
  }
}

function shorten(state: State, event: EventOf<"history_edit">): void {
  editHistory(state, event.edits)
  if (state.phase.type !== "model" || event.because === "edit") return
  state.phase.shortened = event.because
  // the failure that asked for this has been dealt with; a second one finds `shortened` set
  if (event.because === "context_length") state.phase.failures.pop()
}

function addMessage(state: State, message: Message): void {
  state.messages.push(message)
  state.messageTokens += estimateMessageTokens(message)
}

function addUsage(sum: Usage, usage: Usage | null): Usage {
  if (usage === null) return { ...sum, cost: "unknown" }
  return {
    inputTokens: sum.inputTokens + usage.inputTokens,
    outputTokens: sum.outputTokens + usage.outputTokens,
    cachedTokens: sum.cachedTokens + usage.cachedTokens,
    reasoningTokens: sum.reasoningTokens + usage.reasoningTokens,
    cost: sum.cost === "unknown" || usage.cost === "unknown" ? "unknown" : sum.cost + usage.cost,
  }
}

/** The name of a transfer between two agents, whichever way it goes. */
export function pairOf(from: string, to: string): string {
  return [from, to].sort().join(" ↔ ")
}

function newModelPhase(): Extract<Phase, { type: "model" }> {
  return { type: "model", modelIndex: 0, failures: [], shortened: null }
}
