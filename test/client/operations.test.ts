import { readFileSync } from "node:fs";
import { expect } from "chai";
import { parse as parseExactly } from "lossless-json";
import { type Client, type ClientRequest, createClient, fromToken, toToken } from "../../src/client/index.js";
import { operations } from "../../src/client/operations.js";
import { parseJson } from "../../src/client/values.js";
import type { TransactionData } from "../../types/events.js";
import type { ChainName } from "../data/read.js";
import { type Figures, figuresOf } from "../e2e/figures.js";
import { peer } from "../e2e/peer.js";
import type { StartedNode } from "../fixtures/node.js";
import { startStoredNode } from "../fixtures/stored-chain.js";
import { createReceiver, type Receiver } from "../webhooks/receiver.js";
import { localTargets } from "../webhooks/stage.js";
import { clientFile, clientFiles } from "./generate.js";

const token = "the-operator's-token";

/** Arguments of each operation, by group and name. */
const callsOf = ({ transactionRows, delegateRows, lockRows, tip }: Figures, pooled: TransactionData, target: string, webhook: number) => {
  const [last, first] = [transactionRows.at(-1)!, delegateRows[0]!];
  const lock = lockRows[0]?.lockId ?? "0".repeat(64);
  const [forger] = [...delegateRows].sort((a, b) => b.producedBlocks - a.producedBlocks);
  const vote = transactionRows.findLast(({ type, typeGroup }) => type === 3 && typeGroup === 1)!.id;
  const made = { event: "peer.added", target } as const;
  return {
    node: { configuration: [{ at: 2 }], crypto: [], fees: [{ days: 3 }], status: [], syncing: [] },
    wallets: {
      list: [{ balance: { from: 1n }, orderBy: "balance:desc", limit: 7 }],
      top: [],
      search: [{ balance: { from: 1n, to: 10n ** 19n }, limit: 3 }],
      get: [last.sender],
      transactions: [last.sender, { type: last.type }],
      received: [last.recipient],
      sent: [last.sender, { limit: 2, page: 1 }],
      votes: [last.sender],
      locks: [last.sender],
      history: [last.sender, { height: { to: tip.height } }],
      statement: [last.sender, { opening: true }],
    },
    delegates: {
      list: [{ forgedTotal: { from: 0n }, at: tip.height - 1 }],
      search: [{ usernames: [first.username], at: tip.height - 1 }],
      get: [first.username],
      blocks: [forger!.username],
      voters: [first.username],
      voterBalances: [first.username],
      rewards: [forger!.username, { from: 2, to: tip.height, minimum: 1n }],
      reward: [] as string[],
    },
    votes: { list: [{ timestamp: { from: "2017-03-21" } }], get: [vote] },
    peers: { list: [{ orderBy: "port:desc" }], suspended: [], get: ["10.0.0.1"] },
    blocks: { list: [{ reward: { from: 0n } }], first: [], last: [], search: [{ height: { from: 2, to: 9 }, orderBy: "height:asc" }], get: [tip.height], transactions: [1, { limit: 4 }], proof: [tip.height - 60] },
    transactions: {
      list: [{ amount: { from: 1n }, orderBy: "amount:desc" }],
      submit: [[{ ...pooled, amount: 1n, fee: 10_000_000n }]],
      search: [{ type: 6, typeGroup: 1, limit: 100 }],
      unconfirmed: [],
      getUnconfirmed: [pooled.id],
      types: [],
      fees: [],
      schemas: [],
      get: [last.id],
      proof: [last.id, { confirmations: 2 }],
    },
    blockchain: { get: [] },
    rounds: { delegates: [1] },
    locks: { list: [], search: [{ amount: { from: 1n } }], unlocked: [{ ids: [lock] }], get: [lock] },
    webhooks: {
      list: [],
      create: [{ ...made, conditions: [{ key: "height", condition: "gt", value: 5n }] }],
      keys: [],
      events: [],
      dryRun: [{ conditions: [], payload: { ip: "10.0.0.1" } }],
      get: [webhook],
      replace: [webhook, made],
      update: [webhook, { events: ["block.applied"] }],
      replay: [webhook, { from: 1, to: 2 }],
      ping: [webhook],
      rotate: [webhook],
      recover: [webhook, { since: "2020-01-01T00:00:00Z" }],
      deliveries: [webhook],
      delivery: [webhook, 1],
      redeliver: [webhook, 1],
      delete: [webhook],
    },
    events: { feed: [{ after: 1, limit: 500, event: ["*", "booking.*"] }], postFeed: [{ after: "genesis", limit: 5, conditions: [{ key: "height", condition: "gt", value: 0 }] }] },
  } satisfies Record<string, Record<string, unknown[]>>;
};

