// Replies for the tests of the reader and the gate: those of the corpus, and pieces to mutate them with.
import { readFileSync } from "node:fs"
import fc from "fast-check"

export const corpusTexts: readonly string[] = ["text_tool_call", "react"].flatMap((kind) =>
  readFileSync(new URL(`../fixtures/corpus/all/${kind}.jsonl`, import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => String((JSON.parse(line) as { input: unknown }).input)),
)

const pieces: readonly string[] = [
  ..."<>[](){}`\"'\\:：，, \n|｜*#_-=/1aA动",
  ...[
    "<tool_call>",
    "</tool_call>",
    "<think>",
    "</think>",
    "[TOOL_CALLS]",
    "<|channel|>",
    "<|message|>",
    "<|start|>",
    "<function=run>",
    "<parameter=a>",
    "</parameter>",
    "</function>",
  ],
  ...[
    "```",
    "```json\n",
    "\n```\n",
    "\nAction: ",
    "\nAction Input: ",
    "\nThought: ",
    "\nFinal Answer: ",
    "\nObservation: ",
    "\n思考：",
    "\n行动：",
    '{"name": "run", "arguments": {',
    "run(",
    "\r\n",
  ],
  ...["<arg_key>", "</arg_key>", "<arg_value>", "<tool_response>", "<｜DSML｜invoke name=", "<|tool_call_begin|>", "<|tool_call>call:run{", '<|"|>'],
]

/** A text of the corpus with some places cut out, doubled or overwritten, or pieces strung together. */
export const mutatedText: fc.Arbitrary<string> = fc.oneof(
  fc.tuple(fc.constantFrom(...corpusTexts), fc.array(fc.tuple(fc.nat(400), fc.nat(30), fc.constantFrom("", ...pieces)), { maxLength: 4 })).map(([text, edits]) =>
    edits.reduce((changed, [at, length, piece]) => {
      const place = at % (changed.length + 1)
      return changed.slice(0, place) + piece + changed.slice(place + length)
    }, text),
  ),
  fc.array(fc.constantFrom(...pieces), { maxLength: 30 }).map((parts) => parts.join("")),
  fc.tuple(fc.constantFrom(...corpusTexts), fc.constantFrom(...corpusTexts), fc.nat(300)).map(([a, b, at]) => a.slice(0, at) + b),
)
