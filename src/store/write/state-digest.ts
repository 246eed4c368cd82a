import type { Lock, Tip } from "../../../types/chain.js";
import { digestOf, type StateParts } from "../../chain/digest.js";
import { type Codec, type DelegateRecord, delegateCodec, lockCodec, type WalletRecord, walletCodec } from "../layout/codec.js";
import { type DatabaseName, numberKey, textKey } from "../layout/keys.js";
import type { Getting, WriterReading } from "../lmdb/reading.js";
import { existing, readRanking, readState } from "../records/records.js";
import { atOnce, type Sliced } from "../../async/time-slicing.js";
import type { WriteBatch } from "./batch/write-batch.js";

/** The digests of the store's states: of the tip, and of each block that it can go back to. Each names its block. */

type BlockName = Pick<Tip, "height" | "id">;

const digestLength = 32;

/** Undefined where none is kept. */
export const readDigest = (reading: Getting, { height, id }: BlockName): Buffer | undefined => {
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

type Ranging = Pick<WriterReading, "range">;

function* recordsOf<T>(reading: Ranging, database: DatabaseName, codec: Codec<T>): Generator<T> {
  for (const { value } of reading.range(database, {})) yield codec.unpack(value as unknown[]);
}

/** All that the digest of the stored state is made of. */
const partsOf = (reading: Getting & Ranging): StateParts => ({
  wallets: recordsOf<WalletRecord>(reading, "wallets", walletCodec),
  delegates: recordsOf<DelegateRecord>(reading, "delegates", delegateCodec),
  locks: recordsOf<Lock>(reading, "locks", lockCodec),
  ranks: readRanking(reading).map(({ publicKey }) => publicKey),
  supply: readState(reading)?.supply ?? 0n,
});

/** Computes the digest from the whole state, whatever is kept; also to check it. */
export const scanDigest = (reading: Getting & Ranging): Sliced<Buffer> => digestOf(partsOf(reading));

/** That of the state before the next block. */
export const digestBefore = (reading: Getting & Ranging): Buffer => {
  const tip = readState(reading)?.tip;
  return tip === undefined ? atOnce(scanDigest(reading)) : existing(readDigest(reading, tip), `digest of block ${tip.height}`);
};
