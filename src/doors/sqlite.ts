// hello-agents/sqlite: runs in one SQLite file. Uses Node's own SQLite where it has one, else the optional package @photostructure/sqlite.
export { type SqliteStore, type SqliteStoreOptions, sqliteStore } from "../infrastructure/store/sqlite-store.ts"
