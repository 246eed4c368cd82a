import { statSync } from "node:fs";
import { EventEmitter } from "eventemitter3";
import { expect } from "chai";
import type { ChainRules } from "../../src/chain/rules.js";
import { systemClock } from "../../src/async/clock.js";
import { createProblems } from "../../src/operate/problems.js";
import { createFollower, type Follower } from "../../src/store/sync/follower.js";
import { retryPace } from "../../src/store/sync/turns.js";
import type { StoreChangesView, Store } from "../../src/store/state/store.js";
import type { BlockData, BlockSource } from "../../types/events.js";
import { eventually } from "../webhooks/stage.js";
import { at, branch, chain } from "./branches.js";
import { closeStores, closeTemporaryStores, contentsOf, openStoreAt, openTemporaryStore, temporaryFolder } from "./temporary-store.js";

/** The host goes back from height 40 to 28, and on to 31 on another branch: further than `undoBlocks`. Both branches have transactions. */
const [end, fork, undoBlocks] = [40, 28, 5];
const before = chain.blocks.slice(0, end);
const after = [...chain.blocks.slice(0, fork), ...branch(fork, fork + 3)];
const newTip = after.at(-1)!;
/** The most blocks that the source gives at once, so that a rebuild asks it for the heights 1, 10, 19, 28 and 31. */
const most = 10;

/** A block source whose chain can be replaced, and which can be made to fail. */
const sourceOf = (blocks: BlockData[]): BlockSource & { blocks: BlockData[]; failure: string | undefined; onRead: (from: number) => void } => ({
  blocks,
  failure: undefined,
  onRead: () => undefined,
  read(from, limit) {
    this.onRead(from);
    if (this.failure !== undefined) throw new Error(this.failure);
    return this.blocks.filter(({ height }) => height >= from).slice(0, Math.min(limit, most));
  },
});

