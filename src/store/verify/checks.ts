import { Unpackr } from "msgpackr";
import { createDigest, delegatePart, lockPart, ranksPart, supplyPart, walletPart } from "../../chain/digest.js";
import { messageOf } from "../../errors.js";
import { orphanRows } from "../follow/orphans.js";
import { blockCodec, stateCodec, type StateRecord, delegateCodec, lockCodec, rankingCodec, walletCodec } from "../layout/codec.js";
import {
  type Checksum,
  changeChecksum,
  checksumKey,
  checksumsKey,
  checksumsOfOldChain,
  hashOf,
  hasChecksum,
  keyHashOf,
  numbersOf,
  parseChecksumKey,
  rangeOf,
  readChecksum,
  rowChecksum,
} from "../layout/checksums.js";
import { type Format, formatKey, layoutVersion, type DatabaseName, databases, holdsBytes, numberKey, textKey } from "../layout/keys.js";
import { decodeRow, hasCheckedRows } from "../layout/row-encoding.js";
import { walkDatabases, newestMeta, type PageFile } from "../lmdb/safe/page-file.js";
import { stateKey, rankingKey } from "../records/records.js";

/** What is found out about a store beside what is wrong with it. */
export interface Findings {
  /** Of the network that the store says it belongs to. */
  nethash?: string;
  height?: number;
  id?: string;
  digest?: string;
}

/** Looks at each entry of a store's databases, in one pass over its file. */
export interface EntryCheck {
  /** Key and value last until the next entry. */
  entry(database: string, key: Buffer, value: Buffer): void;
  /** What is wrong, once all entries have been. */
  end(): { faults: string[]; findings?: Findings };
}

/** As the store's own encoding (environment.ts), and that of webhooks (webhooks/rows/transactions.ts). */
const unpackr = new Unpackr({ useRecords: false, useBigIntExtension: true, moreTypes: false });

/** A record from its bytes, which may be overwritten afterwards. @throws if they are none */
const unpackRecord = (bytes: Buffer): unknown => unpackr.unpack(Buffer.from(bytes));

/** Whether a file is sound where it says its layout, and says another one or none. */
export const isOfOtherLayout = (file: PageFile): boolean => {
  const meta = newestMeta(file);
  if (meta === undefined) return false;
  let [faults, layout] = [0, undefined as unknown];
  const entry = (_: string, { key, value }: { key: Buffer; value: Buffer }): void => {
    if (!key.equals(formatKey)) return;
    try {
      layout = (unpackRecord(value) as Partial<Format>).layout;
    } catch {
      faults++;
    }
  };
  for (const _ of walkDatabases(meta, file, { only: "meta", page: () => undefined, order: () => undefined, fault: () => void faults++, entry }));
  return faults === 0 && layout !== layoutVersion;
};

/** Whether a store belongs to the network that is asked for. */
export const createFormatCheck = (nethash: string | undefined): EntryCheck => {
  let format: Partial<Format> | undefined;
  return {
    entry: (database, key, value) => {
      if (database !== "meta" || !key.equals(formatKey)) return;
      try {
        format = unpackRecord(value) as Partial<Format>;
      } catch {
        // The check of records reports that it cannot be read.
      }
    },
    end: () => {
      if (format === undefined) return { faults: ["it does not name its layout and its network"] };
      const isOther = nethash !== undefined && format.nethash !== nethash;
      return {
        faults: isOther ? [`it belongs to the network ${String(format.nethash)}, not to ${nethash}`] : [],
        findings: typeof format.nethash === "string" ? { nethash: format.nethash } : {},
      };
    },
  };
};

const none: Checksum = { sum: 0, count: 0 };

const rangeText = (range: Buffer): string => (range.length === 0 ? "" : `, range ${range.toString("hex")}`);

const isDatabase = (name: string): name is DatabaseName => name in databases;

/** What the note may say, as MessagePack. */
const noted = { kept: Buffer.from([0xc3]), removed: Buffer.concat([Buffer.from([0xa0 + checksumsOfOldChain.length]), Buffer.from(checksumsOfOldChain)]) };

