import { describe, expect, test } from "vitest"
import type { FinishReason } from "../../src/contract/model.ts"
import type { JsonSchema } from "../../src/contract/schema.ts"
import type { ArgumentsReading } from "../../src/infrastructure/json/arguments.ts"
import { readArguments } from "../../src/infrastructure/json/arguments.ts"

const weather: JsonSchema = { type: "object", properties: { city: { type: "string" }, days: { type: "integer", minimum: 1 } }, required: ["city"], additionalProperties: false }
const note: JsonSchema = { type: "object", properties: { text: { type: "string" }, tag: { type: "string" } }, required: ["text"] }
const clock: JsonSchema = { type: "object", properties: {} }

function read(raw: unknown, schema: JsonSchema = weather, more: { finish?: FinishReason; examples?: readonly unknown[] } = {}): ArgumentsReading {
  return readArguments(raw, { tool: "do_task", schema, examples: more.examples ?? [], finish: more.finish ?? "tool_calls" })
}
function ok(value: object, ...repairs: string[]): ArgumentsReading {
  return { type: "ok", value: value as Record<string, unknown>, repairs }
}
/** Code and message without the example at the end. */
function refusal(reading: ArgumentsReading): string {
  return reading.type === "refused"
    ? `${reading.code}: ${reading.message.replace(/^The arguments of do_task were not accepted: /, "").replace(/\. Correct arguments look like this: .*$/s, "")}`
    : reading.type
}

describe("what stands around the object goes away", () => {
  const lima = { city: "Lima" }
  test.each<[string, string, string]>([
    ["a fence", '```json\n{"city":"Lima"}\n```', "removed a code fence"],
    ["a fence that never ends", '```json\n{"city":"Lima"}', "removed a code fence"],
    ["prose", 'Sure, here are the arguments: {"city":"Lima"}', "removed text around the object"],
    ["prose with brackets", 'As [1] says, fill {city}: {"city":"Lima"} (see [Lima])', "removed text around the object"],
    ["a special token", '[ARGS]{"city":"Lima"}<|im_end|>', "removed text around the object"],
    ["a closing tag and a surplus bracket", '{"city":"Lima"}}\n</tool_call>', "removed text around the object"],
    ["a function call", 'do_task({"city":"Lima"});', "removed text around the object"],
    ["a byte order mark", '\ufeff{"city":"Lima"}', "removed a byte order mark"],
    ["thinking", '<think>perhaps {"city":"Oslo"}?</think>{"city":"Lima"}', "removed thinking"],
  ])("%s", (_name, text, repair) => {
    const reading = read(text)
    expect(reading).toEqual({ type: "ok", value: lima, repairs: reading.type === "ok" ? reading.repairs : [] })
    expect(reading.type === "ok" && reading.repairs).toContain(repair)
  })

  test.each([
    ['{"city":"Lima"}, "days": 2}', "a part of it stands outside"],
    ['"days": 2, "inner": {"city":"Lima"}}', "a part of it stands outside"],
    ['{"text": "print("}")"}', "a part of it stands outside"],
    ["<think>no end {}", "it holds no JSON object"],
    ["not-json{", "it holds no JSON object"],
  ])("but never a part of the object: %s", (text, reason) => {
    expect(refusal(read(text))).toMatch(/^invalid_json/)
    expect(refusal(read(text))).toContain(reason)
  })
})