/** Replies that tell of what the call itself does, or of the time: they are not the same twice. */
const unlikeTwice = /^webhooks\.(create|ping|rotate|redeliver|delete|replay|delivery|deliveries|update)$|^node\.status$/;

/** Every number as its digits, which no double has rounded. */
const digits = (value: unknown): unknown => {
  if (typeof value === "bigint" || typeof value === "number") return String(value);
  if (Array.isArray(value)) return value.map(digits);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([name, part]) => (part === undefined ? [] : [[name, digits(part)]])));
};
const exactly = (text: string): unknown => digits(parseExactly(text, undefined, { parseNumber: (digits) => digits }));

/** What stands at each place where two values differ, of a third. */
function* differing(one: unknown, other: unknown, third: unknown): Generator {
  if (typeof one !== "object" || one === null) return void (one === other || (yield third));
  for (const [name, part] of Object.entries(one)) yield* differing(part, (other as Record<string, unknown>)[name], (third as Record<string, unknown>)[name]);
}

describe("portico/client", () => {
  it("has the types and the operations that the routes have", () => {
    for (const [name, text] of Object.entries(clientFiles())) expect(readFileSync(clientFile(name), "utf8"), `\`npm run docs\` writes ${name}`).to.equal(text);
  });

  it("writes and reads amounts of the token exactly", () => {
    for (const [amount, text] of [[0n, "0.00000000"], [1n, "0.00000001"], [-123_456_789n, "-1.23456789"], [12_500_000_099_999_999n, "125000000.99999999"]] as const) {
      expect(toToken(amount)).to.equal(text);
      expect(fromToken(text)).to.equal(amount);
    }
    expect(fromToken("1.5")).to.equal(150_000_000n);
    for (const wrong of ["", "1e3", "1.", ".5", "0x1", "1.123456789", " 1"]) expect(() => fromToken(wrong), wrong).to.throw(RangeError);
  });

  it("rounds no whole number of a reply, and takes no text for one", () => {
    const text = String.raw`{"a":9007199254740993,"b":["\\\"",-12345678901234567890,1.5,1e3],"c":"x:9007199254740993","d":"\":12345678901234567,"}`;
    expect(parseJson(text)).to.deep.equal({ a: 9007199254740993n, b: ['\\"', -12345678901234567890n, 1.5, 1000], c: "x:9007199254740993", d: '":12345678901234567,' });
  });
});

