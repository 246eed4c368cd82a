import { figuresOf } from "./figures.js";
import { type Interface, serveChain } from "./interface.js";
import { blockKindOf, delegateKind, lockKindOf, transactionKindOf, walletKind } from "./kinds.js";
import { expectRefused } from "./refusals.js";

const name = "core3-testnet-a";
const figures = figuresOf(name);
const oneOf = (...names: string[]): string => `must be one of ${names.join(", ")}, each alone or with :asc or :desc`;
const orderOf = ({ orders }: { orders: object }): string => oneOf(...Object.keys(orders));

type Refusal = [query: string, key: string, rule: string];

/** The same for every list. */
const paging: Refusal[] = [
  ["limit=0", "limit", "must be >= 1"],
  ["limit=101", "limit", "must be <= 100"],
  ["limit=ten", "limit", "must be integer"],
  ["page=0", "page", "must be >= 1"],
  ["offset=-1", "offset", "must be >= 0"],
  ["foo=1", "foo", "is not allowed"],
];

const peers: Refusal[] = [
  ["orderBy=name", "orderBy", oneOf("ip", "port", "version", "height", "status", "os", "latency")],
  ["port=http", "port", "must be integer"],
  ["port=65536", "port", "must be <= 65535"],
  ["height=5", "height", "is not allowed"],
];

const queries: Record<string, Refusal[]> = {
  "/wallets": [
    ["orderBy=foo", "orderBy", orderOf(walletKind)],
    ["orderBy=balance:up", "orderBy", orderOf(walletKind)],
    ["balance.from=x", "balance.from", "must be a whole number"],
    ["balance.form=1", "balance.form", "is not allowed"],
    ["balance=much", "balance", "must be a whole number"],
    ["producedBlocks=1.5", "producedBlocks", "must be integer"],
    ["producedBlocks.to=1.5", "producedBlocks.to", "must be integer"],
    ["publicKey=abc", "publicKey", "must be 66 hexadecimal digits"],
    ["vote=%2B", "vote", "must be 66 hexadecimal digits"],
  ],
  "/delegates": [
    ["orderBy=rate", "orderBy", `${orderOf(delegateKind)}; did you mean "rank"?`],
    ["orderBy=rank:", "orderBy", orderOf(delegateKind)],
    ["approval.from=many", "approval.from", "must be number"],
    ["forgedTotal.to=0.5", "forgedTotal.to", "must be a whole number"],
  ],
  "/blocks": [
    ["orderBy=previous", "orderBy", orderOf(blockKindOf(figures))],
    ["id=5x", "id", "must be up to 20 decimal or 64 hexadecimal digits"],
    ["height=last", "height", "must be integer"],
    ["height=-1", "height", "must be >= 0"],
    ["height=5&height.to=6", "height.to", "cannot be given together with a single value"],
    ["height.from=-1", "height.from", "must be >= 0"],
    ["generatorPublicKey=02", "generatorPublicKey", "must be 66 hexadecimal digits"],
    ["payloadHash=xyz", "payloadHash", "must be hexadecimal digits"],
    ["height.from=1&height.from=2", "height.from", "must be given once"],
  ],
  "/transactions": [
    ["orderBy=recipient:asc", "orderBy", orderOf(transactionKindOf(figures))],
    ["type=transfer", "type", "must be integer"],
    ["type=-1", "type", "must be >= 0"],
    ["id=abc", "id", "must be 64 hexadecimal digits"],
    ["senderId=no%20address", "senderId", "must be an address: up to 64 letters and digits"],
    ["vendorFieldHex=hello", "vendorFieldHex", "must be hexadecimal digits"],
    ["amount.from=1e9", "amount.from", "must be a whole number"],
  ],
  "/votes": [["type=0", "type", "is not allowed"]],
  "/locks": [
    ["orderBy=id", "orderBy", orderOf(lockKindOf(figures))],
    ["isExpired=maybe", "isExpired", "must be boolean"],
    ["expirationType=3", "expirationType", "must be <= 2"],
  ],
  "/peers": peers,
  "/peers/suspended": peers,
};

const ofOneThing: Record<string, Refusal[]> = {
  [`/wallets/${figures.walletRows[0]?.address ?? ""}`]: [["page=1", "page", "is not allowed"]],
  "/node/fees": [
    ["days=0", "days", "must be >= 1"],
    ["days=31", "days", "must be <= 30"],
    ["days=week", "days", "must be integer"],
    ["days=", "days", "must be integer"],
  ],
};

const bodies: Record<string, [body: unknown, key: string, rule: string][]> = {
  "/wallets/search": [
    [{ foo: 1 }, "foo", "is not allowed"],
    [{ addresses: [] }, "addresses", "must NOT have fewer than 1 items"],
    [{ addresses: Array.from({ length: 51 }, () => "A") }, "addresses", "must NOT have more than 50 items"],
    [{ balance: { from: 1.5 } }, "balance.from", "must be a whole number"],
    [{ balance: 5 }, "balance", "must be object"],
    [{ balance: { form: 5 } }, "balance.form", "is not allowed"],
    [{ username: 5 }, "username", "must be string"],
    [[], "value", "must be object"],
  ],
  "/delegates/search": [
    [{ rank: 1 }, "rank", "is not allowed"],
    [{ usernames: "genesis_1" }, "usernames", "must be array"],
    [{ approval: { from: "a" } }, "approval.from", "must be number"],
    [{ forgedFees: { from: {} } }, "forgedFees.from", "must be a whole number"],
  ],
  "/blocks/search": [
    [{ height: 5 }, "height", "must be object"],
    [{ transactions: 1 }, "transactions", "is not allowed"],
    [{ reward: { to: "much" } }, "reward.to", "must be a whole number"],
  ],
  "/transactions/search": [
    [{ addresses: [] }, "addresses", "must NOT have fewer than 1 items"],
    [{ fee: { from: "1", too: "2" } }, "fee.too", "is not allowed"],
    [{ orderBy: "height" }, "orderBy", orderOf(transactionKindOf(figures))],
    [{ sender: "A" }, "sender", "is not allowed"],
  ],
  "/locks/unlocked": [
    [{}, "ids", "is required"],
    [{ ids: [] }, "ids", "must NOT have fewer than 1 items"],
    [{ ids: ["a"] }, "ids.0", "must be 64 hexadecimal digits"],
    [{ ids: Array.from({ length: 26 }, () => "a".repeat(64)) }, "ids", "must NOT have more than 25 items"],
  ],
};

describe("what the second generation refuses, with the member and its rule:", () => {
  let served: Interface;
  before(async () => (served = await serveChain(name)));

  const lists = Object.entries(queries).map(([path, own]): [string, Refusal[]] => [path, [...paging, ...own]]);
  for (const [path, refusals] of [...lists, ...Object.entries(ofOneThing)])
    it(`queries of ${path}`, async () => {
      for (const [query, key, rule] of refusals) expectRefused(await served.get(`${path}?${query}`), "query", key, rule);
    });
  for (const [path, refusals] of Object.entries(bodies))
    it(`bodies of ${path}`, async () => {
      for (const [body, key, rule] of refusals) expectRefused(await served.post(path, body), "payload", key, rule);
    });
});
