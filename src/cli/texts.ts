// Everything the command line says to a person, in English and Chinese. One entry per sentence; `{name}` is filled in.
// Used by all commands through `speak`.

export type Language = "en" | "zh"

const TEXTS = {
  about: { en: "Run agents that a team can own.", zh: "运行团队自己能掌控的智能体。" },
  runAbout: { en: "Run an agent once: the answer on stdout, progress on stderr.", zh: "运行一次智能体：答案写到 stdout，进度写到 stderr。" },
  promptArgument: { en: "what to ask; - reads standard input", zh: "要问的内容；- 表示从标准输入读取" },
  agentOption: { en: "file that exports the agent; file.ts#name for a named export", zh: "导出智能体的文件；file.ts#name 取具名导出" },
  modelOption: { en: "model name, as LLM_MODEL", zh: "模型名，等同 LLM_MODEL" },
  baseUrlOption: { en: "server of the model, as LLM_BASE_URL", zh: "模型服务地址，等同 LLM_BASE_URL" },
  demoOption: { en: "use the built-in demo model (not an LLM) even if a model is configured", zh: "即使已配置模型也使用内置演示模型（不是大模型）" },
  jsonOption: { en: "print one JSON object instead of the answer", zh: "不打印答案，改为打印一个 JSON 对象" },
  jsonlOption: { en: "print the events, one JSON object a line", zh: "打印事件，每行一个 JSON 对象" },
  quietOption: { en: "no progress on stderr", zh: "不在 stderr 上显示进度" },
  storeOption: { en: "folder of the run logs", zh: "运行日志所在文件夹" },
  turnsOption: { en: "most model replies (10)", zh: "模型最多回复次数（10）" },
  tokensOption: { en: "most tokens of all model calls together", zh: "所有模型调用合计最多 token 数" },
  costOption: { en: "most cost of all model calls together", zh: "所有模型调用合计最高费用" },
  secondsOption: { en: "most working time in seconds", zh: "最长工作时间（秒）" },
  languageOption: { en: "en or zh; otherwise from the environment", zh: "en 或 zh；默认取自环境" },
  modelLine: { en: "model   {model}", zh: "模型    {model}" },
  demoWhy: {
    en: "not an LLM: no LLM_MODEL is set, so the built-in demo model answers",
    zh: "不是大模型：没有设置 LLM_MODEL，由内置演示模型回答",
  },
  demoAsked: { en: "not an LLM: asked for with --demo", zh: "不是大模型：由 --demo 指定" },
  plugIn: {
    en: "        your own: LLM_BASE_URL=… LLM_API_KEY=… LLM_MODEL=… and the same command",
    zh: "        换成自己的模型：设置 LLM_BASE_URL=… LLM_API_KEY=… LLM_MODEL=… 后运行同一条命令",
  },
  fromSettings: { en: "from {source}", zh: "来自 {source}" },
  fromAgent: { en: "named by the agent", zh: "由智能体指定" },
  asking: { en: "asking the model", zh: "询问模型" },
  askingAgain: { en: "asking again (try {attempt})", zh: "再次询问（第 {attempt} 次）" },
  modelFailed: { en: "the model call failed: {message}", zh: "模型调用失败：{message}" },
  unusable: { en: "the reply was not usable; the model is told", zh: "回复不可用；已告知模型" },
  repaired: { en: "arguments repaired: {what}", zh: "参数已修复：{what}" },
  notRun: { en: "not run: {why}", zh: "未执行：{why}" },
  shortened: { en: "history shortened", zh: "历史已缩短" },
  answerLine: { en: "answer", zh: "答案" },
  traceLine: { en: "trace   {command}", zh: "追踪    {command}" },
  totals: { en: "done    {turns} model calls, {tools} tool calls, {seconds} s, {tokens}", zh: "完成    {turns} 次模型调用，{tools} 次工具调用，{seconds} 秒，{tokens}" },
  tokens: { en: "{count} tokens", zh: "{count} 个 token" },
  tokensUnknown: { en: "tokens unknown", zh: "token 数未知" },
  stopped: { en: "no answer ({reason}): {message}", zh: "没有答案（{reason}）：{message}" },
  fallback: { en: "instead of an answer: {text}", zh: "替代说明：{text}" },
  error: { en: "error: {message}", zh: "错误：{message}" },
  cancelling: { en: "cancelling; press Ctrl-C again to leave at once", zh: "正在取消；再按一次 Ctrl-C 立即退出" },
  cancellingTurn: { en: "cancelling this turn", zh: "正在取消本轮" },
  saved: { en: "the run is saved", zh: "运行已保存" },
  pipeClosed: { en: "standard output was closed before the answer was written; it is kept in the trace", zh: "答案写出之前标准输出已关闭；答案保留在追踪记录里" },
  emptyPrompt: { en: "the prompt is empty", zh: "提问内容为空" },
  emptyPromptHint: {
    en: 'say what to do: hello-agents run --agent FILE "your question", or pipe it in with -',
    zh: '请写明要做什么：hello-agents run --agent 文件 "你的问题"，或用 - 从管道读入',
  },
  noAgent: { en: "no agent file was named", zh: "没有指定智能体文件" },
  noAgentHint: { en: "name the file that exports it: --agent agent.ts", zh: "用 --agent agent.ts 指定导出它的文件" },
  agentMissing: { en: "--agent {file}: there is no such file", zh: "--agent {file}：没有这个文件" },
  fileBroken: { en: "{option} {file} could not be loaded: {message}", zh: "{option} {file} 无法加载：{message}" },
  agentNotOne: { en: "--agent {file}: {name} is not an agent", zh: "--agent {file}：{name} 不是智能体" },
  agentNotOneHint: { en: "export it: export default agent({ … }); found: {names}", zh: "请导出它：export default agent({ … })；现有导出：{names}" },
  badNumber: { en: "{option} must be a number above 0, not {value}", zh: "{option} 必须是大于 0 的数，而不是 {value}" },
  badLanguage: { en: "{option} must be en or zh, not {value}", zh: "{option} 必须是 en 或 zh，而不是 {value}" },
  configOption: { en: "configuration file; otherwise the nearest hello-agents.config.json", zh: "配置文件；默认取最近的 hello-agents.config.json" },
  configMissing: { en: "--config {file}: there is no such file", zh: "--config {file}：没有这个文件" },
  configMissingHint: { en: "leave it out to use the nearest hello-agents.config.json", zh: "省略它则使用最近的 hello-agents.config.json" },
  configAbout: { en: "Show every setting and where it comes from; secrets are masked.", zh: "显示每项设置及其来源；密钥会被遮盖。" },
  configJsonOption: { en: "print JSON", zh: "打印 JSON" },
  configFile: { en: "configuration file: {file}", zh: "配置文件：{file}" },
  noConfigFile: { en: "no configuration file (hello-agents.config.json); none is needed", zh: "没有配置文件（hello-agents.config.json）；没有也可以" },
  defaultValue: { en: "default", zh: "默认值" },
  notSet: { en: "not set", zh: "未设置" },
  doctorAbout: { en: "Check that everything is there to run an agent, and say what to do if not.", zh: "检查运行智能体所需的一切是否就绪，并说明缺什么、怎么办。" },
  doctorJsonOption: { en: "print JSON", zh: "打印 JSON" },
  doctorReady: { en: 'Ready. Try: hello-agents run --agent FILE "your question"', zh: '一切就绪。试试：hello-agents run --agent 文件 "你的问题"' },
  doctorUnusable: { en: "Not usable yet: see the lines marked ✗.", zh: "暂时不可用：请看标有 ✗ 的各行。" },
  doctorNoServer: { en: "The model server cannot be used right now: see the line marked ✗.", zh: "模型服务目前不可用：请看标有 ✗ 的一行。" },
  nodeOk: { en: "Node {version}", zh: "Node {version}" },
  nodeOld: { en: "Node {version} is too old", zh: "Node {version} 版本过旧" },
  nodeRemedy: { en: "install Node {least} or newer", zh: "请安装 Node {least} 或更新版本" },
  modelUsed: { en: "model: {model} ({why})", zh: "模型：{model}（{why}）" },
  modelRemedy: {
    en: "your own: set LLM_BASE_URL, LLM_MODEL and, where the server wants one, LLM_API_KEY",
    zh: "换成自己的模型：设置 LLM_BASE_URL、LLM_MODEL，服务需要密钥时再设置 LLM_API_KEY",
  },
  keySet: { en: "key: llm.api_key is set ({origin})", zh: "密钥：llm.api_key 已设置（{origin}）" },
  keyNotNeeded: { en: "key: none is set; a server on this machine may need none", zh: "密钥：未设置；本机上的服务可能不需要" },
  keyMissing: { en: "key: none is set", zh: "密钥：未设置" },
  keyRemedy: { en: "set LLM_API_KEY to the key of this server", zh: "把 LLM_API_KEY 设为该服务的密钥" },
  keyElsewhere: { en: "key: {names} is set, but only LLM_API_KEY is read", zh: "密钥：设置了 {names}，但只读取 LLM_API_KEY" },
  keyElsewhereRemedy: {
    en: "to use it: LLM_API_KEY={name}, with the LLM_BASE_URL and LLM_MODEL that belong to it",
    zh: "要使用它：LLM_API_KEY={name}，并设置对应的 LLM_BASE_URL 和 LLM_MODEL",
  },
  serverHas: { en: "server: {url} answers and has {model}", zh: "服务：{url} 有应答，且有模型 {model}" },
  serverLacks: { en: "server: {url} answers, but does not list {model}", zh: "服务：{url} 有应答，但模型列表里没有 {model}" },
  serverModels: { en: "set LLM_MODEL to one that it has: {models}", zh: "把 LLM_MODEL 设为它有的模型：{models}" },
  serverNoList: {
    en: "server: {url} answers, but gives no list of models ({status}); the model's name was not checked",
    zh: "服务：{url} 有应答，但不给出模型列表（{status}）；未能核对模型名",
  },
  serverNoListRemedy: { en: "if runs fail, look at the address: most servers want /v1 at its end", zh: "如果运行失败，请检查地址：多数服务的地址以 /v1 结尾" },
  serverRefuses: { en: "server: {url} refuses the key ({status})", zh: "服务：{url} 拒绝了密钥（{status}）" },
  serverFails: { en: "server: {url} fails ({status})", zh: "服务：{url} 出错（{status}）" },
  serverFailsRemedy: { en: "try again later, or look at the server's own log", zh: "请稍后再试，或查看该服务自己的日志" },
  serverSilent: { en: "server: {url} cannot be reached ({why})", zh: "服务：无法连接 {url}（{why}）" },
  serverSilentRemedy: { en: "is it running, and is LLM_BASE_URL right?", zh: "它在运行吗？LLM_BASE_URL 对吗？" },
  localServer: { en: "on this machine: {url} (usually {name}) has {models}", zh: "本机：{url}（通常是 {name}）有 {models}" },
  localServerRemedy: { en: "to use it: LLM_BASE_URL={url} LLM_MODEL={model}", zh: "要使用它：LLM_BASE_URL={url} LLM_MODEL={model}" },
  storeOk: { en: "runs are kept in {folder}", zh: "运行记录保存在 {folder}" },
  storeBad: { en: "runs cannot be kept in {folder} ({why})", zh: "运行记录无法保存到 {folder}（{why}）" },
  storeRemedy: {
    en: "make it writable, or choose another: HELLO_AGENTS_STORE_FOLDER, or store.folder in the configuration file",
    zh: "使其可写，或另选一处：HELLO_AGENTS_STORE_FOLDER，或配置文件里的 store.folder",
  },
  optionalAll: { en: "optional parts are installed: {names}", zh: "可选部分均已安装：{names}" },
  optionalMissing: { en: "optional, not installed: {names}", zh: "可选，尚未安装：{names}" },
  optionalPart: { en: "{name} ({what})", zh: "{name}（{what}）" },
  purposeSchema: { en: "schemas of tools", zh: "工具的参数格式" },
  purposeSqlite: { en: "runs in SQLite", zh: "用 SQLite 保存运行" },
  purposeLocal: { en: "models from a GGUF file", zh: "使用 GGUF 模型文件" },
  terminal: { en: "terminal: {width} columns; language: English ({origin})", zh: "终端：{width} 列；语言：中文（{origin}）" },
  noTerminal: { en: "language: English ({origin})", zh: "语言：中文（{origin}）" },
} as const

export type TextKey = keyof typeof TEXTS
export type Speak = SpeakFrom<TextKey>

export function speak(language: Language): Speak {
  return speaking(TEXTS, language)
}

/** Sentences of a table by their key; other tables of this kind are made to speak by it too. */
export type SpeakFrom<Key extends string> = (key: Key, fill?: Readonly<Record<string, string | number>>) => string

export function speaking<Key extends string>(table: Readonly<Record<Key, Readonly<Record<Language, string>>>>, language: Language): SpeakFrom<Key> {
  return (key, fill = {}) => table[key][language].replace(/\{(\w+)\}/g, (_, name: string) => String(fill[name] ?? ""))
}
