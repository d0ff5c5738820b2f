// The tool `current_time`: now, in a time zone, for models that otherwise guess the date. Given to agents by users, from `hello-agents/tools`.
import type { Tool } from "../index.ts"
import { HelloAgentsError, jsonSchema, tool } from "../index.ts"

export interface ClockOptions {
  /** IANA name such as `Asia/Shanghai`. The zone of this machine. */
  timeZone?: string | undefined
  /** The time source. The system's clock. */
  now?: (() => Date) | undefined
}

/** @throws HelloAgentsError `tool_invalid` for a time zone that does not exist. */
export function clock({ timeZone = new Intl.DateTimeFormat().resolvedOptions().timeZone, now = () => new Date() }: ClockOptions = {}): Tool {
  const own = zoneNamed(timeZone)
  if (own === null) throw new HelloAgentsError("tool_invalid", `"${timeZone}" is not a time zone.`, { hint: "Use an IANA name such as Asia/Shanghai." })
  return tool({
    name: "current_time",
    description: `Tells the current date and time, with the weekday.
Use it whenever an answer depends on today, now, a deadline or how long something takes; never guess the date.
Call it without arguments for the time in ${own}, or with a time zone, e.g. {"time_zone": "Asia/Tokyo"}.`,
    input: jsonSchema<{ time_zone?: string }>({
      type: "object",
      properties: { time_zone: { type: "string", maxLength: 64, description: `IANA time zone such as Asia/Tokyo; ${own} if left out` } },
      additionalProperties: false,
    }),
    hints: { readOnly: true },
    examples: [{}, { time_zone: "Asia/Tokyo" }],
    execute: ({ time_zone = own }) => {
      const zone = zoneNamed(time_zone)
      if (zone === null) throw new Error(`"${time_zone}" is not a time zone. Use an IANA name such as Asia/Tokyo or UTC, or leave it out for ${own}.`)
      return timeIn(zone, now())
    },
  })
}

/** ISO 8601 with the offset of that zone at that moment, and the same in words. */
function timeIn(zone: string, moment: Date): { time: string; time_zone: string; english: string; chinese: string } {
  const numbers = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    calendar: "gregory",
    numberingSystem: "latn",
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "longOffset",
  })
  const parts = new Map(numbers.formatToParts(moment).map(({ type, value }) => [type, value]))
  const part = (type: Intl.DateTimeFormatPartTypes): string => parts.get(type) ?? ""
  const named = (locale: string, what: Intl.DateTimeFormatOptions): string => new Intl.DateTimeFormat(locale, { timeZone: zone, ...what }).format(moment)
  const offset = part("timeZoneName").replace("GMT", "") || "+00:00"
  const clockTime = `${part("hour")}:${part("minute")}`
  const [month, day] = [Number(part("month")), Number(part("day"))]
  return {
    time: `${part("year").padStart(4, "0")}-${part("month")}-${part("day")}T${clockTime}:${part("second")}${offset}`,
    time_zone: zone,
    english: `${named("en", { weekday: "long" })}, ${day} ${named("en", { month: "long" })} ${part("year")}, ${clockTime} (UTC${offset})`,
    chinese: `${part("year")}年${month}月${day}日${named("zh", { weekday: "long" })} ${clockTime}（UTC${offset}）`,
  }
}

/** Models write "Tokyo" and "asia/tokyo" too. */
function zoneNamed(name: string): string | null {
  const wanted = name.trim().replace(/\s/g, "_").toLowerCase()
  const listed = Intl.supportedValuesOf("timeZone").find((zone) => zone.toLowerCase() === wanted || zone.toLowerCase().endsWith(`/${wanted}`))
  if (listed !== undefined) return listed
  try {
    return new Intl.DateTimeFormat("en", { timeZone: wanted }).resolvedOptions().timeZone
  } catch {
    return null
  }
}
