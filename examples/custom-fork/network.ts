import type { BlockData, Network, TransactionData } from "portico";
import { addressOf } from "portico/chain";
import { type Keys, keysOf, signBlock, signTransaction, type UnsignedTransaction } from "./signing.js";

/** One token, in units of 1e-8, as all amounts are. */
export const token = 100_000_000n;

/** Deliberately above 2^63, so that a store which keeps amounts in 64 bits fails at once. */
const supply = 180_000_000_000n * token;

const activeDelegates = 5;
const stake = 1_000_000n * token;

const parameters = {
  name: "harbour",
  messagePrefix: "Harbour message:\n",
  bip32: { public: 70_617_039, private: 70_615_956 },
  /** Addresses begin with H. */
  pubKeyHash: 40,
  nethash: "",
  wif: 168,
  slip44: 1,
  aip20: 0,
  client: { token: "HBR", symbol: "ħ", explorer: "http://127.0.0.1:4005/api" },
};

const milestones: Network["milestones"] = [
  {
    height: 1,
    reward: 0,
    activeDelegates,
    blocktime: 2,
    block: { version: 0, maxTransactions: 100, maxPayload: 2_097_152, idFullSha256: true },
    epoch: "2024-01-01T00:00:00.000Z",
    fees: { staticFees: { transfer: 1_000_000, delegateRegistration: 1_000_000_000, vote: 10_000_000, split: 2_000_000 } },
    vendorFieldLength: 255,
    aip11: true,
  },
  { height: 6, reward: 50_000_000 },
];

/** The participants. Their keys are derived from these texts alone, so that genesis is always the same. */
export const treasury = keysOf("harbour treasury");
export const delegates = Array.from({ length: activeDelegates }, (_, index) => ({ username: `pilot_${index + 1}`, keys: keysOf(`harbour delegate ${index + 1}`) }));

export const forkAddressOf = ({ publicKey }: Keys): string => addressOf(publicKey, parameters.pubKeyHash);

const createGenesis = (): BlockData => {
  const origin = keysOf("harbour origin");
  const nonces = new Map<Keys, bigint>();
  const signed = (keys: Keys, parts: Pick<UnsignedTransaction, "type" | "recipientId" | "asset"> & { amount?: bigint }): TransactionData => {
    const nonce = (nonces.get(keys) ?? 0n) + 1n;
    nonces.set(keys, nonce);
    const { amount = 0n, ...rest } = parts;
    return signTransaction({ version: 2, network: parameters.pubKeyHash, typeGroup: 1, nonce: String(nonce), fee: "0", amount: String(amount), ...rest }, keys);
  };
  const stakes = delegates.map((_, index) => stake * BigInt(delegates.length - index));
  const transactions = [
    ...delegates.map(({ keys }, index) => signed(origin, { type: 0, amount: stakes[index] ?? 0n, recipientId: forkAddressOf(keys) })),
    signed(origin, { type: 0, amount: stakes.reduce((left, given) => left - given, supply), recipientId: forkAddressOf(treasury) }),
    ...delegates.map(({ keys, username }) => signed(keys, { type: 2, asset: { delegate: { username } } })),
    ...delegates.map(({ keys }) => signed(keys, { type: 3, asset: { votes: [`+${keys.publicKey}`] } })),
  ];
  return signBlock({ height: 1, timestamp: 0, previousBlock: null, reward: "0", transactions }, origin, milestones);
};

/** The network `harbour`. An operator would keep its four parts in files. */
export const createForkNetwork = (): Network => {
  const genesisBlock = createGenesis();
  // Rewards depend on rank (`node.ts`): those of the blocks count, and none is held against the milestones.
  return { network: { ...parameters, nethash: genesisBlock.payloadHash }, milestones, rewards: "blocks", exceptions: {}, genesisBlock };
};
