import { expect } from "chai";
import { type Interface, serveChain } from "./interface.js";

interface Mistake {
  what: string;
  path: string;
  /** Sent by POST. */
  body?: unknown;
  status: number;
  code: string;
  /** What the reply says: what is wrong, and what would be right. */
  says: (string | RegExp)[];
}

const epoch = "2017-03-21T13:00:00.000Z";
const aboutTime = `must be whole seconds since the network's epoch (${epoch}), or a time in ISO 8601 such as 2024-05-31T12:00:00Z, or a date`;

/** What developers get wrong, and what they are told. */
const mistakes: Mistake[] = [
  { what: "a misspelt parameter", path: "/wallets?ordrBy=balance", status: 400, code: "BAD_REQUEST", says: ['"ordrBy" is not allowed; did you mean "orderBy"? Allowed: page, limit, offset, ', "balance.from"] },
  { what: "a parameter in another case", path: "/wallets?Limit=5", status: 400, code: "BAD_REQUEST", says: ['did you mean "limit"?'] },
  { what: "a parameter of another route", path: "/wallets?height=5", status: 400, code: "BAD_REQUEST", says: ['"height" is not allowed; allowed: page, limit'] },
  { what: "a misspelt bound", path: "/wallets?balance.form=1", status: 400, code: "BAD_REQUEST", says: ['"balance.form" is not allowed; did you mean "balance.from"?'] },
  { what: "a parameter in snake case", path: "/transactions?sender_id=a", status: 400, code: "BAD_REQUEST", says: ['did you mean "senderId"?'] },
  { what: "a parameter where none is taken", path: "/node/status?verbose=true", status: 400, code: "BAD_REQUEST", says: ['"verbose" is not allowed; '] },
  { what: "a parameter given twice", path: "/wallets?limit=1&limit=2", status: 400, code: "BAD_REQUEST", says: ['"limit" must be given once'] },
  { what: "a limit that is too large", path: "/wallets?limit=1000", status: 400, code: "BAD_REQUEST", says: ['"limit" must be <= 100'] },
  { what: "pages from 0", path: "/wallets?page=0", status: 400, code: "BAD_REQUEST", says: ['"page" must be >= 1'] },
  { what: "an unknown order", path: "/delegates?orderBy=ranc", status: 400, code: "BAD_REQUEST", says: ['"orderBy" must be one of username, rank, votes', 'did you mean "rank"?'] },
  { what: "an unknown direction", path: "/delegates?orderBy=rank:down", status: 400, code: "BAD_REQUEST", says: ["each alone or with :asc or :desc"] },
  { what: "an unknown event to follow", path: "/events/feed?event=block.aplied", status: 400, code: "BAD_REQUEST", says: ['"event" must be patterns such as block.*, or names among ', 'not "block.aplied"; did you mean "block.applied"?'] },
  { what: "a misspelt choice", path: "/events/feed?match=al", status: 400, code: "BAD_REQUEST", says: ['"match" must be one of "any", "all"; did you mean "all"?'] },
  { what: "an amount in tokens", path: "/wallets?balance.from=1.5", status: 400, code: "BAD_REQUEST", says: ['"balance.from" must be a whole number'] },
  { what: "a time in words", path: "/blocks?timestamp.from=yesterday", status: 400, code: "BAD_REQUEST", says: [`"timestamp.from" ${aboutTime}`] },
  { what: "a time without a zone", path: "/transactions?timestamp.to=2020-01-01T12:00:00", status: 400, code: "BAD_REQUEST", says: [aboutTime] },
  { what: "a day that no month has", path: "/blocks?timestamp.from=2023-02-31", status: 400, code: "BAD_REQUEST", says: [`"timestamp.from" ${aboutTime}`] },
  { what: "a time on a day that no month has", path: "/transactions?timestamp.from=2023-02-29T12:00:00Z", status: 400, code: "BAD_REQUEST", says: [aboutTime] },
  { what: "a statement up to a day that no month has", path: "/wallets/DGihocTkwDygiFvmg6aG8jThYTic47GzU9/statement?to=2023-04-31", status: 400, code: "BAD_REQUEST", says: ['"to" must be a height, an ISO 8601 time with its zone (+ is written as %2B), or a date'] },
  { what: "rewards without an address that has a letter too few", path: "/delegates/genesis_1/rewards?exclude=DGihocTkwDygiFvmg6aG8jThYTic47GzU", status: 400, code: "BAD_REQUEST", says: ["exclude", "not an address of this network"] },
  { what: "a time before there was a chain", path: "/transactions?timestamp.to=2016-01-01", status: 400, code: "BAD_REQUEST", says: [`must not lie before the network's epoch (${epoch})`] },
  { what: "a time in a search that is none", path: "/transactions/search", body: { timestamp: { from: -1 } }, status: 400, code: "BAD_REQUEST", says: [`"timestamp.from" ${aboutTime}`] },
  { what: "an address as a public key", path: "/transactions?senderPublicKey=DGihocTkwDygiFvmg6aG8jThYTic47GzU9", status: 400, code: "BAD_REQUEST", says: ['"senderPublicKey" must be 66 hexadecimal digits'] },
  { what: "a misspelt field", path: "/transactions/search", body: { sendrId: "a" }, status: 400, code: "BAD_REQUEST", says: ['"sendrId" is not allowed; did you mean "senderId"? Allowed: id, blockId, '] },
  { what: "a misspelt bound in a body", path: "/wallets/search", body: { balance: { form: 1 } }, status: 400, code: "BAD_REQUEST", says: ['"balance.form" is not allowed; did you mean "from"? Allowed: from, to'] },
  { what: "a time in words, of a wallet's history", path: "/wallets/DGihocTkwDygiFvmg6aG8jThYTic47GzU9/history?timestamp.from=yesterday", status: 400, code: "BAD_REQUEST", says: [`"timestamp.from" ${aboutTime}`] },
  { what: "a list as a body", path: "/wallets/search", body: [], status: 400, code: "BAD_REQUEST", says: ['"value" must be object'] },
  { what: "a search by GET: transactions", path: "/transactions/search", status: 405, code: "METHOD_NOT_ALLOWED", says: ["Method Not Allowed: use POST here."] },
  { what: "a search by GET: blocks", path: "/blocks/search", status: 405, code: "METHOD_NOT_ALLOWED", says: ["Method Not Allowed: use POST here."] },
  { what: "a search by GET: locks", path: "/locks/search?limit=1", status: 405, code: "METHOD_NOT_ALLOWED", says: ["Method Not Allowed: use POST here."] },
  { what: "a search by GET: wallets", path: "/wallets/search", status: 404, code: "WALLET_NOT_FOUND", says: ["Wallet not found", "POST /wallets/search"] },
  { what: "a search by GET: delegates", path: "/v2/delegates/search", status: 404, code: "DELEGATE_NOT_FOUND", says: ["Delegate not found", "POST /delegates/search"] },
  { what: "a search by GET with its parameters: delegates", path: "/delegates/search?username=a", status: 400, code: "BAD_REQUEST", says: ['"username" is not allowed', "By POST, this path takes a JSON body instead."] },
  { what: "a search by GET with its parameters: wallets", path: "/wallets/search?address=a", status: 400, code: "BAD_REQUEST", says: ['"address" is not allowed', "By POST, this path takes a JSON body instead."] },
  { what: "a search by GET without anything, no generation named", path: "/delegates/search", status: 404, code: "DELEGATE_NOT_FOUND", says: ["Delegate not found", "POST /delegates/search"] },
  { what: "an address that is none", path: "/wallets?address=no%20address", status: 400, code: "BAD_REQUEST", says: ['must be an address: up to 64 letters and digits'] },
  { what: "a path that does not exist", path: "/wallet", status: 404, code: "NOT_FOUND", says: [/^Not Found$/] },
  { what: "a path with one word too many", path: "/blocks/1/transactions/all", status: 404, code: "NOT_FOUND", says: [/^Not Found$/] },
  { what: "a version that does not exist", path: "/v3/wallets", status: 400, code: "UNSUPPORTED_VERSION", says: ["The specified API version is not supported."] },
  { what: "a block above the tip", path: "/blocks/99999999", status: 404, code: "BLOCK_NOT_FOUND", says: [/^Block not found$/] },
  { what: "a POST to a list", path: "/wallets", body: {}, status: 405, code: "METHOD_NOT_ALLOWED", says: ["Method Not Allowed: use GET here."] },
  { what: "transactions that are none", path: "/transactions", body: { transactions: [{}] }, status: 501, code: "NOT_SUPPORTED", says: ["This node does not accept transactions."] },
  { what: "a form of amounts as a parameter", path: "/wallets?amounts=string", status: 400, code: "BAD_REQUEST", says: ['"amounts" is not allowed'] },
];

