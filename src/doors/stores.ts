// hello-agents/stores: where runs are kept. Imported by callers who want their runs to outlive the process.
export { type FileStore, fileStore } from "../infrastructure/store/file-store.ts"
export { memoryStore } from "../infrastructure/store/memory-store.ts"
