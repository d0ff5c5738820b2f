import { describe, expect, test } from "vitest"
import { redactError, redactSecrets } from "../../src/infrastructure/redaction.ts"

describe("secrets are hidden", () => {
  test.each([
    ["refused key sk-live-7Qm2Xz9RtYw4Vb8NkLp3 today", "refused key [hidden] today"],
    ["Authorization: Bearer abc.def-123456789", "Authorization: Bearer [hidden]"],
    ["bearer eyJhbGciOi1234567890.abcdef", "bearer [hidden]"],
    ["password=hunter22 in the url", "password=[hidden] in the url"],
    ['{"api_key": "abcdef123456"}', '{"api_key": "[hidden]"}'],
    ["postgres://admin:s3cr3t@db.internal/orders", "postgres://admin:[hidden]@db.internal/orders"],
    ["AWS AKIAIOSFODNN7EXAMPLE", "AWS [hidden]"],
    ["-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----", "[hidden]"],
    ["密钥 sk-abcdefghijklmnop1234 已失效", "密钥 [hidden] 已失效"],
  ])("%s", (text, expected) => {
    expect(redactSecrets(text)).toBe(expected)
  })
})

describe("harmless text stays as it is", () => {
  test.each([
    "Incorrect API key provided",
    "the token limit is 4096",
    "password must have 8 characters",
    "secret santa on Friday",
    "basic understanding of networking",
    "order A1001 was shipped on 2025-01-16 10:20",
    "risk-free task-based desk",
    "https://shop.example/orders/A1001",
    "commit 3f2a9c1b7d",
    "订单 A1001 已发货，快递单号 SF1234567890",
  ])("%s", (text) => {
    expect(redactSecrets(text)).toBe(text)
  })
})

describe("what a model is told of an error", () => {
  test.each([
    ["ENOENT: no such file, open '/srv/app/config/x.json'", "ENOENT: no such file, open '[path]'"],
    ["cannot read C:\\Users\\li\\orders.json", "cannot read [path]"],
    ["boom\n    at open (/srv/app/x.js:1:2)\n    at main (/srv/app/y.js:3:4)", "boom"],
    ["use GET /orders or 1/2", "use GET /orders or 1/2"],
    ["see https://shop.example/help/orders", "see https://shop.example/help/orders"],
  ])("%s", (text, expected) => {
    expect(redactError(text)).toBe(expected)
  })
  test("a very long message is cut", () => {
    expect(redactError("x".repeat(5_000)).length).toBe(601)
  })
})
