import { type Static, Type } from "@sinclair/typebox";
import type { AmountLike, BlockData, TransactionData } from "../../../../types/events.js";
import { parseAmount } from "../../../chain/amount.js";
import type { ChainRules } from "../../../chain/rules.js";
import { AmountText } from "../values/amount.js";
import { ConstantsResource, presentConstants } from "./constants.js";
import { OpenObject } from "../values/open-object.js";
import { TextOrNull } from "../values/text.js";

const Exceptions = Type.Object(
  {
    blocks: Type.Array(Type.String()),
    transactions: Type.Array(Type.String()),
    outlookTable: Type.Unsafe<Record<string, string>>({ type: "object", additionalProperties: { type: "string" } }),
    transactionIdFixTable: Type.Unsafe<Record<string, string>>({ type: "object", additionalProperties: { type: "string" } }),
    wrongTransactionOrder: Type.Unsafe<Record<string, string[]>>({
      type: "object",
      additionalProperties: { type: "array", items: { type: "string" } },
    }),
  },
  { additionalProperties: true },
);

const GenesisTransaction = Type.Object(
  {
    type: Type.Integer(),
    amount: AmountText,
    fee: AmountText,
    recipientId: Type.Optional(TextOrNull),
    timestamp: Type.Optional(Type.Integer({ description: "Epoch time." })),
    asset: Type.Optional(OpenObject),
    senderPublicKey: Type.String(),
    signature: Type.Optional(Type.String()),
    id: Type.String(),
  },
  { additionalProperties: true },
);

const GenesisBlock = Type.Object(
  {
    version: Type.Integer(),
    totalAmount: AmountText,
    totalFee: AmountText,
    reward: AmountText,
    payloadHash: Type.String(),
    timestamp: Type.Integer({ description: "Epoch time." }),
    numberOfTransactions: Type.Integer(),
    payloadLength: Type.Integer({ description: "Bytes." }),
    previousBlock: TextOrNull,
    generatorPublicKey: Type.String(),
    transactions: Type.Array(GenesisTransaction),
    height: Type.Integer(),
    id: Type.String(),
    blockSignature: Type.Optional(Type.String()),
  },
  { additionalProperties: true },
);

const NetworkParameters = Type.Object(
  {
    name: Type.String(),
    messagePrefix: Type.String(),
    bip32: Type.Object({ public: Type.Integer(), private: Type.Integer() }),
    pubKeyHash: Type.Integer(),
    nethash: Type.String(),
    wif: Type.Integer(),
    slip44: Type.Optional(Type.Integer()),
    aip20: Type.Optional(Type.Integer()),
    client: Type.Object({ token: Type.String(), symbol: Type.String(), explorer: Type.String() }, { additionalProperties: true }),
  },
  { additionalProperties: true },
);

/** Everything that a client needs to sign for the network: what its operator keeps in four files. */
export const CryptoConfigurationResource = Type.Object(
  {
    exceptions: Exceptions,
    genesisBlock: GenesisBlock,
    milestones: Type.Array(ConstantsResource, { description: "Each merged with those at lower heights." }),
    network: NetworkParameters,
    rewards: Type.Optional(Type.Literal("blocks", { description: "The rewards are those that blocks have: the milestones' do not count." })),
  },
  { title: "CryptoConfiguration" },
);

const amountText = (amount: AmountLike): string => parseAmount(amount).toString();

const presentTransaction = ({ amount, fee, nonce, asset, ...rest }: TransactionData): Static<typeof GenesisTransaction> => ({
  ...given(rest),
  amount: amountText(amount),
  fee: amountText(fee),
  ...(nonce === undefined ? {} : { nonce: amountText(nonce) }),
  ...(asset === undefined ? {} : { asset: asset as Record<string, unknown> }),
});

const presentGenesis = (genesis: BlockData): Static<typeof GenesisBlock> => ({
  ...given(genesis),
  version: genesis.version ?? 0,
  totalAmount: amountText(genesis.totalAmount),
  totalFee: amountText(genesis.totalFee),
  reward: amountText(genesis.reward),
  previousBlock: genesis.previousBlock ?? null,
  transactions: (genesis.transactions ?? []).map(presentTransaction),
});

/** Drops members that are undefined. */
type Given<T> = { [Key in keyof T]: Exclude<T[Key], undefined> };
const given = <T extends object>(object: T): Given<T> =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Given<T>;

export const presentCryptoConfiguration = ({ network, milestones }: ChainRules): Static<typeof CryptoConfigurationResource> => ({
  exceptions: { blocks: [], transactions: [], outlookTable: {}, transactionIdFixTable: {}, wrongTransactionOrder: {}, ...network.exceptions },
  genesisBlock: presentGenesis(network.genesisBlock),
  milestones: milestones.all.map(presentConstants),
  network: network.network,
  ...(network.rewards === "blocks" ? { rewards: network.rewards } : {}),
});
