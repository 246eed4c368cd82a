import { EventEmitter } from "eventemitter3";
import { expect } from "chai";
import fc from "fast-check";
import type { ChainRules } from "../../src/chain/rules.js";
import { systemClock } from "../../src/async/clock.js";
import { PorticoError } from "../../src/errors.js";
import { createProblems } from "../../src/operate/problems.js";
import { createReadSession } from "../../src/store/lmdb/read-session.js";
import { withApplied } from "../../src/store/follow/orphans.js";
import { createFollower, type Follower } from "../../src/store/sync/follower.js";
import { type RetryPace, retryPace } from "../../src/store/sync/turns.js";
import type { Store, StoreNeeds } from "../../src/store/state/store.js";
import type { BlockData, BlockSource } from "../../types/events.js";
import type { Logger } from "../../types/node-context.js";
import { loadChain } from "../data/read.js";
import { eventually } from "../webhooks/stage.js";
import { closeTemporaryStores, contentsOf, openStoreAt, openTemporaryStore } from "./temporary-store.js";
import { count } from "../fixtures/long.js";

const name = "core3-testnet-a";
const chain = loadChain(name);
const at = (height: number): BlockData => chain.blocks[height - 1]!;
const headerOf = ({ transactions: _, ...header }: BlockData): BlockData => header;
const withTransactions = chain.blocks.find(({ height, numberOfTransactions }) => height > 1 && numberOfTransactions > 0)!.height;

/** The other branch of a fork at `height`: an empty block by the same forger. */
const forkedAt = (height: number, id: string, previousBlock = at(height - 1).id): BlockData => ({
  ...at(height),
  id,
  previousBlock,
  numberOfTransactions: 0,
  totalAmount: "0",
  totalFee: "0",
  transactions: [],
});

/** A host's chain that tests can replace and that is read as a block source. */
const sourceOf = (blocks: BlockData[]): BlockSource & { blocks: BlockData[]; reads: number } => ({
  blocks,
  reads: 0,
  read(from, limit) {
    this.reads++;
    return this.blocks.filter(({ height }) => height >= from).slice(0, limit);
  },
});

const told: string[] = [];
const warned: string[] = [];
let onError = (): void => undefined;
const logger: Logger = {
  debug: (line) => told.push(line),
  info: (line) => told.push(line),
  warn: (line) => void (told.push(line), warned.push(line)),
  error: (line) => {
    told.push(line);
    onError();
  },
};

