// The demo model's vocabulary: which words say nothing, which mean the same in English and Chinese, and what is left of a text.
// Used by the other files of this folder. Knows no tool and no example: only everyday words of business talk.

export type Language = "en" | "zh"

/** One row per meaning: English | Chinese. The first word of each side also names the meaning. */
const GLOSSARY = `
order purchase | 订单 下单 单子
customer client buyer shopper | 客户 顾客 买家
ship shipment dispatch parcel package | 发货 包裹 寄出 快递
deliver delivery arrive arrival | 送达 配送 派送 签收 送到
carrier courier logistics | 承运商 物流
pay payment paid | 付款 支付 付钱
await awaiting pending wait | 等待 待
refund reimburse | 退款 退钱
return | 退货 退回
cancel cancellation | 取消
invoice bill | 发票 账单 开票
price cost fee rate | 价格 费用 价钱 汇率
amount sum total | 金额 总额 总价
convert conversion exchange | 兑换 换算 转换 换成 兑换成 折合 兑成
currency money | 货币 币种 外币
weather forecast rain snow sunny temperature climate umbrella | 天气 天气预报 气温 温度 下雨 下雪 预报 带伞
city town place location | 城市 地点 地方 位置
address | 地址
country | 国家
book booking reserve reservation | 预订 预定 订一 订个 订间 预约
room | 房间 会议室 客房
meeting | 会议 开会
hotel | 酒店 宾馆
flight fly plane | 航班 机票 飞机
train | 火车 高铁
stock inventory availability available | 库存 存货 有货 缺货 现货
item product goods article sku | 商品 产品 货号 货品
warehouse store depot | 仓库 门店 店铺
ticket case | 工单
issue problem fault bug incident break broken | 问题 故障 坏了 报修 报障
create open file submit raise | 创建 新建 提交 建立 建个 建一 开个 开一
update change modify edit | 修改 更改 更新 变更
delete remove erase | 删除 移除 删掉
send | 发送 发给 寄给
mail email | 邮件 邮箱 电邮
message text sms | 短信 消息 信息
search query find | 搜索 检索 查找 搜一
list all every | 列出 所有 全部 列表 哪些 清单
calculate compute calculation calculator | 计算 算一 等于
translate translation | 翻译 译成
summarize summary summarise | 总结 摘要 概括
report statistic statistics | 报告 报表 统计
calendar schedule agenda appointment | 日历 日程 安排
remind reminder | 提醒
task todo | 任务 待办
file document | 文件 文档
user account member | 用户 账户 账号 会员
employee staff colleague worker | 员工 同事 职员
salary wage payroll | 工资 薪水
leave vacation holiday | 请假 休假 假期 年假
people person guest attendee participant | 人 人数 客人 参会
day | 天 日
hour | 小时 钟头
minute | 分钟
night | 晚 夜
quantity piece unit | 数量 件 个数
date | 日期
time | 时间 几点
start begin | 开始
end | 结束
status state | 状态 进度
name | 名称 姓名 名字
phone telephone mobile | 电话 手机
title subject headline | 标题 主题
description detail content body | 描述 内容 详情 详细
priority urgency severity | 优先级 紧急程度 严重程度
high urgent critical | 高 紧急 加急 严重
medium normal | 中等 普通
low minor | 低 不急
reason cause | 原因 理由
discount coupon promotion | 折扣 优惠 优惠券
news | 新闻
english | 英文 英语
chinese mandarin | 中文 汉语
french | 法文 法语
german | 德文 德语
spanish | 西班牙文 西班牙语
japanese | 日文 日语
korean | 韩文 韩语
policy rule | 政策 规定 规则
support help service | 客服 支持 帮助 服务
distance route navigate | 距离 路线 导航
part partly partial | 部分
complete finish done | 完成
new | 新
old | 旧
`

const STOP_WORDS = new Set(
  `a an the of in on at to for from by with into onto and or but so if then than as is are was were be been being am do does did done can could will would shall should may might must
  please kindly just also too very really me my mine i you your yours he she they them his her their we us our it its this that these those there here what which who whom whose when where how why
  much many more most some any each no not have has had get gets got getting give show tell want wants need needs know let lets make makes made take see look looking check checking use using uses used
  before after about again now today tomorrow yesterday one ones once only such like eg e.g etc up out off over per via hi hello hey thanks thank ok okay yes great good bye dear sorry actually
  instead wait mean meant say says said anything something current currently s t re ve ll m d number id code first second it's what's where's i'm i'd don't`.split(/\s+/),
)
/** Without characters that many place names hold (上 下 成 都 家 多 新 天), or 上海 and 成都 would fall apart. */
const STOP_PHRASES =
  `请问 请帮我 帮我 帮忙 麻烦 我想要 我想 我要 我的 我们 你们 他们 您好 你好 一下 怎么样 怎样 怎么 如何 什么 哪里 哪儿 哪个 哪 多少 几 吗 呢 吧 啊 呀 的 了 是 有 在 和 与 把 将 被 给 想 要 能 可以 可否 会 不会 应该 查询 查一 查看 查查 查 看看 看一 看 告诉 知道 现在 目前
  今天 明天 后天 昨天 今晚 明早 上午 下午 晚上 早上 中午 到 从 去 对 为 用 个 这 那 它 他 她 我 你 您 请 谢谢 说 让 使用 根据 返回 例如 比如 如 等 以及 还有 然后 再 并且 并 还 也 就 其 或 或者 之前 两 份 没有 没 情况 怎 么 时候 何时 关于 跟 得 着 过 需要 所属 某个 该 按 指定 及 最近 大概 左右 顺便 另外`.split(
    /\s+/,
  )