describe("slips inside the object are repaired", () => {
  test.each<[string, object, string[]]>([
    ["{'city':'Lima','days':3,}", { city: "Lima", days: 3 }, ["rewrote quotes", "removed a comma before a closing bracket"]],
    ['{"city": "Lima" "days": 2}', { city: "Lima", days: 2 }, ["added a missing comma"]],
    ['{city: "Lima", days: 2}', { city: "Lima", days: 2 }, ["quoted a bare key"]],
    ["{city: Lima}", { city: "Lima" }, ["quoted a bare key", "quoted a bare word"]],
    ['｛"city"："Lima"，"days"：3｝', { city: "Lima", days: 3 }, ["rewrote full-width punctuation"]],
    ["{“city”: “Lima”}", { city: "Lima" }, ["rewrote quotes"]],
    ['{"city": "Lima", /* days */ "days": 2 // two\n}', { city: "Lima", days: 2 }, ["removed comments"]],
    ['{"city": "Lima",\\n"days": 2\\n}', { city: "Lima", days: 2 }, ["removed escaped line breaks between values"]],
    ['{\\"city\\": \\"Lima\\"}', { city: "Lima" }, ["decoded JSON that was encoded twice"]],
    [JSON.stringify('{"city":"Lima"}'), { city: "Lima" }, ["decoded JSON that was encoded twice"]],
    ['{"city":"Lima","days":+3}', { city: "Lima", days: 3 }, ["rewrote a number"]],
    ['{"city":"Lima","days":None}', { city: "Lima" }, ["rewrote Python words", "days: left out null"]],
    ['{"city":"""Lima "x"\ny"""}', { city: 'Lima "x"\ny' }, ["read a triple-quoted string"]],
    ["{}{'city':'Lima'}", { city: "Lima" }, ["rewrote quotes", "dropped a list, or an empty or repeated object"]],
    ['{"city":"Lima"}{"city":"Lima"}', { city: "Lima" }, ["dropped a list, or an empty or repeated object"]],
  ])("%s", (text, value, repairs) => {
    expect(read(text)).toEqual(ok(value, ...repairs))
  })

  test.each([
    ['{"city" "Lima"}', 'there is no colon after the key "city"'],
    ['{"city": "Lima", "days" 2}', "a quote or a comma is missing"],
    ['{"city": "Lima",, "days": 2}', "a quote or a comma is missing"],
    ['{"city": New York}', "there is no comma between two values"],
    ['{"city": "Lima", "days": NaN}', "NaN is not JSON"],
    ['{"city": "Lima", "days": -Infinity}', "-Infinity is not JSON"],
    ['{"city": "Lima", "days": undefined}', "undefined is not JSON"],
    ['{"city": "Lima", "days": 2]}', "there is no comma between two values"],
    ['{"city": "Li" + "ma"}', "a quote inside a string is not escaped"],
  ])("what has no plain meaning is refused: %s", (text, reason) => {
    expect(refusal(read(text))).toContain(`invalid_json: they are not valid JSON: ${reason}`)
  })
})

describe("quotes inside a string", () => {
  test.each<[string, object]>([
    ['{"text": "she said "yes" twice"}', { text: 'she said "yes" twice' }],
    ['{"text": ""hi" he said"}', { text: '"hi" he said' }],
    ['{"text": "f("a", "b")"}', { text: 'f("a", "b")' }],
    ['{"text": "<a href="x">y</a>", "tag": "z"}', { text: '<a href="x">y</a>', tag: "z" }],
    ['{"text": "他说"好"，然后走", "tag": "z"}', { text: '他说"好"，然后走', tag: "z" }],
    ["{'text': 'it's ok', 'tag': 'don't'}", { text: "it's ok", tag: "don't" }],
    ['{"text": "it\\\'s"}', { text: "it's" }],
  ])("are kept where one reading is left: %s", (text, value) => {
    const reading = read(text, note)
    expect(reading.type === "ok" && reading.value).toEqual(value)
  })

  test.each(['{"text": "he said "a", "tag": "c"}', '{"text": "27" wide"}', '{"text": "x = {"a": "b"}"}', '{"text": "a", "b" "c"}', '{"text": "a", "b"}', '["x "a", "b""]'])(
    "are refused where two are: %s",
    (text) => {
      expect(refusal(read(text, note))).toMatch(/^invalid_json/)
    },
  )
})

describe("backslashes that were not escaped", () => {
  const text = (raw: string): unknown => {
    const reading = read(`{"text": "${raw}"}`, note)
    return reading.type === "ok" ? reading.value.text : refusal(reading)
  }
  test.each<[string, string, string]>([
    ["a path", "C:\\Users\\new\\bin", "C:\\Users\\new\\bin"],
    ["a relative path", "src\\new\\app", "src\\new\\app"],
    ["a share", "\\\\server\\share\\docs", "\\\\server\\share\\docs"],
    ["a path with blanks", "C:\\Program Files\\new\\app", "C:\\Program Files\\new\\app"],
    ["a formula", "$\\nu = \\frac{1}{2} \\alpha$", "$\\nu = \\frac{1}{2} \\alpha$"],
    ["code with line breaks", "re\\nx = re.match(\\d+)\\nprint", "re\nx = re.match(\\d+)\nprint"],
    ["valid escapes next to a foreign one", "a \\u00e9 \\\\ \\q", "a é \\ \\q"],
  ])("%s stays what it is", (_name, raw, value) => {
    expect(text(raw)).toBe(value)
  })

  test("are refused where they may be a path or a line break", () => {
    expect(text("copy src\\new\\app to dst")).toContain("a backslash is not escaped, write \\\\ for it")
  })
})