describe("the follower", () => {
  let store: Store;
  let rules: ChainRules;
  let events: EventEmitter;
  let follower: Follower;

  const create = (source: BlockSource | undefined, pace = retryPace): Follower => {
    told.length = warned.length = 0;
    return createFollower({ store, rules, events, source, logger, clock: systemClock, onProgress: undefined, retryPace: pace, problems: createProblems(logger) });
  };
  const follow = async (source?: BlockSource, start = true): Promise<void> => {
    ({ store, rules } = openTemporaryStore(chain.network));
    events = new EventEmitter();
    follower = create(source);
    if (start) await follower.start();
  };
  /** Follows with a store that has the blocks up to a height. */
  const followFrom = async (height: number, source?: BlockSource, start = true, needs: Partial<StoreNeeds> = {}, pace?: RetryPace): Promise<void> => {
    ({ store, rules } = await openStoreAt(name, height, {}, needs));
    events = new EventEmitter();
    follower = create(source, pace);
    if (start) await follower.start();
  };
  /** Follows again with the store as it was left. */
  const restart = async (source: BlockSource): Promise<void> => {
    await follower.stop();
    follower = create(source);
    await follower.start();
    await follower.settled();
  };
  const emit = async (event: string, payload: unknown): Promise<void> => {
    events.emit(event, payload);
    await follower.settled();
  };
  const tip = (): string | undefined => store.tip()?.id;

  afterEach(async () => {
    await follower.stop();
    await closeTemporaryStores();
  });

  it("starts from genesis and applies whole blocks as they are emitted", async () => {
    await follow();
    expect(tip()).to.equal(at(1).id);
    for (let height = 2; height <= withTransactions + 1; height++) await emit("block.applied", at(height));
    expect(store.tip()?.height).to.equal(withTransactions + 1);
  });

  it("does not start once it was stopped", async () => {
    await follow(sourceOf(chain.blocks), false);
    await follower.stop();
    await follower.start();
    expect([events.eventNames(), store.tip()]).to.deep.equal([[], undefined]);
  });

  it("reads the whole chain from the source at first start", async () => {
    await follow(sourceOf(chain.blocks));
    expect(tip()).to.equal(chain.meta.tip.id);
    expect(store.isComplete()).to.equal(true);
  });

  it("takes an empty block from its header alone, and asks the source for other blocks' transactions", async () => {
    const source = sourceOf(chain.blocks.slice(0, withTransactions - 2));
    await followFrom(withTransactions - 2, source);
    const before = source.reads;
    source.blocks = chain.blocks.slice(0, withTransactions);
    await emit("block.applied", headerOf(at(withTransactions - 1)));
    expect(source.reads).to.equal(before);
    expect(store.tip()?.height).to.equal(withTransactions - 1);
    await emit("block.applied", headerOf(at(withTransactions)));
    expect(source.reads).to.be.greaterThan(before);
    expect(tip()).to.equal(at(withTransactions).id);
  });

  it("ignores a block that it already has", async () => {
    await followFrom(20, sourceOf(chain.blocks.slice(0, 20)));
    await emit("block.applied", at(20));
    await emit("block.applied", at(7));
    expect(tip()).to.equal(at(20).id);
    expect(told.filter((line) => line.includes("cannot be followed"))).to.deep.equal([]);
  });

  it("fills a gap from the source", async () => {
    const source = sourceOf(chain.blocks.slice(0, 20));
    await followFrom(20, source);
    source.blocks = chain.blocks.slice(0, 30);
    await emit("block.applied", at(30));
    expect(tip()).to.equal(at(30).id);
  });

  it("goes back to where the host's chain forked and follows the new branch", async () => {
    const source = sourceOf(chain.blocks.slice(0, 40));
    await followFrom(40, source);
    const fork = forkedAt(36, "36000000000000000036");
    const next = forkedAt(37, "37000000000000000037", fork.id);
    source.blocks = [...chain.blocks.slice(0, 35), fork, next];
    await emit("block.applied", headerOf(next));
    expect(store.tip()).to.include({ height: 37, id: next.id });
  });

  it("reverts the blocks that the host reverts, and follows the branch that comes next", async () => {
    await followFrom(40, sourceOf(chain.blocks.slice(0, 40)));
    await emit("block.reverted", at(40));
    await emit("block.reverted", at(39));
    expect(tip()).to.equal(at(38).id);
    await emit("block.applied", forkedAt(39, "39000000000000000039"));
    expect(tip()).to.equal("39000000000000000039");
  });

  it("goes back with a host that went back while the node was stopped, and then put its last block on again", async () => {
    const source = sourceOf(chain.blocks.slice(0, 40));
    await followFrom(40, source);
    source.blocks = chain.blocks.slice(0, 30);
    await restart(source);
    // It may as well be a database that is a moment behind.
    expect(tip()).to.equal(at(40).id);
    // The source has it again by the time that it is asked.
    events.emit("block.reverted", at(30));
    await emit("block.applied", at(30));
    expect(tip()).to.equal(at(30).id);
    expect(follower.problem()).to.equal(undefined);
    await emit("block.applied", at(31));
    expect(tip()).to.equal(at(31).id);
  });

  it("takes an event that is late for no step back, as long as the source has more", async () => {
    const source = sourceOf(chain.blocks.slice(0, 40));
    await followFrom(40, source);
    await emit("block.applied", at(30));
    expect(tip()).to.equal(at(40).id);
  });

  it("needs fewer commits than blocks when blocks arrive faster than they can be written", async () => {
    await followFrom(40);
    const commits = (): number => (store.environment.root.getStats() as { lastTxnId: number }).lastTxnId;
    const before = commits();
    for (let height = 41; height <= 140; height++) events.emit("block.applied", at(height));
    await follower.settled();
    expect(tip()).to.equal(at(140).id);
    expect(commits() - before).to.be.below(75);
  });

  it("takes blocks emitted in a burst after a gap, although the source lags behind them", async () => {
    const source = sourceOf(chain.blocks.slice(0, 40));
    await followFrom(40, source);
    for (let end = 60; end <= 120; end += 20) {
      source.blocks = chain.blocks.slice(0, end - 2);
      for (let height = end - 9; height <= end; height++) events.emit("block.applied", at(height));
      await follower.settled();
      expect(tip()).to.equal(at(end).id);
    }
    expect(told.filter((line) => line.includes("cannot be followed"))).to.deep.equal([]);
  });

  it("has replaced a malformed block of a burst from the source once it is settled", async () => {
    const source = sourceOf(chain.blocks.slice(0, 20));
    await followFrom(20, source);
    const end = withTransactions + 2;
    source.blocks = chain.blocks.slice(0, end);
    const broken = { ...at(withTransactions), transactions: at(withTransactions).transactions!.map((one) => ({ ...one, fee: "none" })) };
    for (let height = 21; height <= end; height++) events.emit("block.applied", height === withTransactions ? broken : at(height));
    await follower.settled();
    expect(tip()).to.equal(at(end).id);
  });

  it("keeps the valid blocks of a burst, and goes on after invalid payloads", async () => {
    await followFrom(20);
    const broken = { ...at(30), totalFee: "none" };
    for (const payload of [undefined, at(21), ...chain.blocks.slice(21, 29), broken, at(30), null, at(31)]) events.emit("block.applied", payload);
    await follower.settled();
    expect(told.some((line) => line.includes("block 30: totalFee"))).to.equal(true);
    expect(tip()).to.equal(at(31).id);
  });

  it("warns once of each kind of payload that is no block, and names what came in its place", async () => {
    await followFrom(20, sourceOf(chain.blocks.slice(0, 20)));
    const shapes = { nothing: undefined, "an object without members": {}, "a string": "block", "an object with the members block, at": { block: at(21), at: 1 } };
    for (const event of ["block.applied", "block.reverted"]) {
      warned.length = 0;
      for (const payload of [...Object.values(shapes), ...Object.values(shapes)]) await emit(event, payload);
      expect(warned).to.have.length(4);
      Object.keys(shapes).forEach((shape, place) => expect(warned[place]).to.match(new RegExp(`^${event} was emitted with ${shape} instead of a block`)));
    }
  });

  it("warns once that blocks come from the source alone, by the third of them, and names the events that it listens for", async () => {
    const source = sourceOf(chain.blocks.slice(0, 20));
    await followFrom(20, source);
    await follower.settled();
    const grow = async (height: number): Promise<void> => {
      source.blocks = chain.blocks.slice(0, height);
      events.emit("blockApplied", at(height));
      // A block that is new in the source is left to the host's event until the next look.
      for (const _ of [1, 2]) {
        follower.look();
        await follower.settled();
      }
      expect(tip()).to.equal(at(height).id);
    };
    await grow(21);
    await grow(22);
    source.blocks = chain.blocks.slice(0, 23);
    await emit("block.applied", at(23));
    await grow(24);
    await grow(25);
    expect(warned).to.deep.equal([]);
    await grow(26);
    await grow(27);
    expect(warned).to.have.length(1);
    expect(warned[0]).to.include("`block.applied`").and.include("`block.reverted`");
  });

  it("ends where the host does, whatever mix of blocks and reverts is emitted in a burst", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.record({ what: fc.constantFrom("on", "on", "on", "fork", "back"), settled: fc.boolean() }), { maxLength: 60 }), async (steps) => {
        await followFrom(20);
        const host = chain.blocks.slice(0, 20);
        for (const { what, settled } of steps) {
          const height = host.length;
          if (height > 20 && (what === "back" || host[height - 1]!.id !== at(height).id)) events.emit("block.reverted", host.pop());
          else {
            host.push(what === "fork" ? forkedAt(height + 1, `f0${height}`) : at(height + 1));
            events.emit("block.applied", host[height]);
          }
          if (settled) await follower.settled();
        }
        await follower.settled();
        expect(tip()).to.equal(host.at(-1)!.id);
        const contents = contentsOf(store);
        await follower.stop();
        await followFrom(20);
        for (const block of host.slice(20)) await emit("block.applied", block);
        expect(contents).to.deep.equal(contentsOf(store));
        await follower.stop();
        await closeTemporaryStores();
      }),
      { numRuns: count(3, 200) },
    );
  });

  it("waits for a block that the host emits before its database has it", async () => {
    const source = sourceOf(chain.blocks.slice(0, withTransactions - 1));
    await followFrom(withTransactions - 1, source);
    await emit("block.applied", headerOf(at(withTransactions)));
    expect(store.tip()?.height).to.equal(withTransactions - 1);
    source.blocks = chain.blocks.slice(0, withTransactions);
    await emit("block.applied", headerOf(at(withTransactions)));
    expect(tip()).to.equal(at(withTransactions).id);
    expect(follower.problem()).to.equal(undefined);
  });

  it("keeps the time at which a block was applied although only a later try could read it, and no time of blocks that it missed", async () => {
    const source = sourceOf(chain.blocks.slice(0, withTransactions - 2));
    await followFrom(withTransactions - 2, source);
    await emit("block.applied", headerOf(at(withTransactions)));
    const began = Date.now();
    source.blocks = chain.blocks.slice(0, withTransactions);
    await eventually(() => (tip() === at(withTransactions).id ? true : undefined));
    await follower.settled();
    const timeOf = (height: number): number | undefined => withApplied(createReadSession(store.environment), { block: at(height), transactions: [] } as never).appliedAt;
    expect(timeOf(withTransactions)).to.be.within(began, Date.now());
    expect(timeOf(withTransactions - 1)).to.equal(undefined);
  });

  it("tries again although the host repeats, or takes back, what the store has or never had", async () => {
    const source = sourceOf(chain.blocks.slice(0, 30));
    await followFrom(30, source, true, {}, { first: 5, last: 3_000, patience: 50 });
    let isDown = true;
    const read = source.read.bind(source);
    source.read = (from, limit) => {
      if (isDown) throw new Error("database down");
      return read(from, limit);
    };
    source.blocks = chain.blocks.slice(0, 60);
    await emit("block.applied", headerOf(at(withTransactions > 30 ? withTransactions : 60)));
    await eventually(() => follower.problem());
    await emit("block.applied", at(30));
    await emit("block.reverted", forkedAt(33, "33000000000000000033", at(32).id));
    expect(follower.problem()).to.not.equal(undefined);
    isDown = false;
    await eventually(() => (store.tip()?.height === 60 ? true : undefined));
    // The state is shown a moment before the work that led to it is over.
    await follower.settled();
    expect(follower.problem()).to.equal(undefined);
  });

  it("soon has the blocks of a burst that the host emits before its database has them", async () => {
    const source = sourceOf(chain.blocks.slice(0, 30));
    await followFrom(30, source);
    const end = 60;
    for (let height = 31; height <= end; height++) {
      events.emit("block.applied", { ...headerOf(at(height)), numberOfTransactions: 1 });
      // In turns of their own, as blocks that are applied one after another.
      await follower.settled();
    }
    source.blocks = chain.blocks.slice(0, end);
    await eventually(() => (store.tip()?.height === end ? true : undefined));
    expect(told.filter((line) => line.startsWith("the chain cannot be followed"))).to.have.length.below(5);
  });

  it("never throws into the host's emitter, whatever is emitted", async () => {
    await follow();
    const trap = {
      get height(): number {
        throw new Error("a trap");
      },
    };
    const odd = [undefined, null, 7, "block", {}, { height: -1 }, { ...at(2), generatorPublicKey: 5 }, { ...at(2), height: 1e9 }, { ...at(2), height: 2n }, trap];
    for (const payload of [...odd, ...odd]) expect(() => events.emit("block.applied", payload)).to.not.throw();
    for (const payload of odd) {
      expect(() => events.emit("block.applied", payload)).to.not.throw();
      expect(() => events.emit("block.reverted", payload)).to.not.throw();
    }
    await follower.settled();
    expect(tip()).to.equal(at(1).id);
    await emit("block.applied", at(2));
    expect(tip()).to.equal(at(2).id);
  });

  it("keeps every valid block before one that does not chain, and names that one", async () => {
    const broken = chain.blocks.map((block) => (block.height === 50 ? { ...block, previousBlock: "1" } : block));
    await followFrom(40, sourceOf(broken), false);
    const error = await follower.start().catch((reason: unknown) => reason);
    expect(String(error)).to.match(/block 50 \(\d+\) does not follow the tip at height 49/);
    expect(store.tip()?.height).to.equal(49);
    expect(store.isComplete()).to.equal(false);
  });

  it("keeps every valid block before one that cannot be parsed", async () => {
    const broken = chain.blocks.map((block) => (block.height === 50 ? { ...block, generatorPublicKey: "no key" } : block));
    await followFrom(40, sourceOf(broken), false);
    const error = await follower.start().catch((reason: unknown) => reason);
    expect(String(error)).to.match(/block 50: generatorPublicKey is not a public key/);
    expect(store.tip()?.height).to.equal(49);
  });

  it("refuses what a source returns instead of blocks, and keeps every valid block before it", async () => {
    const wrapped = chain.blocks.map((data) => ({ data, transactions: data.transactions }));
    const answers: [unknown, RegExp, number][] = [
      [undefined, /^`blocks\.read` must return a list of blocks/, 1],
      [{ blocks: chain.blocks }, /^`blocks\.read` must return a list of blocks/, 1],
      [wrapped, /^`blocks\.read` returned a block without a height/, 1],
      [chain.blocks.map((block) => ({ ...block, height: String(block.height) })), /^`blocks\.read` returned a block whose height is "1", which is not a number: /, 1],
      [[...chain.blocks.slice(0, 3), undefined], /^`blocks\.read` returned a block without a height/, 3],
    ];
    for (const [answer, message, height] of answers) {
      await follow({ read: (from) => (Array.isArray(answer) ? answer.slice(from - 1) : answer) as BlockData[] }, false);
      const failure: unknown = await follower.start().catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(PorticoError).with.property("code", "BLOCK_INVALID");
      expect((failure as Error).message).to.match(message);
      expect(store.tip()?.height).to.equal(height);
      await follower.stop();
    }
  });

  it("reports a block that it cannot get for as long as it cannot, and no longer", async () => {
    const source = sourceOf(chain.blocks.slice(0, 30));
    await followFrom(30, source, true, {}, { first: retryPace.first / 10, last: retryPace.last / 10, patience: retryPace.patience / 10 });
    const toldOf = (text: string): string[] => told.filter((line) => line.includes(text));
    const troubled = new Promise<void>((resolve) => (onError = resolve));
    await emit("block.applied", headerOf({ ...at(33), numberOfTransactions: 1 }));
    // The follower makes the later attempts itself, each after a longer wait.
    await troubled;
    expect(follower.problem()).to.match(/the block source does not have block 33/);
    expect(toldOf("does not have block 33").length).to.be.within(5, 8);
    source.blocks = chain.blocks.slice(0, 33);
    await emit("block.applied", headerOf(at(33)));
    expect(tip()).to.equal(at(33).id);
    expect(follower.problem()).to.equal(undefined);
  });

  it("reports a block that is not well formed at once, by its member", async () => {
    const source = sourceOf(chain.blocks.slice(0, 30));
    await followFrom(30, source);
    const wrong = { ...at(31), version: 2 ** 32 };
    source.blocks = [...chain.blocks.slice(0, 30), wrong];
    await emit("block.applied", wrong);
    expect(follower.problem()).to.match(/^block 31: version is 4294967296, not a whole number/);
    source.blocks = chain.blocks.slice(0, 31);
    await emit("block.applied", at(31));
    expect([tip(), follower.problem()]).to.deep.equal([at(31).id, undefined]);
  });

  it("does not wait for a block that the host has reverted", async () => {
    await followFrom(30, sourceOf(chain.blocks.slice(0, 30)));
    const fork = headerOf({ ...at(31), id: "31000000000000000031", numberOfTransactions: 1 });
    await emit("block.applied", fork);
    const failures = (): number => told.filter((line) => line.includes("cannot be followed")).length;
    expect(failures()).to.equal(1);
    await emit("block.reverted", fork);
    await emit("block.applied", at(30));
    expect(failures()).to.equal(1);
  });

  it("stops while a read of the source is pending, at start and later", async () => {
    const silent: BlockSource = { read: () => new Promise(() => undefined) };
    await follow(silent, false);
    const starting = follower.start();
    await follower.stop();
    await starting;
    expect(store.isComplete()).to.equal(false);

    const source = sourceOf(chain.blocks.slice(0, 30));
    await followFrom(30, source);
    source.read = () => new Promise(() => undefined) as never;
    events.emit("block.applied", forkedAt(28, "28000000000000000028"));
    await new Promise((resolve) => setImmediate(resolve));
    await follower.stop();
    expect(tip()).to.equal(at(30).id);
  });

  it("leaves the store alone when the source is behind it", async () => {
    const source = sourceOf(chain.blocks.slice(0, 30));
    await followFrom(30, source);
    source.blocks = [];
    await emit("block.applied", { ...at(200), numberOfTransactions: 0, transactions: [] });
    expect(tip()).to.equal(at(30).id);
  });

  it("reverts, at start, a tip that the host had not saved when it was killed", async () => {
    await followFrom(40, sourceOf(chain.blocks.slice(0, 40)));
    await restart(sourceOf(chain.blocks.slice(0, 39)));
    expect(tip()).to.equal(at(39).id);
    expect(told).to.include(`block 40 (${at(40).id}) is not in the host's chain: reverted`);
    await restart(sourceOf(chain.blocks.slice(0, 41)));
    expect(tip()).to.equal(at(41).id);
  });

  it("keeps a tip that the source gets while it is compared with it", async () => {
    const source = sourceOf(chain.blocks.slice(0, 40));
    await followFrom(40, source);
    await emit("block.applied", at(41));
    await emit("block.applied", at(42));
    // Now the source has a fork's branch below the tip, or so it seems: it ends there, and has the rest when it is read again.
    let late = 2;
    const { read } = source;
    source.read = (from, limit) => {
      if (--late === 0) source.blocks = chain.blocks.slice(0, 43);
      return read.call(source, from, limit);
    };
    await emit("block.applied", headerOf(at(44)));
    expect(told.filter((line) => line.includes("reverted"))).to.deep.equal([]);
    expect(store.tip()?.height).to.be.within(42, 43);
  });

  it("keeps its chain when the source ends further below", async () => {
    await followFrom(40, sourceOf(chain.blocks.slice(0, 40)));
    await restart(sourceOf(chain.blocks.slice(0, 20)));
    expect(tip()).to.equal(at(40).id);
  });

  it("keeps its chain when the source is empty, as while the host reads its chain anew", async () => {
    await followFrom(40, sourceOf(chain.blocks.slice(0, 40)));
    await restart(sourceOf([]));
    expect(tip()).to.equal(at(40).id);
  });

  it("removes its listeners from the emitter when it stops", async () => {
    await follow();
    expect(events.listenerCount("block.applied")).to.equal(1);
    await follower.stop();
    expect(events.eventNames()).to.deep.equal([]);
  });
});
