// What `hello-agents trace` says to a person, in English and Chinese. Used by trace.ts and trace-rm.ts.
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
  rmAbout: { en: "Delete runs: by id, by age, or all that belong to one person.", zh: "删除运行：按 id、按时间，或删除属于某个人的全部运行。" },
  rmArgument: { en: "whole ids of the runs", zh: "运行的完整 id" },
  olderOption: { en: "runs whose last event is older: 12h, 30d, 8w", zh: "最后一个事件早于此时间的运行：12h、30d、8w" },
  contextOption: { en: "runs whose context had this value at any time: user=anna", zh: "上下文曾为此值的运行：user=anna" },
  threadOption: { en: "runs of this conversation, or of all that begin so: anna-*", zh: "此对话的运行，或所有以此开头的对话的运行：anna-*" },
  dryRunOption: { en: "only say what would be deleted", zh: "只列出将被删除的内容" },
  rmDone: { en: "deleted: {count}", zh: "已删除：{count}" },
  rmWould: { en: "would be deleted: {count}", zh: "将被删除：{count}" },
  rmNothing: { en: "nothing says which runs to delete", zh: "没有指明要删除哪些运行" },
  rmNothingHint: { en: "give ids, --older-than 30d, --context user=anna or --thread anna-*", zh: "请给出 id、--older-than 30d、--context user=anna 或 --thread anna-*" },
  rmBoth: { en: "give ids or conditions, not both", zh: "请只给出 id 或条件，不要两者都给" },
  rmUnreadable: { en: "kept {run}, for it cannot be read, so its owner is not known: {why}", zh: "保留 {run}：无法读取，因此不知道它属于谁：{why}" },
  badAge: { en: "--older-than must be a number with m, h, d or w, like 30d, not {value}", zh: "--older-than 必须是带 m、h、d 或 w 的数字，例如 30d，而不是 {value}" },
  badContext: { en: "--context must be name=value, not {value}", zh: "--context 必须是 名称=值，而不是 {value}" },
  badThread: { en: "--thread must name a conversation, or the beginning of some: anna-*", zh: "--thread 必须是对话名或其开头：anna-*" },
  badLimit: { en: "--limit must be a whole number from 0, not {value}", zh: "--limit 必须是不小于 0 的整数，而不是 {value}" },
} as const

export type SpeakTrace = SpeakFrom<keyof typeof TEXTS>

export function speakTrace(language: Language): SpeakTrace {
  return speaking(TEXTS, language)
}
