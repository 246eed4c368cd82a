import type { BlockData } from "../../types/events.js";
import type { Answer } from "../http/ask.js";
import { namesIn } from "./random-questions.js";

/** A question to each route that answers as of a height, in many forms. */
export interface PastQuestion {
  /** As in the table of the routes. */
  route: string;
  path: string;
  /** Of a search. */
  body?: object;
}

/** Some of many, as far apart as possible. */
const some = <T>(items: readonly T[], most: number): T[] => items.filter((_, place) => place % Math.ceil(items.length / most) === 0);

const lists: Record<string, string[]> = {
  "/blocks": ["limit=7", "orderBy=height:asc&limit=3&page=2", "totalFee.from=0&reward.from=0&numberOfTransactions.from=0", "totalAmount.from=1&orderBy=timestamp:asc"],
  "/transactions": [
    "limit=9",
    "orderBy=timestamp:asc&limit=4&page=2",
    // Wide: nearly everything passes.
    "amount.from=0&fee.from=0",
    "amount.from=1&timestamp.from=0&orderBy=timestamp:asc",
    "type=0&amount.from=0",
    "type=3",
    "version=2&fee.from=1",
  ],
  "/votes": ["limit=4", "fee.from=0&orderBy=timestamp:asc", "amount.from=0&page=2&limit=2"],
  "/delegates": ["", "orderBy=voteBalance:desc&limit=3", "orderBy=username&page=2&limit=2", "approval.from=0&producedBlocks.from=0"],
};

const still = ["/blocks/first", "/blocks/last", "/blockchain", "/node/configuration", "/node/fees", "/transactions/fees", "/transactions/types"];

export const pastQuestions = (blocks: readonly BlockData[], most = 4): PastQuestion[] => {
  const names = namesIn(blocks);
  const questions: PastQuestion[] = still.map((path) => ({ route: path, path }));
  const put = (route: string, ids: readonly (string | number)[], queries: readonly string[] = [""]): void => {
    for (const id of ids) {
      for (const query of queries) questions.push({ route, path: `${route.replace("{id}", String(id))}${query === "" ? "" : `?${query}`}` });
    }
  };
  for (const [route, queries] of Object.entries(lists)) put(route, [""], queries);
  const wallets = [...some(names.addresses, most), ...some(names.publicKeys, 2), ...names.usernames.slice(0, 2)];
  for (const rest of ["", "/transactions", "/transactions/sent", "/transactions/received", "/votes", "/history", "/statement"]) put(`/wallets/{id}${rest}`, wallets);
  put("/wallets/{id}/transactions", wallets.slice(0, 2), ["amount.from=0&orderBy=timestamp:asc&limit=3", "type=0&fee.from=0"]);
  put("/wallets/{id}/statement", wallets.slice(0, 2), ["format=csv"]);
  const delegates = [...names.usernames.slice(0, 3), ...some(names.publicKeys, 2)];
  for (const rest of ["", "/blocks", "/voters", "/voters/balances"]) put(`/delegates/{id}${rest}`, delegates);
  put("/delegates/{id}/rewards", delegates, ["", "share=33.3&of=fees&from=2", "format=csv"]);
  for (const address of some(names.addresses, most)) questions.push({ route: "/delegates/{id}/rewards/{address}", path: `/delegates/${delegates[0] ?? ""}/rewards/${address}` });
  put("/delegates/{id}/voters", delegates.slice(0, 2), ["orderBy=address&limit=2", "balance.from=0&orderBy=balance:asc"]);
  put("/blocks/{id}", some(names.blocks, most));
  put("/blocks/{id}/transactions", some(names.blocks, most));
  put("/blocks/{id}/proof", some(names.blocks, most), ["", "confirmations=2"]);
  put("/transactions/{id}", some(names.transactions, most));
  put("/transactions/{id}/proof", some(names.transactions, most));
  const votes = blocks.flatMap(({ transactions = [] }) => transactions.filter(({ type, typeGroup = 1 }) => type === 3 && typeGroup === 1).map(({ id }) => id));
  put("/votes/{id}", [...some(votes, 2), ...names.transactions.slice(0, 1)]);
  put("/rounds/{id}/delegates", [1, 2, 3, 9]);
  put("/node/fees", [""], ["days=1", "days=30"]);
  const searches: [route: string, body: object][] = [
    ["/blocks/search", { reward: { from: 0 }, totalFee: { from: 0 } }],
    ["/transactions/search", { amount: { from: 0 }, fee: { from: 0 }, orderBy: "timestamp:asc" }],
    ["/transactions/search", { senderId: names.addresses[0], type: 0 }],
    ["/delegates/search", { producedBlocks: { from: 0 } }],
  ];
  return [...questions, ...searches.map(([route, body]) => ({ route, path: route, body }))];
};

export const withAt = (path: string, at: number | string): string => (path.includes("?") ? path.replace("?", `?at=${at}&`) : `${path}?at=${at}`);

/** What a node answers to each question, status and body, by question. Links carry `at`: it is taken out of them, nothing else. */
export const answersOf = async (ask: (path: string, body?: object) => Promise<Answer>, questions: readonly PastQuestion[], at?: number | string): Promise<Map<string, string>> => {
  const replies = new Map<string, string>();
  for (const { path, body } of questions) {
    const { status, text } = await ask(at === undefined ? path : withAt(path, at), body);
    replies.set(`${path} ${JSON.stringify(body ?? "")}`, `${status} ${at === undefined ? text : text.replaceAll(`at=${at}&`, "")}`);
  }
  return replies;
};
