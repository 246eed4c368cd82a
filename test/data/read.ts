import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import type { Network } from "../../types/node-context.js";
import type { BlockData } from "../../types/events.js";

/**
 * Chains that a real node (ARK Core 3.9.1) made, and what that node itself says of the state at their last height.
 * What is read is shared between the tests and frozen by agreement: nobody writes to it.
 */
export type ChainName = "core3-testnet-a" | "core3-custom-c";

/** A wallet as the real node reports it. Amounts are decimal strings; null where it has none. */
export interface WalletFigures {
  address: string;
  publicKey: string | null;
  username: string | null;
  secondPublicKey: string | null;
  vote: string | null;
  balance: string;
  nonce: string;
  multiSignature: { min: number; publicKeys: string[] } | null;
  lockedBalance: string | null;
  /** By id of the lock transaction. */
  locks: Record<string, LockFigures> | null;
  isDelegate: boolean;
  resigned: boolean;
}

export interface LockFigures {
  amount: string;
  recipientId: string;
  secretHash: string;
  timestamp: number;
  expiration: { type: number; value: number };
  vendorField?: string;
}

export interface DelegateFigures {
  username: string;
  address: string;
  publicKey: string;
  voteBalance: string;
  /** Null for one that no round has ranked; absent in core3-custom-c, where the node ranked by a sum it later corrected. */
  rank?: number | null;
  producedBlocks: number;
  forgedFees: string;
  forgedRewards: string;
  forgedTotal: string;
  /** Percent. */
  approval: number;
  lastBlock: { id: string; height: number; timestamp: number } | null;
  resigned: boolean;
}

export interface ForgerFigures {
  username: string;
  publicKey: string;
}

/** Fee statistics by type group and key of the type, as the node's third generation gives them. */
export type FeeFigures = Record<string, Record<string, Record<"avg" | "max" | "min" | "sum", string>>>;

export interface MetaFigures {
  /** Wall clock of the dump (ISO 8601), where the windows of `feeStatistics` end. */
  dumpedAt: string;
  height: number;
  tip: { id: string; height: number; timestamp: number; unix: number; generatorPublicKey: string };
  counts: {
    blocks: number;
    transactions: number;
    transactionsByTypeGroupAndType: Record<string, number>;
    wallets: number;
    delegates: number;
  };
  network: { all: Network["network"] };
  milestones: Network["milestones"];
  exceptions: Network["exceptions"];
  supply: string;
  roundOfTip: { round: number; roundHeight: number; nextRound: number; maxDelegates: number };
  /** Usernames. */
  roundDelegatesByRank: string[];
  activeDelegatesInForgingOrder: ForgerFigures[];
  roundStateForgingDelegates: (ForgerFigures & { voteBalanceAtRoundStart: string })[];
  lastSlot: number;
  blocktime: number;
  nextForgers: (ForgerFigures & { slot: number; timestamp: number; index: number })[];
  /** By number of days. */
  feeStatistics: Record<string, { status: number; body: { meta: { days: number }; data: FeeFigures } }>;
  nodeConfiguration: { data: Record<string, unknown> };
}

export interface Chain {
  network: Network;
  /** Genesis first. */
  blocks: BlockData[];
  wallets: WalletFigures[];
  delegates: DelegateFigures[];
  meta: MetaFigures;
}

const here = new URL("./", import.meta.url);

const read = (path: string): string => gunzipSync(readFileSync(new URL(`${path}.gz`, here))).toString("utf8");

const lines = <T>(text: string): T[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as T);

const first = (blocks: BlockData[]): BlockData => {
  const [genesisBlock] = blocks;
  if (genesisBlock === undefined) throw new Error("a chain without blocks");
  return genesisBlock;
};

/** The four files of a network, in the form in which a fork's operator keeps them. */
const readNetworkFolder = (path: string): Network => ({
  network: JSON.parse(read(`${path}/network.json`)) as Network["network"],
  milestones: JSON.parse(read(`${path}/milestones.json`)) as Network["milestones"],
  exceptions: JSON.parse(read(`${path}/exceptions.json`)) as Network["exceptions"],
  genesisBlock: JSON.parse(read(`${path}/genesisBlock.json`)) as BlockData,
});

const readChain = (name: ChainName): Chain => {
  const blocks = lines<BlockData>(read(`${name}/blocks.ndjson`));
  const meta = JSON.parse(read(`${name}/meta.json`)) as MetaFigures;
  const ofMeta = {
    network: meta.network.all,
    milestones: meta.milestones,
    exceptions: meta.exceptions,
    genesisBlock: first(blocks),
  };
  return {
    network: name === "core3-custom-c" ? readNetworkFolder(`${name}/network`) : ofMeta,
    blocks,
    wallets: lines<WalletFigures>(read(`${name}/wallets.ndjson`)),
    delegates: lines<DelegateFigures>(read(`${name}/delegates.ndjson`)),
    meta,
  };
};

const chains = new Map<ChainName, Chain>();

export const loadChain = (name: ChainName): Chain => {
  const chain = chains.get(name) ?? readChain(name);
  chains.set(name, chain);
  return chain;
};

/** The same chain as an uncompressed file of one block a line, as `--import` reads it. */
export const chainFile = (name: ChainName): string => read(`${name}/blocks.ndjson`);

/**
 * A chain of the first transaction version's time (2018), on the network of core3-testnet-a. It is never copied here:
 * undefined where the folder `../shared` is missing, and the tests that want it skip.
 */
export const loadCore2Chain = (): { network: Network; blocks: BlockData[] } | undefined => {
  const path = fileURLToPath(new URL("../../../shared/data/core2-testnet/blocks.ndjson", here));
  if (!existsSync(path)) return undefined;
  const blocks = lines<BlockData>(readFileSync(path, "utf8"));
  return { network: { ...loadChain("core3-testnet-a").network, genesisBlock: first(blocks) }, blocks };
};
