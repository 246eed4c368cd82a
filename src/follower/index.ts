/** `portico/follower`: keeps a database in step with the chain. */

export { type FollowerProgress, runFollower, type RunFollowerOptions } from "./run-follower.js";
export type { PostgresClient, PostgresPool, SqliteHandle } from "./databases.js";
export { postgresStore } from "./postgres-store.js";
export { sqliteStore } from "./sqlite-store.js";
export { FollowerError, type FollowerStore, memoryStore, type StoreOptions } from "./store.js";
