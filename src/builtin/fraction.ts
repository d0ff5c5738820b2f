// Exact arithmetic on fractions of big integers, and how a fraction reads as a decimal.
// Used by calculate.ts. What has no exact value (roots, odd powers) is kept to 50 digits and marked.

const LIMITS = { digits: 1_000, exponent: 10_000, places: 100, shown: 60, rounded: 15, kept: 50, plainFrom: -7, plainTo: 21 }
const LARGEST = 10n ** BigInt(LIMITS.digits)

/** In lowest terms, the denominator above 0. */
export interface Fraction {
  readonly numerator: bigint
  readonly denominator: bigint
  readonly exact: boolean
}

/** @throws Error for a denominator of 0 and for more than 1,000 digits. */
export function fraction(numerator: bigint, denominator = 1n, exact = true): Fraction {
  if (denominator === 0n) throw new Error("division by zero")
  const sign = denominator < 0n ? -1n : 1n
  const shared = denominator === 1n ? 1n : sign * commonDivisor(size(numerator), size(denominator))
  const value = { numerator: numerator / shared, denominator: denominator / shared, exact }
  if (size(value.numerator) > LARGEST || value.denominator > LARGEST) throw new Error(`the result has more than ${LIMITS.digits} digits`)
  return value
}

/** `digits` with an optional point, and a power of ten. */
export function fromDecimal(digits: string, exponent = 0): Fraction {
  if (Math.abs(exponent) > LIMITS.digits) throw new Error(`the exponent is larger than ${LIMITS.digits}`)
  const [whole = "", places = ""] = digits.split(".")
  const shift = exponent - places.length
  const value = BigInt(`${whole}${places}` || "0")
  return shift < 0 ? fraction(value, 10n ** BigInt(-shift)) : fraction(value * 10n ** BigInt(shift))
}

export function add(a: Fraction, b: Fraction): Fraction {
  return settled(a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator, a.exact && b.exact)
}

export function subtract(a: Fraction, b: Fraction): Fraction {
  return add(a, negate(b))
}

export function negate(value: Fraction): Fraction {
  return { ...value, numerator: -value.numerator }
}

export function multiply(a: Fraction, b: Fraction): Fraction {
  return settled(a.numerator * b.numerator, a.denominator * b.denominator, a.exact && b.exact)
}

export function divide(a: Fraction, b: Fraction): Fraction {
  return settled(a.numerator * b.denominator, a.denominator * b.numerator, a.exact && b.exact)
}

/** With the sign of `a`: -7 % 3 is -1, as in JavaScript and C. */
export function remainder(a: Fraction, b: Fraction): Fraction {
  const quotient = divide(a, b)
  return subtract(a, multiply(b, fraction(quotient.numerator / quotient.denominator)))
}

/** 0^0 is 1. A power with a fraction is right to 15 digits. */
export function power(base: Fraction, exponent: Fraction): Fraction {
  const whole = exponent.numerator / exponent.denominator
  if (size(whole) > LIMITS.exponent) throw new Error(`the exponent is larger than ${LIMITS.exponent}`)
  if (base.numerator === 0n && exponent.numerator < 0n) throw new Error("division by zero")
  const rest = subtract(exponent, fraction(whole))
  const powered = wholePower(base, Number(whole))
  if (rest.numerator === 0n) return powered
  if (base.numerator < 0n) throw new Error("a negative number has no real power with a fraction")
  return multiply(powered, powerBelowOne(base, rest))
}

/** Exact where numerator and denominator are squares. */
export function squareRoot(value: Fraction): Fraction {
  const { numerator, denominator } = value
  if (numerator < 0n) throw new Error("a negative number has no real square root")
  const [top, bottom] = [wholeRoot(numerator), wholeRoot(denominator)]
  if (top * top === numerator && bottom * bottom === denominator) return fraction(top, bottom, value.exact)
  const places = LIMITS.kept + Math.max(0, length(denominator) - length(numerator))
  return settled(wholeRoot((numerator * 10n ** BigInt(2 * places)) / denominator), 10n ** BigInt(places), false)
}

/** To so many decimal places, or to tens and hundreds for -1 and -2; a half goes away from zero, as with money. */
export function roundTo(value: Fraction, places: Fraction): Fraction {
  const count = Number(places.numerator)
  if (places.denominator !== 1n || Math.abs(count) > LIMITS.places) throw new Error(`the places of round must be a whole number from -${LIMITS.places} to ${LIMITS.places}`)
  const scale = 10n ** BigInt(Math.abs(count))
  const scaled = count < 0 ? divide({ ...value, exact: true }, fraction(scale)) : multiply({ ...value, exact: true }, fraction(scale))
  const rounded = (2n * size(scaled.numerator) + scaled.denominator) / (2n * scaled.denominator)
  const signed = value.numerator < 0n ? -rounded : rounded
  return count < 0 ? fraction(signed * scale) : fraction(signed, scale)
}

export function isLess(a: Fraction, b: Fraction): boolean {
  return a.numerator * b.denominator < b.numerator * a.denominator
}

