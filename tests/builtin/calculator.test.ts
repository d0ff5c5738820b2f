// What the calculator answers, row by row, and that its answers are right for every expression: compared with fractions worked out here.
import fc from "fast-check"
import { calculator } from "hello-agents/tools"
import { describe, expect, it, test } from "vitest"
import { calculate } from "../../src/builtin/calculate.ts"
import { runTool } from "./run-tool.ts"

const rounded = (text: string): string => `${text} (rounded to 15 significant digits)`

describe("an expression has one value", () => {
  test.each([
    // plain
    ["2", "2"],
    ["1+1", "2"],
    [" 7 - 10 ", "-3"],
    ["6*7", "42"],
    ["8/2", "4"],
    ["2+3*4", "14"],
    ["(2+3)*4", "20"],
    ["10-4-3", "3"],
    ["100/10/5", "2"],
    ["((((1))))", "1"],
    ["2+2=", "4"],
    ["5.", "5"],
    [".5+.25", "0.75"],
    ["0", "0"],
    ["0*-3", "0"],
    ["007", "7"],
    // decimals where doubles lie
    ["0.1+0.2", "0.3"],
    ["0.1*3", "0.3"],
    ["1.005*1000", "1005"],
    ["4.35*100", "435"],
    ["1.1-1", "0.1"],
    ["9007199254740993+1", "9007199254740994"],
    ["0.1+0.2-0.3", "0"],
    ["1/3*3", "1"],
    ["1/8", "0.125"],
    ["1/1024", "0.0009765625"],
    ["12345678901234567890*98765432109876543210", "1219326311370217952237463801111263526900"],
    // what does not end
    ["1/3", rounded("0.333333333333333")],
    ["2/3", rounded("0.666666666666667")],
    ["-2/3", rounded("-0.666666666666667")],
    ["10000/7", rounded("1428.57142857143")],
    ["1/7/10^9", rounded("1.42857142857143e-10")],
    ["2^300", rounded("2.03703597633449e+90")],
    ["2^100", "1267650600228229401496703205376"],
    ["999999999999999.9/3*3", "999999999999999.9"],
    // signs and powers
    ["-3", "-3"],
    ["--3", "3"],
    ["+3", "3"],
    ["2*-3", "-6"],
    ["2--3", "5"],
    ["2^10", "1024"],
    ["2**10", "1024"],
    ["2^3^2", "512"],
    ["-2^2", "-4"],
    ["(-2)^2", "4"],
    ["2^-2", "0.25"],
    ["(2/3)^-2", "2.25"],
    ["0^0", "1"],
    ["4^0.5", "2"],
    ["4^-0.5", "0.5"],
    ["9^1.5", "27"],
    ["2^0.5", rounded("1.4142135623731")],
    ["8^(1/3)", rounded("2")],
    ["1.035^10", "1.410598760621122182512197265625"],
    ["1.0035^360", rounded("3.51767454804719")],
    // percent and remainder
    ["15%", "0.15"],
    ["200*15%", "30"],
    ["15% of 80", "12"],
    ["15% * 80", "12"],
    ["10%-3", "-2.9"],
    ["17%5", "2"],
    ["17 % 5", "2"],
    ["-7%3", "-1"],
    ["7.5%(2)", "1.5"],
    ["50%%", "0.005"],
    // how people write numbers
    ["4,300+1", "4301"],
    ["1,234,567.89*2", "2469135.78"],
    ["1e3", "1000"],
    ["2.5E-3", "0.0025"],
    ["1.5e+2", "150"],
    ["３＋４×２", "11"],
    ["（１，２００－２００）÷４", "250"],
    ["6 × 7", "42"],
    ["6 x 7", "42"],
    ["9 ÷ 2", "4.5"],
    ["5 − 2", "3"],
    ["５０％　＊　８", "4"],
    // functions and constants
    ["sqrt(16)", "4"],
    ["sqrt(2.25)", "1.5"],
    ["sqrt(2)", rounded("1.4142135623731")],
    ["sqrt(2)^2", rounded("2")],
    ["SQRT(9)+Abs(-2)", "5"],
    ["abs(3-5)", "2"],
    ["round(2.5)", "3"],
    ["round(-2.5)", "-3"],
    ["round(1.005, 2)", "1.01"],
    ["round(10/3, 2)", "3.33"],
    ["round(1250, -2)", "1300"],
    ["round(pi, 4)", "3.1416"],
    ["min(3, 1.5, 2)", "1.5"],
    ["max(3; 1,5)", "5"],
    ["max((1,234), 5)", "1234"],
    ["max(min(1, 2), 3)", "3"],
    ["pi", rounded("3.14159265358979")],
    ["2π", null],
    ["2*π", rounded("6.28318530717959")],
    ["e", rounded("2.71828182845905")],
    ["e^0", "1"],
  ])("%s", (expression, value) => {
    if (value === null) expect(() => calculate(expression)).toThrow("Position 2")
    else expect(calculate(expression)).toBe(value)
  })
})