describe("a store whose host goes back further than undo records reach", () => {

  let dataDir: string;
  let store: Store;
  let rules: ChainRules;
  let events: EventEmitter;
  let follower: Follower;
  let lines: string[];
  const note = (line: string): void => void lines.push(line);
  const logger = { debug: () => undefined, info: note, warn: note, error: note };

  /** Tries and problems as with the library's own pace, forty times as fast. */
  const pace = { first: retryPace.first / 40, last: retryPace.last / 40, patience: retryPace.patience / 40 };
  const create = (source: BlockSource | undefined): Follower =>
    createFollower({ store, rules, events, source, logger, clock: systemClock, onProgress: undefined, lookInterval: 5, retryPace: pace, problems: createProblems(logger) });

  const begin = async (source: BlockSource | undefined): Promise<void> => {
    events = new EventEmitter();
    follower = create(source);
    await follower.start();
    await follower.settled();
  };
  /** Begins with a store of the old branch. */
  const start = async (source: BlockSource): Promise<void> => {
    ({ store, rules } = await openStoreAt("core3-testnet-a", end, { dataDir, undoBlocks }));
    await begin(source);
  };
  /** Begins with the store as it was left. */
  const again = async (source: BlockSource | undefined): Promise<void> => {
    ({ store, rules } = openTemporaryStore(chain.network, { dataDir, undoBlocks }));
    await begin(source);
  };
  const stop = async (): Promise<void> => {
    await follower.stop();
    await closeStores();
  };
  const restart = async (source: BlockSource | undefined): Promise<void> => {
    await stop();
    await again(source);
  };
  const tip = (): string | undefined => store.completeTip()?.id;
  const untilTip = (id: string): Promise<true> => eventually(() => (tip() === id ? true : undefined));
  const rebuildLines = (): string[] => lines.filter((line) => line.includes("rebuil"));
  const revertFrom = (height: number): void => before.slice(fork, height).reverse().forEach((block) => void events.emit("block.reverted", block));

  /** What a store has that was only ever given the new branch. Computed once. */
  let ofNew: unknown;
  let sizeOfNew = 0;
  const contentsOfNew = async (): Promise<unknown> => (ofNew ??= await computeContentsOfNew());
  const computeContentsOfNew = async (): Promise<unknown> => {
    const fresh = openTemporaryStore(chain.network, { undoBlocks });
    await fresh.store.apply(after.map((block) => rules.parseBlock(block)));
    fresh.store.markComplete();
    sizeOfNew = statSync(fresh.store.environment.path).size;
    return contentsOf(fresh.store);
  };
  const requireRebuilt = async (): Promise<void> => {
    expect(tip()).to.equal(newTip.id);
    expect(follower.problem()).to.equal(undefined);
    expect(follower.rebuilding()).to.equal(undefined);
    expect(contentsOf(store)).to.deep.equal(await contentsOfNew());
  };
  const reverted = (from: number): string[] => before.slice(fork, from).reverse().map(({ height, id }) => `reverted ${height} ${id}`);
  const applied = (blocks = after.slice(fork)): string[] => blocks.map(({ height, id }) => `applied ${height} ${id}`);
  /** What a reader that saw the old tip finds: the reversals down to the chain, then the chain's blocks above. */
  const changes = (): string[] => {
    const view = store.changesView() as StoreChangesView;
    const found: string[] = [];
    let { height, id } = at(end);
    while (view.idAt(height) !== id) {
      const orphan = view.orphan(id);
      if (orphan === undefined) throw new Error(`block ${height} is not kept`);
      found.push(`reverted ${height} ${id}`);
      [height, id] = [height - 1, String(orphan.block.previousBlock)];
    }
    while (height < view.tip.height) {
      for (const { block } of view.blocks(height + 1, end)) found.push(`applied ${(height = block.height)} ${block.id}`);
    }
    view.release();
    return found;
  };

  beforeEach(() => {
    [dataDir, lines] = [temporaryFolder(), []];
  });
  afterEach(async () => {
    await follower.stop();
    await closeTemporaryStores();
  });

  it("is rebuilt from the source when the host reverts the blocks and applies others; a reader that saw the old tip finds each change", async () => {
    const source = sourceOf(before);
    await start(source);
    source.blocks = after;
    revertFrom(end);
    events.emit("block.applied", at(fork));
    for (const block of after.slice(fork)) events.emit("block.applied", block);
    await untilTip(newTip.id);
    await follower.settled();
    await requireRebuilt();
    expect(changes()).to.deep.equal([...reverted(end), ...applied()]);
    expect(rebuildLines()).to.have.length(2);
    expect(rebuildLines()[0]).to.match(/^the host's chain forks from the store's after block 28, further back than can be reverted \(`undoBlocks`\); the store is rebuilt/);
    expect(rebuildLines()[1]).to.equal("the store is rebuilt, up to block 31");
  });

  it("is rebuilt from the source when the host's database was rolled back without an event", async () => {
    const source = sourceOf(before);
    await start(source);
    const { size } = statSync(store.environment.path);
    source.blocks = after;
    await untilTip(newTip.id);
    await follower.settled();
    await requireRebuilt();
    // In place: the room of the old chain is used again.
    expect(statSync(store.environment.path).size - size).to.be.below(sizeOfNew / 2);
    expect(changes()).to.deep.equal([...reverted(end), ...applied()]);
  });

  it("is rebuilt from the source after a restart, and not served before", async () => {
    await start(sourceOf(before));
    await stop();
    ({ store, rules } = openTemporaryStore(chain.network, { dataDir, undoBlocks }));
    expect(store.isComplete()).to.equal(true);
    const source = sourceOf(after);
    follower = create(source);
    await follower.start();
    expect(store.isComplete()).to.equal(false);
    await follower.settled();
    await requireRebuilt();
    expect(changes()).to.deep.equal([...reverted(end), ...applied()]);
  });

  it("is rebuilt up to where the host has gone back to, if no other block has come yet", async () => {
    const source = sourceOf(before);
    await start(source);
    source.blocks = before.slice(0, fork);
    revertFrom(end);
    await untilTip(at(fork).id);
    await follower.settled();
    expect(changes()).to.deep.equal(reverted(end));
    expect(follower.problem()).to.equal(undefined);
  });

  it("is complete when the host has gone back to genesis, and goes on from there", async () => {
    const source = sourceOf(before);
    await start(source);
    source.blocks = before.slice(0, 1);
    events.emit("block.reverted", at(2));
    await untilTip(at(1).id);
    source.blocks = after;
    events.emit("block.applied", newTip);
    await untilTip(newTip.id);
    await follower.settled();
    await requireRebuilt();
  });

  it("is rebuilt once the source has the blocks that the host has applied, and is failing until then", async () => {
    const source = sourceOf(before);
    await start(source);
    events.emit("block.applied", after[fork]);
    expect(await eventually(() => follower.problem())).to.match(/the host has applied block 29 \(90000002800029\), but the store has another block at that height \(\d+\)$/);
    source.blocks = after;
    await untilTip(newTip.id);
    await follower.settled();
    await requireRebuilt();
  });

  it("is failing without a source, after a restart too, and says what to do; a source mends it", async () => {
    const source = sourceOf(before);
    await start(source);
    await restart(undefined);
    revertFrom(end);
    const remedy = /^the host has gone back to height \d+, further than the store can be reverted \(`undoBlocks`\): there is no block source .* give `createApiPlugin` the option `blocks`/;
    expect(await eventually(() => follower.problem())).to.match(remedy);
    expect(store.tip()?.height).to.equal(end - undoBlocks);
    await restart(undefined);
    expect(await eventually(() => follower.problem())).to.match(remedy);
    events.emit("block.applied", after[fork]);
    await follower.settled();
    expect(follower.problem()).to.match(remedy);
    await restart(sourceOf(after));
    await untilTip(newTip.id);
    await requireRebuilt();
    expect(changes()).to.deep.equal([...reverted(end), ...applied()]);
  });

  it("is no longer failing without a source when the host is back on the store's chain", async () => {
    await start(sourceOf(before));
    await restart(undefined);
    for (let height = end; height >= end - undoBlocks; height--) events.emit("block.reverted", at(height));
    await eventually(() => follower.problem());
    events.emit("block.applied", at(end - undoBlocks + 1));
    await follower.settled();
    expect(follower.problem()).to.equal(undefined);
    await restart(undefined);
    expect([tip(), follower.problem()]).to.deep.equal([at(end - undoBlocks + 1).id, undefined]);
  });

  it("keeps its chain, and is failing, while the source has lost blocks and has no others", async () => {
    const source = sourceOf(before);
    await start(source);
    source.blocks = before.slice(0, fork);
    expect(await eventually(() => follower.problem())).to.match(/^the block source ends at height 28, but earlier it had the store's blocks up to height/);
    expect(tip()).to.equal(at(end).id);
    source.blocks = before;
    await eventually(() => (follower.problem() === undefined ? true : undefined));
    source.blocks = after;
    await untilTip(newTip.id);
    await follower.settled();
    await requireRebuilt();
  });

  it("keeps its chain, and is failing, if the source does not begin with genesis", async () => {
    const source = sourceOf(before);
    await start(source);
    source.blocks = after.slice(15);
    expect(await eventually(() => follower.problem())).to.match(/the block source lacks the blocks from genesis on that a rebuild needs: let `blocks` read the whole chain$/);
    expect(tip()).to.equal(at(end).id);
  });

  it("answers nothing while the source fails within the rebuild, and goes on when it answers again", async () => {
    const source = sourceOf(before);
    await start(source);
    source.blocks = after;
    source.onRead = (from) => (source.failure = from === 19 && !store.isComplete() ? "database down" : source.failure);
    expect(await eventually(() => follower.problem())).to.equal("database down");
    expect([store.isComplete(), store.completeTip()]).to.deep.equal([false, undefined]);
    expect(follower.rebuilding()).to.match(/left it after block 28, further back than it can be reverted: height \d+$/);
    [source.failure, source.onRead] = [undefined, () => undefined];
    await untilTip(newTip.id);
    await follower.settled();
    await requireRebuilt();
    expect(changes()).to.deep.equal([...reverted(end), ...applied()]);
  });

  it("is complete where the source ends, if that has become shorter since the rebuild began, and goes on when it grows", async () => {
    const source = sourceOf(before);
    await start(source);
    source.blocks = after;
    source.onRead = (from) => (source.blocks = from === 19 && !store.isComplete() ? after.slice(0, 22) : source.blocks);
    await untilTip(after[21]?.id ?? "");
    await follower.settled();
    expect([store.isComplete(), follower.problem(), follower.rebuilding()]).to.deep.equal([true, undefined, undefined]);
    [source.blocks, source.onRead] = [after, () => undefined];
    await untilTip(newTip.id);
    await follower.settled();
    await requireRebuilt();
  });

  for (const height of [1, 19, 31]) {
    it(`goes on with the rebuild after a restart when it was asking for height ${height}`, async () => {
      const source = sourceOf(before);
      await start(source);
      source.blocks = after;
      const stopping = new Promise<void>((resolve, reject) => {
        source.onRead = (from) => {
          if (from !== height || store.isComplete()) return;
          source.onRead = () => undefined;
          stop().then(resolve, reject);
        };
      });
      await stopping;
      await again(sourceOf(after));
      await follower.settled();
      await requireRebuilt();
      expect(changes()).to.deep.equal([...reverted(end), ...applied()]);
    });
  }

  it("loses no reversal where the rebuild could not be begun at first", async () => {
    const source = sourceOf(before);
    await start(source);
    const { environment } = store;
    const { commit } = environment;
    const refuse = (): Promise<void> => {
      Object.assign(environment, { commit });
      expect([store.isComplete(), store.rebuilding(), store.completeTip()?.height]).to.deep.equal([true, undefined, end]);
      return Promise.reject(new Error("no room"));
    };
    Object.assign(environment, { commit: refuse });
    source.blocks = after;
    await untilTip(newTip.id);
    await follower.settled();
    await requireRebuilt();
    expect(changes()).to.deep.equal([...reverted(end), ...applied()]);
  });

  for (const steps of [0, 2, 9]) {
    it(`goes on with the removal of the old chain where it was interrupted: after ${steps} steps`, async () => {
      await start(sourceOf(before));
      await follower.stop();
      let calls = 0;
      await store.startOver(fork, { isStopped: () => calls++ >= steps });
      expect(store.rebuilding()).to.include({ fork, emptied: false, height: 0 });
      expect([store.tip(), store.isComplete(), store.snapshot()]).to.deep.equal([undefined, false, undefined]);
      await closeStores();
      await again(sourceOf(after));
      await follower.settled();
      await requireRebuilt();
      expect(changes()).to.deep.equal([...reverted(end), ...applied()]);
    });
  }

  it("is rebuilt again when the host goes back further still within the rebuild", async () => {
    const source = sourceOf(before);
    await start(source);
    source.blocks = after;
    const further = [...chain.blocks.slice(0, 15), ...branch(15, 22)];
    let isDone = false;
    source.onRead = (from) => {
      if (from !== newTip.height || store.isComplete() || isDone) return;
      [isDone, source.blocks] = [true, further];
    };
    await untilTip(further.at(-1)!.id);
    await follower.settled();
    const left = [...before.slice(15)].reverse().map(({ height, id }) => `reverted ${height} ${id}`);
    expect(changes()).to.deep.equal([...left, ...applied(further.slice(15))]);
  });
});

