// The door `hello-agents/openai`: models of any server that speaks the OpenAI-compatible Chat Completions API.
export type { Price } from "../capability/models/chat-fields.ts"
export { openai } from "../capability/models/openai.ts"
export type { OpenAIOptions, PriceTable } from "../capability/models/openai-settings.ts"
export type { Transport, TransportRequest, TransportResponse } from "../infrastructure/transport/transport.ts"
