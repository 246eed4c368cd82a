import type { TransactionType, WalletDraft } from "../../../types/transaction-type.js";

/**
 * What a fork's own transaction types do is checked as it happens: the types that hold it to the contract do not exist at run time, and
 * what is wrong in a store only shows when it is too late.
 */

const isTextOrNull = (value: unknown): boolean => value === null || typeof value === "string";
const isAmount = (value: unknown): boolean => typeof value === "bigint";

const sound: { readonly [Member in Exclude<keyof WalletDraft, "address">]: [rule: string, fits: (value: unknown) => boolean] } = {
  balance: ["a bigint", isAmount],
  lockedBalance: ["a bigint", isAmount],
  nonce: ["a bigint", isAmount],
  publicKey: ["a string or null", isTextOrNull],
  secondPublicKey: ["a string or null", isTextOrNull],
  username: ["a string or null", isTextOrNull],
  vote: ["a string or null", isTextOrNull],
  multiSignature: ["an object or null", (value) => typeof value === "object"],
  resigned: ["true or false", (value) => typeof value === "boolean"],
};

const members = Object.entries(sound) as [keyof typeof sound, (typeof sound)["balance"]][];

/** Checks what `apply` returned, and the wallets that it asked for. @throws TypeError */
export const requireSoundEffect = ({ key }: TransactionType, returned: unknown, wallets: readonly WalletDraft[]): void => {
  if (typeof returned === "object" && returned !== null && "then" in returned) {
    throw new TypeError(`\`apply\` of ${key} returned a promise: its effects must be complete when it returns`);
  }
  for (const wallet of wallets) {
    const wrong = members.find(([name, [, fits]]) => !fits(wallet[name]));
    if (wrong === undefined) continue;
    const [name, [rule]] = wrong;
    throw new TypeError(`after \`apply\` of ${key}, \`${name}\` of wallet ${wallet.address} is ${typeof wallet[name]}, not ${rule}`);
  }
};

/** Checks what `recipients` returned. @throws TypeError */
export const requireAddresses = (recipients: unknown, { key }: TransactionType): string[] => {
  if (Array.isArray(recipients) && recipients.every((address) => typeof address === "string" && address !== "")) return recipients as string[];
  throw new TypeError(`\`recipients\` of ${key} must return a list of addresses`);
};
