import { expect } from "chai";
import type { MaybePromise } from "../../types/chain-adapter.js";
import type { WalletChangesQuery } from "../../types/chain-queries.js";
import { atOnce, type Sliced } from "../../src/async/time-slicing.js";
import { walletChanges } from "../../src/store/history/wallet-changes.js";
import { createReadSession } from "../../src/store/lmdb/read-session.js";
import { readState } from "../../src/store/records/records.js";
import { loadChain } from "../data/read.js";
import { closeTemporaryStores, openStoreAt } from "./temporary-store.js";

const name = "core3-custom-c";

describe("The changes of a wallet that has had very many", () => {
  afterEach(closeTemporaryStores);

  it("are counted and found in slices, and are the same", async () => {
    const { store } = await openStoreAt(name, 520);
    const reading = createReadSession(store.environment);
    const state = readState(reading)!;
    let [slices, searches] = [0, 0];
    const search = {
      run: <T>(work: Sliced<T>): MaybePromise<T> => {
        searches++;
        for (;;) {
          const result = work.next();
          if (result.done === true) return Promise.resolve(result.value);
          slices++;
        }
      },
    };
    const atOnceOnly = { run: atOnce };
    let most = 0;
    for (const { address } of loadChain(name).wallets.filter((_wallet, place) => place % 8 === 0)) {
      const whole = await walletChanges({ address, heights: {}, direction: "asc", offset: 0, limit: 1_000 }, { reading, state, oldest: 1, search: atOnceOnly });
      most = Math.max(most, whole.total);
      for (const heights of [{}, { from: 5, to: 400 }]) {
        for (const direction of ["asc", "desc"] as const) {
          for (const offset of new Set([0, 1, whole.total >> 1, Math.max(0, whole.total - 2), whole.total])) {
            const query: WalletChangesQuery = { address, heights, direction, offset, limit: 4 };
            const expected = await walletChanges(query, { reading, state, oldest: 1, search: atOnceOnly });
            expect(await walletChanges(query, { reading, state, oldest: 1, search, stride: 2 }), JSON.stringify(query)).to.deep.equal(expected);
          }
        }
      }
    }
    expect(most).to.be.above(30);
    expect(slices).to.be.above(searches);
  });
});
