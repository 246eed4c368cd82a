import { createDigest, delegatePart, lockPart, ranksPart, supplyPart, walletPart } from "../../chain/digest.js";
import { delegateCodec, lockCodec, rankingCodec, type StateRecord, stateCodec, walletCodec } from "../layout/codec.js";
import { numberKey, textKey } from "../layout/keys.js";
import { rankingKey, stateKey } from "../records/records.js";
import type { EntryCheck } from "./entry-check.js";
import { unpackRecord } from "./unpack-record.js";

const digestLength = 32;

/** Computes the digest of the whole state, and compares it with the one that the store keeps for its tip. */
export const createDigestCheck = (): EntryCheck => {
  const digest = createDigest();
  const kept = new Map<string, Buffer>();
  const found: { state?: StateRecord; ranks: string[] } = { ranks: [] };

  /** What each database adds to the digest. */
  const readers: Record<string, (values: unknown[]) => void> = {
    wallets: (values) => digest.add(walletPart(walletCodec.unpack(values))),
    delegates: (values) => digest.add(delegatePart(delegateCodec.unpack(values))),
    locks: (values) => digest.add(lockPart(lockCodec.unpack(values))),
  };

  const read = (database: string, key: Buffer, value: Buffer): void => {
    if (database === "digests") kept.set(key.toString("hex"), Buffer.from(value));
    else if (database === "meta" && key.equals(stateKey)) found.state = stateCodec.unpack(unpackRecord(value) as unknown[]);
    else if (database === "meta" && key.equals(rankingKey)) found.ranks = rankingCodec.unpack(unpackRecord(value) as unknown[]).map(({ publicKey }) => publicKey);
    else readers[database]?.(unpackRecord(value) as unknown[]);
  };

  return {
    entry: (database, key, value) => {
      try {
        read(database, key, value);
      } catch {
        // The check of records reports that it cannot be read.
      }
    },
    end: () => {
      const { state, ranks } = found;
      if (state === undefined) return { faults: [] };
      digest.add(ranksPart(ranks));
      digest.add(supplyPart(state.supply));
      const bytes = digest.bytes();
      const { height, id } = state.tip;
      const at = kept.get(numberKey(height).toString("hex"));
      const isOfTip = at?.subarray(digestLength).equals(textKey(id)) === true;
      const was = isOfTip ? at.toString("hex", 0, digestLength) : "not kept";
      return {
        faults: was === bytes.toString("hex") ? [] : [`the state is not that of block ${height}: its digest is ${bytes.toString("hex")}, but was ${was}`],
        findings: { digest: bytes.toString("hex") },
      };
    },
  };
};
