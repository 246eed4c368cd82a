import type { Lock, Tip } from "../../../types/chain.js";
import { atOnce, type Sliced, runSliced } from "../../async/time-slicing.js";
import { digestOf, type StateParts } from "../../chain/digest.js";
import { type Codec, type DelegateRecord, delegateCodec, lockCodec, type WalletRecord, walletCodec } from "../layout/codec.js";
import { type DatabaseName, numberKey, textKey } from "../layout/keys.js";
import type { Environment } from "../lmdb/environment.js";
import { type Lookup, type WriterReads, createReadSession, openTransaction } from "../lmdb/read-session.js";
import { existing, readRanking, readState } from "../records/records.js";
import type { WriteBatch } from "./batch/write-batch.js";

/** The digests of the store's states: of the tip, and of each block that it can go back to. Each names its block. */

type BlockName = Pick<Tip, "height" | "id">;

const digestLength = 32;

/** Undefined where none is kept. */
export const readDigest = (reading: Lookup, { height, id }: BlockName): Buffer | undefined => {
  const kept = reading.get("digests", numberKey(height)) as Buffer | undefined;
  return kept?.subarray(digestLength).equals(textKey(id)) === true ? Buffer.from(kept.subarray(0, digestLength)) : undefined;
};

export const putDigest = (pending: WriteBatch, { height, id }: BlockName, digest: Buffer): void =>
  pending.putBytes("digests", numberKey(height), Buffer.concat([digest, textKey(id)]));

export const removeDigest = (pending: WriteBatch, height: number): void => {
  const key = numberKey(height);
  const before = pending.bytes("digests", key);
  if (before !== null) pending.putBytes("digests", key, null, before);
};

type Ranging = Pick<WriterReads, "range">;

function* recordsOf<T>(reading: Ranging, database: DatabaseName, codec: Codec<T>): Generator<T> {
  for (const { value } of reading.range(database, {})) yield codec.unpack(value as unknown[]);
}

/** All that the digest of the stored state is made of. */
const partsOf = (reading: Lookup & Ranging): StateParts => ({
  wallets: recordsOf<WalletRecord>(reading, "wallets", walletCodec),
  delegates: recordsOf<DelegateRecord>(reading, "delegates", delegateCodec),
  locks: recordsOf<Lock>(reading, "locks", lockCodec),
  ranks: readRanking(reading).map(({ publicKey }) => publicKey),
  supply: readState(reading)?.supply ?? 0n,
});

/** Computes the digest from the whole state, whatever is kept; also to check it. */
export const scanDigest = (reading: Lookup & Ranging): Sliced<Buffer> => digestOf(partsOf(reading));

/** That of the state before the next block. */
export const digestBefore = (reading: Lookup & Ranging): Buffer => {
  const tip = readState(reading)?.tip;
  return tip === undefined ? atOnce(scanDigest(reading)) : existing(readDigest(reading, tip), `digest of block ${tip.height}`);
};

/** The digest of a whole state, and the one that is kept for it. */
export interface StateScan {
  tip: Tip;
  kept: string;
  found: string;
}

/** Nothing is read any more once it has ended. */
const unlessEnded = function* <T>(work: Sliced<T>, hasEnded: () => boolean): Sliced<T | undefined> {
  while (!hasEnded()) {
    const step = work.next();
    if (step.done === true) return step.value;
    yield;
  }
  return undefined;
};

/** Computes the digest of the state that is current now, in the background; undefined where there is none, or none was kept for it. */
export const scanState = async (environment: Environment, hasEnded: () => boolean): Promise<StateScan | undefined> => {
  const transaction = openTransaction(environment);
  try {
    const reading = createReadSession(environment, transaction);
    const tip = readState(reading)?.tip;
    const kept = tip && readDigest(reading, tip)?.toString("hex");
    if (tip === undefined || kept === undefined) return undefined;
    const found = await runSliced(unlessEnded(scanDigest(reading), hasEnded));
    return found && { tip, kept, found: found.toString("hex") };
  } finally {
    transaction.done();
  }
};
