import { describe, expect, it } from "vitest"
import { classifyErrorBody, classifyHttpError, classifyNetworkError } from "../../src/capability/models/http-errors.ts"
import type { HttpErrorResponse } from "../../src/capability/models/http-errors.ts"
import { corpusRows } from "../history/corpus.ts"

const NOW = Date.parse("2026-03-02T10:00:00Z")
const answer = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  classifyHttpError({ status, headers, body: typeof body === "string" ? body : JSON.stringify(body) }, NOW)
const says = (status: number, message: string) => answer(status, { error: { message, type: null, code: null } })

describe("the corpus of HTTP errors", () => {
  it.each(corpusRows<HttpErrorResponse, { now: string }>("http"))("$id", ({ input, context, verdict }) => {
    expect(verdict(classifyHttpError(input, Date.parse(context.now)))).toEqual({ pass: true, exact: true })
  })
})

describe("how long to wait", () => {
  const wait = (headers: Record<string, string>, message = "Slow down") => answer(429, { error: { message } }, headers).waitMs
  it.each([
    [{ "Retry-After": "20" }, 20_000],
    [{ "retry-after": "1.5" }, 1_500],
    [{ "retry-after": "Mon, 02 Mar 2026 10:00:30 GMT" }, 30_000],
    [{ "retry-after": "Mon, 02 Mar 2026 09:00:00 GMT" }, 0],
    [{ "retry-after": "2026-03-02T10:00:05Z" }, 5_000],
    [{ "retry-after": "99999999999" }, 86_400_000],
    [{ "retry-after": "1e3" }, undefined],
    [{ "retry-after-ms": "-1" }, undefined],
    [{ "x-ratelimit-reset": "1772445642" }, 42_000],
    [{ "x-ratelimit-reset-requests": "1h2m3s" }, 3_723_000],
    [{ "x-ratelimit-reset-requests": "9s", "x-ratelimit-remaining-requests": "5", "x-ratelimit-reset-tokens": "2s", "x-ratelimit-remaining-tokens": "0" }, 2_000],
    [{ "anthropic-ratelimit-tokens-reset": "2026-03-02T10:00:07Z" }, 7_000],
    [{ "x-ratelimit-reset": "tomorrow" }, undefined],
  ])("headers %j: %s", (headers, expected) => {
    expect(wait(headers as Record<string, string>)).toBe(expected)
  })
  it.each([
    ["Please try again in 6m0s.", 360_000],
    ["Please retry after 20 seconds.", 20_000],
    ["Try again in 250ms", 250],
    ["Resets in 3 minutes.", 180_000],
    ["Retry in a while", undefined],
  ])("text %j: %s", (message, expected) => {
    expect(wait({}, message)).toBe(expected)
  })
  it("is not said of what waiting does not mend", () => {
    expect(answer(401, "", { "retry-after": "5" })).toEqual({ code: "auth", retryable: false, message: "HTTP 401 without a message", hint: "Check LLM_API_KEY." })
  })
})

describe("too much for the model", () => {
  it.each([
    "This model's maximum context length is 4096 tokens. However, you requested 5018 tokens.",
    "prompt is too long: 213462 tokens > 200000 maximum",
    "Please reduce the length of the messages or completion.",
    "Input length (265330) exceeds the maximum allowed input length of 262144 tokens.",
    "The input (9000 tokens) is longer than the model can take (8192 tokens)",
    "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    "invalid params, context window exceeds limit",
    "输入内容超长",
  ])("%s", (message) => {
    expect(says(400, message)).toMatchObject({ code: "context_length", retryable: false })
  })
  it.each([
    "'max_tokens' is too large: 5000. This model's maximum context length is 4096 tokens.",
    "Invalid 'messages[0].name': string too long. Expected a string with maximum length 64.",
    "Request contains an image larger than 20 MB; the length exceeds the maximum.",
    "Invalid 'tools': array too long.",
  ])("but not: %s", (message) => {
    expect(says(400, message).code).toBe("invalid_request")
  })
  it("is also said by 413, by 429 about tokens only while more waiting helps", () => {
    expect(answer(413, "<html><head><title>413 Request Entity Too Large</title></head></html>")).toEqual({
      code: "request_too_large",
      retryable: false,
      message: "HTTP 413: 413 Request Entity Too Large",
    })
    expect(says(429, "ThrottlingException: Too many tokens, please wait before trying again.")).toMatchObject({ code: "rate_limit", retryable: true })
  })
})

