import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { toBase58Check } from "../chain/base58.js";

/** What the bytes of a transaction of version 2 say, but for the assets of types that pay nobody, and the signatures. */
export interface WrittenTransaction {
  version: number;
  network: number;
  typeGroup: number;
  type: number;
  nonce: bigint;
  senderPublicKey: string;
  fee: bigint;
  vendorField?: string;
  /** Who is paid what by a transfer (type 0) or a multipayment (6) of type group 1; for a lock (8), who gets what if it is claimed. */
  payments: { recipientId: string; amount: bigint }[];
}

/** Where a core type has its payments, from the end of the vendor field on: amount and recipient of each. */
const paymentsAt = (view: DataView, start: number, type: number): [amount: number, recipient: number][] => {
  if (type === 0) return [[start, start + 12]];
  if (type === 8) return [[start, start + 45]];
  if (type !== 6) return [];
  return Array.from({ length: view.getUint16(start, true) }, (_, index) => [start + 2 + 29 * index, start + 10 + 29 * index]);
};

/**
 * Reads the bytes of a transaction (hexadecimal), of version 2 alone: those of version 1 can be read in more than one way.
 * @throws RangeError if they are not of that form
 */
export const readTransaction = (serialized: string): WrittenTransaction => {
  const bytes = hexToBytes(serialized);
  const view = new DataView(bytes.buffer);
  if (bytes[0] !== 0xff || bytes[1] !== 2) throw new RangeError("the transaction is not of version 2");
  const [typeGroup, type] = [view.getUint32(3, true), view.getUint16(7, true)];
  const end = 59 + view.getUint8(58);
  const vendorField = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(59, end));
  return {
    version: 2,
    network: view.getUint8(2),
    typeGroup,
    type,
    nonce: view.getBigUint64(9, true),
    senderPublicKey: bytesToHex(bytes.subarray(17, 50)),
    fee: view.getBigUint64(50, true),
    ...(vendorField === "" ? {} : { vendorField }),
    payments: (typeGroup === 1 ? paymentsAt(view, end, type) : []).map(([amount, recipient]) => {
      if (recipient + 21 > bytes.length) throw new RangeError("the transaction ends within a payment");
      return { recipientId: toBase58Check(bytes.subarray(recipient, recipient + 21)), amount: view.getBigUint64(amount, true) };
    }),
  };
};
