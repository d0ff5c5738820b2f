// How a person, or another program, answers what a run asked.
import type { Limits } from "./agent.ts"
import type { Input } from "./message.ts"
import type { Store } from "./ports.ts"
import type { RunOptions } from "./run.ts"

/** `id` names the question (`result.waiting[n].id`). Which answers fit depends on the question's reason. */
export type Answer = { readonly id: string } /** Edited arguments are parsed and checked again; only the approval is skipped. */ & (
  | { readonly type: "approve"; readonly arguments?: unknown }
  | { readonly type: "reject"; readonly reason: string }
  /** For `unfinished`: run it again, it did not happen, or it happened and this came out. */
  | { readonly type: "retry" }
  | { readonly type: "did_not_happen" }
  | { readonly type: "happened"; readonly result: unknown; readonly context?: object | undefined; readonly handoff?: string | undefined; readonly failed?: boolean | undefined }
  /** For `input`: what the tool's `later` waits for. */
  | { readonly type: "reply"; readonly value: unknown }
  /** For `step`: one step, all further ones, or no more. */
  | { readonly type: "step" | "continue" | "stop" }
)

export interface ResumeOptions extends Pick<RunOptions, "signal" | "readers" | "model" | "tools" | "settings"> {
  store: Store
  answers?: readonly Answer[] | undefined
  /** A person's further message. */
  input?: Input | undefined
  limits?: Limits | undefined
}