describe("whose fault it is", () => {
  it.each([
    [500, "Internal error", "server_error", true],
    [502, "Bad gateway", "server_error", true],
    [503, "", "overloaded", true],
    [529, "Overloaded", "overloaded", true],
    [500, "model is currently loading", "model_loading", true],
    [500, "error loading model: out of memory", "server_error", true],
    [500, "", "server_error", true],
    [500, "'dict object' has no attribute 'content'", "invalid_request", false],
    [500, "1 validation error:\n  {'input': 'rate limit, context length, overloaded'}", "invalid_request", false],
    [501, "Not implemented", "invalid_request", false],
    [400, "API key not valid. Please pass a valid API key.", "auth", false],
    [400, "The model `m` does not exist", "not_found", false],
    [422, "tools: not supported", "invalid_request", false],
    [429, "Insufficient balance", "quota", false],
    [307, "", "bad_response", false],
  ])("%i %j is %s", (status, message, code, retryable) => {
    expect(says(status, message)).toMatchObject({ code, retryable })
  })
  it.each([
    [401, "Bad key", "Check LLM_API_KEY."],
    [403, "Forbidden", "Check LLM_API_KEY."],
    [404, "model 'x' not found, try pulling it first", "Check LLM_MODEL."],
    [404, "404 page not found", "Check LLM_BASE_URL: it usually ends in /v1."],
    [402, "Insufficient Balance", "Check the plan and balance behind LLM_API_KEY."],
  ])("%i %j: %s", (status, message, hint) => {
    expect(says(status, message).hint).toBe(hint)
  })
})

describe("what is shown", () => {
  it.each([
    [{ detail: [{ loc: ["body", "messages", 1, "content"], msg: "Field required", type: "missing" }] }, "HTTP 400: body.messages.1.content: Field required"],
    [{ detail: "Not Found" }, "HTTP 400: Not Found"],
    [{ error: "no" }, "HTTP 400: no"],
    [{ errors: [{ message: "first" }, { message: "second" }] }, "HTTP 400: first"],
    [{ statusCode: 400, message: "q is missing", error: "Bad Request" }, "HTTP 400: Bad Request: q is missing"],
    [{ error: { message: "Provider returned error", metadata: { raw: '{"error":{"message":"tool names differ"}}' } } }, "HTTP 400: Provider returned error: tool names differ"],
    [{ error: { message: "", type: "internal_server_error" } }, "HTTP 400: internal_server_error"],
    ['{"error": {"mess', 'HTTP 400: {"error": {"mess'],
    ["<html><style>p{}</style><body><h1>Blocked</h1>\n<p>by the proxy</p></body></html>", "HTTP 400: Blocked by the proxy"],
    ["", "HTTP 400 without a message"],
    ["null", "HTTP 400: null"],
  ])("of %j", (body, message) => {
    expect(answer(400, body).message).toBe(message)
  })
  it("is short and without keys or stacks", () => {
    expect(says(500, '1 validation error:\n  bad\n\n  File "/opt/app.py", line 376').message).toBe("HTTP 500: 1 validation error: bad")
    expect(says(401, `Incorrect key sk-proj-abcdefghijklmnop1234 given`).message).toBe("HTTP 401: Incorrect key [hidden] given")
    expect(says(400, "long ".repeat(100_000)).message).toHaveLength(300)
  })
  it("is found in time in hostile text", () => {
    const started = performance.now()
    for (const text of [
      "<".repeat(60_000),
      "<html><script".repeat(5_000),
      `${"retry in 1".repeat(6_000)}`,
      "request ".repeat(8_000),
      "[".repeat(60_000),
      `{"error":`.repeat(6_000),
    ])
      answer(500, text)
    expect(performance.now() - started).toBeLessThan(10_000)
  })
})

