import { expect } from "chai";
import type { BlockData } from "../../types/events.js";
import type { PorticoOptions } from "../../types/options.js";
import { loadChain } from "../data/read.js";
import { startMovingNode } from "./moving-node.js";

const { network, blocks, wallets, delegates } = loadChain("core3-custom-c");
const finality = 20;
const highest = 190;

/** A node whose chain the test moves along that one. */
const startNode = async (options: PorticoOptions = {}) => {
  const node = await startMovingNode(network, blocks[0] as BlockData, { finality, ...options });
  return { ...node, apply: (to: number) => node.apply(...blocks.slice(node.height(), to)) };
};

type Node = Awaited<ReturnType<typeof startNode>>;

const richest = [...wallets].sort((a, b) => Number(BigInt(b.balance) - BigInt(a.balance)));
const [rich, sender, voter] = [richest[0], wallets.find(({ nonce }) => BigInt(nonce) > 20n), wallets.find(({ vote }) => vote !== null)];
const forger = delegates.find(({ producedBlocks }) => producedBlocks > 3);

const paths = (): string[] => {
  const addresses = [rich, sender, voter].map((wallet) => wallet?.address ?? "");
  return [
    ...addresses.flatMap((address) => ["", "/transactions", "/transactions/sent", "/transactions/received", "/votes"].map((rest) => `/wallets/${address}${rest}`)),
    `/wallets/${sender?.publicKey ?? ""}`,
    "/delegates",
    "/delegates?orderBy=voteBalance:desc&limit=5",
    "/delegates?orderBy=productivity:desc&limit=60",
    "/delegates?orderBy=missedBlocks&voters.from=1",
    `/delegates/${forger?.username ?? ""}`,
    `/delegates/${forger?.username ?? ""}/blocks?limit=3`,
    `/delegates/${forger?.username ?? ""}/voters`,
    `/delegates/${forger?.username ?? ""}/voters?orderBy=address&limit=2`,
    `/delegates/${forger?.username ?? ""}/voters/balances`,
    "/blocks?limit=7",
    "/blocks?totalFee.from=1&orderBy=height:asc",
    "/blocks/first",
    "/blocks/last",
    "/blocks/12",
    "/transactions?limit=9",
    "/transactions?amount.from=100000000&amount.to=5000000000&limit=4",
    "/transactions?type=3&orderBy=timestamp:asc&page=2&limit=3",
    "/transactions/fees",
    "/transactions/types",
    "/votes?limit=3",
    "/rounds/1/delegates",
    "/rounds/3/delegates",
    "/blockchain",
    "/node/configuration",
    "/node/fees?days=1",
  ];
};

const searches: [string, object][] = [
  ["/blocks/search", { reward: { from: 0 }, numberOfTransactions: { from: 2 } }],
  ["/transactions/search", { fee: { from: 1, to: 20_000_000 }, type: 0 }],
  ["/delegates/search", { producedBlocks: { from: 1 } }],
];

const withAt = (path: string, at: number | string): string => (path.includes("?") ? path.replace("?", `?at=${at}&`) : `${path}?at=${at}`);

/** Links of a reply at a height carry it; nothing else of it differs. */
const withoutAt = (text: string, at: number | string): string => text.replaceAll(`at=${at}&`, "");

const askAll = async ({ get }: Node, at?: number): Promise<Record<string, string>> => {
  const replies: Record<string, string> = {};
  for (const path of paths()) {
    const { status, text } = await get(at === undefined ? path : withAt(path, at));
    replies[path] = `${status} ${at === undefined ? text : withoutAt(text, at)}`;
  }
  for (const [path, body] of searches) {
    const { status, text } = await get(at === undefined ? path : withAt(path, at), { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } });
    replies[path] = `${status} ${at === undefined ? text : withoutAt(text, at)}`;
  }
  return replies;
};

