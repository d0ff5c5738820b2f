// Reads arithmetic as people and models write it and works it out exactly. A recursive descent, no eval.
// Used by calculator.ts. Leaves the arithmetic itself to fraction.ts.
import type { Fraction } from "./fraction.ts"
import { add, divide, fraction, fromDecimal, inDecimals, isLess, multiply, negate, power, remainder, roundTo, squareRoot, subtract } from "./fraction.ts"

const LIMITS = { characters: 1_000, depth: 100, values: 100 }
const PI: Fraction = { ...fromDecimal("3.14159265358979323846264338327950288419716939937511"), exact: false }
const CONSTANTS: { readonly [name: string]: Fraction } = {
  pi: PI,
  π: PI,
  e: { ...fromDecimal("2.71828182845904523536028747135266249775724709369996"), exact: false },
}
const SIGNS: { readonly [sign: string]: string } = { "×": "*", "·": "*", "⋅": "*", "∙": "*", "÷": "/", "∕": "/", "−": "-", "–": "-", "—": "-" }
/** A `%` after a value means hundredths, unless a value follows: then it asks for the remainder. */
const PERCENT = /^%(?!\s*(?:[\d.(]|(?!of\b|x\b)[a-zπ]))/
/** Thousands. A first group of 0 is more likely a decimal comma. */
const GROUPED = /^[1-9]\d{0,2}(?:,\d{3})+(?!\d)/

interface Reader {
  readonly text: string
  at: number
  depth: number
  /** Between the brackets of a function a comma separates values, elsewhere thousands. */
  inFunction: boolean
}

/** The value in decimals. @throws Error that names the position, counted from 1. */
export function calculate(expression: string): string {
  if (expression.length > LIMITS.characters) throw new Error(`The expression has more than ${LIMITS.characters} characters. Calculate it in parts.`)
  const plain = plainSigns(expression).trimEnd()
  const reader: Reader = { text: plain.endsWith("=") ? plain.slice(0, -1) : plain, at: 0, depth: 0, inFunction: false }
  const value = sum(reader)
  if (rest(reader) !== "") throw unexpected(reader, "an operator such as + or *")
  return inDecimals(value)
}

/** Full-width and typographic signs as plain ones, capitals as small letters, every sign at its place. */
function plainSigns(expression: string): string {
  return [...expression.replace(/[！-～]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))]
    .map((sign) => SIGNS[sign] ?? (/[A-Z]/.test(sign) ? sign.toLowerCase() : sign))
    .join("")
}

function sum(reader: Reader): Fraction {
  let value = product(reader)
  for (;;) {
    const start = reader.at
    const operator = take(reader, /^[+-]/)
    if (operator === null) return value
    const left = value
    const right = product(reader)
    value = at(start, reader, () => (operator === "+" ? add(left, right) : subtract(left, right)))
  }
}

function product(reader: Reader): Fraction {
  let value = signed(reader)
  for (;;) {
    const start = reader.at
    const operator = take(reader, /^(?:[*/%]|of\b|x\b)/)
    if (operator === null) return value
    const left = value
    const right = signed(reader)
    value = at(start, reader, () => (operator === "/" ? divide(left, right) : operator === "%" ? remainder(left, right) : multiply(left, right)))
  }
}

/** A sign binds weaker than a power: -2^2 is -4. */
function signed(reader: Reader): Fraction {
  const sign = take(reader, /^[+-]/)
  if (sign === null) return raised(reader)
  const value = deeper(reader, () => signed(reader))
  return sign === "-" ? negate(value) : value
}

/** Powers group from the right: 2^3^2 is 2^9. */
function raised(reader: Reader): Fraction {
  let base = single(reader)
  let start = reader.at
  while (take(reader, PERCENT) !== null) {
    const whole = base
    base = at(start, reader, () => divide(whole, fraction(100n)))
    start = reader.at
  }
  if (take(reader, /^(?:\^|\*\*)/) === null) return base
  const [root, exponent] = [base, deeper(reader, () => signed(reader))]
  return at(start, reader, () => power(root, exponent))
}

function single(reader: Reader): Fraction {
  const start = reader.at
  const number = readNumber(reader)
  if (number !== null) return number
  const name = take(reader, /^(?:[a-z]+|π)/)
  if (name !== null) return named(reader, name, start)
  if (take(reader, /^\(/) === null) throw unexpected(reader, 'a number or "("')
  const { inFunction } = reader
  reader.inFunction = false
  const value = deeper(reader, () => sum(reader))
  reader.inFunction = inFunction
  if (take(reader, /^\)/) === null) throw unexpected(reader, '")"')
  return value
}

