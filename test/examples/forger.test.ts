import { join } from "node:path";
import { expect } from "chai";
import type { BlockData } from "../../types/events.js";
import type { Clock } from "../../types/node-context.js";
import { type BlockLog, openBlockLog } from "../../examples/standalone/files/block-log.js";
import { createForger, type Forger } from "../../examples/standalone/chain/forger.js";
import { createHostEvents, type HostEmitter } from "../../examples/standalone/chain/host-events.js";
import { createPool } from "../../examples/standalone/chain/pool.js";
import { createLocalChain, type LocalChain } from "./local-chain.js";
import { temporaryFolder } from "../fixtures/folder.js";

const epoch = Date.parse("2017-03-21T13:00:00.000Z");

describe("the standalone host's forger", () => {
  let folder: string;
  let log: BlockLog;
  let chain: LocalChain;
  let events: HostEmitter;
  let forger: Forger | undefined;
  let told: [event: string, payload: unknown][];
  let lines: string[];
  let following: Promise<void>;

  beforeEach(async () => {
    folder = temporaryFolder();
    log = await openBlockLog(join(folder, "blocks.ndjson"));
    chain = createLocalChain();
    events = createHostEvents();
    told = [];
    lines = [];
    following = Promise.resolve();
    forger = undefined;
    const emit = events.emit.bind(events);
    events.emit = (event, payload) => {
      told.push([event, payload]);
      return emit(event, payload);
    };
  });
  afterEach(async () => {
    await forger?.stop();
    await log.close();
  });

  const onBlock = (event: string, listener: (block: BlockData) => void): void => {
    events.on(event, (payload) => listener(payload as BlockData));
  };

  /** As Portico does: when a header is emitted, reads the whole block from the host's source. */
  const follow = (): void => {
    onBlock("block.applied", ({ height }) => {
      following = log.read(height, 1).then(([block]) => {
        if (block !== undefined) chain.adapter.apply(block);
      });
    });
  };

  const start = (interval: number | undefined, clock: Clock): Forger => {
    const logger = { debug: () => undefined, info: (line: string) => lines.push(line), warn: (line: string) => lines.push(line), error: (line: string) => lines.push(line) };
    const pool = createPool({ crypto: chain.crypto, chain: chain.adapter, events });
    forger = createForger(interval === undefined ? {} : { interval }, { maker: chain.createMaker(), chain: chain.adapter, log, pool, events, logger, clock: { monotonic: () => performance.now(), ...clock }, epoch, settled: () => following });
    forger.start();
    return forger;
  };

  const untilHeight = (height: number): Promise<void> =>
    new Promise((resolve) => {
      onBlock("block.applied", (block) => {
        if (block.height >= height) resolve();
      });
    });

  it("goes on once the chain can be read again", async () => {
    follow();
    const { snapshot } = chain.adapter;
    let failures = 0;
    chain.adapter.snapshot = () => {
      if (++failures > 6) chain.adapter.snapshot = snapshot;
      throw new Error("the disk does not answer");
    };
    const reached = untilHeight(2);
    // A millisecond before the next slot.
    start(undefined, { now: () => epoch + 300_000_003_999 });
    await reached;
    expect(lines.slice(0, 2)).to.deep.equal(["No block was forged: the disk does not answer", "No block was forged: the disk does not answer"]);
  });

  it("forges at its own interval, each block in the next slot, so that the chain's clock runs ahead", async () => {
    follow();
    const now = epoch + 300_000_001_500;
    const reached = untilHeight(60);
    start(1, { now: () => now });
    await reached;
    await forger?.stop();
    const blocks = await log.read(2, 100);
    expect(blocks.length).to.be.at.least(59);
    expect(blocks.map(({ timestamp }) => timestamp / 4)).to.deep.equal(blocks.map((_, index) => 75_000_000 + index));
    expect((await chain.snapshot()).tip.height).to.equal(log.height());
  });

  it("emits the events of a block as real nodes do, after logging it", async () => {
    follow();
    const written: number[] = [];
    onBlock("block.forged", ({ height }) => void written.push(log.height() - height));
    const reached = untilHeight(104);
    start(1, { now: () => epoch + 300_000_000_000 });
    await reached;
    await forger?.stop();

    expect(new Set(written)).to.deep.equal(new Set([0]));
    const [first, ...rest] = told;
    expect(first?.[0]).to.equal("forger.started");
    expect((first?.[1] as { activeDelegates: string[] }).activeDelegates).to.have.length(51);

    const blocks = await log.read(2, 200);
    const expected = blocks.flatMap((block): string[] => {
      const transactions = block.transactions ?? [];
      return [
        "block.forged",
        ...transactions.map(() => "transaction.forged"),
        ...transactions.flatMap(({ type, asset }) => {
          const votes = (asset as { votes: string[] | undefined } | undefined)?.votes ?? [];
          const more = votes.map((vote) => (vote.startsWith("+") ? "wallet.vote" : "wallet.unvote"));
          return ["transaction.applied", ...(type === 2 ? ["delegate.registered"] : []), ...more, ...(type === 7 ? ["delegate.resigned"] : [])];
        }),
        "block.applied",
        ...(block.height % 51 === 0 ? ["round.created", "round.applied"] : []),
      ];
    });
    expect(rest.map(([name]) => name)).to.deep.equal(expected);
    const places: Record<string, unknown> = { blockId: undefined, blockHeight: undefined, sequence: undefined };
    const emitted = rest.filter(([name]) => name === "transaction.applied").map(([, payload]): unknown => JSON.parse(JSON.stringify({ ...(payload as object), ...places })));
    expect(emitted, "what is emitted is what is kept").to.deep.equal(blocks.flatMap(({ transactions = [] }) => transactions));

    const header = rest.find(([name]) => name === "block.applied")?.[1];
    expect(header).to.include({ height: 2, id: blocks[0]?.id });
    expect(header).to.not.have.property("transactions");
    const vote = rest.find(([name]) => name === "wallet.vote")?.[1] as { delegate: string; transaction: { id: string } };
    expect(vote.delegate).to.match(/^\+0[23][0-9a-f]{64}$/);
    expect(vote.transaction.id).to.match(/^[0-9a-f]{64}$/);
    const round = rest.find(([name]) => name === "round.created")?.[1] as object[];
    expect(round).to.have.length(51);
    const ranked = (await (await chain.snapshot()).round(2)) ?? [];
    expect(round).to.deep.equal(ranked.map((delegate, index) => ({ round: 2, ...delegate, voteBalance: delegate.voteBalance.toString(), rank: index + 1 })));
  });

  it("prints one line for each block", async () => {
    follow();
    const reached = untilHeight(4);
    start(1, { now: () => epoch + 300_000_000_000, monotonic: () => 0 });
    await reached;
    await forger?.stop();
    const [block] = await log.read(2, 1);
    expect(lines[0]).to.equal(`block 2  ${String(block?.id)}  by ${lines[0]?.split("by ")[1]?.split(" ")[0] ?? ""}  0 transactions  0 ms`);
  });

  it("waits until the chain has a block before it makes the next", async () => {
    // Nothing follows the events: the chain stays at genesis.
    const reached = untilHeight(2);
    start(1, { now: () => epoch + 300_000_000_000 });
    await reached;
    await forger?.stop();
    expect(log.height()).to.equal(2);
  });

  it("goes on after a failure, and reports it", async () => {
    follow();
    const { snapshot } = chain.adapter;
    let calls = 0;
    chain.adapter.snapshot = () => {
      if (++calls === 2) throw new Error("the disk is gone");
      return snapshot();
    };
    const reached = untilHeight(2);
    start(1, { now: () => epoch + 300_000_000_000 });
    await reached;
    await forger?.stop();
    expect(lines[0]).to.equal("No block was forged: the disk is gone");
    expect(told[1]).to.deep.equal(["forger.failed", { error: "the disk is gone" }]);
  });

  it("forges on at its interval while the wall clock is set back by an hour with every reading", async () => {
    follow();
    let now = epoch + 300_000_000_000;
    const reached = untilHeight(5);
    start(1, { now: () => (now -= 3_600_000) });
    await reached;
  });

  it("follows the network's clock when it has no interval of its own", async () => {
    follow();
    // Starts 20 ms before the next slot; from there on it is a real clock.
    const begin = Date.now();
    const looks: number[] = [];
    const now = () => {
      looks.push(300_000_003_980 + (Date.now() - begin));
      return epoch + (looks.at(-1) ?? 0);
    };
    const reached = untilHeight(3);
    start(undefined, { now });
    await reached;
    const spent = Date.now() - begin;
    await forger?.stop();
    const [second, third] = (await log.read(2, 2)).map(({ timestamp }) => timestamp);
    expect(second).to.equal(300_000_000);
    // In the next slot, unless this machine takes longer than those 20 ms for the second block: then in the one after it.
    expect(third).to.be.above(300_000_000);
    expect(looks.map((look) => 4 * Math.floor(look / 4_000))).to.include(third);
    expect(spent).to.be.at.least(15);
  });
});
