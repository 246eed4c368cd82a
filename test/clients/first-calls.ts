import type { TransactionData } from "../../types/events.js";
import { type BlockRow, type TransactionRow, type WalletRow } from "../e2e/figures.js";
import { flatAccount, flatBlock, flatTransaction, flatTransactionData } from "../e2e/flat-shapes.js";
import { type DelegateRow, walletKind } from "../e2e/kinds.js";
import { sorted } from "../e2e/naive-list.js";
import type { Call } from "./calls.js";
import {
  blockRows,
  busiest,
  delegateRows,
  fullest,
  locker,
  meta,
  missedRounds,
  mostVoted,
  network,
  ownedBy,
  sentBy,
  staticFees,
  tip,
  transactionRows,
  voter,
  votersOf,
  walletRows,
} from "./knowledge.js";
import { blocksBehind, publicPeersAt, type RunningNode, unconfirmed, unconfirmedSender } from "./running-node.js";

/** Every call of client 0.1 in the first generation, with the whole answer. Amounts are bigints where the wire has numbers. */

const amount = (value: unknown): bigint => BigInt(String(value));
const cold = walletRows.find(({ publicKey }) => publicKey === null) ?? busiest;
const [multiSignature = busiest] = walletRows.filter((row) => row.multiSignature !== null);
const [resigned = mostVoted] = delegateRows.filter((row) => row.resigned);
const withoutVote = walletRows.find(({ vote, publicKey }) => vote === null && publicKey !== null) ?? busiest;
/** Valid in form and checksum, but not the address of any wallet. */
const nobody = "AJWRd23HNEhPLkK1ymMnwnDBX2a7QBZqff";
const noHash = "e".repeat(64);

const succeeded = (members: object): object => ({ success: true, ...members });
const found = (...calls: [args: unknown[], members: object][]): Call[] => calls.map(([args, members]) => ({ args, body: succeeded(members) }));
/** Errors of the first generation are replies with status 200. */
const refused = (...calls: [args: unknown[], error: string][]): Call[] => calls.map(([args, error]) => ({ args, body: { success: false, error } }));

const richest = sorted(walletRows, "balance:desc", walletKind);
const topAccount = ({ address, balance, publicKey }: WalletRow): object => ({ address, balance, publicKey });

const turnsOf = ({ publicKey, producedBlocks }: DelegateRow): object => {
  const missedblocks = missedRounds.get(publicKey) ?? 0;
  const turns = producedBlocks + missedblocks;
  return { producedblocks: producedBlocks, missedblocks, productivity: turns === 0 ? 0 : Number(((100 * producedBlocks) / turns).toFixed(2)) };
};

const forger = (row: DelegateRow): object => ({
  ...turnsOf(row),
  username: row.username,
  address: row.address,
  publicKey: row.publicKey,
  approval: row.approval,
  ...(row.rank === null ? {} : { rate: row.rank }),
  forged: amount(row.forgedTotal),
});
/** In a list, `get` and `fee`, `vote` is the public key that the delegate itself votes for. */
const listed = (row: DelegateRow): object => ({ ...forger(row), vote: row.wallet.vote });
/** In a search and for a voter, `vote` is the delegate's vote balance. */
const sought = (row: DelegateRow): object => ({ ...forger(row), vote: row.voteBalance });

const byRank = [...delegateRows].sort((a, b) =>
  a.rank === null || b.rank === null ? Number(a.rank === null) - Number(b.rank === null) || (a.username < b.username ? -1 : 1) : a.rank - b.rank,
);

const block = (row: BlockRow): object => flatBlock(row, tip.height);
const newestBlocks = [...blockRows].reverse();

const transaction = (row: TransactionRow): object => flatTransaction(row, tip.height);
const newest = [...transactionRows].reverse();
const waiting = (data: TransactionData): object => ({
  ...flatTransactionData(data, unconfirmedSender, data.recipientId ?? unconfirmedSender),
  confirmations: 0,
});

const page = (rows: readonly object[], { offset = 0, limit = 100 }: { offset?: number; limit?: number } = {}): object[] => rows.slice(offset, offset + limit);

const feeMembers = {
  send: staticFees.transfer,
  vote: staticFees.vote,
  secondsignature: staticFees.secondSignature,
  delegate: staticFees.delegateRegistration,
  multisignature: staticFees.multiSignature,
};
const epoch = "2017-03-21T13:00:00.000Z";
const { reward } = (meta.nodeConfiguration.data as { constants: { reward: number } }).constants;
const supply = amount(meta.supply);
const { nethash, client, pubKeyHash } = network.network;
const { ports } = meta.nodeConfiguration.data as { ports: object };

