// The clock: the right time in every zone, in a form that needs no further thought, and plain words for zones that do not exist.
import { clock } from "hello-agents/tools"
import { describe, expect, it, test } from "vitest"
import { runTool } from "./run-tool.ts"

const at = (moment: string, timeZone = "Asia/Shanghai") => clock({ timeZone, now: () => new Date(moment) })
const told = async (tool: ReturnType<typeof clock>, args: object = {}): Promise<unknown> => JSON.parse(await runTool(tool, args))

describe("the time is told as ISO and in words", () => {
  test.each([
    ["2025-01-16T02:20:30Z", "Asia/Shanghai", "2025-01-16T10:20:30+08:00", "Thursday, 16 January 2025, 10:20 (UTC+08:00)", "2025年1月16日星期四 10:20（UTC+08:00）"],
    ["2024-12-31T16:00:00Z", "Asia/Shanghai", "2025-01-01T00:00:00+08:00", "Wednesday, 1 January 2025, 00:00 (UTC+08:00)", "2025年1月1日星期三 00:00（UTC+08:00）"],
    ["2025-07-01T12:00:00Z", "Europe/Berlin", "2025-07-01T14:00:00+02:00", "Tuesday, 1 July 2025, 14:00 (UTC+02:00)", "2025年7月1日星期二 14:00（UTC+02:00）"],
    ["2025-01-01T12:00:00Z", "Europe/Berlin", "2025-01-01T13:00:00+01:00", "Wednesday, 1 January 2025, 13:00 (UTC+01:00)", "2025年1月1日星期三 13:00（UTC+01:00）"],
    ["2025-02-28T23:59:59Z", "Asia/Kathmandu", "2025-03-01T05:44:59+05:45", "Saturday, 1 March 2025, 05:44 (UTC+05:45)", "2025年3月1日星期六 05:44（UTC+05:45）"],
    ["2025-03-01T03:00:00Z", "America/New_York", "2025-02-28T22:00:00-05:00", "Friday, 28 February 2025, 22:00 (UTC-05:00)", "2025年2月28日星期五 22:00（UTC-05:00）"],
    ["2024-02-29T00:00:00Z", "UTC", "2024-02-29T00:00:00+00:00", "Thursday, 29 February 2024, 00:00 (UTC+00:00)", "2024年2月29日星期四 00:00（UTC+00:00）"],
  ])("%s in %s", async (moment, zone, time, english, chinese) => {
    const answer = await told(at(moment, zone))
    expect(answer).toMatchObject({ time, english, chinese })
    expect(new Date((answer as { time: string }).time)).toEqual(new Date(moment))
  })
})

describe("the zone", () => {
  it.each([["Asia/Tokyo"], ["asia/tokyo"], [" Tokyo "], ["tokyo"]])("may be asked for as %j", async (time_zone) => {
    expect(await told(at("2025-01-16T02:20:30Z"), { time_zone })).toMatchObject({ time: "2025-01-16T11:20:30+09:00", time_zone: "Asia/Tokyo" })
  })

  it("may be a city of several words", async () => {
    expect(await told(at("2025-01-16T02:20:30Z"), { time_zone: "New York" })).toMatchObject({ time_zone: "America/New_York" })
  })

  it.each([["Atlantis"], [""], ["../etc/localtime"]])("is named as unknown: %j", async (time_zone) => {
    expect(await runTool(at("2025-01-16T02:20:30Z"), { time_zone })).toBe(
      `Error: current_time failed: "${time_zone}" is not a time zone. Use an IANA name such as Asia/Tokyo or UTC, or leave it out for Asia/Shanghai.`,
    )
  })

  it("is the machine's if nobody says one, and the time is now", async () => {
    const before = Math.floor(Date.now() / 1000) * 1000
    const { time } = (await told(clock())) as { time: string }
    expect(Date.parse(time)).toBeGreaterThanOrEqual(before)
    expect(Date.parse(time)).toBeLessThanOrEqual(Date.now())
  })

  it("that a developer mistyped is refused before any run", () => {
    expect(() => clock({ timeZone: "Asia/Shangai" })).toThrow(expect.objectContaining({ code: "tool_invalid", message: '"Asia/Shangai" is not a time zone.' }))
  })
})

it("changes nothing, and says so", () => {
  expect(clock({ timeZone: "UTC" })).toMatchObject({ name: "current_time", hints: { readOnly: true } })
})
