import { bytesToHex, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import type { AmountLike } from "../../types/events.js";
import { addressOf } from "../chain/address.js";
import { parseAmount } from "../chain/amount.js";
import { createEpoch } from "../chain/epoch.js";
import { createMilestones } from "../chain/milestones.js";
import { roundOf } from "../chain/rounds.js";
import { serializeTransaction } from "./transactions.js";
import { ProofError, type ProofOptions, type VerifiedProof, verifyProof } from "./verify-proof.js";

/** What `/transactions/{id}` replies as `data`. */
export interface ShownTransaction {
  id: string;
  blockId: string;
  version: number;
  type: number;
  typeGroup: number;
  amount: AmountLike;
  fee: AmountLike;
  sender: string;
  senderPublicKey: string;
  recipient: string;
  signature?: string;
  signSignature: string | null;
  signatures?: string[];
  vendorField?: string;
  asset?: object;
  nonce?: string;
  timestamp: { epoch: number; unix: number; human: string };
}

/** A form of JSON: texts by their expression, numbers and amounts by an example, lists by the form of their items. */
type Form = RegExp | 0 | 0n | readonly [Form] | { readonly [member: string]: Form };

const [hash, key, text] = [/^[0-9a-f]{64}$/, /^0[23][0-9a-f]{64}$/, /^/];

/** Assets of the core's types, which the bytes say in one way alone. */
const assets: Readonly<Record<number, Form>> = {
  1: { signature: { publicKey: key } },
  2: { delegate: { username: text } },
  3: { votes: [/^[+-]0[23][0-9a-f]{64}$/] },
  4: { multiSignature: { min: 0, publicKeys: [key] } },
  5: { ipfs: text },
  6: { payments: [{ amount: 0n, recipientId: text }] },
  8: { lock: { secretHash: hash, expiration: { type: 0, value: 0 } } },
  9: { claim: { lockTransactionId: hash, unlockSecret: hash } },
  10: { refund: { lockTransactionId: hash } },
};
/** Of type 4 in version 1, which has two names for it. */
const firstMultiSignature = (asset: object = {}): Form => ({
  ["multisignature" in asset ? "multisignature" : "multiSignatureLegacy"]: { min: 0, lifetime: 0, keysgroup: [/^\+0[23][0-9a-f]{64}$/] },
});

const hasForm = (value: unknown, form: Form): boolean => {
  if (form instanceof RegExp) return typeof value === "string" && form.test(value);
  if (form === 0) return typeof value === "number";
  if (form === 0n) return ["string", "number", "bigint"].includes(typeof value);
  if (Array.isArray(form)) return Array.isArray(value) && value.every((item) => hasForm(item, (form as readonly [Form])[0]));
  if (typeof value !== "object" || value === null) return false;
  const names = Object.keys(form);
  const [members, forms] = [value as Record<string, unknown>, form as Record<string, Form>];
  return Object.keys(members).length === names.length && names.every((name) => hasForm(members[name], forms[name] ?? 0));
};

/** A signature has 64 bytes (Schnorr), or as many as its DER says (72 at most): bytes beside it cannot be moved into it. */
const isSignature = (hex: string): boolean =>
  /^[0-9a-f]{2,144}$/.test(hex) && (hex.length === 128 || (hex.startsWith("30") && hex.length === 4 + 2 * Number.parseInt(hex.slice(2, 4), 16)));

/** The asset as the bytes have it. Chains of ARK Core 2 have an empty one, or the sender's key in it. */
const assetOf = ({ asset = {}, version, type, senderPublicKey }: ShownTransaction): object | undefined => {
  if (Object.keys(asset).length === 0) return undefined;
  if (version !== 1 || type !== 2 || !("delegate" in asset)) return asset;
  const { publicKey = senderPublicKey, ...delegate } = asset.delegate as { publicKey?: string };
  return publicKey === senderPublicKey ? { ...asset, delegate } : asset;
};

/** The first member that the node shows otherwise than the proven bytes and block say. */
const wrongMember = (shown: ShownTransaction, { transaction, block }: VerifiedProof, options: ProofOptions): string | undefined => {
  const { network, milestones, exceptions } = options;
  const { signSignature, ...signed } = shown;
  const { version, type, typeGroup, sender, recipient, signature, signatures = [], vendorField = "", nonce, timestamp } = signed;
  const [isFirst, serialized] = [version === 1, transaction?.serialized ?? ""];
  const asset = assetOf(shown);
  const form = isFirst && type === 4 ? firstMultiSignature(asset) : assets[type];
  const written = isFirst ? timestamp.epoch : block.timestamp;
  const time = createEpoch(createMilestones(milestones).at(1).epoch).timestamp(written);
  const pays = isFirst || type === 0 || type === 8;
  const bytes = hexToBytes(serialized);
  const asSigned = {
    ...signed,
    asset,
    secondSignature: signSignature ?? undefined,
    timestamp: timestamp.epoch,
    // Neither is shown.
    network: bytes[2],
    expiration: !isFirst && type === 0 ? new DataView(bytes.buffer).getUint32(67 + (bytes[58] ?? 0), true) : 0,
  };
  // A transaction without a recipient is shown with its sender.
  const recipients = recipient === sender ? [recipient, undefined] : [recipient];
  const rules = { network, exceptions };
  const isAsWritten = recipients.some((recipientId) => {
    const again = serializeTransaction({ ...asSigned, recipientId }, rules);
    return again !== undefined && bytesToHex(again) === serialized;
  });
  const checks: Record<string, boolean> = {
    id: shown.id === transaction?.id,
    blockId: shown.blockId === block.id,
    // Version 1 writes no assets of later types.
    type: typeGroup === 1 && (!isFirst || type <= 4),
    sender: sender === addressOf(shown.senderPublicKey, network.pubKeyHash),
    recipient: recipient === sender || (pays && !(isFirst && (type === 1 || type === 4))),
    amount: pays || parseAmount(shown.amount) === 0n,
    vendorField: isFirst ? utf8ToBytes(vendorField).length <= 64 : vendorField === "" || type === 0 || type === 6 || type === 8,
    nonce: (nonce === undefined) === isFirst,
    timestamp: time.epoch === timestamp.epoch && time.unix === timestamp.unix && time.human === timestamp.human,
    asset: form === undefined ? asset === undefined : hasForm(asset, form),
    signature: [signature ?? "", signSignature ?? ""].every((each) => each === "" || isSignature(each)),
    signatures: signatures.every((each) => /^[0-9a-f]{130}$/.test(each)),
  };
  const [wrong] = Object.entries(checks).find(([, holds]) => !holds) ?? [];
  return wrong ?? (isAsWritten ? undefined : "its bytes differ");
};

/**
 * Checks a proof of a transaction, and that the transaction is as the node shows it (in the second generation), every member but
 * `confirmations`, which is the node's word. The delegates of the block's round must be given.
 * @throws ProofError that names what does not hold; `shown` also for a fork's own types, which are not known here
 */
export const verifyTransaction = (shown: ShownTransaction, untrusted: unknown, options: ProofOptions): VerifiedProof => {
  const verified = verifyProof(untrusted, options);
  const { round } = roundOf(verified.block.height, createMilestones(options.milestones));
  if (typeof options.delegates === "function" && options.delegates(round) === undefined) {
    throw new ProofError("round", `the delegates of round ${round} are not given`);
  }
  const wrong = (() => {
    try {
      return wrongMember(shown, verified, options);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new ProofError("shown", `transaction ${shown.id}, as it is shown, cannot be written: ${reason}`);
    }
  })();
  if (wrong !== undefined) throw new ProofError("shown", `transaction ${shown.id}, as it is shown, is not the proven one: ${wrong}`);
  return verified;
};
