import type { Block } from "../../../types/chain.js";
import type { BlockChanges } from "../../chain/blocks/apply.js";
import { delegatePart, lockPart, walletPart } from "../../chain/digest.js";
import { PorticoError } from "../../errors.js";
import { appendToList } from "../records/posting-list.js";
import { type DelegateRecord, delegateCodec, lockCodec, type WalletRecord, walletCodec } from "../layout/codec.js";
import { idKey, lists, textKey } from "../layout/keys.js";
import { indexLock } from "./lock-index.js";
import { readDelegate } from "../records/records.js";
import type { Sliced } from "../../async/time-slicing.js";
import { indexWallet } from "./wallet-index.js";
import type { Writing } from "./writing.js";

/** What a block changes in accounts: delegates, wallets and locks. */

const newDelegate = ({ address, publicKey }: { address: string; publicKey: string }): DelegateRecord => ({
  address,
  publicKey,
  voteBalance: 0n,
  producedBlocks: 0,
  missedBlocks: 0,
  forgedFees: 0n,
  forgedRewards: 0n,
  lastBlock: null,
});

/** Writes the delegates that registered, whose votes changed, or who forged the block. */
export const writeDelegates = function* (
  block: Block,
  changes: BlockChanges,
  wallets: Map<string, WalletRecord>,
  { journal, reading, standings, digest, history }: Writing,
): Sliced<void> {
  const delegates = new Map<string, DelegateRecord>();
  const read = (publicKey: string): DelegateRecord | undefined => {
    const found = readDelegate(reading, publicKey);
    const number = found === undefined || history === undefined ? undefined : standings.numberOf(publicKey, wallets);
    if (found !== undefined && number !== undefined) history?.delegate(number, found);
    return found;
  };
  const delegate = (publicKey: string): DelegateRecord | undefined => {
    const known = delegates.get(publicKey);
    if (known !== undefined) return known;
    const found = read(publicKey);
    if (found === undefined) return undefined;
    digest.takeOff(delegatePart(found));
    delegates.set(publicKey, found);
    return found;
  };
  for (const [address, { before, after }] of changes.wallets) {
    if (after.username === null || (before !== undefined && before.username !== null) || after.publicKey === null) continue;
    delegates.set(after.publicKey, newDelegate({ address, publicKey: after.publicKey }));
  }
  for (const [publicKey, by] of changes.votes) {
    const found = delegate(publicKey);
    if (found === undefined) {
      throw new PorticoError("BLOCK_INVALID", `block ${block.height} (${block.id}) contains a vote for ${publicKey}, which is not a delegate`);
    }
    found.voteBalance += by;
    yield;
  }
  const generator = delegate(block.generatorPublicKey);
  if (generator !== undefined) {
    generator.producedBlocks++;
    generator.forgedFees += block.totalFee;
    generator.forgedRewards += block.reward;
    generator.lastBlock = { id: block.id, height: block.height, timestamp: block.timestamp };
    const wallet = wallets.get(generator.address);
    if (wallet !== undefined) appendToList(journal, lists.forged, wallet.number, generator.producedBlocks - 1, block.height);
  }
  for (const record of delegates.values()) {
    journal.put("delegates", idKey(record.publicKey), delegateCodec.pack(record));
    digest.add(delegatePart(record));
    standings.delegateWritten(record);
    yield;
  }
};

export const writeWallets = function* (
  changes: BlockChanges,
  wallets: Map<string, WalletRecord>,
  { journal, rankedSets, standings, digest, history }: Writing,
): Sliced<void> {
  const delegateNumber = (publicKey: string): number | undefined => standings.numberOf(publicKey, wallets);
  for (const [address, { before }] of changes.wallets) {
    const after = wallets.get(address);
    if (after === undefined) continue;
    indexWallet(journal, rankedSets, before as WalletRecord | undefined, after, delegateNumber);
    history?.wallet(before as WalletRecord | undefined, after, delegateNumber);
    journal.put("wallets", textKey(address), walletCodec.pack(after));
    if (before !== undefined) digest.takeOff(walletPart(before));
    digest.add(walletPart(after));
    standings.walletWritten(after);
    yield;
  }
};

export const writeLocks = function* ({ locks }: BlockChanges, { journal, rankedSets, digest }: Writing): Sliced<void> {
  for (const [id, { before, after }] of locks) {
    if (before !== undefined) digest.takeOff(lockPart(before));
    if (after !== undefined) digest.add(lockPart(after));
    if (before !== after) indexLock(rankedSets, before, after);
    if (after !== undefined) journal.put("locks", idKey(id), lockCodec.pack(after));
    else if (before !== undefined) journal.remove("locks", idKey(id));
    yield;
  }
};
