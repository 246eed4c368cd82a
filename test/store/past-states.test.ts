import { expect } from "chai";
import type { ChainSnapshot } from "../../types/chain-adapter.js";
import type { WalletChangesQuery } from "../../types/chain-queries.js";
import { rowOf, rowsOf } from "../../src/conformance/comparing.js";
import { loadChain } from "../data/read.js";
import { createMemoryAdapter } from "../memory-adapter/adapter.js";
import { compareAtHeights, createPicks, type OpenAt, samplesOf } from "./history-oracle.js";
import { closeTemporaryStores, openStoreAt } from "./temporary-store.js";

/** Few blocks, and all there is to ask about them: what `history.test.ts` asks at random of whole chains. */
describe("the states at the heights of a short chain", () => {
  const name = "core3-custom-c";
  const { network, blocks } = loadChain(name);
  const short = blocks.slice(0, 150);
  const heights = [1, 2, 51, 52, 75, 110, 148, 149, 150];
  let stored: OpenAt;
  let replayed: OpenAt;

  before(async () => {
    const { store } = await openStoreAt(name, short.length);
    const memory = createMemoryAdapter(network);
    for (const block of short) memory.apply(block);
    stored = (height) => store.snapshotAt(height) ?? expect.fail();
    replayed = (height) => (memory.snapshotAt?.(height) as ChainSnapshot | undefined) ?? expect.fail();
  });
  after(closeTemporaryStores);

  /** Asks the same of both. */
  const compare = async (height: number, question: (snapshot: ChainSnapshot) => Promise<unknown>): Promise<void> => {
    const snapshot = stored(height);
    const found = await question(snapshot);
    snapshot.release?.();
    expect({ height, found }).to.deep.equal({ height, found: await question(replayed(height)) });
  };

  it("have every wallet and every delegate, by each of its names", async () => {
    const { addresses, publicKeys, usernames } = await samplesOf(replayed(short.length));
    expect([addresses.length, publicKeys.length]).to.satisfy(([wallets = 0, delegates = 0]: number[]) => wallets > delegates && delegates > 50);
    for (const height of heights) {
      await compare(height, async (snapshot) => {
        const found: unknown[] = [];
        for (const name of [...addresses, ...publicKeys, ...usernames]) found.push(rowOf("wallet", await snapshot.wallet(name)), rowOf("delegate", await snapshot.delegate(name)));
        return found;
      });
    }
  });

  it("have every change of a wallet, from either end, in every range and page", async () => {
    const { addresses } = await samplesOf(replayed(short.length));
    const ranges: WalletChangesQuery["heights"][] = [{}, { from: 1 }, { from: 2 }, { to: 1 }, { from: 40, to: 140 }, { from: 0, to: 500 }, { from: 80, to: 40 }, { to: 0 }];
    const some = addresses.filter((_, place) => place % Math.ceil(addresses.length / 12) === 0);
    for (const address of [...some, "unknown"]) {
      for (const height of [1, 60, 150]) {
        await compare(height, async (snapshot) => {
          const found: unknown[] = [];
          for (const heights of ranges) {
            for (const direction of ["asc", "desc"] as const) {
              for (const [offset, limit] of [[0, 100], [0, 1], [1, 2], [2, 100], [500, 5], [0, 0]] as const) {
                found.push(await snapshot.walletChanges?.({ address, heights, direction, offset, limit }));
              }
            }
          }
          return found;
        });
      }
    }
  });

  it("have the lists, and the figures of the chain", async () => {
    await compareAtHeights(stored, replayed, { height: short.length, count: 30, pick: createPicks(7), kinds: ["voters", "delegates", "figures", "blocks", "transactions"] });
  });

  it("have the delegates that each filter leaves, and nobody who voted for what was no delegate", async () => {
    const { filters, addresses } = await samplesOf(replayed(short.length));
    const page = { offset: 0, limit: 100 };
    for (const height of heights) {
      await compare(height, async (snapshot) => {
        const found: unknown[] = [];
        for (const [name, values] of filters.delegates) {
          for (const value of values.slice(0, 12)) {
            const { rows, total } = await snapshot.delegates({ filter: { [name]: value }, order: { field: "rank", direction: "asc" }, ...page });
            found.push([name, value, total, rowsOf("delegate", rows)]);
          }
        }
        for (const vote of ["02".padEnd(66, "0"), addresses[0] ?? ""]) found.push(await snapshot.wallets({ filter: { vote }, order: { field: "balance", direction: "desc" }, ...page }));
        return found;
      });
    }
  });
});
