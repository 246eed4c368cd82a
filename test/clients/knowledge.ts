import type { TransactionData } from "../../types/events.js";
import { coreTypes } from "../e2e/core-types.js";
import { figuresOf, type BlockRow, type LockRow, shownAsset, type TransactionRow, timestampOf, type WalletRow } from "../e2e/figures.js";
import { blockKindOf, delegateKind, type DelegateRow, delegateRowsOf, lockKindOf, transactionKindOf, walletKind } from "../e2e/kinds.js";
import { type Kind, sorted } from "../e2e/naive-list.js";
import { loadChain } from "../data/read.js";
import { appliedOnce } from "../memory-adapter/applied.js";
import { blocksBehind, chainName, now, publicPeersAt, type RunningNode, unconfirmed, unconfirmedSender } from "./running-node.js";

/**
 * What is known of the chain `core3-custom-c`: rows as the real node reports them (ranks, which it does not report for this
 * chain, by the in-memory adapter), and whole reply bodies made from them. Amounts are bigints here; `asSent` gives what a
 * client reads.
 */

const figures = figuresOf(chainName);
export const { tip, meta, network, walletRows, blockRows, transactionRows, lockRows } = figures;

const blockKind = blockKindOf(figures);
const transactionKind = transactionKindOf(figures);
const lockKind = lockKindOf(figures);

export const isVote = ({ type, typeGroup }: TransactionRow): boolean => type === 3 && typeGroup === 1;
export const sentBy =
  (address: string) =>
  ({ sender }: TransactionRow): boolean =>
    sender === address;
export const receivedBy =
  (address: string) =>
  ({ recipients }: TransactionRow): boolean =>
    recipients.includes(address);
export const ownedBy =
  (address: string) =>
  (row: TransactionRow): boolean =>
    sentBy(address)(row) || receivedBy(address)(row);

const mostBy = <Row>(rows: readonly Row[], weight: (row: Row) => number): Row =>
  rows.reduce((best, row) => (weight(row) > weight(best) ? row : best));
const count = <Row>(rows: readonly Row[], test: (row: Row) => boolean): number => rows.filter(test).length;

const snapshot = await appliedOnce(loadChain(chainName)).snapshot();
if (snapshot === undefined) throw new Error("the in-memory adapter has no state");
export const delegateRows: DelegateRow[] = delegateRowsOf(figures);

const delegatesOfRound = 51;
/** By public key: finished rounds in which a delegate was active and forged nothing. The in-memory adapter says who was active. */
export const missedRounds = new Map<string, number>();
for (let number = 1; number * delegatesOfRound <= tip.height; number++) {
  const forgers = new Set(blockRows.slice((number - 1) * delegatesOfRound, number * delegatesOfRound).map(({ generatorPublicKey }) => generatorPublicKey));
  for (const { publicKey } of (await snapshot.round(number)) ?? []) {
    if (!forgers.has(publicKey)) missedRounds.set(publicKey, (missedRounds.get(publicKey) ?? 0) + 1);
  }
}

const round = await snapshot.round(meta.roundOfTip.round);
/** The active delegates of the tip's round. The real node reports who they are and in what order; tests of the chain rules check that. */
export const roundBody = { data: (round ?? []).map(({ publicKey, username, voteBalance }) => ({ publicKey, username, votes: voteBalance })) };

/** The subjects of the lists that clients request: each has many rows of its kind. */
export const busiest: WalletRow = mostBy(walletRows, ({ address, publicKey }) =>
  publicKey === null ? -1 : count(transactionRows, sentBy(address)) * count(transactionRows, receivedBy(address)),
);
export const voter: WalletRow = mostBy(walletRows, ({ address }) => count(transactionRows, (row) => isVote(row) && row.sender === address));
export const locker: WalletRow = mostBy(walletRows, ({ locks }) => Object.keys(locks ?? {}).length);
export const mostVoted: DelegateRow = mostBy(delegateRows, ({ publicKey }) => count(walletRows, ({ vote }) => vote === publicKey));
export const fullest: BlockRow = mostBy(blockRows.slice(1), ({ numberOfTransactions }) => numberOfTransactions);
export const votersOf = ({ publicKey }: DelegateRow): WalletRow[] => walletRows.filter(({ vote }) => vote === publicKey);
export const votes: TransactionRow[] = transactionRows.filter(isVote);

type Query = Record<string, string | number | boolean>;

/** `meta` of a page, computed independently: the caller's parameters in the caller's order, then page and limit if they are missing. */
const metaOf = (path: string, query: Query, total: number): Record<string, unknown> => {
  const { page = 1, limit = 100 } = query as { page?: number; limit?: number };
  const pageCount = Math.max(1, Math.ceil(total / limit));
  const link = (to: number): string => {
    const whole = { ...query, page: to, limit };
    return `/api/v2/${path}?${Object.entries(whole)
      .map(([key, each]) => `${key}=${encodeURIComponent(each)}`)
      .join("&")}`;
  };
  return {
    count: Math.max(0, Math.min(limit, total - (page - 1) * limit)),
    pageCount,
    totalCount: total,
    next: page < pageCount ? link(page + 1) : null,
    previous: page > 1 ? link(Math.min(page - 1, pageCount)) : null,
    self: link(page),
    first: link(1),
    last: link(pageCount),
  };
};

/** A list as a client requests it: its path, its query, which rows pass, and their order if it is not the default. */
interface Asked<Row> {
  path: string;
  query?: Query;
  passes?: (row: Row) => boolean;
  order?: string;
}

