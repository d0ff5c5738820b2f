// The tool `calculator`: arithmetic that a model should not do in its head. Given to agents by users, from `hello-agents/tools`.
// Reading and working out an expression is calculate.ts.
import type { Tool } from "../index.ts"
import { jsonSchema, tool } from "../index.ts"
import { calculate } from "./calculate.ts"

const DESCRIPTION = `Calculates an arithmetic expression exactly.
Use it for every sum, difference, product, quotient, percentage or power instead of working it out yourself.
Signs: + - * / ^ and brackets; 12% means 12/100, so 12% of 250 is 12% * 250; between two numbers % gives the remainder. Functions: sqrt, abs, round(number, places), min, max. Constants: pi, e.
Give numbers only, without units or currency signs, e.g. {"expression": "(1249.50 + 380) * 1.19"}.`

/** Decimals come back exactly (0.1 + 0.2 is 0.3); what does not end is rounded to 15 significant digits, and the result says so. */
export function calculator(): Tool {
  return tool({
    name: "calculator",
    description: DESCRIPTION,
    input: jsonSchema<{ expression: string }>({
      type: "object",
      properties: { expression: { type: "string", minLength: 1, description: "arithmetic expression such as (1249.50 + 380) * 1.19" } },
      required: ["expression"],
      additionalProperties: false,
    }),
    hints: { readOnly: true, idempotent: true },
    tags: ["compute"],
    examples: [{ expression: "(1249.50 + 380) * 1.19" }, { expression: "round(15% * 2480, 2)" }],
    execute: ({ expression }) => calculate(expression),
  })
}
