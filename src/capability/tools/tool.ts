// `tool()`: what a team writes becomes a definition with everything settled. Mistakes are thrown here, before any run.
// Running a tool is execute.ts; reading its arguments is prepare.ts.
import type { MaybePromise, Schema, SchemaInput, SchemaOutput } from "../../contract/schema.ts"
import type { Hints, Tool, ToolCallInfo, ToolDefinition } from "../../contract/tool.ts"
import { HelloAgentsError } from "../../infrastructure/errors.ts"
import { jsonSchemaOf } from "../../infrastructure/json/json-schema.ts"

const TIMEOUT_MS = 30_000
const TIMEOUT_BY_TAG: Readonly<Record<string, number>> = { database: 10_000, compute: 5_000 }
const MAX_RESULT_CHARS = 3_000
/** What every provider accepts. */
const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/
const NO_ARGUMENTS = { type: "object", properties: {}, additionalProperties: false }

export interface ToolOptions<S extends Schema, C extends Schema, Target extends string> {
  /** Letters, digits, `_` and `-`, at most 64. */
  name: string
  /** What it does, when to use it and how: the model chooses by this text. */
  description: string
  input?: S | undefined
  /** A result that does not fit is reported to the model as an error, never passed on as fact. */
  output?: Schema | undefined
  /** The context variables the tool reads and may change. */
  context?: C | undefined
  handoffs?: readonly Target[] | undefined
  hints?: Hints | undefined
  tags?: readonly string[] | undefined
  /** Worked examples of arguments, shown in error messages and to weak models. */
  examples?: readonly SchemaInput<S>[] | undefined
  /** 30 s; 10 s with the tag `database`, 5 s with `compute`. */
  timeoutMs?: number | undefined
  /** Attempts beyond the first. 0; needs the hint `readOnly` or `idempotent`. */
  retries?: number | undefined
  /** Characters of a result that the model sees: 3,000. The whole stays in the trace. */
  maxResultChars?: number | undefined
  /** For tools that are meant to be polled: the progress guard ignores them. */
  allowRepeats?: boolean | undefined
  /** A person must agree before this runs: always, or when the predicate says so. A predicate that throws asks. */
  approval?: boolean | ((args: SchemaOutput<S>, context: Readonly<SchemaOutput<C>>) => MaybePromise<boolean>) | undefined
  /** How long an approval stays open; after that it counts as a rejection. Default: for ever. */
  approvalExpiresMs?: number | undefined
  execute: (args: SchemaOutput<S>, call: ToolCallInfo<SchemaOutput<C>, Target>) => unknown
}

/** @throws HelloAgentsError `tool_invalid` for a name that providers refuse or retries without a hint; `schema_invalid` for a schema that cannot be shown to a model. */
export function tool<S extends Schema = Schema<{}>, C extends Schema = Schema<object>, const Target extends string = never>(
  options: ToolOptions<S, C, Target>,
): Tool<SchemaOutput<C>, Target> {
  const { name, hints = {}, tags = [], retries = 0, approval } = options
  if (!NAME.test(name)) throw new HelloAgentsError("tool_invalid", `"${name}" is not a tool name.`, { hint: "Use letters, digits, _ and -, at most 64, beginning with a letter." })
  if (retries > 0 && hints.readOnly !== true && hints.idempotent !== true) {
    throw new HelloAgentsError("tool_invalid", `The tool ${name} asks for retries but may not be repeated.`, {
      hint: "Declare hints.readOnly or hints.idempotent, or leave retries at 0.",
    })
  }
  const definition: ToolDefinition = {
    name,
    description: options.description,
    schema: options.input === undefined ? NO_ARGUMENTS : jsonSchemaOf(options.input),
    input: options.input ?? null,
    output: options.output ?? null,
    hints: { ...hints, untrusted: hints.untrusted ?? hints.openWorld },
    tags,
    examples: options.examples ?? [],
    handoffs: options.handoffs ?? [],
    timeoutMs: options.timeoutMs ?? Math.min(TIMEOUT_MS, ...tags.map((tag) => TIMEOUT_BY_TAG[tag] ?? TIMEOUT_MS)),
    retries,
    maxResultChars: options.maxResultChars ?? MAX_RESULT_CHARS,
    allowRepeats: options.allowRepeats ?? false,
    approvalExpiresMs: options.approvalExpiresMs ?? null,
    // arguments and context have passed the tool's own schemas before these are called
    approval: typeof approval === "function" ? (approval as ToolDefinition["approval"]) : () => approval === true,
    execute: options.execute as ToolDefinition["execute"],
  }
  return Object.freeze(definition)
}