const accounts: Record<string, Call[]> = {
  "accounts.all": found(
    [[], { accounts: page(richest.map(flatAccount)), totalCount: walletRows.length }],
    [[{ limit: 7, offset: 470 }], { accounts: page(richest.map(flatAccount), { limit: 7, offset: 470 }), totalCount: walletRows.length }],
  ),
  "accounts.get": [
    ...found(...[busiest, cold, multiSignature, mostVoted.wallet].map((row): [unknown[], object] => [[row.address], { account: flatAccount(row) }])),
    ...refused([[nobody], "Account not found"]),
  ],
  "accounts.count": found([[], { count: walletRows.length }]),
  "accounts.delegates": [
    ...found(
      ...[voter, busiest, locker]
        .filter(({ vote }) => vote !== null)
        .map(({ address, vote }): [unknown[], object] => [[address], { delegates: delegateRows.filter(({ publicKey }) => publicKey === vote).map(sought) }]),
    ),
    ...refused([[nobody], "Address not found."], [[withoutVote.address], `Address ${withoutVote.address} hasn't voted yet.`]),
  ],
  "accounts.fee": found([[], { fee: staticFees.delegateRegistration }]),
  "accounts.balance": found(
    [[busiest.address], { balance: busiest.balance, unconfirmedBalance: busiest.balance }],
    [[cold.address], { balance: cold.balance, unconfirmedBalance: cold.balance }],
    [[nobody], { balance: "0", unconfirmedBalance: "0" }],
  ),
  "accounts.publicKey": [
    ...found([[busiest.address], { publicKey: busiest.publicKey }], [[cold.address], { publicKey: null }]),
    ...refused([[nobody], "Account not found"]),
  ],
  "accounts.top": found(
    [[], { accounts: page(richest.map(topAccount)) }],
    [[{ limit: 5, offset: 3 }], { accounts: page(richest.map(topAccount), { limit: 5, offset: 3 }) }],
  ),
};

const delegates: Record<string, Call[]> = {
  "delegates.all": found(
    [[], { delegates: page(byRank.map(listed), { limit: 51 }), totalCount: delegateRows.length }],
    [[{ offset: 51, limit: 51 }], { delegates: page(byRank.map(listed), { offset: 51, limit: 51 }), totalCount: delegateRows.length }],
    [[{ orderBy: "rate:asc", limit: 1 }], { delegates: page(byRank.map(listed), { limit: 1 }), totalCount: delegateRows.length }],
  ),
  "delegates.get": [
    ...found(
      ...[mostVoted.username, mostVoted.publicKey, mostVoted.address].map((id): [unknown[], object] => [[id], { delegate: listed(mostVoted), delegates: [listed(mostVoted)] }]),
      [[resigned.username], { delegate: listed(resigned), delegates: [listed(resigned)] }],
    ),
    ...refused([["nobody"], "Delegate not found"], [[undefined], "Delegate not found"]),
  ],
  "delegates.count": found([[], { count: delegateRows.length }]),
  "delegates.fee": found([[], { fee: staticFees.delegateRegistration, delegate: listed(byRank[0] ?? mostVoted) }]),
  "delegates.forged": found(
    ...[mostVoted, resigned].map(({ publicKey, forgedFees, forgedRewards, forgedTotal }): [unknown[], object] => [
      [publicKey],
      { fees: amount(forgedFees), rewards: amount(forgedRewards), forged: amount(forgedTotal) },
    ]),
  ),
  "delegates.search": found(
    [[{ q: "s_4" }], { delegates: byRank.filter(({ username }) => username.includes("s_4")).map(sought) }],
    [[{ q: "s_", limit: 10 }], { delegates: page(byRank.filter(({ username }) => username.includes("s_")).map(sought), { limit: 10 }) }],
    [[{ q: "nobody" }], { delegates: [] }],
  ),
  "delegates.voters": found([
    [mostVoted.publicKey],
    {
      accounts: richest
        .filter((row) => votersOf(mostVoted).includes(row))
        .map(({ username, address, publicKey, balance }) => ({ username, address, publicKey, balance: amount(balance) })),
    },
  ]),
};

