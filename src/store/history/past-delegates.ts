import type { Sliced } from "../../async/time-slicing.js";
import type { Delegate, Tip } from "../../../types/chain.js";
import { type DelegateList, delegateListOf } from "../query/lists/delegate-list.js";
import { delegateAt, type Past, walletAt } from "./past-records.js";

/** Every delegate at an earlier height; `now`: those at the tip, among whom they are; `tip`: the block at that height. */
export function* delegatesAt(now: DelegateList, past: Past, tip: Tip): Sliced<DelegateList> {
  const all: Delegate[] = [];
  const secondPublicKeys = new Map<string, string>();
  for (const { address } of now.all) {
    const wallet = walletAt(address, past);
    const delegate = wallet && delegateAt(wallet, past);
    if (delegate !== undefined && wallet !== undefined) {
      all.push({ ...delegate, balance: wallet.balance });
      if (wallet.secondPublicKey !== null) secondPublicKeys.set(address, wallet.secondPublicKey);
    }
    yield;
  }
  const ranks = new Map(all.flatMap(({ publicKey, rank }): [string, number][] => (rank === null ? [] : [[publicKey, rank]])));
  return yield* delegateListOf({ tip, all, secondPublicKeys, numbers: now.numbers, ranks });
}
