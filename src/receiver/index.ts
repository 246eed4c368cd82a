export { createReceiver, Gone, Later } from "./create-receiver.js";
export type { Context, Receiver, ReceiverOptions, ReceivedEvent, ReversalContext } from "./create-receiver.js";
export { memoryInbox, postgresInbox, sqliteInbox } from "./inbox.js";
export type { Inbox, InboxOptions, PostgresClient, PostgresPool, SqliteHandle } from "./inbox.js";
