import { busiestAddress, forger } from "../chain/parties.js";

/** A list with pages. */
export interface List {
  readonly name: string;
  readonly path: string;
  /** As `orderBy` takes them, the default first. */
  readonly orders: readonly string[];
}

const list = (name: string, path: string, field: string, first: "asc" | "desc", ...others: string[]): List => ({
  name,
  path: `/api/${path}`,
  orders: [`${field}:${first}`, `${field}:${first === "asc" ? "desc" : "asc"}`, ...others.flatMap((other) => [`${other}:asc`, `${other}:desc`])],
});

const ofBusiest = `wallets/${busiestAddress}/transactions`;
const ofForger = `delegates/${forger}`;
const blockFields = ["version", "id", "numberOfTransactions", "totalAmount", "totalFee", "reward", "payloadLength"];

/** Every list of the interface that grows with the chain. Those of one owner are the longest there are. */
export const lists: readonly List[] = [
  list("transactions", "transactions", "timestamp", "desc", "amount", "fee", "id", "type", "version"),
  list("votes", "votes", "timestamp", "desc"),
  list("blocks", "blocks", "height", "desc", ...blockFields),
  list("wallets", "wallets", "balance", "desc", "address", "publicKey", "username", "voteBalance"),
  list("delegates", "delegates", "rank", "asc", "username", "votes", "approval", "producedBlocks", "forgedTotal"),
  list("transactions of one wallet", ofBusiest, "timestamp", "desc"),
  list("sent by one wallet", `${ofBusiest}/sent`, "timestamp", "desc"),
  list("received by one wallet", `${ofBusiest}/received`, "timestamp", "desc"),
  list("blocks of one delegate", `${ofForger}/blocks`, "height", "desc"),
  list("voters of one delegate", `${ofForger}/voters`, "balance", "desc"),
  list("open locks", "locks", "timestamp", "desc", "amount", "expirationValue", "lockId"),
];
