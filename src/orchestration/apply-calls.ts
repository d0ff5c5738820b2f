// The part of the fold that follows single tool calls through their stages: asked → ready | waiting → started → done. Called by apply.ts.
import type { AnswerGiven, StoredEvent } from "../contract/event.ts"
import type { Call, Stage, State } from "../contract/state.ts"

type EventOf<Type extends StoredEvent["type"]> = Extract<StoredEvent, { type: Type }>

/** True if the call may run twice under one key without harm. */
export function mayRunAgain(call: Call): boolean {
  return call.hints.readOnly === true || call.hints.idempotent === true
}

function find(state: State, callId: string): Call | null {
  if (state.phase.type !== "tools") return null
  return state.phase.calls.find(({ call }) => call.id === callId) ?? null
}

export function checkCall(state: State, event: EventOf<"tool_check">): void {
  const call = find(state, event.callId)
  if (call === null) return
  call.key = event.key
  call.hints = event.hints
  call.allowRepeats = event.allowRepeats
  call.retries = event.retries
  switch (event.verdict.type) {
    case "run":
      call.stage = { type: "ready" }
      return
    case "refuse":
      // the step that a person allowed was this call's; it must not pass on to something that nobody has seen
      if (state.step === "go") state.step = "ask"
      call.stage = { type: "done", outcome: event.verdict.outcome }
      return
    case "ask":
      call.stage = { type: "waiting", reason: "approval", question: event.verdict.question, arguments: event.verdict.arguments, expiresAt: event.verdict.expiresAt }
      return
    default:
      event.verdict satisfies never
  }
}

export function startCall(state: State, event: EventOf<"tool_start">): void {
  const call = find(state, event.callId)
  if (call === null) return
  call.attempts = event.attempt
  call.stage = { type: "started", idempotencyKey: event.idempotencyKey }
}

export function endCall(state: State, event: EventOf<"tool_end">): void {
  const call = find(state, event.callId)
  if (call === null) return
  const { outcome } = event
  if (outcome.type === "later") {
    call.stage = { type: "waiting", reason: "input", question: outcome.text, arguments: null, expiresAt: null }
    return
  }
  const again = outcome.type === "failed" && outcome.retryable && call.attempts <= call.retries && state.status.type === "running"
  call.stage = again ? { type: "ready" } : { type: "done", outcome }
}

/** Judged by the open question that the answer names; an answer to anything else changes nothing. */
export function answerCall(state: State, { id, answer, at }: EventOf<"answer_given">): void {
  const call = find(state, id)
  const stage = call === null ? null : stageAfter(call, answer, at)
  if (call === null || stage === null) return
  call.stage = stage
  if (answer.type === "approve") {
    call.approved = true
    if (answer.arguments !== null) call.call = { ...call.call, arguments: answer.arguments }
  }
  settleQuestion(state, id)
}

/** Takes an answered question off the list; with the last one the run goes on. */
export function settleQuestion(state: State, id: string): void {
  if (state.status.type !== "paused") return
  const waiting = state.status.waiting.filter((question) => question.id !== id)
  state.status = waiting.length === 0 ? { type: "running" } : { type: "paused", waiting }
}

/** null: the answer does not fit what is open. */
function stageAfter({ stage }: Call, answer: AnswerGiven, at: number): Stage | null {
  if (stage.type === "waiting" && stage.reason === "approval") {
    if (answer.type === "reject") return done(`Not run: a person rejected this call. Reason: ${answer.reason}`)
    if (answer.type !== "approve") return null
    if (stage.expiresAt !== null && at > stage.expiresAt) return done("Not run: the approval came after its time had run out.")
    // edited arguments are parsed and checked again
    return answer.arguments === null ? { type: "ready" } : { type: "asked" }
  }
  if (stage.type === "waiting")
    return answer.type === "reply"
      ? { type: "done", outcome: { type: "ok", text: answer.text, context: null, handoff: null } }
      : answer.type === "reject"
        ? done(answer.reason)
        : null
  // before a step, the arguments of a call that is about to run can still be changed
  if (stage.type === "ready" && answer.type === "approve" && answer.arguments !== null) return { type: "asked" }
  if (stage.type !== "started") return null
  if (answer.type === "retry") return { type: "ready" }
  if (answer.type === "happened") return { type: "done", outcome: answer.outcome }
  return answer.type === "did_not_happen" ? done("This call did not happen: the run was interrupted before it took effect.") : null
}

export const LOST_HANDOFF = "Not made: the conversation was handed over by an earlier call of this reply."

export function isHandoff({ stage }: Call): boolean {
  return stage.type === "done" && stage.outcome.type === "ok" && stage.outcome.handoff !== null
}

/** What the model is told of a call that has no result when its turn has to be closed. */
export function unfinishedText(call: Call): string {
  if (call.stage.type === "started") return "Unknown: the run ended while this call was under way. It may have happened; check before you repeat it."
  return "Not run: the run ended before this call began."
}

function done(text: string): Stage {
  return { type: "done", outcome: { type: "failed", text, retryable: false } }
}
