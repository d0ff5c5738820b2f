// The tags and tokens that models leak into text, and what each one is. Reads a single tag; what follows it is read by others.
// Used by scan.ts, call-text.ts and stream-gate.ts.

/** call: a call follows · direct: is a call itself · result: what only a tool may write · noise: left over, shown to nobody. */
export type Role = "call" | "direct" | "result" | "reasoning" | "harmony" | "noise"

export interface Tag {
  readonly role: Role
  readonly closing: boolean
  /** Name without namespace, in lower case: `tool_call`, `start`, `think`. */
  readonly name: string
  readonly attributes: string
  /** Index after the tag. */
  readonly end: number
  /** The text ends inside it. */
  readonly unfinished: boolean
}

const TAG_ROLES = rolesOf({
  call: "tool_call tool_calls toolcall toolcalls tool_use function_call function_calls tools_call",
  direct: "function invoke",
  result: "tool_response tool_responses tool_result tool_results function_response function_result function_results tool_output tool_outputs",
  reasoning: "think thinking reasoning thought",
})
/** Only as special tokens, `<|name|>`: the same words are ordinary XML tags. */
const TOKEN_ROLES = rolesOf({
  call: "tool_call_start tool_call_begin tool_calls_begin tool_calls_section_begin tool_list_start python_tag python_start start_action action_start tools_prefix",
  result: "tool_outputs_begin tool_output_begin observation tool_response_start",
  harmony: "start channel message constrain",
  noise:
    "end return call tool_call_end tool_calls_end tool_calls_section_end tool_list_end tool_sep tool_call_argument_begin python_end end_action action_end tools_suffix plugin im_start im_end start_header_id end_header_id eot_id eom_id endoftext end_of_text end_of_sentence",
})
const START_TOKENS = rolesOf({ call: "start_function_call", noise: "end_function_call", result: "start_function_response" })
const BRACKET_ROLES = rolesOf({ call: "TOOL_CALLS TOOL_CALL", result: "TOOL_RESULTS TOOL_RESULT", reasoning: "THINK" })

const HEAD = /<(\/?)([|｜]{0,2})(?:DSML[|｜]{1,2})?(?:[A-Za-z]{1,20}:)?([A-Za-z][A-Za-z_▁]{0,40})|\[(\/?)([A-Z_]{4,20})\]/y
const REST = /([^<>]{0,300})(>?)/y

/** A match of a sticky regular expression at exactly this place. */
export function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

/** Index after the blanks (or what else `pattern` takes) at `at`. */
export function skip(text: string, at: number, pattern: RegExp = /\s*/y): number {
  return at + (matchAt(pattern, text, at)?.[0].length ?? 0)
}

/** Without these characters at both ends. A loop, because an unanchored pattern is quadratic on long runs. */
export function trimChars(text: string, chars: string): string {
  let start = 0
  let end = text.length
  while (start < end && chars.includes(text[start] ?? "")) start++
  while (end > start && chars.includes(text[end - 1] ?? "")) end--
  return text.slice(start, end)
}

/** The known tag that begins at `at`, its name complete; null: no such tag. */
export function headAt(text: string, at: number): Tag | null {
  const head = matchAt(HEAD, text, at)
  if (head === null) return null
  const bracket = head[5]
  const name = (head[3] ?? bracket ?? "").toLowerCase().replaceAll("▁", "_")
  const role = bracket !== undefined ? BRACKET_ROLES.get(bracket) : (TAG_ROLES.get(name) ?? START_TOKENS.get(name) ?? (head[2] === "" ? undefined : TOKEN_ROLES.get(name)))
  if (role === undefined) return null
  return { role, name, closing: (head[1] ?? head[4]) === "/", attributes: "", end: at + head[0].length, unfinished: false }
}

/** The known tag that begins at `at` with all its attributes; null: no such tag, or it never closes. */
export function tagAt(text: string, at: number): Tag | null {
  const head = headAt(text, at)
  if (head === null || text[at] === "[") return head
  const rest = matchAt(REST, text, head.end)
  const attributes = rest?.[1] ?? ""
  const end = head.end + (rest?.[0].length ?? 0)
  const unfinished = rest?.[2] === ""
  if (/^[A-Za-z0-9_▁]/.test(attributes) || (unfinished && end < text.length)) return null
  return { ...head, closing: head.closing || (attributes === "|" && text[at + 1] !== "|"), attributes, end, unfinished }
}

/** Somebody writes about the tag (`<think>`, "<tool_call>") rather than using it. */
export function isQuoted(text: string, at: number): boolean {
  return at > 0 && "`\"'“‘「《".includes(text[at - 1] ?? "")
}

/** At the start of a line, or right after a sentence or another tag: where models put their own tags. */
export function isAtBoundary(text: string, at: number): boolean {
  for (let before = at - 1; before >= 0 && before > at - 12; before--) {
    const char = text[before] ?? ""
    if (char === "\n") return true
    if (char !== " " && char !== "\t" && char !== "\r") return before === at - 1 && ".!?:>]。！？：…".includes(char)
  }
  return at < 12 && text.slice(0, at).trim() === ""
}

function rolesOf(names: { readonly [role in Role]?: string }): ReadonlyMap<string, Role> {
  return new Map(Object.entries(names).flatMap(([role, list]) => list.split(" ").map((name) => [name, role as Role] as const)))
}
