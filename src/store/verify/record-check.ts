import { messageOf } from "../../errors.js";
import { blockCodec } from "../layout/block-codec.js";
import { stateCodec, type StateRecord } from "../layout/codec.js";
import { type DatabaseName, databases, holdsBytes, numberKey } from "../layout/keys.js";
import { stateKey } from "../records/records.js";
import type { EntryCheck } from "./entry-check.js";
import { decodeRow, hasCheckedRows } from "../layout/row-encoding.js";
import { unpackRecord } from "./unpack-record.js";

const isPacked = (database: string): boolean => database.startsWith("webhooks-") || (database in databases && !holdsBytes(database as DatabaseName));

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