describe("cut off", () => {
  test.each([
    '{"city":"Lima","days":3',
    '{"city":"Li',
    '{"city":',
    "{",
    '{"city":"Lima"}{"city":',
    '"{\\"city\\":\\"Lima\\"}',
    JSON.stringify('{"city":"Li'),
    "```json\n{'city': 'Li",
  ])("%s", (text) => {
    expect(refusal(read(text))).toBe("truncated: they are cut off: the JSON ends before it is complete. Send the whole object")
  })

  test("at the output limit the message says so, whatever is left of the text", () => {
    for (const text of ["", '{"city":"Lima","da', "Sure, I will"]) {
      expect(refusal(read(text, clock, { finish: "length" }))).toBe(
        "truncated: they are cut off: the reply reached its output limit. Write less, or split the work into several calls",
      )
    }
  })

  test("a whole object is no cut-off one, even at the output limit", () => {
    expect(read('{"city":"Lima"}', weather, { finish: "length" })).toEqual(ok({ city: "Lima" }))
  })
})

describe("nothing, and things that are no object", () => {
  test.each<[unknown]>([[""], ["  "], ['""'], ["null"], ["None"], [undefined], [null]])("%j is {} for a tool without arguments, and missing arguments for another", (raw) => {
    const reading = read(raw, clock)
    expect(reading.type === "ok" && reading.value).toEqual({})
    expect(refusal(read(raw))).toBe("schema: city: expected string (required), received nothing")
  })

  test.each<[unknown, string]>([
    ['"Zagreb"', '"Zagreb"'],
    ["5", "5"],
    ["true", "true"],
    ['[{"city":"Kiel"}]', "an array of 1"],
    [[], "an array of 0"],
  ])("%j", (raw, received) => {
    expect(refusal(read(raw))).toBe(`not_object: expected one JSON object, received ${received}`)
  })

  test("an object instead of text is taken as it is", () => {
    const value = { city: "Bonn", days: 5 }
    const reading = read(value)
    expect(reading.type === "ok" && reading.value).toBe(value)
  })
})

describe("several objects", () => {
  test("that all fit are several calls", () => {
    expect(read('{"city":"a}{b"}\n{"city":"c"}')).toEqual({ type: "several", texts: ['{"city":"a}{b"}', '{"city":"c"}'] })
  })

  test("of which one does not fit are ambiguous", () => {
    expect(refusal(read('{"city":"a"}{"x":1}'))).toBe("ambiguous: they hold 2 JSON objects; give exactly one object per call")
  })

  test("a key with two values is ambiguous, with the same value it is not", () => {
    expect(refusal(read('{"city":"a","city":"b"}'))).toBe('ambiguous: the key "city" occurs more than once with different values; give it once')
    expect(read('{"city":"a","city":"a"}')).toEqual(ok({ city: "a" }))
  })
})

