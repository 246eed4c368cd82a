import { busiest, endingOf, endings, fullest, locker, lockRows, mostVoted, transactionRows, votes } from "../knowledge.js";
import { unconfirmed } from "../running-node.js";
import type { GoCall } from "./program.js";

const first = <Item>([item]: readonly Item[]): Item => {
  if (item === undefined) throw new Error("the chain has none");
  return item;
};

const { block: _block, sequence: _sequence, sender: _sender, recipient: _recipient, recipients: _recipients, time: _time, ...forged } = first(transactionRows.slice(-1));
const page = "?limit=100&page=1";

/** What client 0.1 can read. */
export const calls01: Record<string, GoCall> = {
  "delegates.all": { path: `delegates${page}`, into: "delegates" },
  "delegates.get": { path: `delegates/${mostVoted.username}`, into: "delegate" },
  "transactions.all": { path: "transactions?limit=20&page=1", into: "transactions" },
  "wallets.get": { path: `wallets/${busiest.address}`, into: "wallet" },
  "wallets.top": { path: `wallets/top${page}`, into: "wallets" },
  "wallets.sent": { path: `wallets/${busiest.address}/transactions/sent${page}`, into: "transactions" },
};

/** Every call of clients 1.1 and 2.0 to resources that the interface has. */
export const laterCalls: Record<string, GoCall> = {
  "blocks.all": { path: `blocks${page}`, into: "blocks" },
  "blocks.get": { path: `blocks/${fullest.id}`, into: "block" },
  "blocks.transactions": { path: `blocks/${fullest.id}/transactions?limit=60&page=1`, into: "transactions" },
  "blocks.transactions, an ipfs among them": { path: `blocks/${fullest.id}/transactions${page}`, into: "transactions" },
  "blocks.search": { path: `blocks/search${page}`, body: { generatorPublicKey: fullest.generatorPublicKey }, into: "blocks" },
  "delegates.all": { path: `delegates${page}`, into: "delegates" },
  "delegates.get": { path: `delegates/${mostVoted.username}`, into: "delegate" },
  "delegates.blocks": { path: `delegates/${mostVoted.username}/blocks${page}`, into: "blocks" },
  "delegates.voters": { path: `delegates/${mostVoted.username}/voters${page}`, into: "wallets" },
  "locks.all": { path: `locks${page}`, into: "locks" },
  "locks.get": { path: `locks/${first(lockRows).lockId}`, into: "lock" },
  "locks.search": { path: `locks/search${page}`, body: { recipientId: first(lockRows).recipientId }, into: "locks" },
  "locks.unlocked": { path: `locks/unlocked${page}`, body: { ids: [endingOf(first(endings))] }, into: "transactions" },
  "node.status": { path: "node/status", into: "status" },
  "node.syncing": { path: "node/syncing", into: "syncing" },
  "node.configuration": { path: "node/configuration", into: "configuration" },
  "node.fees": { path: "node/fees?days=30", into: "feeStatistics" },
  "peers.all": { path: `peers${page}`, into: "peers" },
  "peers.get": { path: "peers/10.0.0.2", into: "peer" },
  "rounds.delegates": { path: "rounds/1/delegates", into: "round" },
  "transactions.all": { path: "transactions?limit=20&page=1", into: "transactions" },
  "transactions.create": { path: "transactions", body: { transactions: [forged] }, into: "created" },
  "transactions.get": { path: `transactions/${first(transactionRows.slice(-1)).id}`, into: "transaction" },
  "transactions.allUnconfirmed": { path: `transactions/unconfirmed${page}`, into: "transactions" },
  "transactions.getUnconfirmed": { path: `transactions/unconfirmed/${first(unconfirmed).id}`, into: "transaction" },
  "transactions.search": { path: "transactions/search?limit=7&page=1", body: { senderId: busiest.address }, into: "transactions" },
  "transactions.types": { path: "transactions/types", into: "types" },
  "transactions.fees": { path: "transactions/fees", into: "staticFees" },
  "votes.all": { path: `votes${page}`, into: "transactions" },
  "votes.get": { path: `votes/${first(votes).id}`, into: "transaction" },
  "wallets.all": { path: `wallets${page}`, into: "wallets" },
  "wallets.top": { path: `wallets/top${page}`, into: "wallets" },
  "wallets.get": { path: `wallets/${busiest.address}`, into: "wallet" },
  "wallets.locks": { path: `wallets/${locker.address}/locks${page}`, into: "locks" },
  "wallets.transactions": { path: `wallets/${busiest.address}/transactions?limit=15&page=1`, into: "transactions" },
  "wallets.sent": { path: `wallets/${busiest.address}/transactions/sent?limit=7&page=1`, into: "transactions" },
  "wallets.received": { path: `wallets/${busiest.address}/transactions/received${page}`, into: "transactions" },
  "wallets.votes": { path: `wallets/${busiest.address}/votes${page}`, into: "transactions" },
  "wallets.search": { path: `wallets/search${page}`, body: { addresses: [busiest.address, locker.address] }, into: "wallets" },
};
