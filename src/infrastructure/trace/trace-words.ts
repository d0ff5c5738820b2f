// The words of a trace in English and Chinese. Called by waterfall.ts, timeline.ts and the CLI.

export type TraceLanguage = "en" | "zh"

export interface TraceWords {
  readonly duration: string
  readonly tokens: string
  readonly turn: (turn: number) => string
  readonly attempt: (attempt: number) => string
  readonly backOff: string
  readonly ended: string
  readonly waitingFor: Readonly<Record<"approval" | "unfinished" | "input" | "step", string>>
  readonly rule: (point: string) => string
  readonly edit: string
  readonly handoff: (agent: string) => string
  readonly context: string
  readonly notRun: string
  readonly maybe: string
  readonly answerLater: string
  readonly repaired: string
  readonly noEnd: string
  readonly stopped: (reason: string) => string
  readonly status: Readonly<Record<"ok" | "failed" | "unfinished" | "waiting", string>>
  readonly totals: (counts: { turns: number; modelCalls: number; toolCalls: number }) => string
  readonly waited: (duration: string) => string
  readonly usage: (tokens: { input: string; cached: string; output: string }) => string
  readonly unreported: (calls: number) => string
  readonly cost: (cost: string) => string
  readonly costUnknown: string
}

const EN: TraceWords = {
  duration: "duration",
  tokens: "tokens",
  turn: (turn) => `turn ${turn}`,
  attempt: (attempt) => `, attempt ${attempt}`,
  backOff: "back-off",
  ended: "ended, opened again",
  waitingFor: { approval: "waiting for approval", unfinished: "waiting: did it happen?", input: "waiting for input", step: "waiting to step" },
  rule: (point) => `rule at ${point}`,
  edit: "history edited",
  handoff: (agent) => `handoff to ${agent}`,
  context: "context",
  notRun: "not run",
  maybe: "may have happened",
  answerLater: "the answer comes later",
  repaired: "repaired",
  noEnd: "no end recorded",
  stopped: (reason) => `stopped: ${reason}`,
  status: { ok: "final", failed: "stopped", unfinished: "unfinished", waiting: "waiting" },
  totals: ({ turns, modelCalls, toolCalls }) => `${many(turns, "turn")}, ${many(modelCalls, "model call")}, ${many(toolCalls, "tool call")}`,
  waited: (duration) => `${duration} of it waiting`,
  usage: ({ input, cached, output }) => `${input} tokens in (${cached} cached), ${output} out`,
  unreported: (calls) => `${many(calls, "model call")} without usage`,
  cost: (cost) => `cost ${cost}`,
  costUnknown: "cost unknown",
}

const ZH: TraceWords = {
  duration: "耗时",
  tokens: "词元",
  turn: (turn) => `第 ${turn} 轮`,
  attempt: (attempt) => `，第 ${attempt} 次尝试`,
  backOff: "退避等待",
  ended: "已结束，后重新打开",
  waitingFor: { approval: "等待批准", unfinished: "等待确认：是否已发生？", input: "等待输入", step: "等待单步" },
  rule: (point) => `规则 ${point}`,
  edit: "历史被修改",
  handoff: (agent) => `移交给 ${agent}`,
  context: "上下文",
  notRun: "未执行",
  maybe: "可能已发生",
  answerLater: "稍后给出结果",
  repaired: "已修复",
  noEnd: "没有结束记录",
  stopped: (reason) => `已停止：${reason}`,
  status: { ok: "完成", failed: "停止", unfinished: "未完成", waiting: "等待中" },
  totals: ({ turns, modelCalls, toolCalls }) => `${turns} 轮，${modelCalls} 次模型调用，${toolCalls} 次工具调用`,
  waited: (duration) => `其中等待 ${duration}`,
  usage: ({ input, cached, output }) => `输入 ${input} 词元（缓存 ${cached}），输出 ${output}`,
  unreported: (calls) => `${calls} 次模型调用没有用量`,
  cost: (cost) => `费用 ${cost}`,
  costUnknown: "费用未知",
}

export function traceWords(language: TraceLanguage): TraceWords {
  return language === "zh" ? ZH : EN
}

function many(count: number, noun: string): string {
  return `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`
}