/** All digits where they end and are at most 60; else 15 significant digits, which is said. */
export function inDecimals(value: Fraction): string {
  if (value.numerator === 0n) return "0"
  const sign = value.numerator < 0n ? "-" : ""
  const places = value.exact ? decimalPlaces(value.denominator) : null
  if (places !== null) {
    const digits = String(size(value.numerator) * (10n ** BigInt(places) / value.denominator))
    if (Math.max(digits.length, places) <= LIMITS.shown) return sign + withPoint(digits, digits.length - places)
  }
  const { digits, exponent } = significant(value, LIMITS.rounded)
  const shown = digits.replace(/0+$/, "")
  const isPlain = exponent >= LIMITS.plainFrom && exponent < LIMITS.plainTo
  const text = isPlain ? withPoint(shown, exponent + 1) : `${withPoint(shown, 1)}e${exponent < 0 ? "" : "+"}${exponent}`
  return `${sign}${text} (rounded to ${LIMITS.rounded} significant digits)`
}

/** Values without an exact form would grow with every step. */
function settled(numerator: bigint, denominator: bigint, exact: boolean): Fraction {
  if (exact || numerator === 0n) return fraction(numerator, denominator, exact)
  const raw = { numerator: denominator < 0n ? -numerator : numerator, denominator: size(denominator), exact }
  if (raw.denominator === 0n) throw new Error("division by zero")
  const { digits, exponent } = significant(raw, LIMITS.kept)
  const shift = BigInt(Math.abs(exponent + 1 - LIMITS.kept))
  const signed = raw.numerator < 0n ? -BigInt(digits) : BigInt(digits)
  return exponent + 1 >= LIMITS.kept ? fraction(signed * 10n ** shift, 1n, false) : fraction(signed, 10n ** shift, false)
}

function wholePower(base: Fraction, exponent: number): Fraction {
  const { numerator, denominator, exact } = exponent < 0 ? divide(fraction(1n), base) : base
  const times = Math.abs(exponent)
  if (times === 0) return fraction(1n)
  if (exact && (Math.max(length(numerator), length(denominator)) - 1) * times <= LIMITS.digits) return fraction(numerator ** BigInt(times), denominator ** BigInt(times))
  let result: Fraction = { numerator: 1n, denominator: 1n, exact: false }
  for (const bit of times.toString(2)) {
    result = multiply(result, result)
    if (bit === "1") result = multiply(result, { numerator, denominator, exact: false })
  }
  return result
}

/** `exponent` between -1 and 1: only this part goes through doubles, so that their error is not raised to a power. */
function powerBelowOne(base: Fraction, exponent: Fraction): Fraction {
  if (base.numerator === 0n) return base
  if (exponent.denominator === 2n) return exponent.numerator < 0n ? divide(fraction(1n), squareRoot(base)) : squareRoot(base)
  const result = asDouble(base) ** asDouble(exponent)
  if (!Number.isFinite(result) || result === 0) throw new Error("the power is out of range")
  const [digits = "", shift = "0"] = result.toExponential(16).split("e")
  return { ...fromDecimal(digits, Number(shift)), exact: false }
}

function asDouble(value: Fraction): number {
  const { digits, exponent } = significant(value, 20)
  return Number(`${value.numerator < 0n ? "-" : ""}${withPoint(digits, 1)}e${exponent}`)
}

/** The first `count` digits of a value that is not 0, rounded half up, and the power of ten of the first. */
function significant({ numerator, denominator }: Fraction, count: number): { digits: string; exponent: number } {
  const top = size(numerator)
  const guess = length(top) - length(denominator)
  const exponent = top * 10n ** BigInt(Math.max(0, -guess)) < denominator * 10n ** BigInt(Math.max(0, guess)) ? guess - 1 : guess
  const shift = count - 1 - exponent
  const [above, below] = shift < 0 ? [top, denominator * 10n ** BigInt(-shift)] : [top * 10n ** BigInt(shift), denominator]
  const digits = String((2n * above + below) / (2n * below))
  return digits.length > count ? { digits: digits.slice(0, count), exponent: exponent + 1 } : { digits, exponent }
}

/** Places after the point, or null for a decimal that does not end. */
function decimalPlaces(denominator: bigint): number | null {
  const counts = [2n, 5n].map((prime) => {
    let count = 0
    for (let rest = denominator; rest % prime === 0n; rest /= prime) count += 1
    return count
  })
  const [twos = 0, fives = 0] = counts
  return 2n ** BigInt(twos) * 5n ** BigInt(fives) === denominator ? Math.max(twos, fives) : null
}

/** `at` counts the digits before the point and may lie outside of them. */
function withPoint(digits: string, at: number): string {
  if (at <= 0) return `0.${"0".repeat(-at)}${digits}`
  if (at >= digits.length) return digits + "0".repeat(at - digits.length)
  return `${digits.slice(0, at)}.${digits.slice(at)}`
}

/** Newton's method from above, so it falls until it stands. */
function wholeRoot(value: bigint): bigint {
  if (value < 2n) return value
  let root = 10n ** BigInt(Math.ceil(length(value) / 2))
  for (;;) {
    const next = (root + value / root) / 2n
    if (next >= root) return root
    root = next
  }
}

function commonDivisor(a: bigint, b: bigint): bigint {
  let [larger, smaller] = [a, b]
  while (smaller !== 0n) [larger, smaller] = [smaller, larger % smaller]
  return larger
}

function size(value: bigint): bigint {
  return value < 0n ? -value : value
}

function length(value: bigint): number {
  return String(size(value)).length
}
