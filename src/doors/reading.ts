// hello-agents/reading: how what models and servers say is read: arguments, replies, histories, errors, schemas. Pure functions, for tests of one's
// own models, for gateways and for the curious; agents use them without being asked.
export { pruneHistory } from "../capability/memory/prune.ts"
export { classifyHttpError } from "../capability/models/http-errors.ts"
export { toProviderTools } from "../capability/models/schema-dialect.ts"
export { readReply } from "../capability/protocol/read-reply.ts"
export { prepareCall, splitCalls } from "../capability/tools/prepare.ts"
export { resultText } from "../capability/tools/result-text.ts"
export { checkedHistory } from "../infrastructure/history/history.ts"
export { readArguments } from "../infrastructure/json/arguments.ts"
export { checkSchema } from "../infrastructure/json/check-schema.ts"
export { uncheckedKeywords } from "../infrastructure/json/json-schema.ts"
