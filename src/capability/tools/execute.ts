// Runs one tool call to an outcome: timeout, abort, effects, output schema, result text. Never throws: what goes wrong is data for the model.
// Called by orchestration/perform.ts, which has stored the intent before.
import type { ContextChanges, Outcome } from "../../contract/event.ts"
import type { SchemaResult } from "../../contract/schema.ts"
import type { ToolCallInfo, ToolDefinition } from "../../contract/tool.ts"
import { HelloAgentsError } from "../../infrastructure/errors.ts"
import { validate } from "../../infrastructure/json/json-schema.ts"
import type { AbortHub } from "../../infrastructure/abort-hub.ts"
import { letGo } from "../../infrastructure/let-go.ts"
import { redactError } from "../../infrastructure/redaction.ts"
import type { Effect } from "./effects.ts"
import { makeEffect, readEffect } from "./effects.ts"
import { cutText, resultText } from "./result-text.ts"

/** A tool that was told to stop may still say how it ended within this time. */
const ABORT_GRACE_MS = 200

export interface CallFacts {
  readonly runId: string
  readonly callId: string
  readonly idempotencyKey: string
  /** As it was when the turn began; frozen. */
  readonly context: object
  readonly aborts: AbortHub
  readonly progress: (note: string) => void
  readonly log: (note: string, data?: object) => void
}

export async function executeTool(tool: ToolDefinition, args: unknown, facts: CallFacts): Promise<Outcome> {
  if (facts.aborts.signal.aborted) return failed("Not run: the run was cancelled.")
  const waited = await letGo((signal) => runToEnd(tool, args, callInfo(tool, facts, signal)), { ms: tool.timeoutMs, aborts: facts.aborts, graceMs: ABORT_GRACE_MS })
  if (waited.type === "done") return waited.value
  return unfinished(tool, waited.type === "timeout" ? `timed out after ${tool.timeoutMs / 1000} s` : "the run was cancelled")
}

async function runToEnd(tool: ToolDefinition, args: unknown, call: ToolCallInfo<object, string>): Promise<Outcome> {
  try {
    const returned = tool.execute(args, call)
    const effect = readEffect(isThenable(returned) ? await returned : returned)
    return await settle(tool, effect)
  } catch (error) {
    // a tool that stopped because it was told to cannot say whether it took effect
    if (call.signal.aborted) return unfinished(tool, errorText(call.signal.reason))
    if (error instanceof HelloAgentsError && error.code === "fatal_tool_error")
      return { type: "failed", text: `Error: ${redactError(error.message)}`, retryable: false, fatal: redactError(error.message) }
    return failed(`Error: ${tool.name} failed: ${redactError(errorText(error))}`, tool.retries > 0)
  }
}

async function settle(tool: ToolDefinition, effect: Effect): Promise<Outcome> {
  if (effect.later !== null) return { type: "later", text: effect.later }
  if (tool.output !== null && effect.handoff === null) {
    const checked: SchemaResult<unknown> = await validate(tool.output, effect.value)
    if (checked.issues !== undefined) {
      const issues = checked.issues
        .slice(0, 3)
        .map((issue) => issue.message)
        .join("; ")
      return failed(`Error: ${tool.name} returned something that does not fit its own output schema (${redactError(issues)}). Do not rely on it.`)
    }
  }
  const full = effect.handoff === null ? resultText(effect.value) : `Handed over to ${effect.handoff.agent}.`
  const text = cutText(full, tool.maxResultChars)
  return { type: "ok", text, ...(text !== full && { full }), context: effect.context, handoff: effect.handoff }
}

function callInfo(tool: ToolDefinition, facts: CallFacts, signal: () => AbortSignal): ToolCallInfo<object, string> {
  return {
    context: facts.context,
    get signal() {
      return signal()
    },
    runId: facts.runId,
    callId: facts.callId,
    idempotencyKey: facts.idempotencyKey,
    progress: facts.progress,
    log: facts.log,
    result: (value, effects) => makeEffect({ value, context: toChanges(effects.context), handoff: null, later: null }),
    later: (question) => makeEffect({ value: undefined, context: null, handoff: null, later: question }),
    handoff: (agent, reason = "") => {
      if (!tool.handoffs.includes(agent))
        throw new HelloAgentsError("tool_invalid", `${tool.name} does not declare a handoff to ${agent}.`, { hint: "Add it to the tool's handoffs." })
      return makeEffect({ value: undefined, context: null, handoff: { agent, reason }, later: null })
    },
  }
}

/** Context variables are JSON: what is stored is what comes back after a restart. */
function toChanges(changes: object): ContextChanges {
  const entries = Object.entries(changes)
  const set = Object.fromEntries(entries.filter(([, value]) => value !== undefined))
  return { set: JSON.parse(JSON.stringify(set)), removed: entries.flatMap(([key, value]) => (value === undefined ? [key] : [])) }
}

function unfinished(tool: ToolDefinition, why: string): Outcome {
  if (tool.hints.readOnly === true || tool.hints.idempotent === true) return failed(`Error: ${tool.name} gave no result: ${why}.`, tool.retries > 0)
  return { type: "unknown", text: `Unknown: ${tool.name} gave no result: ${why}. It may have happened all the same; check before you repeat it.` }
}

function failed(text: string, retryable = false): Outcome {
  return { type: "failed", text, retryable }
}

function errorText(error: unknown): string {
  if (error instanceof Error) return error.message === "" ? error.name : error.message
  return typeof error === "string" ? error : resultText(error)
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function"
}
