// The one error class. Thrown for a caller's mistake before the first event, and by stores and tools; a run's failure is data (contract/event.ts).
// Every code has a test that names it.

export type ErrorCode =
  | "model_missing"
  | "config_invalid"
  | "tool_invalid"
  | "agent_invalid"
  | "input_invalid"
  | "context_invalid"
  | "schema_invalid"
  | "fatal_tool_error"
  | "run_exists"
  | "run_not_found"
  | "run_ended"
  | "thread_busy"
  | "stale_writer"
  | "store_failed"
  | "store_corrupt"
  | "log_too_new"

/** `code` is stable; `message` says what happened and why; `hint` says what to do. The cause is kept. */
export class HelloAgentsError extends Error {
  override readonly name = "HelloAgentsError"
  readonly code: ErrorCode
  readonly hint: string

  constructor(code: ErrorCode, message: string, options: { hint?: string | undefined; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause })
    this.code = code
    this.hint = options.hint ?? ""
  }
}