describe("what is no expression is refused, with the position", () => {
  test.each([
    ["", 'The expression ends where a number or "(" should stand.'],
    ["   ", 'The expression ends where a number or "(" should stand.'],
    ["2+", 'The expression ends where a number or "(" should stand.'],
    ["(2+3", 'The expression ends where ")" should stand.'],
    ["2+*3", 'Position 3: expected a number or "(", found "*3".'],
    ["2+3)", 'Position 4: expected an operator such as + or *, found ")".'],
    ["2(3+4)", 'Position 2: expected an operator such as + or *, found "(3+4)". Write multiplication with *, as in 2*(3+4), and no units.'],
    ["12 kg", 'Position 4: expected an operator such as + or *, found "kg". Write multiplication with *, as in 2*(3+4), and no units.'],
    ["2 3", 'Position 3: expected an operator such as + or *, found "3". Write multiplication with *, as in 2*(3+4), and no units.'],
    ["$5", 'Position 1: expected a number or "(", found "$5".'],
    ["1.2.3", 'Position 4: expected an operator such as + or *, found ".3".'],
    ["0,5", "Position 2: a comma only separates thousands, as in 1,234.5. Write decimals with a point."],
    ["0,500", "Position 2: a comma only separates thousands, as in 1,234.5. Write decimals with a point."],
    ["1,23", "Position 2: a comma only separates thousands, as in 1,234.5. Write decimals with a point."],
    ["1,234,56", "Position 6: a comma only separates thousands, as in 1,234.5. Write decimals with a point."],
    ["1.234,56", "Position 6: a comma only separates thousands, as in 1,234.5. Write decimals with a point."],
    ["max(1,234)", "Position 5: inside a function a comma separates values. Write numbers without thousands separators there, and a space after the comma."],
    ["sin(1)", 'Position 1: "sin" is not known. Known are sqrt, abs, round, min, max, pi and e.'],
    ["constructor(1)", 'Position 1: "constructor" is not known. Known are sqrt, abs, round, min, max, pi and e.'],
    ["1+tostring", 'Position 3: "tostring" is not known. Known are sqrt, abs, round, min, max, pi and e.'],
    ["process.exit(1)", 'Position 1: "process" is not known. Known are sqrt, abs, round, min, max, pi and e.'],
    ["sqrt 4", 'Position 6: expected "(" after sqrt, found "4".'],
    ["sqrt()", 'Position 6: expected a number or "(", found ")".'],
    ["sqrt(1, 2)", "Position 1: sqrt takes at most 1 value, not 2."],
    ["round(1, 2, 3)", "Position 1: round takes at most 2 values, not 3."],
    ["round(1, 0.5)", "Position 1: the places of round must be a whole number from -100 to 100."],
    ["1/0", "Position 2: division by zero."],
    ["5 + 1/(2-2)", "Position 6: division by zero."],
    ["5 % (1-1)", "Position 3: division by zero."],
    ["0^-1", "Position 2: division by zero."],
    ["sqrt(2)/0", "Position 8: division by zero."],
    ["sqrt(-4)", "Position 1: a negative number has no real square root."],
    ["(-8)^(1/3)", "Position 5: a negative number has no real power with a fraction."],
    ["10^1001", "Position 3: the result has more than 1000 digits."],
    ["9^9^9", "Position 2: the exponent is larger than 10000."],
    ["9^10000", "Position 2: the result has more than 1000 digits."],
    ["1e1001", "Position 1: the exponent is larger than 1000."],
    ["1e999999999999999999", "Position 1: the exponent is larger than 1000."],
    ["2 + x", 'Position 5: "x" is not known. Known are sqrt, abs, round, min, max, pi and e.'],
    ["1 == 1", 'Position 3: expected an operator such as + or *, found "== 1".'],
    ["2 & 3", 'Position 3: expected an operator such as + or *, found "& 3".'],
    ["三加四", 'Position 1: expected a number or "(", found "三加四".'],
  ])("%s", (expression, message) => {
    expect(() => calculate(expression)).toThrow(new Error(message))
  })

  it("nested too deep", () => {
    for (const [open, close] of [
      ["(", ")"],
      ["-", ""],
      ["abs(", ")"],
      ["1^", ""],
    ] as const) {
      expect(calculate(`${open.repeat(90)}1${close.repeat(90)}`)).toBe("1")
      expect(() => calculate(`${open.repeat(110)}1${close.repeat(110)}`)).toThrow("nested more than 100 deep")
    }
  })

  it("too long", () => {
    expect(calculate(`${"1+".repeat(499)}1`)).toBe("500")
    expect(() => calculate(`${"1+".repeat(500)}1`)).toThrow("more than 1000 characters")
  })
})

