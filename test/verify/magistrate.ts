import { concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import type { TransactionData, TransactionForm, TransactionType } from "../../src/index.js";

const text = (value: string | undefined): Uint8Array => {
  const bytes = utf8ToBytes(value ?? "");
  return concatBytes(Uint8Array.of(bytes.length), bytes);
};

interface MagistrateAsset {
  businessRegistration?: Partial<Record<"name" | "website" | "vat" | "repository", string>>;
  type?: number;
  subType?: number;
  action?: number;
  registrationId?: string;
  data?: { name?: string; ipfsData?: string };
}

const assetOf = ({ asset }: TransactionData): MagistrateAsset => asset ?? {};

const business: TransactionForm = {
  serialize: (transaction) => {
    const { name, website, vat, repository } = assetOf(transaction).businessRegistration ?? {};
    return concatBytes(text(name), text(website), text(vat), text(repository));
  },
};

const entity: TransactionForm = {
  serialize: (transaction) => {
    const { type = 0, subType = 0, action = 0, registrationId = "", data = {} } = assetOf(transaction);
    const id = hexToBytes(registrationId);
    return concatBytes(Uint8Array.of(type, subType, action, id.length), id, text(data.name), text(data.ipfsData));
  },
};

/** Types that a plugin of ARK Core brings: those of core3-custom-c in type group 2. */
export const magistrateTypes: TransactionType[] = [
  { typeGroup: 2, type: 0, key: "businessRegistration", name: "BusinessRegistration", form: business },
  { typeGroup: 2, type: 6, key: "entity", name: "Entity", form: entity },
];
