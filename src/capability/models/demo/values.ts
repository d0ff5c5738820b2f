// Finds in a text what can be an argument: quoted text, addresses, dates, times, ids, numbers, codes, names, with what stands around it.
// Used by arguments.ts. Every reader blanks what it took, so a date is not read again as three numbers. All patterns are linear.
import { isKnownWord, isStopWord, namesLeft, wordsOf } from "./words.ts"

export type ValueKind = "quoted" | "email" | "url" | "date" | "time" | "id" | "number" | "code" | "name"
export interface Value {
  readonly kind: ValueKind
  readonly text: string
  readonly start: number
  readonly end: number
  /** The word before and the word after, lower case; for Chinese up to three characters. */
  readonly before: string
  readonly after: string
}

type Take = (kind: ValueKind, pattern: RegExp, read: (match: RegExpExecArray) => string | null) => void

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
const DAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]
const CHINESE_DIGITS = "零一二三四五六七八九十"
const NUMBER_WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
const DAY_OFFSETS: { readonly [word: string]: number } = { yesterday: -1, today: 0, tonight: 0, tomorrow: 1, 昨天: -1, 今天: 0, 今晚: 0, 明天: 1, 明早: 1, 后天: 2 }
/** ISO 4217 codes of currencies as people call them. */
const CURRENCIES: { readonly [name: string]: string } = {
  $: "USD",
  "¥": "CNY",
  "€": "EUR",
  "£": "GBP",
  "us dollar": "USD",
  dollar: "USD",
  buck: "USD",
  euro: "EUR",
  yuan: "CNY",
  rmb: "CNY",
  renminbi: "CNY",
  yen: "JPY",
  pound: "GBP",
  won: "KRW",
  rupee: "INR",
  franc: "CHF",
  美元: "USD",
  美金: "USD",
  欧元: "EUR",
  人民币: "CNY",
  日元: "JPY",
  英镑: "GBP",
  韩元: "KRW",
  港币: "HKD",
  港元: "HKD",
  卢比: "INR",
  瑞士法郎: "CHF",
}
const MONEY = new RegExp(
  Object.keys(CURRENCIES)
    .sort((a, b) => b.length - a.length)
    .map((name) => (name === "$" ? "\\$" : /^[a-z]/.test(name) ? `\\b${name}s?\\b` : name))
    .join("|"),
  "giu",
)
const MEASURES = "个|人|位|件|张|间|天|日|晚|小时|分钟|元|块|份|台|箱|瓶|名|倍|次"

/** All values in the order of the text. `today` (YYYY-MM-DD) resolves words such as "tomorrow"; without it they stay words. */
export function readValues(text: string, today: string | null): Value[] {
  const found: Value[] = []
  let left = text
  const take: Take = (kind, pattern, read) => {
    for (const match of left.matchAll(pattern)) {
      const value = read(match)
      if (value === null) continue
      const [start, end] = [match.index, match.index + match[0].length]
      found.push({ kind, text: value, start, end, before: wordBefore(text, start), after: wordAfter(text, end) })
      left = left.slice(0, start) + " ".repeat(end - start) + left.slice(end)
    }
  }
  take(
    "quoted",
    /"([^"]{1,2000})"|“([^”]{1,2000})”|「([^」]{1,2000})」|《([^》]{1,500})》|(?<![\p{L}\d])'([^']{1,500})'(?![\p{L}\d])/gu,
    (match) => match.slice(1).find((group) => group !== undefined) ?? null,
  )
  take("url", /https?:\/\/[^\s，。；）)>]{1,2000}/g, ([url = ""]) => url.replace(/[.,;!?]+$/, ""))
  take("email", /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}/g, ([email = ""]) => email)
  readDates(take, today)
  readTimes(take)
  take("id", /(?<![A-Za-z0-9])#?[A-Za-z0-9]{1,40}(?:[-_/][A-Za-z0-9]{1,40}){0,6}(?![A-Za-z0-9])/g, ([token = ""]) =>
    /\d/.test(token) && /^(?:#|[A-Za-z]|\d+[-_])/.test(token) ? token.replace(/^#/, "") : null,
  )
  take("code", MONEY, ([name = ""]) => CURRENCIES[name.toLowerCase()] ?? CURRENCIES[name.toLowerCase().replace(/s$/, "")] ?? null)
  take("code", /(?<![A-Za-z])[A-Z]{3}(?![A-Za-z])/g, ([code = ""]) => code)
  take("number", /(?<![\w.])\d{1,3}(?:,\d{3}){1,6}(?:\.\d{1,12})?(?!\d)|(?<![A-Za-z_\d.])\d{1,20}(?:\.\d{1,12})?/g, ([number = ""]) => number.replaceAll(",", ""))
  take("number", new RegExp(`\\b(${NUMBER_WORDS.join("|")})\\b`, "gi"), ([, word = ""]) => String(NUMBER_WORDS.indexOf(word.toLowerCase())))
  take("number", new RegExp(`([一二两三四五六七八九十]{1,3})(?=${MEASURES})`, "g"), ([, digits = ""]) => (digits === "一" ? null : String(chineseNumber(digits))))
  take("name", /(?<![\p{L}\d])\p{Lu}[\p{L}\d'’-]{0,40}(?: \p{Lu}[\p{L}\d'’-]{0,40}){0,3}/gu, ([name = ""]) => properName(name))
  takeLowerCaseNames(take)
  left = namesLeft(left)
  take("name", /\p{Script=Han}{2,8}/gu, ([name = ""]) => name)
  return found.sort((a, b) => a.start - b.start)
}

