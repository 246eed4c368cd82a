import { type Static, Type } from "@sinclair/typebox";
import type { AmountLike, BlockData, TransactionData } from "../../../types/events.js";
import type { NodeInfo } from "../../../types/node-context.js";
import { parseAmount } from "../../chain/amount.js";
import type { Constants } from "../../chain/milestones.js";
import type { ChainRules } from "../../chain/rules.js";
import { AmountText, ConstantAmount, OpenObject, TextOrNull } from "../fields.js";
import { Ports } from "./peers.js";

/** A network's fixed fees, by key of the transaction type. */
export const StaticFees = Type.Unsafe<Record<string, bigint>>({ type: "object", additionalProperties: { ...ConstantAmount } });

/** The milestones up to a height, merged; `height` is that of the last one. Members that a fork adds pass through. */
const ConstantsResource = Type.Object(
  {
    height: Type.Integer(),
    reward: ConstantAmount,
    activeDelegates: Type.Integer(),
    blocktime: Type.Integer({ description: "Seconds." }),
    epoch: Type.String({ description: "ISO 8601." }),
    block: Type.Optional(
      Type.Object(
        {
          version: Type.Optional(Type.Integer()),
          maxTransactions: Type.Optional(Type.Integer()),
          maxPayload: Type.Optional(Type.Integer({ description: "Bytes." })),
          idFullSha256: Type.Optional(Type.Boolean()),
        },
        { additionalProperties: true },
      ),
    ),
    fees: Type.Optional(Type.Object({ staticFees: Type.Optional(StaticFees) }, { additionalProperties: true })),
    vendorFieldLength: Type.Optional(Type.Integer({ description: "Bytes." })),
  },
  { title: "Constants", additionalProperties: true },
);

export const presentStaticFees = ({ fees }: Constants): Record<string, bigint> =>
  Object.fromEntries(Object.entries(fees?.staticFees ?? {}).map(([key, fee]) => [key, parseAmount(fee)]));

export const presentConstants = (constants: Constants): Static<typeof ConstantsResource> => {
  const { fees, reward, ...rest } = constants;
  return {
    ...rest,
    reward: parseAmount(reward),
    ...(fees === undefined ? {} : { fees: { ...fees, staticFees: presentStaticFees(constants) } }),
  };
};

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
    rewards: Type.Optional(
      Type.Literal("blocks", { description: "Blocks have their own rewards; those of the milestones do not apply." }),
    ),
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

const DynamicFees = Type.Object({
  enabled: Type.Boolean(),
  minFeePool: Type.Integer({ description: "Fee per byte below which the pool refuses a transaction." }),
  minFeeBroadcast: Type.Integer({ description: "Fee per byte below which a transaction is not broadcast." }),
  addonBytes: Type.Unsafe<Record<string, number>>({
    type: "object",
    additionalProperties: { type: "integer" },
    description: "Bytes added to a transaction's size when its minimum fee is computed, by key of the transaction type.",
  }),
});

export const NodeConfigurationResource = Type.Object(
  {
    core: Type.Optional(Type.Object({ version: Type.String({ description: "Version of the node software." }) })),
    nethash: Type.String(),
    slip44: Type.Optional(Type.Integer()),
    wif: Type.Integer(),
    token: Type.String(),
    symbol: Type.String(),
    explorer: Type.String(),
    version: Type.Integer({ description: "Version byte of addresses." }),
    ports: Ports,
    constants: ConstantsResource,
    transactionPool: Type.Object({ dynamicFees: DynamicFees }, { additionalProperties: true }),
  },
  { title: "NodeConfiguration" },
);

type Pool = NonNullable<NodeInfo["transactionPool"]>;

/** A host that does not describe its pool has no dynamic fees, and one without them may leave out what they are computed from. */
const presentPool = ({ types }: ChainRules, { dynamicFees, ...settings }: Pool = { dynamicFees: { enabled: false } }) => ({
  ...settings,
  dynamicFees: {
    enabled: dynamicFees.enabled,
    minFeePool: dynamicFees.minFeePool ?? 0,
    minFeeBroadcast: dynamicFees.minFeeBroadcast ?? 0,
    addonBytes: dynamicFees.addonBytes ?? Object.fromEntries(types.all.map(({ key }) => [key, 0])),
  },
});

export const presentNodeConfiguration = (
  rules: ChainRules,
  tipHeight: number,
  node: NodeInfo = {},
): Static<typeof NodeConfigurationResource> => {
  const { nethash, slip44, wif, pubKeyHash, client } = rules.network.network;
  return {
    ...(node.version === undefined ? {} : { core: { version: node.version } }),
    nethash,
    ...(slip44 === undefined ? {} : { slip44 }),
    wif,
    token: client.token,
    symbol: client.symbol,
    explorer: client.explorer,
    version: pubKeyHash,
    ports: node.ports ?? {},
    constants: presentConstants(rules.milestones.at(tipHeight)),
    transactionPool: presentPool(rules, node.transactionPool),
  };
};