const lister =
  <Row>(rows: readonly Row[], kind: Kind<Row>) =>
  ({ path, query = {}, passes = () => true, order = kind.defaultOrder }: Asked<Row>): unknown => {
    const { page = 1, limit = 100 } = query as { page?: number; limit?: number };
    const found = sorted(rows.filter(passes), order, kind);
    const data = found.slice((page - 1) * limit, page * limit).map(kind.present);
    return { meta: metaOf(path, query, found.length), data };
  };

export const listWallets = lister<WalletRow>(walletRows, walletKind);
export const listDelegates = lister<DelegateRow>(delegateRows, delegateKind);
export const listBlocks = lister<BlockRow>(blockRows, blockKind);
export const listTransactions = lister<TransactionRow>(transactionRows, transactionKind);
export const listLocks = lister<LockRow>(lockRows, lockKind);

export const showWallet = (row: WalletRow): unknown => ({ data: walletKind.present(row) });
export const showDelegate = (row: DelegateRow): unknown => ({ data: delegateKind.present(row) });
export const showBlock = (row: BlockRow): unknown => ({ data: blockKind.present(row) });
export const showTransaction = (row: TransactionRow): unknown => ({ data: transactionKind.present(row) });
export const showLock = (row: LockRow): unknown => ({ data: lockKind.present(row) });

/** The id of the lock that a transaction ended. */
export const endingOf = (row: TransactionRow): string | undefined => {
  const { claim, refund } = (row.asset ?? {}) as Record<string, { lockTransactionId?: string } | undefined>;
  return (claim ?? refund)?.lockTransactionId;
};
export const endings: TransactionRow[] = transactionRows.filter((row) => endingOf(row) !== undefined);

const presentUnconfirmed = ({ network: _network, recipientId, secondSignature, amount, fee, asset, ...rest }: TransactionData): unknown => ({
  ...rest,
  ...(asset === undefined ? {} : { asset: shownAsset(asset) }),
  amount: BigInt(String(amount)),
  fee: BigInt(String(fee)),
  sender: unconfirmedSender,
  recipient: recipientId ?? unconfirmedSender,
  signSignature: secondSignature ?? null,
  confirmations: 0,
});
export const unconfirmedData: unknown[] = unconfirmed.map(presentUnconfirmed);
export const listUnconfirmed = (query: Query = {}): unknown => {
  const { page = 1, limit = 100 } = query as { page?: number; limit?: number };
  return { meta: metaOf("transactions/unconfirmed", query, unconfirmedData.length), data: unconfirmedData.slice((page - 1) * limit, page * limit) };
};

export const listPeers = ({ port }: RunningNode, query: Query = {}, passes: (peer: ReturnType<typeof publicPeersAt>[number]) => boolean = () => true): unknown => {
  const { page = 1, limit = 100 } = query as { page?: number; limit?: number };
  const found = publicPeersAt(port).filter(passes);
  return { meta: metaOf("peers", query, found.length), data: found.slice((page - 1) * limit, page * limit) };
};

const secondsADay = 86_400;
const half = (sum: bigint, number: bigint): string => ((2n * sum + number) / (2n * number)).toString();

interface NodeConfiguration {
  transactionPool: { dynamicFees: { enabled: boolean; minFeeBroadcast: number } };
}

export const feesBody = (days: number): unknown => {
  const { enabled, minFeeBroadcast } = (meta.nodeConfiguration.data as unknown as NodeConfiguration).transactionPool.dynamicFees;
  const counts = (fee: unknown): boolean => !enabled || BigInt(String(fee)) >= minFeeBroadcast;
  const seen = transactionRows.filter(({ block, fee }) => block.height > 1 && block.timestamp >= tip.timestamp - days * secondsADay && counts(fee));
  const kinds = new Map<number, bigint[]>();
  for (const { typeGroup, type, fee } of seen) {
    const kind = typeGroup * 1000 + type;
    kinds.set(kind, [...(kinds.get(kind) ?? []), BigInt(String(fee))]);
  }
  const data = [...kinds].sort(([a], [b]) => a - b).map(([kind, fees]) => {
    const sum = fees.reduce((a, b) => a + b);
    const [min, max] = [fees.reduce((a, b) => (a < b ? a : b)), fees.reduce((a, b) => (a > b ? a : b))];
    const text = (amount: bigint): string => amount.toString();
    return { type: kind % 1000, typeGroup: Math.floor(kind / 1000), avg: half(sum, BigInt(fees.length)), min: text(min), max: text(max), sum: text(sum) };
  });
  return { meta: { days }, data };
};

const epochNow = now / 1000 - timestampOf(0).unix;
export const statusBody = { data: { synced: false, now: tip.height, blocksCount: blocksBehind, timestamp: epochNow } };
export const syncingBody = { data: { syncing: true, blocks: blocksBehind, height: tip.height, id: tip.id } };
export const configurationBody: unknown = meta.nodeConfiguration;
export const staticFees = (meta.nodeConfiguration.data as { constants: { fees: { staticFees: Record<string, number> } } }).constants.fees.staticFees;
export const cryptoBody: unknown = {
  data: {
    network: network.network,
    milestones: meta.milestones,
    exceptions: { blocks: [], transactions: [], outlookTable: {}, transactionIdFixTable: {}, wrongTransactionOrder: {}, ...network.exceptions },
    genesisBlock: { ...network.genesisBlock, previousBlock: network.genesisBlock.previousBlock ?? null },
  },
};
export const blockchainBody = { data: { block: { height: tip.height, id: tip.id }, supply: BigInt(meta.supply) } };
export const typesBody = { data: coreTypes };

export const notFound = (what: string): unknown => ({ statusCode: 404, error: "Not Found", message: what === "" ? "Not Found" : `${what} not found`, code: `${what} NOT FOUND`.trim().toUpperCase().replaceAll(" ", "_"), ...(what === "" ? { docs: "/api/docs" } : {}) });
