// A grammar (GBNF, the form of llama.cpp) in which only well-formed replies of the text protocol can be written: a thought, then an action of a
// known tool with arguments of its schema, or the answer. Called by text-protocol.ts. A constraint can fail silently: replies are checked all the same.
import type { ToolSpec } from "../../contract/model.ts"
import type { Labels } from "./text-prompt.ts"

const THOUGHT_CHARS = 240
const ANSWER_CHARS = 1_200
const STRING_CHARS = 400
const ITEMS = 20
/** Beyond this a schema is written as any JSON value: huge grammars take seconds to compile. */
const MAX_DEPTH = 6

interface Rules {
  readonly lines: Map<string, string>
  readonly root: unknown
}

interface Place {
  /** Of the rule to be made. */
  readonly name: string
  readonly depth: number
}

export function replyGrammar(tools: readonly ToolSpec[], labels: Labels): string {
  const lines = new Map<string, string>()
  const actions = tools.map(
    (tool, index) => `${literal(tool.name)} "\\n" ${literal(labels.input)} ${ruleOf(tool.schema, { lines, root: tool.schema }, { name: `t${index}`, depth: 0 })}`,
  )
  const grammar = [
    `root ::= ${literal(labels.thought)} line{1,${THOUGHT_CHARS}} "\\n" ( action | final )`,
    `action ::= ${literal(labels.action)} ( ${actions.join(" | ")} )`,
    `final ::= ${literal(labels.final)} line{1,${ANSWER_CHARS}}`,
    "line ::= [^\\n\\x00-\\x1f]",
    `string ::= "\\"" char{0,${STRING_CHARS}} "\\""`,
    'char ::= [^"\\\\\\x00-\\x1f] | "\\\\" ["\\\\/bfnrt]',
    'number ::= "-"? ( "0" | [1-9] [0-9]{0,15} ) ( "." [0-9]{1,15} )?',
    'integer ::= "-"? ( "0" | [1-9] [0-9]{0,15} )',
    'boolean ::= "true" | "false"',
    'null ::= "null"',
    "value ::= string | number | boolean | null | object | array",
    `object ::= "{" ( string ": " value ( ", " string ": " value ){0,${ITEMS}} )? "}"`,
    `array ::= "[" ( value ( ", " value ){0,${ITEMS}} )? "]"`,
  ]
  return [...grammar, ...[...lines].map(([name, body]) => `${name} ::= ${body}`)].join("\n")
}

/** The name of a rule that writes values of the schema; what the grammar cannot say is left to the check afterwards. */
function ruleOf(schema: unknown, rules: Rules, { name, depth }: Place): string {
  const node = resolve(schema, rules.root)
  if (node === null || depth > MAX_DEPTH) return "value"
  const choices = Array.isArray(node["enum"]) ? node["enum"] : "const" in node ? [node["const"]] : null
  if (choices !== null && choices.length > 0) return define(rules, name, choices.map((choice) => literal(JSON.stringify(choice))).join(" | "))
  const union = node["anyOf"] ?? node["oneOf"]
  if (Array.isArray(union)) return define(rules, name, union.map((part, index) => ruleOf(part, rules, { name: `${name}u${index}`, depth: depth + 1 })).join(" | "))
  const types = Array.isArray(node["type"]) ? node["type"] : [node["type"]]
  return define(rules, name, types.map((type, index) => ruleOfType(type, node, { rules, name: `${name}k${index}`, depth })).join(" | "))
}

function ruleOfType(type: unknown, node: Record<string, unknown>, place: Place & { readonly rules: Rules }): string {
  const { rules, name } = place
  switch (type) {
    case "string":
    case "number":
    case "integer":
    case "boolean":
    case "null":
      return type
    case "array":
      return define(rules, name, `"[" ( ${itemRule(node, place)} )? "]"`)
    case "object":
      return isRecord(node["properties"]) ? define(rules, name, objectBody(node, place)) : "object"
    default:
      return "value"
  }
}

function itemRule(node: Record<string, unknown>, { rules, name, depth }: Place & { readonly rules: Rules }): string {
  const item = ruleOf(node["items"] ?? {}, rules, { name: `${name}i`, depth: depth + 1 })
  return `${item} ( ", " ${item} ){0,${ITEMS - 1}}`
}

/** Required members first, in their order, then optional ones, each of which may be left out. */
function objectBody(node: Record<string, unknown>, { rules, name, depth }: Place & { readonly rules: Rules }): string {
  const properties = Object.entries(isRecord(node["properties"]) ? node["properties"] : {})
  const required = new Set(Array.isArray(node["required"]) ? node["required"] : [])
  const member = (key: string, schema: unknown, index: number): string =>
    `${literal(`${JSON.stringify(key)}: `)} ${ruleOf(schema, rules, { name: `${name}p${index}`, depth: depth + 1 })}`
  const all = properties.map(([key, schema], index) => ({ text: member(key, schema, index), needed: required.has(key) }))
  const needed = all.filter((entry) => entry.needed).map((entry) => entry.text)
  const optional = all.filter((entry) => !entry.needed).map((entry) => entry.text)
  if (needed.length > 0) return `"{" ${needed.join(' ", " ')} ${optional.map((text) => `( ", " ${text} )?`).join(" ")} "}"`
  // without a required member the first optional one that is written has no comma before it
  const starts = optional.map(
    (text, index) =>
      `${text} ${optional
        .slice(index + 1)
        .map((later) => `( ", " ${later} )?`)
        .join(" ")}`,
  )
  return starts.length === 0 ? '"{}"' : `"{" ( ${starts.join(" | ")} )? "}"`
}

function define(rules: Rules, name: string, body: string): string {
  if (/^\w+$/.test(body)) return body
  rules.lines.set(name, body)
  return name
}

function resolve(schema: unknown, root: unknown): Record<string, unknown> | null {
  if (!isRecord(schema)) return null
  const reference = schema["$ref"]
  if (typeof reference !== "string") return schema
  const path = reference.startsWith("#/") ? reference.slice(2).split("/") : []
  const target = path.reduce<unknown>((node, step) => (isRecord(node) ? node[step.replace(/~1/g, "/").replace(/~0/g, "~")] : undefined), root)
  return isRecord(target) && target !== schema ? target : null
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function literal(text: string): string {
  return `"${text.replace(/\\/g, "\\\\").replace(/"/g, '\\"').replace(/\n/g, "\\n")}"`
}