for (const name of ["core3-testnet-a", "core3-custom-c"] satisfies ChainName[]) {
  describe(`portico/client, over ${name}`, () => {
    const figures = figuresOf(name);
    let node: StartedNode;
    let receiver: Receiver;
    let client: Client;
    let sent: ClientRequest[] = [];
    let calls: Record<string, Record<string, unknown[]>>;

    before(async () => {
      receiver = await createReceiver();
      const { senderPublicKey, recipient } = figures.transactionRows.at(-1)!;
      const payments = [1n, 2n ** 60n].map((amount) => ({ amount: String(amount), recipientId: recipient }));
      const pooled: TransactionData = { id: "c".repeat(64), version: 2, network: 23, typeGroup: 1, type: 6, nonce: "3", senderPublicKey, amount: "0", fee: "9007199254740993", asset: { payments }, expiration: 0, signature: "ab" };
      node = await startStoredNode(name, {
        peers: { list: () => [peer("10.0.0.1")], suspended: () => [peer("10.0.0.2")] },
        pool: { list: () => [pooled], submit: (transactions) => ({ accept: transactions.map(({ id }) => id), broadcast: [], excess: [], invalid: ["x"], errors: { x: [{ type: "ERR", message: "no" }] } }) },
        options: { rateLimit: false, staleAfter: false, webhooks: { tokens: [token], allowTargets: localTargets, schedule: [] } },
      });
      const { id } = node.plugin.webhooks!.create({ events: ["peer.added", "block.applied"], target: receiver.url });
      node.plugin.webhooks!.ping(id);
      client = createClient(node.origin, { token, onRequest: (request) => sent.push(request) });
      calls = callsOf(figures, pooled, receiver.url, id);
      for await (const { username } of client.delegates.list({ orderBy: "producedBlocks:desc" })) {
        const [voter] = (await client.delegates.rewards(username)).voters;
        if (voter === undefined) continue;
        calls.delegates!.reward = [username, voter.address];
        break;
      }
    });
    after(() => receiver.close());

    /** What was sent, sent again as text, in a form of amounts. */
    const raw = async ({ url, method, headers, body }: ClientRequest, form: string): Promise<string> => {
      const reply = await fetch(url.replace("/api/v2/", `/api/${form}/v2/`), { method, headers, ...(body === undefined ? {} : { body }) });
      return (await reply.text()).replaceAll(`/api/${form}/`, "/api/");
    };

    for (const [group, rows] of Object.entries(operations)) {
      // A webhook is deleted last.
      for (const [method, row] of Object.entries(rows).sort(([one], [other]) => Number(one === "delete") - Number(other === "delete"))) {
        it(`returns what the node replies: ${group}.${method}`, async () => {
          sent = [];
          const call = (client as unknown as Record<string, Record<string, (...args: unknown[]) => PromiseLike<unknown> & AsyncIterable<unknown>>>)[group]![method]!;
          const isLines = String(row).includes(" lines ");
          const called = call(...calls[group]![method]!);
          const lines: unknown[] = [];
          if (isLines) for await (const line of called) lines.push(line);
          const result = isLines ? lines : await called;
          expect(sent).to.have.length(1);
          const [request] = sent;
          if (unlikeTwice.test(`${group}.${method}`)) return;
          const [numbers, strings] = [await raw(request!, "numbers"), await raw(request!, "strings")];
          if (isLines) {
            const rows = numbers.trimEnd().split("\n").map((line) => JSON.parse(line) as Record<string, unknown>);
            expect(digits(result)).to.deep.equal(rows.map((each) => ({ ...each, height: String(each.height), in: each.in || null, out: each.out || null, fee: each.fee || null })));
            expect(lines.length).to.be.greaterThan(1);
            return;
          }
          const reply = exactly(numbers) as { data?: unknown; errors?: unknown; meta?: unknown };
          const [isWhole, isNothing] = [/ (list|feed)\b/.test(String(row)), String(row).includes(" none ")];
          const emptied = (value: unknown): unknown => JSON.parse(JSON.stringify(value, (key, part: unknown) => (["in", "out", "fee"].includes(key) && part === "" ? null : part)));
          expect(digits(result) ?? {}).to.deep.equal(isNothing ? reply : emptied(isWhole ? reply : reply.errors === undefined ? reply.data : { ...(reply.data as object), errors: reply.errors }));
          const whole = (text: string): unknown => (isWhole ? JSON.parse(text) : (JSON.parse(text) as { data: unknown }).data);
          for (const amount of isNothing ? [] : differing(whole(numbers), whole(strings), result)) expect(amount, "amount").to.be.a("bigint");
        });
      }
    }

    it("makes bigints of what is always text, too: in attributes, statistics, constants, events and bookings", async () => {
      const { attributes } = (await client.wallets.list({ limit: 1, orderBy: "voteBalance:desc" })).data[0]!;
      expect(attributes.delegate?.voteBalance).to.be.a("bigint");
      for (const { avg, sum } of await client.node.fees({ days: 30 })) expect([typeof avg, typeof sum]).to.deep.equal(["bigint", "bigint"]);
      const { constants } = await client.node.configuration();
      expect(typeof constants.reward + typeof constants.fees?.staticFees?.transfer).to.equal("bigintbigint");
      const { data } = await client.events.feed({ after: "genesis", limit: 1000, event: ["transaction.applied", "booking.applied", "round.created", "block.applied"] });
      for (const each of data) {
        if (each.event === "booking.applied") expect([each.data.in, each.data.out, each.data.fee].every((amount) => amount === null || typeof amount === "bigint")).to.equal(true);
        if (each.event === "transaction.applied") expect(each.data.amount).to.be.a("bigint");
        if (each.event === "round.created") for (const { votes } of each.data) expect(votes).to.be.a("bigint");
      }
      expect(new Set(data.map(({ event }) => event)).size).to.be.greaterThan(2);
    });

    it("finds what there is, and undefined where there is nothing", async () => {
      expect(await client.wallets.find("nobody")).to.equal(undefined);
      expect(await client.blocks.find(999_999)).to.equal(undefined);
      expect((await client.delegates.find(figures.delegateRows[0]!.username))?.address).to.equal(figures.delegateRows[0]!.address);
    });

    it("asks for a fork's own routes", async () => {
      expect(await client.request("GET", "/blockchain", { query: { at: 1 } })).to.have.nested.property("data.block.height", 1);
    });

    it("names no other thing by what a caller passes as a name", async () => {
      for (const wrong of ["", ".", ".."]) {
        sent = [];
        await client.wallets.get(wrong).then(() => expect.fail(), (error: unknown) => expect(error).to.be.instanceOf(TypeError));
        expect(sent).to.deep.equal([]);
      }
      expect(await client.wallets.find("a/../b?x=1#y")).to.equal(undefined);
    });
  });
}
