import type { Sliced } from "../../async/time-slicing.js";
import type { WalletRecord } from "../layout/codec.js";
import { historyBounds, historyKinds, unpackVoter } from "../layout/history-rows.js";
import { numberAtEnd, numberKey, sets } from "../layout/keys.js";
import type { Reading } from "../lmdb/reading.js";
import { existing } from "../records/records.js";
import { rankedSequence, partsOf, stepNumbers } from "../records/sequence.js";
import { numberOfDelegate } from "../write/history.js";
import { type Past, walletAt } from "./past-records.js";

/** Whether each wallet voted for a delegate at a height, of those that began or ended to vote for it later; by address. */
function* changedSince(delegate: number, height: number, reading: Reading): Sliced<Map<string, boolean>> {
  const seen = new Set<number>();
  const changed = new Map<string, boolean>();
  for (const { key, value } of reading.range("history", historyBounds(historyKinds.voters, delegate, height + 1))) {
    const wallet = numberAtEnd(key);
    // Of several changes, the first says how it was before all of them.
    if (seen.has(wallet)) continue;
    seen.add(wallet);
    const { was, address } = unpackVoter(value as Buffer);
    changed.set(address, was);
    if (seen.size % stepNumbers === 0) yield;
  }
  return changed;
}

/** The wallets that voted for a delegate at an earlier height, in no order. */
export function* votersAt(publicKey: string, past: Past): Sliced<WalletRecord[]> {
  const { reading, height } = past;
  const number = numberOfDelegate(publicKey, reading);
  if (number === undefined) return [];
  const changed = yield* changedSince(number, height, reading);
  const addresses = [...changed].filter(([, was]) => was).map(([address]) => address);
  const now = rankedSequence(reading, sets.votersByBalance, numberKey(number), numberKey(number + 1));
  for (const part of partsOf(now, stepNumbers)) {
    for (const { value } of part) {
      const address = value.toString("utf8");
      if (!changed.has(address)) addresses.push(address);
    }
    yield;
  }
  const voters: WalletRecord[] = [];
  for (const address of addresses) {
    voters.push(existing(walletAt(address, past), `wallet ${address} at height ${height}`));
    if (voters.length % 100 === 0) yield;
  }
  return voters;
}