/** Compares the entries of each range of keys with the checksum that the store keeps of it. */
export const createChecksumCheck = (): EntryCheck => {
  const kept = new Map<string, Checksum>();
  const found = new Map<string, Checksum>();
  let note: Buffer | undefined;

  const add = (database: DatabaseName, key: Buffer, value: Buffer): void => {
    const name = checksumKey(database, rangeOf(database, key)).toString("latin1");
    const checksum = found.get(name) ?? { ...none };
    changeChecksum(checksum, hashOf(keyHashOf(key), value), 1);
    found.set(name, checksum);
  };

  return {
    entry: (database, key, value) => {
      if (!isDatabase(database)) return;
      if (database === "meta") {
        if (key.equals(checksumsKey)) note = Buffer.from(value);
        else if (parseChecksumKey(key) !== undefined) kept.set(key.toString("latin1"), readChecksum(value));
      }
      if (!hasChecksum(database, key)) return;
      if (database === "lists") for (const number of numbersOf(key, value)) add(database, number.key, number.value);
      else add(database, key, value);
    },
    end: () => {
      if (note?.equals(noted.removed) === true) return { faults: [] };
      const names = [...new Set([...kept.keys(), ...found.keys()])].sort();
      const faults = names.flatMap((name) => {
        const [is, should] = [found.get(name) ?? none, kept.get(name) ?? none];
        if (is.sum === should.sum && is.count === should.count) return [];
        const { database = "?", range = Buffer.alloc(0) } = parseChecksumKey(Buffer.from(name, "latin1")) ?? {};
        return [`database "${database}"${rangeText(range)}: its entries are not those that were written (${is.count} are there, ${should.count} were written)`];
      });
      // A damaged note must not hide that they are kept.
      const isNoted = note?.equals(noted.kept) === true;
      return { faults: isNoted ? faults : [...faults, 'database "meta": the note that checksums are kept is missing or damaged'] };
    },
  };
};

const isPacked = (database: string): boolean =>
  database.startsWith("webhooks-") || (database in databases && !holdsBytes(database as DatabaseName));

const readerOf = (database: string): ((value: Buffer) => unknown) => (hasCheckedRows(database) ? decodeRow : unpackRecord);

/** Whether each record can be read, the blocks are all there from the first to the tip, and the tip is that of the state. */
export const createRecordCheck = (): EntryCheck => {
  const unreadable: string[] = [];
  let [blocks, firstMissing] = [0, undefined as number | undefined];
  let state: StateRecord | undefined;
  let last: { height: number; id: string } | undefined;

  const read = (database: string, key: Buffer, value: Buffer): void => {
    const record = readerOf(database)(value);
    if (database === "meta" && key.equals(stateKey)) state = stateCodec.unpack(record as unknown[]);
    if (database !== "blocks") return;
    blocks++;
    if (!key.equals(numberKey(blocks))) firstMissing ??= blocks;
    const { height, id } = blockCodec.unpack(record as unknown[]);
    last = { height, id };
  };

  const tipFaults = (): string[] => {
    if (firstMissing !== undefined) return [`database "blocks": block ${firstMissing} is missing`];
    const [tip, top] = [state?.tip, last];
    if (tip?.height === top?.height && tip?.id === top?.id && blocks === (tip?.height ?? 0)) return [];
    return [`the state is that of block ${tip?.height ?? 0} (${tip?.id ?? "none"}), but the last of ${blocks} blocks is ${top?.height ?? 0} (${top?.id ?? "none"})`];
  };

  return {
    entry: (database, key, value) => {
      if (!isPacked(database)) return;
      try {
        read(database, key, value);
      } catch (error) {
        unreadable.push(`database "${database}", key ${key.toString("hex")}: its record cannot be read (${messageOf(error)})`);
      }
    },
    end: () => ({
      faults: [...unreadable, ...tipFaults()],
      findings: state === undefined ? {} : { height: state.tip.height, id: state.tip.id },
    }),
  };
};

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
    else if (database === "meta" && key.equals(rankingKey))
      found.ranks = rankingCodec.unpack(unpackRecord(value) as unknown[]).map(({ publicKey }) => publicKey);
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

/** MessagePack's `true`. */
const isTrue = (value: Buffer): boolean => value.equals(Buffer.from([0xc3]));

/**
 * Compares each row of the blocks beyond the chain with the checksum that it carries, and the times of their reversal with the list of
 * these.
 */
export const createOrphanCheck = (): EntryCheck => {
  const faults: string[] = [];
  const [reverted, listed] = [new Set<string>(), new Set<string>()];
  const fault = (key: Buffer): void => void faults.push(`database "orphans", key ${key.toString("hex")}: it is not what was written`);

  const check = (key: Buffer, value: Buffer): void => {
    const kind = key.toString("latin1", 0, 1);
    if (kind === "t") {
      listed.add(key.toString("hex"));
      if (!isTrue(value)) fault(key);
      return;
    }
    const row = unpackRecord(value);
    const length = orphanRows.lengthOf(kind);
    if (length === undefined || !Array.isArray(row) || row.length !== length + 1) return fault(key);
    if (row[length] !== rowChecksum(key, row.slice(0, length))) fault(key);
    if (kind === "o") reverted.add(orphanRows.revertedKeyOf(key, row).toString("hex"));
  };

  return {
    entry: (database, key, value) => {
      if (database !== "orphans") return;
      try {
        check(key, value);
      } catch {
        // The check of records tells of it.
      }
    },
    end: () => {
      const differ = [...reverted].filter((key) => !listed.has(key)).length + [...listed].filter((key) => !reverted.has(key)).length;
      return { faults: [...faults, ...(differ === 0 ? [] : [`database "orphans": the list of times is not that of its blocks (${differ} differ)`])] };
    },
  };
};
