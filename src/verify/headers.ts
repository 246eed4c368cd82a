import { secp256k1 } from "@noble/curves/secp256k1.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes, hexToBytes } from "@noble/hashes/utils.js";
import type { BlockData } from "../../types/events.js";
import { parseAmount } from "../chain/amount.js";
import type { Milestones } from "../chain/milestones.js";
import { littleEndian } from "./bytes.js";
import type { Exceptions } from "./exceptions.js";

/** Whether ids are whole hashes at a height; otherwise they are numbers of 64 bits. */
const hasHashIds = (height: number, milestones: Milestones): boolean => milestones.at(Math.max(1, height)).block?.idFullSha256 === true;

const decimalId = (hash: Uint8Array): string => new DataView(hash.buffer, hash.byteOffset).getBigUint64(0, true).toString();

const bigEndian = (id: string): Uint8Array => littleEndian(8, BigInt(id)).reverse();

/** The bytes of a block's header that its generator signs. */
export const serializeHeader = (block: Omit<BlockData, "id" | "blockSignature" | "transactions">, milestones: Milestones): Uint8Array => {
  const isHash = hasHashIds(block.height - 1, milestones);
  const previous = block.height === 1 ? undefined : (block.previousBlock ?? undefined);
  return concatBytes(
    littleEndian(4, block.version ?? 0),
    littleEndian(4, block.timestamp),
    littleEndian(4, block.height),
    previous === undefined ? new Uint8Array(isHash ? 32 : 8) : isHash ? hexToBytes(previous) : bigEndian(previous),
    littleEndian(4, block.numberOfTransactions),
    littleEndian(8, parseAmount(block.totalAmount)),
    littleEndian(8, parseAmount(block.totalFee)),
    littleEndian(8, parseAmount(block.reward)),
    littleEndian(4, block.payloadLength),
    hexToBytes(block.payloadHash),
    hexToBytes(block.generatorPublicKey),
  );
};

/** What a header says. */
export interface Header {
  version: number;
  timestamp: number;
  height: number;
  previousBlock: string;
  numberOfTransactions: number;
  totalAmount: bigint;
  totalFee: bigint;
  reward: bigint;
  payloadLength: number;
  payloadHash: string;
  generatorPublicKey: string;
}

/** Reads the header of a block at a height. @throws RangeError if its length is not that of a header there */
export const readHeader = (bytes: Uint8Array, height: number, milestones: Milestones): Header => {
  const isHash = hasHashIds(height - 1, milestones);
  const counts = isHash ? 44 : 20;
  if (bytes.length !== counts + 97) throw new RangeError(`the header has ${bytes.length} bytes, not ${counts + 97}`);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  return {
    version: view.getUint32(0, true),
    timestamp: view.getUint32(4, true),
    height: view.getUint32(8, true),
    previousBlock: isHash ? bytesToHex(bytes.subarray(12, 44)) : view.getBigUint64(12).toString(),
    numberOfTransactions: view.getUint32(counts, true),
    totalAmount: view.getBigUint64(counts + 4, true),
    totalFee: view.getBigUint64(counts + 12, true),
    reward: view.getBigUint64(counts + 20, true),
    payloadLength: view.getUint32(counts + 28, true),
    payloadHash: bytesToHex(bytes.subarray(counts + 32, counts + 64)),
    generatorPublicKey: bytesToHex(bytes.subarray(counts + 64)),
  };
};

/** The id of a block above genesis: that of genesis follows no rule. */
export const blockIdOf = (header: Uint8Array, signature: Uint8Array, height: number, milestones: Milestones, { outlookTable = {} }: Exceptions = {}): string => {
  const hash = sha256(concatBytes(header, signature));
  const id = hasHashIds(height, milestones) ? bytesToHex(hash) : decimalId(hash);
  return Object.hasOwn(outlookTable, id) ? (outlookTable[id] ?? id) : id;
};

/** Whether a key has signed a header: ECDSA over its SHA-256, strict DER, low S. */
export const isSignedBy = (publicKey: string, header: Uint8Array, signature: Uint8Array): boolean => {
  try {
    // Written again, a signature is the same bytes if its DER was strict.
    const written = secp256k1.Signature.fromBytes(signature, "der").toBytes("der");
    return bytesToHex(written) === bytesToHex(signature) && secp256k1.verify(signature, header, hexToBytes(publicKey), { format: "der", lowS: true });
  } catch {
    return false;
  }
};

/** The hash of a block's transactions: of their ids, in order. */
export const payloadHashOf = (transactionIds: readonly string[]): string => bytesToHex(sha256(hexToBytes(transactionIds.join(""))));