describe("an error inside a good answer", () => {
  it.each([
    [{ error: { message: "Upstream request failed", type: "upstream_error", code: 502 } }, "server_error", true],
    [{ message: "Engine loop is dead", type: null, code: null }, "server_error", true],
    [{ choices: [{ error: { code: 502, message: "Provider returned error" } }] }, "server_error", true],
    [{ choices: null, base_resp: { status_code: 1008, status_msg: "insufficient balance" } }, "quota", false],
    [{ choices: null, base_resp: { status_code: 1002, status_msg: "rate limit" } }, "rate_limit", true],
    [{ error: { message: "upstream quota exceeded", type: "rate_limit_error", code: 429 } }, "rate_limit", true],
    [{ error: { message: "bad tool", type: "invalid_request_error" } }, "invalid_request", false],
    [{ error: { message: "Overloaded", type: "overloaded_error" } }, "overloaded", true],
    ['error: {"code":400,"message":"the request exceeds the available context size (4096 tokens)"}', "context_length", false],
    ["error: generation failed: out of memory", "bad_response", true],
  ])("%j is %s", (error, code, retryable) => {
    expect(classifyErrorBody(error, NOW)).toMatchObject({ code, retryable })
  })
  it("keeps its text", () => {
    expect(classifyErrorBody("error: out of memory", NOW).message).toBe("error: out of memory")
  })
})

describe("a broken connection", () => {
  const failed = (code: string, message: string, name = "Error") => Object.assign(new TypeError("fetch failed"), { cause: Object.assign(new Error(message), { code, name }) })
  it.each([
    [
      failed("ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:1"),
      "network",
      true,
      "The model server refused the connection: connect ECONNREFUSED 127.0.0.1:1",
      "Check LLM_BASE_URL: is the server running there?",
    ],
    [
      failed("ENOTFOUND", "getaddrinfo ENOTFOUND nowhere.invalid"),
      "network",
      false,
      "The model server's host name is unknown: getaddrinfo ENOTFOUND nowhere.invalid",
      "Check LLM_BASE_URL: the host name is not known.",
    ],
    [failed("ECONNRESET", "read ECONNRESET"), "network", true, "The connection to the model server broke: read ECONNRESET", undefined],
    [
      failed("UND_ERR_HEADERS_TIMEOUT", "Headers Timeout Error"),
      "timeout",
      true,
      "The model server did not answer in time: Headers Timeout Error (UND_ERR_HEADERS_TIMEOUT)",
      "Check LLM_BASE_URL, or allow more time.",
    ],
    [
      failed("SELF_SIGNED_CERT_IN_CHAIN", "self-signed certificate"),
      "network",
      false,
      "The TLS connection is not trusted: self-signed certificate (SELF_SIGNED_CERT_IN_CHAIN)",
      "Check LLM_BASE_URL and the server's certificate.",
    ],
    [
      failed("EPROTO", "wrong version number"),
      "network",
      false,
      "The server does not speak the expected protocol: wrong version number (EPROTO)",
      "Check LLM_BASE_URL: http and https may be mixed up.",
    ],
    [
      failed("ERR_INVALID_URL", "Invalid URL"),
      "network",
      false,
      "The address is not a URL of a server: Invalid URL (ERR_INVALID_URL)",
      "Check LLM_BASE_URL: it must begin with http:// or https://.",
    ],
  ])("%s", (error, code, retryable, message, hint) => {
    expect(classifyNetworkError(error)).toEqual({ code, retryable, message, ...(hint === undefined ? {} : { hint }) })
  })
  it("on every address at once is read from the first", () => {
    const both = new AggregateError([Object.assign(new Error("connect ECONNREFUSED ::1:1"), { code: "ECONNREFUSED" })], "")
    expect(classifyNetworkError(both)).toMatchObject({ code: "network", retryable: true, message: "The model server refused the connection: connect ECONNREFUSED ::1:1" })
  })
  it("may throw anything", () => {
    const circular = new Error("x")
    circular.cause = circular
    expect([undefined, null, "gone", 7, circular].map((thrown) => classifyNetworkError(thrown).code)).toEqual(["network", "network", "network", "network", "network"])
  })
})
