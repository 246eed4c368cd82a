import type { ChainSnapshot, MaybePromise } from "../../../types/chain-adapter.js";
import type { Page } from "../../../types/chain-queries.js";
import { busiestAddress, forger } from "./parties.js";

/** A part of a list's order, as the interface writes it. */
interface Asked {
  field: string;
  direction: "asc" | "desc";
}

/** A list with pages. */
export interface List {
  readonly name: string;
  /** Where the interface has it. */
  readonly path: string;
  /** The default order first. */
  readonly orders: readonly Asked[];
  ask(snapshot: ChainSnapshot, order: Asked, offset: number, limit: number): MaybePromise<Page<unknown>>;
}

/** The default order, and every other field both ways. */
const ordersOf = (first: Asked, ...fields: string[]): Asked[] => [
  first,
  { field: first.field, direction: first.direction === "asc" ? "desc" : "asc" },
  ...fields.flatMap((field) => [
    { field, direction: "asc" as const },
    { field, direction: "desc" as const },
  ]),
];

const latestFirst: Asked = { field: "timestamp", direction: "desc" };
const richestFirst: Asked = { field: "balance", direction: "desc" };

const transactionOrders = ordersOf(latestFirst, "amount", "fee", "id", "type", "version");
const blockOrders = ordersOf(
  { field: "height", direction: "desc" },
  "version",
  "id",
  "numberOfTransactions",
  "totalAmount",
  "totalFee",
  "reward",
  "payloadLength",
);
const walletOrders = ordersOf(richestFirst, "address", "publicKey", "username", "voteBalance");
const delegateOrders = ordersOf({ field: "rank", direction: "asc" }, "username", "voteBalance", "approval", "producedBlocks", "forgedTotal");

type Question = "transactions" | "blocks" | "wallets" | "delegates" | "locks";

const list = (name: string, path: string, question: Question, filter: object, orders: readonly Asked[]): List => ({
  name,
  path,
  orders,
  ask: (snapshot, order, offset, limit) => snapshot[question]({ filter, order, offset, limit } as never),
});

/** Every list of the interface that grows with the chain. Those of one owner are the longest there are. */
export const lists: readonly List[] = [
  list("transactions", "/api/transactions", "transactions", {}, transactionOrders),
  list("votes", "/api/votes", "transactions", { typeGroup: 1, type: 3 }, ordersOf(latestFirst)),
  list("blocks", "/api/blocks", "blocks", {}, blockOrders),
  list("wallets", "/api/wallets", "wallets", {}, walletOrders),
  list("delegates", "/api/delegates", "delegates", {}, delegateOrders),
  list("transactions of one wallet", `/api/wallets/${busiestAddress}/transactions`, "transactions", { ownerId: busiestAddress }, ordersOf(latestFirst)),
  list("sent by one wallet", `/api/wallets/${busiestAddress}/transactions/sent`, "transactions", { senderId: busiestAddress }, ordersOf(latestFirst)),
  list(
    "received by one wallet",
    `/api/wallets/${busiestAddress}/transactions/received`,
    "transactions",
    { recipientId: busiestAddress },
    ordersOf(latestFirst),
  ),
  list(
    "blocks of one delegate",
    `/api/delegates/${forger.username}/blocks`,
    "blocks",
    { generatorPublicKey: forger.publicKey },
    ordersOf({ field: "height", direction: "desc" }),
  ),
  list("voters of one delegate", `/api/delegates/${forger.username}/voters`, "wallets", { vote: forger.publicKey }, ordersOf(richestFirst)),
  list("open locks", "/api/locks", "locks", {}, ordersOf({ field: "timestamp", direction: "desc" }, "amount", "expirationValue", "lockId")),
];

export const listNamed = (name: string): List => {
  const found = lists.find((one) => one.name === name);
  if (found === undefined) throw new Error(`there is no list ${name}`);
  return found;
};
