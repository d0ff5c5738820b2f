// One value checked by the rule of its key, and text from the environment read by it. Called by load-config.ts and sources.ts.
// Says what was expected; shows what was given only where it can be no secret.
import { redactSecrets } from "../redaction.ts"
import type { KeyRule } from "./keys.ts"

export type ReadValue = { readonly type: "value"; readonly value: unknown } | { readonly type: "wrong"; readonly expected: string; readonly received: string }

const SHOWN_CHARS = 40

export function readValue(rule: KeyRule, value: unknown): ReadValue {
  const read = checked(rule, value)
  return read === undefined ? { type: "wrong", expected: expectation(rule), received: described(rule, value) } : { type: "value", value: read }
}

/** Environment variables are text: numbers, `true` and `false`, lists with commas. What does not look like its type stays text, and is refused as such. */
export function readText(rule: KeyRule, text: string): unknown {
  const trimmed = text.trim()
  switch (rule.type) {
    case "number":
    case "integer":
      return trimmed !== "" && Number.isFinite(Number(trimmed)) ? Number(trimmed) : trimmed
    case "boolean":
      return trimmed === "true" || trimmed === "1" ? true : trimmed === "false" || trimmed === "0" ? false : trimmed
    case "list":
      return trimmed.split(",").flatMap((entry) => (entry.trim() === "" ? [] : [entry.trim()]))
    default:
      return trimmed
  }
}

/** undefined: it does not fit. */
function checked(rule: KeyRule, value: unknown): unknown {
  switch (rule.type) {
    case "text":
    case "path":
      return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined
    case "url":
      return typeof value === "string" && isServer(value.trim()) ? value.trim() : undefined
    case "choice":
      return typeof value === "string" && rule.of.includes(value) ? value : undefined
    case "boolean":
      return typeof value === "boolean" ? value : undefined
    case "list":
      return Array.isArray(value) && value.every((entry) => typeof entry === "string" && entry.trim() !== "") ? value.map((entry: string) => entry.trim()) : undefined
    case "integer":
      return Number.isSafeInteger(value) && fits(rule, value as number) ? value : undefined
    case "number":
      return Number.isFinite(value) && fits(rule, value as number) ? value : undefined
  }
}

type Bounds = Extract<KeyRule, { type: "number" | "integer" }>

function fits({ least = Number.NEGATIVE_INFINITY, above = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY }: Bounds, value: number): boolean {
  return value >= least && value > above && value <= most
}

/** A password in an address would be shown wherever the address is. */
function isServer(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return (protocol === "http:" || protocol === "https:") && username === "" && password === ""
}

function expectation(rule: KeyRule): string {
  switch (rule.type) {
    case "text":
      return "text"
    case "path":
      return "a path"
    case "url":
      return "an address that begins with http:// or https://, without user name and password"
    case "choice":
      return `one of ${rule.of.join(", ")}`
    case "boolean":
      return "true or false"
    case "list":
      return "a list of texts"
    case "number":
    case "integer": {
      const bounds = [
        ...(rule.least === undefined ? [] : [`from ${rule.least}`]),
        ...(rule.above === undefined ? [] : [`above ${rule.above}`]),
        ...(rule.most === undefined ? [] : [`up to ${rule.most}`]),
      ]
      return [rule.type === "integer" ? "a whole number" : "a number", ...bounds].join(" ")
    }
  }
}

function described(rule: KeyRule, value: unknown): string {
  if (typeof value === "string") {
    if (value.trim() === "") return "empty text"
    if (rule.secret === true || rule.type === "url") return "this text"
    return `the text ${JSON.stringify(redactSecrets(value).slice(0, SHOWN_CHARS))}`
  }
  if (Array.isArray(value)) return "a list"
  if (typeof value === "object" && value !== null) return "an object"
  return rule.secret === true ? `a ${typeof value}` : String(value)
}
