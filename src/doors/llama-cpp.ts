// The door `hello-agents/llama-cpp`: a GGUF file as a model, in this process. Needs the optional part that `npm run llama` installs.
export type { LlamaCppModel, LlamaCppOptions } from "../capability/models/llama-cpp.ts"
export { llamaCpp } from "../capability/models/llama-cpp.ts"