describe("values are brought to their schema", () => {
  const all: JsonSchema = {
    type: "object",
    properties: {
      number: { type: "number" },
      integer: { type: "integer", minimum: 1, maximum: 9 },
      flag: { type: "boolean" },
      text: { type: "string" },
      list: { type: "array", items: { type: "integer" } },
      tags: { type: "array", items: { type: "string" } },
      object: { type: "object", properties: { x: { type: "integer" } }, required: ["x"] },
      choice: { enum: ["low", "HIGH"] },
      level: { type: "integer", enum: [1, 2] },
      maybe: { anyOf: [{ type: "integer" }, { type: "null" }] },
      items: { type: "array", items: { $ref: "#/$defs/item" } },
    },
    $defs: { item: { type: "object", properties: { k: { type: "string" } }, required: ["k"] } },
  }
  test.each<[object, object, string[]]>([
    [{ number: "3.5" }, { number: 3.5 }, ["number: text to number"]],
    [{ integer: " 3.0 " }, { integer: 3 }, ["integer: text to number"]],
    [{ flag: "TRUE" }, { flag: true }, ["flag: text to boolean"]],
    [{ text: 3 }, { text: "3" }, ["text: number to text"]],
    [{ text: ["x"] }, { text: "x" }, ["text: took the only item out of its list"]],
    [{ text: null }, {}, ["text: left out null"]],
    [{ list: "3" }, { list: [3] }, ["list: one value to a list", "list[0]: text to number"]],
    [{ list: [1, "2"] }, { list: [1, 2] }, ["list[1]: text to number"]],
    [{ list: "[1, 2,]" }, { list: [1, 2] }, ["list: JSON text to the value it holds"]],
    [{ tags: "a, b" }, { tags: ["a, b"] }, ["tags: one value to a list"]],
    [{ object: "{'x': '2'}" }, { object: { x: 2 } }, ["object: JSON text to the value it holds", "object.x: text to number"]],
    [{ choice: "high" }, { choice: "HIGH" }, ["choice: an allowed value written differently"]],
    [{ level: "2" }, { level: 2 }, ["level: an allowed value written differently"]],
    [{ maybe: "3" }, { maybe: 3 }, ["maybe: text to number"]],
    [{ maybe: "null" }, { maybe: null }, ["maybe: text to null"]],
    [{ items: { k: 1 } }, { items: [{ k: "1" }] }, ["items: one value to a list", "items[0].k: number to text"]],
    [{ items: '{"k":"a"}' }, { items: [{ k: "a" }] }, ["items: JSON text to a list"]],
  ])("%j", (value, wanted, repairs) => {
    expect(read(JSON.stringify(value), all)).toEqual(ok(wanted, ...repairs))
  })

  test.each<[object, string]>([
    [{ integer: "3.5" }, 'integer: expected integer, received "3.5"'],
    [{ integer: 12 }, "integer: expected at most 9, received 12"],
    [{ integer: "" }, 'integer: expected integer, received ""'],
    [{ flag: "yes" }, 'flag: expected boolean, received "yes"'],
    [{ flag: 1 }, "flag: expected boolean, received 1"],
    [{ text: { a: 1 } }, "text: expected string, received an object with a"],
    [{ tags: "[1" }, 'tags: expected array, received "[1"'],
    [{ choice: "mid" }, 'choice: expected one of "low", "HIGH", received "mid"'],
    [{ level: "3" }, 'level: expected one of 1, 2, received "3"'],
    [{ items: [{ k: "a" }, {}] }, "items[1].k: expected string (required), received nothing"],
  ])("%j is refused", (value, message) => {
    expect(refusal(read(JSON.stringify(value), all))).toBe(`schema: ${message}`)
  })

  test("text that looks like something else stays text where text is wanted", () => {
    const value = { text: '{"a": true}', tags: ["1", "null", "[2]"] }
    expect(read(JSON.stringify(value), all)).toEqual(ok(value))
  })

  test("deep inside, and a null that may stand stays", () => {
    const options: JsonSchema = {
      type: "object",
      properties: { tags: { type: "array", items: { type: "string" } }, note: { type: ["string", "null"] }, flag: { type: "boolean" } },
    }
    const schema: JsonSchema = { type: "object", properties: { options }, required: ["options"] }
    expect(read('{"options": {"tags": "museum", "note": None, "flag": True}}', schema)).toEqual(
      ok({ options: { tags: ["museum"], note: null, flag: true } }, "rewrote Python words", "options.tags: one value to a list"),
    )
  })

  test("a part that fits is left alone while another part is repaired", () => {
    const schema: JsonSchema = { type: "object", properties: { a: { type: ["integer", "string"] }, b: { type: "integer" }, c: { type: "array" } } }
    expect(read('{"a":"3","b":"4","c":["5"]}', schema)).toEqual(ok({ a: "3", b: 4, c: ["5"] }, "b: text to number"))
  })

  test("a number for text is refused when its digits are lost", () => {
    expect(refusal(read('{"text": 3.10}', all))).toBe("schema: text: expected string, received a number; put it in quotes")
    expect(read('{"text": "3.10", "number": 3.10}', all)).toEqual(ok({ text: "3.10", number: 3.1 }))
  })
})