/** English stem and Chinese word → the first English word of the row. */
const CONCEPTS: ReadonlyMap<string, string> = readGlossary()
const CHINESE_NAMES: ReadonlyMap<string, string> = new Map(rows().map(([english, chinese]) => [stem(english[0] ?? ""), chinese[0] ?? ""]))
const CHINESE_WORDS = [...CONCEPTS.keys()].filter((word) => isHan(word)).sort((a, b) => b.length - a.length)
const MEANT = new RegExp(CHINESE_WORDS.join("|"), "gu")
const MENTION = new RegExp(`[A-Za-z']+|${CHINESE_WORDS.join("|")}`, "gu")
const MEANT_LONG = new RegExp(CHINESE_WORDS.filter((word) => word.length > 1).join("|"), "gu")
const EMPTY = new RegExp(STOP_PHRASES.sort((a, b) => b.length - a.length).join("|"), "gu")

export function languageOf(text: string): Language {
  return /\p{Script=Han}/u.test(text) ? "zh" : "en"
}

/** The meanings in a text or in a name such as `get_order`: glossary words as one token per row, other words as stems, other Chinese as character pairs. */
export function wordsOf(text: string): Set<string> {
  const found = new Set<string>()
  // The letters of an id are no word: KX-77 is not about "kx".
  const wordy = text.replace(/[A-Za-z\d]+(?:-[A-Za-z\d]+)*/g, (token) => (/\d/.test(token) ? " " : token))
  for (const [word] of splitName(wordy).matchAll(/[a-z][a-z']*/g)) if (!isStopWord(word)) found.add(conceptOf(word))
  const rest = text.replace(MEANT, (word) => {
    found.add(CONCEPTS.get(word) ?? word)
    return " "
  })
  for (const [run] of rest.replace(EMPTY, " ").matchAll(/\p{Script=Han}{2,}/gu)) {
    for (let at = 0; at + 1 < run.length; at += 1) found.add(run.slice(at, at + 2))
  }
  return found
}

export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word.toLowerCase().replace(/'s$/, ""))
}

/** The meaning of one English word: its glossary row, or its stem. */
export function conceptOf(word: string): string {
  const own = stem(word.toLowerCase().replace(/'s$/, ""))
  return CONCEPTS.get(own) ?? own
}

/** Whether an English word stands in the glossary, so that it is hardly a name. */
export function isKnownWord(word: string): boolean {
  return CONCEPTS.has(stem(word.toLowerCase()))
}

/** Where the first mentions of these meanings end: the later of them, or -1. */
export function mentionEnd(text: string, concepts: ReadonlySet<string>): number {
  const seen = new Set<string>()
  let end = -1
  for (const match of text.matchAll(MENTION)) {
    const concept = CONCEPTS.get(match[0]) ?? conceptOf(match[0])
    if (!concepts.has(concept) || seen.has(concept)) continue
    seen.add(concept)
    end = match.index + match[0].length
  }
  return end
}

/** What is left of a Chinese text without words of the glossary and without filling words: mostly names. Same length, blanks for what went. */
export function namesLeft(text: string): string {
  const blank = (word: string) => " ".repeat(word.length)
  return text.replace(MEANT_LONG, blank).replace(EMPTY, blank)
}

/** A field or value such as `shipped_at` in Chinese, or null unless every word of it is in the glossary. */
export function inChinese(name: string): string | null {
  const words = splitName(name)
    .split(/[^a-z]+/)
    .filter((word) => word !== "" && !["the", "of", "id"].includes(word))
  const said = words.map((word) => (word === "at" || word === "on" ? "时间" : word === "number" ? "编号" : chineseName(word)))
  if (said.length === 0 || said.includes(null)) return null
  const done = words.length === 1 && /ed$/.test(words[0] ?? "") ? "已" : ""
  return done + said.join("")
}

/** Only for forms of a row's first word: "sunny" stands in the row of weather, but does not mean it. */
function chineseName(word: string): string | null {
  const concept = conceptOf(word)
  return concept.slice(0, 2) === word.slice(0, 2) ? (CHINESE_NAMES.get(concept) ?? null) : null
}

/** `getOrderNow` and `get_order-now` as lower-case words with spaces. */
export function splitName(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/[_-]/g, " ")
    .toLowerCase()
}

function isHan(text: string): boolean {
  return /^\p{Script=Han}/u.test(text)
}

/** A light stemmer: enough to make `shipped`, `shipping` and `ships` one word. */
function stem(word: string): string {
  let stemmed = word
  if (/ies$/.test(stemmed) && stemmed.length > 4) stemmed = `${stemmed.slice(0, -3)}y`
  else if (/[^sui]s$/.test(stemmed) && stemmed.length > 3) stemmed = stemmed.slice(0, -1)
  const inflected = /^(.{3,}?)(?:ing|ed)$/.exec(stemmed)?.[1]
  if (inflected !== undefined && /[aeiouy]/.test(inflected)) stemmed = inflected.replace(/([^aeiouls])\1$/, "$1").replace(/ll$/, "l")
  return stemmed.length > 3 ? stemmed.replace(/e$/, "") : stemmed
}

function rows(): (readonly [readonly string[], readonly string[]])[] {
  return GLOSSARY.trim()
    .split("\n")
    .map((row) => {
      const [english = "", chinese = ""] = row.split("|")
      return [english.trim().split(/\s+/), chinese.trim().split(/\s+/)] as const
    })
}

function readGlossary(): Map<string, string> {
  const concepts = new Map<string, string>()
  for (const [english, chinese] of rows()) {
    const name = stem(english[0] ?? "")
    for (const word of [...english.map(stem), ...chinese]) if (!concepts.has(word)) concepts.set(word, name)
  }
  return concepts
}
