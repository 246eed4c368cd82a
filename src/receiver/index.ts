export { createReceiver, Gone, Later } from "./create-receiver.js";
export type { Context, Receiver, ReceiverOptions, ReceivedEvent, ReversalContext } from "./create-receiver.js";
export { memoryInbox, postgresInbox, sqliteInbox } from "./inbox.js";
export type { Inbox, InboxOptions } from "./inbox.js";
export type { PostgresClient, PostgresPool, SqliteHandle } from "../follower/databases.js";
