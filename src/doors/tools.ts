// The door `hello-agents/tools`: ready tools that need no key and no service.
export { calculator } from "../builtin/calculator.ts"
export type { ClockOptions } from "../builtin/clock.ts"
export { clock } from "../builtin/clock.ts"
export type { FileToolsOptions } from "../builtin/file-tools.ts"
export { fileTools } from "../builtin/file-tools.ts"