describe("whatever a model writes", () => {
  it.each([
    ["nested powers", "9^9^9^9^9"],
    ["many divisions", `1${[...Array(180).keys()].map((n) => `/${n * n + 7}+1`).join("")}`.slice(0, 1000)],
    ["fractions of big powers", `${"(7/11)^260+".repeat(90)}1`],
    ["roots of roots", `${"sqrt(".repeat(90)}2${")".repeat(90)}`],
    ["blanks", `1${" ".repeat(998)}+`],
    ["percent signs", `1${"%".repeat(900)}`],
  ])("is done or refused within a second: %s", (_, expression) => {
    const start = performance.now()
    try {
      calculate(expression)
    } catch (error) {
      expect((error as Error).message).toMatch(/^Position|^The expression/)
    }
    expect(performance.now() - start).toBeLessThan(10_000)
  })

  it("gives a decimal or an error with a position, never anything else", () => {
    const sign = fc.constantFrom(..."0123456789.,+-*/%^()eπx; =×÷（１", "sqrt(", "max(", "round(", "of ", "pi")
    fc.assert(
      fc.property(fc.array(sign, { maxLength: 40 }), (signs) => {
        try {
          expect(calculate(signs.join(""))).toMatch(/^-?\d+(\.\d+)?(e[+-]\d+)?( \(rounded to 15 significant digits\))?$/)
        } catch (error) {
          expect((error as Error).message).toMatch(/^Position \d+: |^The expression ends /)
        }
      }),
      { seed: 20, numRuns: 3_000 },
    )
  })
})

describe("every expression of + - * / and whole powers", () => {
  interface Known {
    readonly text: string
    readonly top: bigint
    readonly bottom: bigint
  }
  /** A bottom of 0 marks what divides by zero. */
  const number = fc.record({ digits: fc.bigInt({ min: 0n, max: 99_999n }), places: fc.integer({ min: 0, max: 3 }) }).map(({ digits, places }): Known => {
    const text = String(digits).padStart(places + 1, "0")
    return { text: places === 0 ? text : `${text.slice(0, -places)}.${text.slice(-places)}`, top: digits, bottom: 10n ** BigInt(places) }
  })
  const { known } = fc.letrec<{ known: Known }>((tie) => ({
    known: fc.oneof(
      { maxDepth: 4, depthSize: "small" },
      number,
      fc.tuple(tie("known"), fc.constantFrom("+", "-", "*", "/"), tie("known")).map(([a, operator, b]): Known => {
        const text = `(${a.text} ${operator} ${b.text})`
        if (operator === "*") return { text, top: a.top * b.top, bottom: a.bottom * b.bottom }
        if (operator === "/") return { text, top: a.top * b.bottom, bottom: b.bottom === 0n ? 0n : a.bottom * b.top }
        return { text, top: a.top * b.bottom + (operator === "+" ? 1n : -1n) * b.top * a.bottom, bottom: a.bottom * b.bottom }
      }),
      fc
        .tuple(tie("known"), fc.integer({ min: 0, max: 3 }))
        .map(([a, exponent]): Known => ({ text: `(${a.text})^${exponent}`, top: a.top ** BigInt(exponent), bottom: a.bottom === 0n ? 0n : a.bottom ** BigInt(exponent) })),
      tie("known").map((a): Known => ({ text: `-(${a.text})`, top: -a.top, bottom: a.bottom })),
    ),
  }))
  const size = (value: bigint): bigint => (value < 0n ? -value : value)
  const read = (text: string): { top: bigint; bottom: bigint } => {
    const [, sign = "", whole = "", places = "", exponent = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?/.exec(text) ?? []
    const shift = Number(exponent) - places.length
    const digits = BigInt(`${sign}${whole}${places}`)
    return shift < 0 ? { top: digits, bottom: 10n ** BigInt(-shift) } : { top: digits * 10n ** BigInt(shift), bottom: 1n }
  }

  it("is exact, or right to 15 digits and says so", () => {
    const seen = { exact: 0, rounded: 0 }
    fc.assert(
      fc.property(known, ({ text, top, bottom }) => {
        fc.pre(text.length <= 1_000 && bottom !== 0n)
        const answer = calculate(text)
        const given = read(answer)
        const difference = size(given.top * bottom - top * given.bottom)
        if (answer.includes("rounded")) {
          seen.rounded += 1
          // half of the 15th digit
          expect(difference * 2n * 10n ** 14n <= size(top) * given.bottom).toBe(true)
        } else {
          seen.exact += 1
          expect(difference).toBe(0n)
        }
      }),
      { seed: 7, numRuns: 2_000 },
    )
    expect(seen.exact).toBeGreaterThan(500)
    expect(seen.rounded).toBeGreaterThan(100)
  })
})

describe("the tool", () => {
  it("is small, safe and quick", () => {
    expect(calculator()).toMatchObject({ name: "calculator", hints: { readOnly: true }, tags: ["compute"], timeoutMs: 5_000, retries: 0 })
  })

  it("has examples that it can calculate", async () => {
    const results = await Promise.all(calculator().examples.map((example) => runTool(calculator(), example as object)))
    expect(results).toEqual(["1939.105", "372"])
  })

  it("tells the model what is wrong", async () => {
    expect(await runTool(calculator(), { expression: "12 kg * 3" })).toBe(
      'Error: calculator failed: Position 4: expected an operator such as + or *, found "kg * 3". Write multiplication with *, as in 2*(3+4), and no units.',
    )
    expect(await runTool(calculator(), { expression: "" })).toMatch(/^Error: .*expression/)
  })
})
