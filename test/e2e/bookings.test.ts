import { expect } from "chai";
import { actors } from "../../src/conformance/chain/actors.js";
import { createChainMaker, htlcClaim, htlcLock, htlcRefund, multiPayment, networkOf, transfer } from "../../src/conformance/chain/chain-maker.js";
import type { BlockData } from "../../types/events.js";
import { type ChainName, loadChain } from "../data/read.js";
import { firstMilestone } from "../first-milestone.js";
import { spread } from "../fixtures/long.js";
import { startStoredNode } from "../fixtures/stored-chain.js";
import type { Answer } from "../http/ask.js";
import { type MovingNode, startMovingNode } from "./moving-node.js";

interface Booking {
  address: string;
  kind: string;
  id: string;
  height: number;
  timestamp: number;
  counterparty: string;
  memo: string;
  in: string;
  out: string;
  fee: string;
}

interface Told<Data = Booking> {
  id: string;
  event: string;
  data: Data;
}

type Get = (path: string) => Promise<Answer>;

/** Everything in the feed after a cursor. */
const follow = async <Data = Booking>(get: Get, query: string, after = "genesis"): Promise<{ events: Told<Data>[]; cursor: string }> => {
  const events: Told<Data>[] = [];
  for (let cursor = after; ; ) {
    const { data, meta } = (await get(`/events/feed?after=${cursor}&limit=1000&${query}`)).json as { data: Told<Data>[]; meta: { cursor: string; more: boolean } };
    events.push(...data);
    cursor = meta.cursor;
    if (!meta.more) return { events, cursor };
  }
};

const amount = (text: string): bigint => (text === "" ? 0n : BigInt(text));
const net = (one: Pick<Booking, "in" | "out" | "fee">): bigint => amount(one.in) - amount(one.out) - amount(one.fee);

for (const name of ["core3-testnet-a", "core3-custom-c"] satisfies ChainName[]) {
  describe(`bookings of ${name}`, () => {
    const { wallets } = loadChain(name);
    let get: Get;
    before(async () => {
      ({ get } = await startStoredNode(name, { options: { webhooks: false } }));
    });

    it("are the rows of every wallet's statement, from genesis on, and add up to its balance", async () => {
      const { events } = await follow(get, "event=booking.*");
      const byWallet = new Map<string, Booking[]>();
      for (const { event, data } of events) {
        expect(event).to.equal("booking.applied");
        byWallet.set(data.address, [...(byWallet.get(data.address) ?? []), data]);
      }
      expect(new Set(events.map(({ id }) => id)).size).to.equal(events.length);
      expect([...byWallet.keys()].filter((address) => !wallets.some((wallet) => wallet.address === address))).to.deep.equal([]);
      for (const { address, balance } of wallets) {
        const sum = (byWallet.get(address) ?? []).reduce((total, booking) => total + net(booking), 0n);
        expect({ address, balance: String(sum) }).to.deep.equal({ address, balance });
      }
      for (const { address } of spread(wallets, 30)) {
        const lines = (await get(`/wallets/${address}/statement`)).text.split("\n").filter((line) => line !== "");
        const rows = lines.map((line) => JSON.parse(line) as Booking & { time: string; balance: string }).map(({ time: _, balance: __, ...row }) => row);
        const told = (byWallet.get(address) ?? []).map(({ address: _, timestamp: __, ...booking }) => booking);
        expect({ address, rows: told }).to.deep.equal({ address, rows });
      }
    });

    it("come only to those who name them, and no other event has another id with them", async () => {
      const told = async (query: string): Promise<[id: string, event: string, data: unknown][]> =>
        (await follow<unknown>(get, query)).events.map(({ id, event, data }) => [id, event, data]);
      const all = await told("");
      expect(all.filter(([, event]) => event.startsWith("booking."))).to.deep.equal([]);
      expect(await told("event=*")).to.deep.equal(all);
      expect((await told("event=*,booking.*")).filter(([, event]) => !event.startsWith("booking."))).to.deep.equal(all);
    });
  });
}

describe("bookings of a chain that forks", () => {
  const { origin, ada, bob, joe, kim } = actors;
  const maker = createChainMaker([firstMilestone(1)]);
  const lock = (label: string) => htlcLock(ada, bob, 500n, { label, secret: label, expiration: { type: 2, value: 3 } });
  maker.add({ generator: origin, transactions: [ada, joe, kim].map((each) => transfer(origin, each, 10n ** 12n, { version: 1, fee: 0n })) });
  maker.add({ generator: joe, transactions: [lock("claimed"), lock("refunded"), lock("open")] });
  maker.add({ generator: joe, transactions: [multiPayment(ada, [[bob, 5n], [kim, 6n], [bob, 7n]])] });
  const { transactions = [] } = maker.add({ generator: joe, transactions: [htlcClaim(kim, "claimed", { fee: 20n }), htlcRefund(kim, "refunded", { fee: 500n })] });
  const [genesis, ...rest] = maker.blocks as [BlockData, ...BlockData[]];
  let node: MovingNode;
  beforeEach(async () => {
    node = await startMovingNode(networkOf(genesis), genesis, { undoBlocks: 100 });
    await node.apply(...rest);
  });

  const shape = ({ address, kind, in: received, out, fee }: Booking): string[] => [Object.entries(actors).find(([, actor]) => actor.address === address)?.[0] ?? "", kind, received, out, fee];

  it("are the sender's, the recipients' in the order of its payments, each once, whom a lock is paid to, then the forger's", async () => {
    const { events } = await follow(node.get, "event=booking.applied");
    expect(events.filter(({ data }) => data.height === 3).map(({ data }) => shape(data))).to.deep.equal([
      ["ada", "multiPayment", "", "18", "10000000"],
      ["bob", "multiPayment", "12", "", ""],
      ["kim", "multiPayment", "6", "", ""],
      ["joe", "forged", "10000000", "", ""],
    ]);
    expect(events.filter(({ data }) => data.height === 4).map(({ data }) => shape(data))).to.deep.equal([
      ["kim", "htlcClaim", "", "", ""],
      ["bob", "htlcClaim", "500", "", "20"],
      ["kim", "htlcRefund", "", "", ""],
      ["ada", "htlcRefund", "500", "", "500"],
      ["joe", "forged", "520", "", ""],
    ]);
  });

  it("are taken back in the opposite order, each by its id, though the transaction that opened a lock is off the chain as well", async () => {
    const { events: applied, cursor } = await follow(node.get, "event=booking.*,transaction.*,block.*");
    for (let reverted = 0; reverted < 3; reverted++) await node.revert();
    const { events: reverted } = await follow<Booking & { reverts?: string }>(node.get, "event=booking.*,transaction.*,block.*", cursor);
    const shapes = (told: readonly Told[], kind: string) => told.filter(({ event }) => event.startsWith(kind)).map(({ event, data }) => [event.split(".")[0], data]);
    const after = applied.slice(applied.findIndex(({ data }) => data.height === 2));
    expect(shapes(reverted, "booking")).to.deep.equal(shapes(after, "booking").toReversed());
    expect(reverted.map(({ event }) => event).slice(0, 8)).to.deep.equal([
      ...["block.reverted", "booking.reverted", "booking.reverted", "booking.reverted", "transaction.reverted"],
      ...["booking.reverted", "booking.reverted", "transaction.reverted"],
    ]);
    expect(reverted[4]?.data.id).to.equal(transactions[1]?.id);
  });
});