describe("typical mistakes", () => {
  let served: Interface;
  before(async () => (served = await serveChain("core3-custom-c")));

  for (const { what, path, body, status, code, says } of mistakes) {
    it(`are answered with what would be right: ${what}`, async () => {
      const answer = await fetch(served.url + path, body === undefined ? {} : { method: "POST", body: JSON.stringify(body) });
      const told = (await answer.json()) as { statusCode: number; code: string; message: string; docs?: string };
      expect([answer.status, told.statusCode, told.code]).to.deep.equal([status, status, code]);
      for (const part of says) {
        if (typeof part === "string") expect(told.message).to.include(part);
        else expect(told.message).to.match(part);
      }
      expect(told.docs).to.equal(code === "NOT_FOUND" ? "/api/docs" : undefined);
      expect(answer.headers.get("allow")?.includes("GET")).to.equal(code !== "METHOD_NOT_ALLOWED" ? undefined : path === "/wallets");
    });
  }

  it("are not made where times are written in ISO 8601: the bounds are those of the seconds since the epoch", async () => {
    const total = async (query: string): Promise<number> => ((await served.get(`/blocks?limit=1&${query}`)).body as { meta: { totalCount: number } }).meta.totalCount;
    const { data } = (await served.get("/blocks?height=2")).body as { data: [{ timestamp: { epoch: number; human: string } }] };
    const { epoch: seconds, human } = data[0].timestamp;
    for (const [iso, number] of [
      [`timestamp.from=${human}`, `timestamp.from=${seconds}`],
      [`timestamp.to=${human}`, `timestamp.to=${seconds}`],
      [`timestamp=${human}`, `timestamp=${seconds}`],
    ] as const) {
      expect(await total(iso), iso).to.equal(await total(number)).and.to.be.above(0);
    }
    const day = human.slice(0, 10);
    const inDay = await total(`timestamp=${day}`);
    expect(inDay).to.equal(await total(`timestamp.from=${day}T00:00:00Z&timestamp.to=${day}T23:59:59Z`)).and.to.be.above(0);
    expect(await total("timestamp.from=2016-01-01")).to.equal(await total(""));
  });
});
