// What `hello-agents trace` says to a person, in English and Chinese. Used by trace.ts only.
import type { Language, SpeakFrom } from "./texts.ts"
import { speaking } from "./texts.ts"

const TEXTS = {
  about: { en: "Look at runs that were kept.", zh: "查看保存下来的运行。" },
  lsAbout: { en: "List the newest runs.", zh: "列出最近的运行。" },
  showAbout: { en: "Show what happened in a run, step by step.", zh: "逐步显示一次运行中发生的事。" },
  runArgument: { en: "id of the run, or its beginning; without it the newest run", zh: "运行的 id 或其开头；省略则为最近的运行" },
  limitOption: { en: "runs to list; 0 lists all", zh: "列出的运行个数；0 表示全部" },
  jsonOption: { en: "print JSON", zh: "打印 JSON" },
  eventsOption: { en: "list the events instead of drawing spans", zh: "列出事件，而不画出步骤" },
  rawOption: { en: "do not hide secrets", zh: "不隐藏密钥" },
  columns: { en: "id|started (UTC)|agent|asked|status|time|tokens|cost", zh: "id|开始 (UTC)|智能体|提问|状态|耗时|词元|费用" },
  waiting: { en: "waiting", zh: "等待中" },
  unfinished: { en: "unfinished", zh: "未完成" },
  damaged: { en: "damaged", zh: "已损坏" },
  more: { en: "{count} more; --limit 0 lists all", zh: "还有 {count} 个；--limit 0 列出全部" },
  badLimit: { en: "--limit must be a whole number from 0, not {value}", zh: "--limit 必须是不小于 0 的整数，而不是 {value}" },
} as const

export type SpeakTrace = SpeakFrom<keyof typeof TEXTS>

export function speakTrace(language: Language): SpeakTrace {
  return speaking(TEXTS, language)
}