describe("integers beyond 2^53 keep their digits", () => {
  const of = (type: string): JsonSchema => ({ type: "object", properties: { id: { type } }, required: ["id"] })
  test.each(["integer", "number", "string"])("as text, for %s", (type) => {
    const kept = ok({ id: "2398471005512340017" }, "kept the digits of a long number as text")
    expect(read('{"id": 2398471005512340017}', of(type))).toEqual(kept)
  })

  test("text that already holds them passes unchanged", () => {
    expect(read('{"id": "2398471005512340017"}', of("integer"))).toEqual(ok({ id: "2398471005512340017" }))
  })

  test("numbers that JavaScript prints as they were written stay numbers", () => {
    expect(read('{"id": 9007199254740994}', of("integer"))).toEqual(ok({ id: 9007199254740994 }))
    expect(read('{"id": 0.30000000000000004}', of("number"))).toEqual(ok({ id: 0.30000000000000004 }))
  })

  test("a number too large for any is refused by name", () => {
    expect(refusal(read('{"id": 1e999}', of("number")))).toBe('schema: id: expected number, received "1e999"')
  })
})

describe("wrappers", () => {
  test.each(['{"name":"do_task","arguments":{"city":"a"}}', '{"arguments":"{\\"city\\":\\"a\\"}"}', '{"input":{"city":"a"}}', '{"do_task":{"city":"a"}}'])(
    "%s is opened",
    (text) => {
      expect(read(text)).toMatchObject({ type: "ok", value: { city: "a" } })
    },
  )

  test.each(['{"name":"other","arguments":{"city":"a"}}', '{"input":{"city":"a"},"days":2}', '{"query":{"city":"a"}}'])(
    "%s is not: something would be lost, or guessed",
    (text) => {
      expect(refusal(read(text))).toMatch(/^schema: city: expected string \(required\)/)
    },
  )

  test("an argument of that name is no wrapper", () => {
    const schema: JsonSchema = { type: "object", properties: { input: { type: "object", properties: { city: { type: "string" } } } }, required: ["input"] }
    expect(read('{"input":{"city":"Bern"}}', schema)).toEqual(ok({ input: { city: "Bern" } }))
  })
})

describe("the message to the model", () => {
  test("names every argument, what was expected, what was received, and shows an example", () => {
    const example = { city: "Graz", days: 2 }
    expect(read('{"days":"soon","country":1}', weather, { examples: [{ city: 5 }, example] })).toEqual({
      type: "refused",
      code: "schema",
      message:
        'The arguments of do_task were not accepted: city: expected string (required), received nothing; days: expected integer, received "soon"; ' +
        'country: expected no such property (there is city, days), received 1. Correct arguments look like this: {"city":"Graz","days":2}',
    })
  })

  test("makes an example from the schema when the tool has none that fits", () => {
    const schema: JsonSchema = {
      type: "object",
      properties: {
        unit: { enum: ["c", "f"] },
        count: { type: "integer", minimum: 3 },
        who: { $ref: "#/$defs/who" },
        at: { type: "array", items: { type: "number" } },
        note: { type: "string" },
      },
      required: ["unit", "count", "who", "at"],
      $defs: { who: { type: "object", properties: { name: { type: "string", examples: ["Ada"] } }, required: ["name"] } },
    }
    const reading = read("{}", schema)
    expect(reading.type === "refused" && reading.message).toContain('Correct arguments look like this: {"unit":"c","count":3,"who":{"name":"Ada"},"at":[1]}')
  })

  test("stays short for long values and many problems", () => {
    const schema: JsonSchema = { type: "object", properties: Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`p${index}`, { type: "integer" }])) }
    const value = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`p${index}`, "x".repeat(5000)]))
    const reading = read(value, schema)
    expect(reading.type === "refused" && reading.message.length).toBeLessThan(1000)
    expect(refusal(reading)).toContain("; and 25 more")
  })
})