function readDates(take: Take, today: string | null): void {
  const year = today?.slice(0, 4) ?? null
  const date = ([years, month, day]: readonly [string | null | undefined, number, string], raw: string) =>
    years && month >= 1 && month <= 12 ? `${years}-${pad(month)}-${pad(Number(day))}` : raw
  take("date", /(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)/g, ([raw = "", years, month, day = ""]) => date([years, Number(month), day], raw))
  take("date", /(?:(\d{4})年)?(\d{1,2})月(\d{1,2})[日号]/g, ([raw = "", years, month, day = ""]) => date([years ?? year, Number(month), day], raw))
  const month = `(${MONTHS.join("|")})[a-z]{0,6}\\.?`
  const monthNumber = (name = "") => MONTHS.indexOf(name.slice(0, 3).toLowerCase()) + 1
  take("date", new RegExp(`\\b(\\d{1,2})(?:st|nd|rd|th)?(?: of)? ${month}(?:,? (\\d{4}))?\\b`, "gi"), ([raw = "", day = "", name, years]) =>
    date([years ?? year, monthNumber(name), day], raw),
  )
  take("date", new RegExp(`\\b${month} (\\d{1,2})(?:st|nd|rd|th)?(?:,? (\\d{4}))?\\b`, "gi"), ([raw = "", name, day = "", years]) =>
    date([years ?? year, monthNumber(name), day], raw),
  )
  take("date", /\b(?:today|tonight|tomorrow|yesterday)\b|今天|今晚|明天|明早|后天|昨天/gi, ([word = ""]) => shifted(today, DAY_OFFSETS[word.toLowerCase()] ?? 0) ?? word)
  take("date", new RegExp(`\\b(?:next |this |on )?(${DAYS.join("|")})\\b`, "gi"), ([raw = "", day = ""]) => nextWeekday(today, DAYS.indexOf(day.toLowerCase())) ?? raw)
  take("date", /(?:这|下)?(?:周|星期|礼拜)([日天一二三四五六])/g, ([raw = "", day = ""]) => nextWeekday(today, "日一二三四五六".indexOf(day.replace("天", "日"))) ?? raw)
}

function readTimes(take: Take): void {
  const clock = (hour: number, minute: string | undefined, afternoon: boolean) =>
    hour < 24 ? `${pad(afternoon && hour < 12 ? hour + 12 : hour)}:${pad(Number(minute ?? 0))}` : null
  take("time", /(?<![\d:])(\d{1,2}):(\d{2})(?::\d{2})? ?(am|pm)?(?![\d:])/gi, ([, hour, minute, half]) =>
    clock(half?.toLowerCase() === "am" ? Number(hour) % 12 : Number(hour), minute, half?.toLowerCase() === "pm"),
  )
  take("time", /\b(\d{1,2}) ?(am|pm|o'clock)\b/gi, ([, hour, half]) => clock(half?.toLowerCase() === "am" ? Number(hour) % 12 : Number(hour), "0", half?.toLowerCase() === "pm"))
  take("time", /(上午|早上|中午|下午|晚上)?(\d{1,2}|[一二两三四五六七八九十]{1,3})点(半|\d{1,2}分)?/g, ([, half, hour = "", minute]) =>
    clock(/\d/.test(hour) ? Number(hour) : chineseNumber(hour), minute === "半" ? "30" : minute?.replace("分", ""), half === "下午" || half === "晚上"),
  )
}

/** "weather in paris": people do not always write capitals, but they write the preposition. */
function takeLowerCaseNames(take: Take): void {
  take("name", /(?<=\b(?:in|at|near|to|from) )[a-z]{3,20}(?: [a-z]{3,20}){0,2}(?![\w-])/g, ([name = ""]) => {
    const words = name.split(" ")
    const end = words.findIndex((word) => isStopWord(word) || word === "the")
    return words.slice(0, end < 0 ? words.length : end).join(" ") || null
  })
}

function properName(text: string): string | null {
  const words = text.replace(/['’]s$/, "").split(" ")
  while (words.length > 0 && (isStopWord(words[0] ?? "") || isKnownWord(words[0] ?? ""))) words.shift()
  return words.length === 0 || /^[A-Z]{3}$/.test(words.join(" ")) ? null : words.join(" ")
}

function wordBefore(text: string, at: number): string {
  return (
    /(?:[\p{L}\d']+|[^\s\p{L}\d]{1,2})[\s:：#]*$/u
      .exec(text.slice(Math.max(0, at - 30), at))?.[0]
      .replace(/[\s:：#]+$/, "")
      .toLowerCase()
      .slice(-16) ?? ""
  )
}

function wordAfter(text: string, at: number): string {
  return (
    /^ ?[-\p{L}\d%']{1,16}/u
      .exec(text.slice(at, at + 18))?.[0]
      .trim()
      .toLowerCase() ?? ""
  )
}

function chineseNumber(digits: string): number {
  const value = (digit: string) => (digit === "两" ? 2 : CHINESE_DIGITS.indexOf(digit))
  const [tens = "", ones = ""] = digits.split("十")
  return digits.includes("十") ? (tens ? value(tens) : 1) * 10 + (ones ? value(ones) : 0) : value(digits)
}

function shifted(today: string | null, days: number): string | null {
  if (today === null) return null
  return new Date(Date.parse(`${today}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)
}

function nextWeekday(today: string | null, weekday: number): string | null {
  if (today === null) return null
  const ahead = (weekday - new Date(`${today}T00:00:00Z`).getUTCDay() + 7) % 7
  return shifted(today, ahead === 0 ? 7 : ahead)
}

function pad(number: number): string {
  return String(number).padStart(2, "0")
}

/** Whether a value's neighbours say one of these words. */
export function neighboursSay(value: Value, concepts: ReadonlySet<string>): boolean {
  return [value.before, value.after].some((word) => [...wordsOf(word)].some((concept) => concepts.has(concept)))
}