const blocks: Record<string, Call[]> = {
  "blocks.all": found(
    [[], { blocks: page(newestBlocks.map(block)), count: blockRows.length }],
    [[{ orderBy: "height:desc", limit: 25, offset: 25 }], { blocks: page(newestBlocks.map(block), { limit: 25, offset: 25 }), count: blockRows.length }],
    [[{ height: 77 }], { blocks: blockRows.filter(({ height }) => height === 77).map(block), count: 1 }],
    [
      [{ generatorPublicKey: mostVoted.publicKey, limit: 1, orderBy: "height:desc" }],
      { blocks: page(newestBlocks.filter(({ generatorPublicKey }) => generatorPublicKey === mostVoted.publicKey).map(block), { limit: 1 }), count: mostVoted.producedBlocks },
    ],
  ),
  "blocks.get": [...found([[fullest.id], { block: block(fullest) }], [["1"], { block: block(blockRows[0] ?? fullest) }]), ...refused([["0"], "Block with id 0 not found"])],
  "blocks.epoch": found([[], { epoch }]),
  "blocks.fee": found([[], { fee: staticFees.transfer }]),
  "blocks.fees": found([[], { fees: feeMembers }]),
  "blocks.height": found([[], { height: tip.height, id: tip.id }]),
  "blocks.milestone": found([[], { milestone: 0 }]),
  "blocks.nethash": found([[], { nethash }]),
  "blocks.reward": found([[], { reward }]),
  "blocks.status": found([[], { epoch, height: tip.height, fee: staticFees.transfer, milestone: 0, nethash, reward, supply }]),
  "blocks.supply": found([[], { supply }]),
};

const owned = newest.filter(ownedBy(busiest.address));
const sent = newest.filter(sentBy(busiest.address));

const transactions: Record<string, Call[]> = {
  "transactions.all": found(
    [[], { transactions: page(newest.map(transaction)), count: newest.length }],
    [
      [{ senderId: busiest.address, recipientId: busiest.address, orderBy: "timestamp:desc", limit: 50, offset: 50 }],
      { transactions: page(owned.map(transaction), { limit: 50, offset: 50 }), count: owned.length },
    ],
    [[{ senderId: busiest.address, limit: 10 }], { transactions: page(sent.map(transaction), { limit: 10 }), count: sent.length }],
    [
      [{ senderId: busiest.address, type: 4 }],
      {
        transactions: page(newest.filter((row) => row.type === 4 || row.sender === busiest.address).map(transaction)),
        count: newest.filter((row) => row.type === 4 || row.sender === busiest.address).length,
      },
    ],
    [[{ senderId: nobody }], { transactions: [], count: 0 }],
  ),
  "transactions.get": [
    ...found(...newest.filter((_, index) => index % 500 === 0).map((row): [unknown[], object] => [[row.id], { transaction: transaction(row) }])),
    ...refused([[noHash], "No transactions found"]),
  ],
  "transactions.allUnconfirmed": found([[], { transactions: unconfirmed.map(waiting), count: unconfirmed.length }], [[{ limit: 1, offset: 1 }], { transactions: unconfirmed.slice(1).map(waiting), count: unconfirmed.length }]),
  "transactions.getUnconfirmed": [...found(...unconfirmed.map((data): [unknown[], object] => [[data.id], { transaction: waiting(data) }])), ...refused([[noHash], "Transaction not found"])],
};

const others = (node: RunningNode): Record<string, Call[]> => {
  const peers = publicPeersAt(node.port).map(({ latency, status, ...peer }) => ({ ...peer, status: status === 200 ? "OK" : String(status), delay: latency }));
  return {
    "loader.status": found([[], { loaded: false, now: tip.height, blocksCount: blocksBehind }]),
    "loader.syncing": found([[], { syncing: true, blocks: blocksBehind, height: tip.height, id: tip.id }]),
    "loader.configuration": found([[], { network: { nethash, token: client.token, symbol: client.symbol, explorer: client.explorer, version: pubKeyHash, ports } }]),
    "peers.all": found([[], { peers, totalCount: peers.length }], [[{ status: "OK", limit: 1 }], { peers: peers.filter(({ status }) => status === "OK").slice(0, 1), totalCount: 3 }]),
    "peers.get": [
      ...found(...peers.map((peer): [unknown[], object] => [[peer.ip, peer.port], { peer }])),
      ...refused([["10.0.0.4", 4001], "Peer 10.0.0.4:4001 not found"], [["127.0.0.1", 1], "Peer 127.0.0.1:1 not found"]),
    ],
    "peers.version": found([[], { version: meta.nodeConfiguration.data.core === undefined ? "" : (meta.nodeConfiguration.data.core as { version: string }).version }]),
    "signatures.fee": found([[], { fee: staticFees.secondSignature }]),
  };
};

export const firstCallsOf = (node: RunningNode): Record<string, Call[]> => ({ ...accounts, ...delegates, ...blocks, ...transactions, ...others(node) });