describe("at=, the state at a height", () => {
  const heights = [1, 2, 51, 52, 74, 75, 103, 127, 154, highest - finality, highest - finality + 1, highest - 1, highest];
  const recorded = new Map<number, Record<string, string>>();
  let node: Node;

  before(async () => {
    node = await startNode();
    for (const height of heights) {
      await node.apply(height);
      recorded.set(height, await askAll(node));
    }
  });

  it("gives, byte for byte, the replies that the node gave when that block was the tip", async () => {
    for (const height of heights) expect({ height, ...(await askAll(node, height)) }).to.deep.equal({ height, ...recorded.get(height) });
  });

  it("takes the id of a block, and names the height of the state", async () => {
    const { id } = blocks[74] as BlockData;
    const byId = await node.get(`/blockchain?at=${id}`);
    expect(byId.text).to.equal((await node.get("/blockchain?at=75")).text);
    expect(byId.headers["x-block-height"]).to.equal("75");
    expect((await node.get("/blockchain")).headers["x-block-height"]).to.equal(String(highest));
  });

  it("takes a time with its zone, or a day, which means its end: the last block at or before it, whose height links carry", async () => {
    const epoch = Date.parse(network.milestones[0].epoch);
    const timeOf = (height: number, later = 0): string => new Date(epoch + 1000 * ((blocks[height - 1] as BlockData).timestamp + later)).toISOString();
    const [day = ""] = timeOf(75).split("T");
    const lastOf = (until: string): number => blocks.slice(0, highest).findLast(({ height }) => timeOf(height) <= until)?.height ?? 0;
    for (const [at, height] of [[timeOf(75), 75], [timeOf(75, 1), lastOf(timeOf(75, 1))], [timeOf(75, -1), 74], [timeOf(75).replace("Z", "%2B00:00"), 75], [day, lastOf(`${day}T23:59:59.999Z`)], ["2999-01-01", highest]] as const) {
      const found = await node.get(`/transactions?limit=5&at=${at}`);
      expect({ at, height: found.headers["x-block-height"], text: found.text }).to.deep.equal({ at, height: String(height), text: (await node.get(`/transactions?limit=5&at=${height}`)).text });
    }
    const cacheControl = async (at: string): Promise<unknown> => (await node.get(`/blockchain?at=${at}`)).headers["cache-control"];
    expect(await cacheControl(timeOf(highest - finality))).to.match(/immutable/);
    for (const at of [timeOf(highest - finality + 1), timeOf(highest), "2999-01-01"]) expect(await cacheControl(at)).to.equal("no-cache");
    for (const [at, status] of [["1999-01-01", 404], ["2026-01-31T12:00:00", 400], ["2026-02-31", 400], ["yesterday-1", 400]] as const)
      expect({ at, status: (await node.get(`/blockchain?at=${at}`)).status }).to.deep.equal({ at, status });
  });

  it("lets caches keep a reply for ever at or below the final height only, and never an error", async () => {
    const cacheControl = async (path: string): Promise<unknown> => (await node.get(path)).headers["cache-control"];
    const immutable = "public, max-age=31536000, immutable";
    expect(await cacheControl(`/blockchain?at=${highest - finality}`)).to.equal(immutable);
    expect(await cacheControl(`/blockchain?at=${highest - finality}`)).to.equal(immutable);
    expect(await cacheControl(`/blockchain?at=${highest - finality + 1}`)).to.equal("no-cache");
    expect(await cacheControl("/blockchain")).to.equal("no-cache");
    const missing = await node.get("/wallets/nobody?at=5");
    expect(missing.status).to.equal(404);
    expect(missing.headers["cache-control"]).to.equal("no-cache");
  });

  it("is in the links of pages", async () => {
    const { meta } = (await node.get("/transactions?limit=5&at=100")).json as { meta: Record<string, string> };
    expect(meta.next).to.equal("/api/v2/transactions?limit=5&at=100&page=2");
    expect(meta.self).to.equal("/api/v2/transactions?limit=5&at=100&page=1");
  });

  it("answers 404 for blocks that are not on the chain, and for what did not exist then", async () => {
    for (const at of [String(highest + 1), "0", "9".repeat(20), "ab".repeat(32)]) {
      const { status, json } = await node.get(`/blockchain?at=${at}`);
      expect({ at, status, message: (json as { message: string }).message }).to.deep.equal({ at, status: 404, message: "Block not found" });
    }
    expect((await node.get("/blocks/100?at=99")).status).to.equal(404);
    expect((await node.get("/rounds/5/delegates?at=51")).status).to.equal(404);
  });

  it("answers 400 for what is malformed, and NOT_AT_HEIGHT for what is not kept, naming what takes it", async () => {
    for (const at of ["", "-1", "1.5", "tip", "0x10"]) expect((await node.get(`/blockchain?at=${at}`)).status).to.equal(400);
    const refused = [
      ...["/wallets", "/wallets/top", "/locks", "/peers", "/node/status", "/node/syncing", "/node/configuration/crypto", "/transactions/schemas", "/transactions/unconfirmed"],
      ...[`/wallets/${rich?.address ?? ""}/locks`, "/blocks?orderBy=totalFee:desc", "/transactions?orderBy=amount", "/votes?orderBy=fee"],
    ];
    for (const path of refused) {
      for (const at of [100, highest]) {
        const { status, json } = await node.get(withAt(path, at));
        const { message } = json as { message: string };
        expect({ path, status, names: message.includes("/wallets/{id}") }, message).to.deep.equal({ path, status: 400, names: true });
      }
    }
  });

  it("keeps every page of a walk in place while blocks come and go", async () => {
    const at = highest - 30;
    const seen: string[] = [];
    let page: string | null = `/transactions?limit=40&at=${at}`;
    let step = 0;
    for (; page !== null; step++) {
      const answer = (await node.get(page)).json as { meta: { next: string | null; totalCount: number }; data: { id: string }[] };
      seen.push(...answer.data.map(({ id }) => id));
      page = answer.meta.next?.slice("/api".length) ?? null;
      if (step % 3 === 2) await node.revert();
      else await node.apply(node.height() + 1);
    }
    const expected = blocks.slice(0, at).flatMap(({ transactions = [] }) => transactions.map(({ id }) => id));
    expect(step).to.be.greaterThan(5);
    expect(seen).to.deep.equal(expected.reverse());
    await node.apply(highest);
  });

  it("is refused with 501 where no history is kept", async () => {
    const without = await startNode({ history: false });
    await without.apply(5);
    const wallet = `/wallets/${blocks[0]?.generatorPublicKey ?? ""}`;
    for (const path of ["/blockchain?at=3", `${wallet}/history`, `${wallet}/history?at=3`, `${wallet}/statement`, `${wallet}/statement?at=3`]) {
      const { status, json } = await without.get(path);
      const { code, message } = json as { code: string; message: string };
      expect({ path, status, code, message }).to.deep.equal({ path, status: 501, code: "NOT_SUPPORTED", message: "This node keeps no history and answers for the tip only." });
    }
    expect((await without.get("/blockchain")).status).to.equal(200);
  });
});
