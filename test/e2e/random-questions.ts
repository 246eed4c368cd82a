import fc from "fast-check";
import type { BlockData } from "../../types/events.js";

/** Random questions to the interface about a chain. */

export interface Question {
  method: "GET" | "POST";
  path: string;
  /** As JSON text. */
  body?: string;
  encoding?: "br" | "gzip";
}

/** The subjects of questions: everything that a chain names, on any branch. */
interface Names {
  addresses: string[];
  publicKeys: string[];
  usernames: string[];
  blocks: string[];
  transactions: string[];
}

export const namesIn = (blocks: readonly BlockData[]): Names => {
  const transactions = blocks.flatMap((block) => block.transactions ?? []);
  const usernames = transactions.flatMap(({ asset }) => (asset as { delegate: { username: string | undefined } | undefined } | undefined)?.delegate?.username ?? []);
  const distinct = (values: string[]): string[] => [...new Set(values)];
  return {
    addresses: distinct(transactions.flatMap(({ recipientId }) => recipientId ?? [])),
    publicKeys: distinct(transactions.map(({ senderPublicKey }) => senderPublicKey)),
    usernames: distinct([...usernames, "nobody"]),
    blocks: distinct(blocks.flatMap(({ id, height }) => [id, String(height)])),
    transactions: distinct(transactions.map(({ id }) => id)),
  };
};

const lists = {
  "/delegates": ["", "orderBy=username:desc", "orderBy=votes:asc", "orderBy=forged.total:desc", "approval.from=1"],
  "/wallets": ["", "orderBy=address:asc", "balance.from=1000", "orderBy=balance:asc"],
  "/wallets/top": [""],
  "/transactions": ["", "orderBy=amount:desc", "orderBy=id:asc", "type=0", "orderBy=fee:asc", "amount.from=5"],
  "/votes": ["", "orderBy=timestamp:asc"],
  "/blocks": ["", "orderBy=totalFee:asc", "orderBy=height:asc", "orderBy=id:desc"],
  "/locks": ["", "orderBy=amount:asc"],
} as const;

const still = ["/blockchain", "/blocks/first", "/blocks/last", "/node/configuration", "/node/fees?days=30", "/node/status", "/transactions/fees", "/transactions/types", "/rounds/1/delegates", "/rounds/2/delegates"];

const firstGeneration = (names: Names): string[] => [
  "/delegates?orderBy=rate:asc",
  "/delegates/count",
  "/delegates/getNextForgers",
  "/blocks?limit=5",
  "/blocks/getHeight",
  "/blocks/getStatus",
  "/transactions?limit=5&orderBy=timestamp:desc",
  "/accounts/top",
  ...names.addresses.map((address) => `/accounts/getBalance?address=${address}`),
  ...names.addresses.map((address) => `/accounts?address=${address}`),
  ...names.publicKeys.map((publicKey) => `/delegates/voters?publicKey=${publicKey}`),
];

const about = ({ addresses, publicKeys, usernames, blocks, transactions }: Names): string[] => [
  ...[...addresses, ...publicKeys, ...usernames].flatMap((name) => [`/wallets/${name}`, `/wallets/${name}/transactions`, `/wallets/${name}/votes`]),
  ...addresses.flatMap((address) => [`/wallets/${address}/transactions/sent`, `/wallets/${address}/transactions/received`, `/wallets/${address}/locks`]),
  ...usernames.flatMap((name) => [`/delegates/${name}`, `/delegates/${name}/voters`, `/delegates/${name}/blocks`, `/delegates/${name}/voters/balances`]),
  ...blocks.flatMap((block) => [`/blocks/${block}`, `/blocks/${block}/transactions`]),
  ...transactions.flatMap((id) => [`/transactions/${id}`, `/votes/${id}`, `/locks/${id}`]),
];

const searches = ({ addresses, publicKeys, transactions }: Names): { path: string; body: string }[] => {
  const asked: [path: string, body: object][] = [
    ...addresses.map((address): [string, object] => ["/transactions/search", { addresses: [address] }]),
    ...addresses.map((address): [string, object] => ["/wallets/search", { addresses: [address, addresses[0]] }]),
    ...publicKeys.map((senderPublicKey): [string, object] => ["/transactions/search", { senderPublicKey, type: 0 }]),
    ...publicKeys.map((generatorPublicKey): [string, object] => ["/blocks/search", { generatorPublicKey }]),
    ...publicKeys.map((publicKey): [string, object] => ["/wallets/search", { vote: publicKey }]),
    ["/locks/unlocked", { ids: transactions.slice(0, 20) }],
    ["/delegates/search", { username: "a" }],
  ];
  return asked.map(([path, body]) => ({ path, body: JSON.stringify(body) }));
};

const page = fc.constantFrom("", "", "limit=1", "limit=3&page=2", "page=2", "offset=1&limit=2");

const joined = (path: string, ...parts: string[]): string => {
  const query = parts.filter((part) => part !== "").join("&");
  if (query === "") return path;
  return `${path}${path.includes("?") ? "&" : "?"}${query}`;
};

const listPath = fc.constantFrom(...Object.entries(lists)).chain(([path, queries]) =>
  fc.tuple(fc.constantFrom(...queries), page).map(([query, part]) => joined(path, query, part)),
);

const encoding = fc.constantFrom(undefined, undefined, "br", "gzip");
const withEncoding = (question: Omit<Question, "encoding">, chosen: Question["encoding"]): Question => ({
  ...question,
  ...(chosen === undefined ? {} : { encoding: chosen }),
});

/** Few enough that questions recur and are answered from the cache. */
export const questionsAbout = (names: Names): fc.Arbitrary<Question> => {
  const get = fc.oneof(
    listPath.map((path) => `/api/v2${path}`),
    fc.constantFrom(...still).map((path) => `/api/v2${path}`),
    fc.constantFrom(...about(names)).map((path) => `/api/v2${path}`),
    fc.constantFrom(...firstGeneration(names)).map((path) => `/api/v1${path}`),
  );
  const post = fc.constantFrom(...searches(names)).map(({ path, body }): Omit<Question, "encoding"> => ({ method: "POST", path: `/api/v2${path}`, body }));
  return fc
    .tuple(fc.oneof({ weight: 5, arbitrary: get.map((path): Omit<Question, "encoding"> => ({ method: "GET", path })) }, { weight: 1, arbitrary: post }), encoding)
    .map(([question, chosen]) => withEncoding(question, chosen));
};