function named(reader: Reader, name: string, start: number): Fraction {
  const constant = Object.hasOwn(CONSTANTS, name) ? CONSTANTS[name] : undefined
  if (constant !== undefined) return constant
  if (!isFunctionName(name)) throw new Error(`${position(reader, start)}: "${name.slice(0, 20)}" is not known. Known are ${Object.keys(FUNCTIONS).join(", ")}, pi and e.`)
  if (take(reader, /^\(/) === null) throw unexpected(reader, `"(" after ${name}`)
  const { inFunction } = reader
  reader.inFunction = true
  const values = [deeper(reader, () => sum(reader))]
  while (take(reader, /^[,;]/) !== null) values.push(deeper(reader, () => sum(reader)))
  reader.inFunction = inFunction
  if (take(reader, /^\)/) === null) throw unexpected(reader, '"," or ")"')
  const { most, of } = FUNCTIONS[name]
  const [first, ...others] = values
  if (first === undefined || values.length > most)
    throw new Error(`${position(reader, start)}: ${name} takes at most ${most} ${most === 1 ? "value" : "values"}, not ${values.length}.`)
  return at(start, reader, () => of(first, others))
}

type FunctionName = "sqrt" | "abs" | "round" | "min" | "max"
const FUNCTIONS: { readonly [name in FunctionName]: { readonly most: number; readonly of: (first: Fraction, others: readonly Fraction[]) => Fraction } } = {
  sqrt: { most: 1, of: squareRoot },
  abs: { most: 1, of: (value) => (value.numerator < 0n ? negate(value) : value) },
  round: { most: 2, of: (value, [places = fraction(0n)]) => roundTo(value, places) },
  min: { most: LIMITS.values, of: (first, others) => others.reduce((least, value) => (isLess(value, least) ? value : least), first) },
  max: { most: LIMITS.values, of: (first, others) => others.reduce((most, value) => (isLess(most, value) ? value : most), first) },
}

function isFunctionName(name: string): name is FunctionName {
  return Object.hasOwn(FUNCTIONS, name)
}

function readNumber(reader: Reader): Fraction | null {
  const start = reader.at
  const isGrouped = GROUPED.test(rest(reader))
  if (isGrouped && reader.inFunction)
    throw new Error(`${position(reader, start)}: inside a function a comma separates values. Write numbers without thousands separators there, and a space after the comma.`)
  const whole = take(reader, isGrouped ? GROUPED : /^(?:\d+|(?=\.\d))/)
  if (whole === null) return null
  const [tail = "", places = "", exponent = "0"] = /^(?:\.(\d*))?(?:e([+-]?\d+))?/.exec(reader.text.slice(reader.at)) ?? []
  reader.at += tail.length
  if (!reader.inFunction && rest(reader).startsWith(","))
    throw new Error(`${position(reader, reader.at)}: a comma only separates thousands, as in 1,234.5. Write decimals with a point.`)
  return at(start, reader, () => fromDecimal(`${whole.replaceAll(",", "")}.${places}`, Number(exponent)))
}

function rest(reader: Reader): string {
  return reader.text.slice(reader.at).trimStart()
}

/** Moves past what matches after blanks. */
function take(reader: Reader, pattern: RegExp): string | null {
  const ahead = rest(reader)
  const found = pattern.exec(ahead)?.[0]
  if (found === undefined) return null
  reader.at = reader.text.length - ahead.length + found.length
  return found
}

function deeper(reader: Reader, read: () => Fraction): Fraction {
  reader.depth += 1
  if (reader.depth > LIMITS.depth) throw new Error(`${position(reader, reader.at)}: brackets, signs or powers are nested more than ${LIMITS.depth} deep. Calculate it in parts.`)
  const value = read()
  reader.depth -= 1
  return value
}

function at(start: number, reader: Reader, work: () => Fraction): Fraction {
  try {
    return work()
  } catch (error) {
    throw new Error(`${position(reader, start)}: ${error instanceof Error ? error.message : String(error)}.`)
  }
}

function position({ text }: Reader, start: number): string {
  const blanks = text.slice(start).length - text.slice(start).trimStart().length
  return `Position ${start + blanks + 1}`
}

function unexpected(reader: Reader, wanted: string): Error {
  const found = rest(reader)
  if (found === "") return new Error(`The expression ends where ${wanted} should stand.`)
  const hint = /^[\d(a-z]/.test(found) && wanted.startsWith("an operator") ? " Write multiplication with *, as in 2*(3+4), and no units." : ""
  return new Error(`${position(reader, reader.at)}: expected ${wanted}, found "${[...found].slice(0, 12).join("")}".${hint}`)
}
