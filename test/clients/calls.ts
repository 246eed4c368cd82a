import { Ajv } from "ajv";
import { expect } from "chai";
import {
  blockRows, busiest, configurationBody, cryptoBody, delegateRows, endingOf, endings, feesBody, fullest, isVote, listBlocks,
  listDelegates, listLocks, listPeers, listTransactions, listUnconfirmed, listWallets, locker, lockRows, meta, mostVoted, notFound,
  ownedBy, receivedBy, roundBody, sentBy, showBlock, showDelegate, showLock, showTransaction, showWallet, staticFees, statusBody,
  syncingBody, tip, transactionRows, typesBody, unconfirmedData, voter, votersOf, votes, walletRows,
} from "./knowledge.js";
import { publicPeersAt, type RunningNode, unconfirmed } from "./running-node.js";

/** One call of a client's method, with the whole expected answer. Amounts are bigints. */
export interface Call {
  args: unknown[];
  status?: number;
  body: unknown;
  /** Checks the body instead, when there is no single right one. */
  check?: (body: unknown) => void;
  /** Only for clients whose search methods accept a query besides the body. */
  withQuery?: true;
}

const amount = (value: unknown): bigint => BigInt(String(value));
const nobody = "ANobodyHasEverSeenThisAddress34xxx";
const noHash = "e".repeat(64);
const noKey = "02".padEnd(66, "c");
const key = String(busiest.publicKey);
const someAddresses = [busiest, voter, locker].map(({ address }) => address);
const anyOf =
  <Row>(...tests: ((row: Row) => boolean)[]) =>
  (row: Row): boolean =>
    tests.some((test) => test(row));
const withSecondSignature = walletRows.find(({ secondPublicKey }) => secondPublicKey !== null) ?? busiest;
const multiSignature = walletRows.find((row) => row.multiSignature !== null) ?? busiest;
const cold = walletRows.find(({ publicKey }) => publicKey === null) ?? busiest;
const [resigned] = delegateRows.filter((row) => row.resigned);
const [fresh] = delegateRows.filter(({ lastBlock }) => lastBlock === null);
const someEndings = endings.slice(0, 4);
const lastVote = votes.at(-1) ?? transactionRows[0];
const [aTransfer, aPayment, aForeign] = [
  transactionRows.findLast(({ type, typeGroup }) => type === 0 && typeGroup === 1),
  transactionRows.findLast(({ type, typeGroup }) => type === 6 && typeGroup === 1),
  transactionRows.findLast(({ typeGroup }) => typeGroup === 2),
];
if (resigned === undefined || fresh === undefined || lastVote === undefined || aTransfer === undefined || aPayment === undefined || aForeign === undefined) {
  throw new Error("the chain has not all that the calls are about");
}

const found = (...calls: [args: unknown[], body: unknown][]): Call[] => calls.map(([args, body]) => ({ args, body }));
const missing = (what: string, ...argLists: unknown[][]): Call[] => argLists.map((args) => ({ args, status: 404, body: notFound(what) }));
const pagedSearch = (...calls: [args: [unknown, Record<string, string | number>], body: unknown][]): Call[] =>
  calls.map(([args, body]) => ({ args, body, withQuery: true }));

/** Not part of the interface: these belong to separate products. */
const elsewhere: Record<string, Call[]> = {
  "bridgechains.all": missing("", [], [{ page: 1 }]),
  "bridgechains.get": missing("", ["1"]),
  "bridgechains.search": missing("", [{ name: "x" }]),
  "businesses.all": missing("", [], [{ page: 1 }]),
  "businesses.get": missing("", ["1"]),
  "businesses.bridgechains": missing("", ["1"]),
  "businesses.bridgechain": missing("", ["1", "2"]),
  "businesses.search": missing("", [{ name: "x" }]),
};

/** Signed transactions of the chain: the last of each core type in version 2. The host declares no other types. */
const lastOfEachKind = [...new Map(transactionRows.filter(({ version, typeGroup }) => version === 2 && typeGroup === 1).map((row) => [`${row.typeGroup}/${row.type}`, row])).values()];

/** The schemas must accept every type of transaction on the chain, and refuse it with invalid members. */
const checkSchemas = (body: unknown): void => {
  const { data } = body as { data: Record<string, Record<string, object>> };
  const ajv = new Ajv({ strict: false });
  for (const row of lastOfEachKind) {
    const properties = data[row.typeGroup]?.[row.type];
    expect(properties, `schema of ${row.typeGroup}/${row.type}`).to.be.an("object");
    const passes = ajv.compile({ type: "object", properties });
    const { block: _block, sequence: _sequence, sender: _sender, recipient: _recipient, recipients: _recipients, time: _time, ...wire } = row;
    expect(passes(wire), `${row.id}: ${ajv.errorsText(passes.errors)}`).to.equal(true);
    expect(passes({ ...wire, fee: "-1" }), row.id).to.equal(false);
    expect(passes({ ...wire, senderPublicKey: "04" }), row.id).to.equal(false);
  }
  expect(lastOfEachKind).to.have.lengthOf(11);
};

const wallets: Record<string, Call[]> = {
  "wallets.all": found(
    [[], listWallets({ path: "wallets" })],
    [[{ page: 2, limit: 50 }], listWallets({ path: "wallets", query: { page: 2, limit: 50 } })],
    [[{ page: 5, limit: 99, orderBy: "address:asc" }], listWallets({ path: "wallets", query: { page: 5, limit: 99, orderBy: "address:asc" }, order: "address:asc" })],
    [[{ vote: mostVoted.publicKey }], listWallets({ path: "wallets", query: { vote: mostVoted.publicKey }, passes: ({ vote }) => vote === mostVoted.publicKey })],
    [[{ page: 9, limit: 100 }], listWallets({ path: "wallets", query: { page: 9, limit: 100 } })],
  ),
  "wallets.top": found([[], listWallets({ path: "wallets/top" })], [[{ page: 2, limit: 25 }], listWallets({ path: "wallets/top", query: { page: 2, limit: 25 } })]),
  "wallets.get": [
    ...found(
      [[busiest.address], showWallet(busiest)],
      [[key], showWallet(busiest)],
      [[cold.address], showWallet(cold)],
      [[withSecondSignature.address], showWallet(withSecondSignature)],
      [[multiSignature.address], showWallet(multiSignature)],
      [[mostVoted.username], showWallet(mostVoted.wallet)],
      [[locker.address], showWallet(locker)],
    ),
    ...missing("Wallet", [nobody], [noKey], ["nobody"]),
  ],
  "wallets.transactions": [
    ...found(
      [[busiest.address], listTransactions({ path: `wallets/${busiest.address}/transactions`, passes: ownedBy(busiest.address) })],
      [
        [key, { page: 2, limit: 13, orderBy: "timestamp:desc" }],
        listTransactions({ path: `wallets/${key}/transactions`, query: { page: 2, limit: 13, orderBy: "timestamp:desc" }, passes: ownedBy(busiest.address) }),
      ],
      [
        [busiest.address, { type: 0 }],
        listTransactions({ path: `wallets/${busiest.address}/transactions`, query: { type: 0 }, passes: (row) => row.type === 0 && ownedBy(busiest.address)(row) }),
      ],
    ),
    ...missing("Wallet", [nobody]),
  ],
  "wallets.transactionsSent": [
    ...found(
      [[busiest.address], listTransactions({ path: `wallets/${busiest.address}/transactions/sent`, passes: sentBy(busiest.address) })],
      [[key, { page: 2, limit: 10 }], listTransactions({ path: `wallets/${key}/transactions/sent`, query: { page: 2, limit: 10 }, passes: sentBy(busiest.address) })],
    ),
    ...missing("Wallet", [nobody]),
  ],
  "wallets.transactionsReceived": [
    ...found(
      [[busiest.address], listTransactions({ path: `wallets/${busiest.address}/transactions/received`, passes: receivedBy(busiest.address) })],
      [[key, { page: 2, limit: 10 }], listTransactions({ path: `wallets/${key}/transactions/received`, query: { page: 2, limit: 10 }, passes: receivedBy(busiest.address) })],
      [[cold.address], listTransactions({ path: `wallets/${cold.address}/transactions/received`, passes: receivedBy(cold.address) })],
    ),
    ...missing("Wallet", [nobody]),
  ],
  "wallets.votes": [
    ...found(
      [[voter.address], listTransactions({ path: `wallets/${voter.address}/votes`, passes: (row) => isVote(row) && row.sender === voter.address })],
      [[cold.address], listTransactions({ path: `wallets/${cold.address}/votes`, passes: () => false })],
    ),
    ...missing("Wallet", [nobody]),
  ],
  "wallets.locks": [
    ...found(
      [[locker.address], listLocks({ path: `wallets/${locker.address}/locks`, passes: ({ sender }) => sender.address === locker.address })],
      [
        [locker.address, { limit: 1, orderBy: "amount:asc" }],
        listLocks({ path: `wallets/${locker.address}/locks`, query: { limit: 1, orderBy: "amount:asc" }, passes: ({ sender }) => sender.address === locker.address, order: "amount:asc" }),
      ],
    ),
    ...missing("Wallet", [nobody]),
  ],
  "wallets.search": [
    ...found(
      [[{}], listWallets({ path: "wallets/search" })],
      [[{ addresses: [...someAddresses, nobody] }], listWallets({ path: "wallets/search", passes: ({ address }) => someAddresses.includes(address) })],
      [
        [{ vote: mostVoted.publicKey, balance: { from: 1e7 } }],
        listWallets({ path: "wallets/search", passes: ({ vote, balance }) => vote === mostVoted.publicKey && amount(balance) >= 10_000_000n }),
      ],
      [
        [{ votebalance: { from: 1, to: Number(mostVoted.voteBalance) } }],
        listWallets({ path: "wallets/search", passes: ({ delegate }) => amount(delegate?.voteBalance ?? 0) >= 1n && amount(delegate?.voteBalance ?? 0) <= amount(mostVoted.voteBalance) }),
      ],
      [[{ username: mostVoted.username }], listWallets({ path: "wallets/search", passes: ({ username }) => username === mostVoted.username })],
      [[{ address: nobody }], listWallets({ path: "wallets/search", passes: () => false })],
    ),
    ...pagedSearch([
      [{ balance: { to: 1_000_000_000 } }, { page: 2, limit: 7, orderBy: "balance:asc" }],
      listWallets({ path: "wallets/search", query: { page: 2, limit: 7, orderBy: "balance:asc" }, passes: ({ balance }) => amount(balance) <= 1_000_000_000n, order: "balance:asc" }),
    ]),
  ],
};

const delegates: Record<string, Call[]> = {
  "delegates.all": found(
    [[], listDelegates({ path: "delegates" })],
    [[{ page: 1, limit: 51, orderBy: "rank:asc" }], listDelegates({ path: "delegates", query: { page: 1, limit: 51, orderBy: "rank:asc" } })],
    [[{ page: 2, limit: 51, orderBy: "rank:asc" }], listDelegates({ path: "delegates", query: { page: 2, limit: 51, orderBy: "rank:asc" } })],
    [[{ orderBy: "votes:desc", limit: 10 }], listDelegates({ path: "delegates", query: { orderBy: "votes:desc", limit: 10 }, order: "votes:desc" })],
  ),
  "delegates.get": [
    ...found(
      ...[mostVoted.username, mostVoted.address, mostVoted.publicKey].map((id): [unknown[], unknown] => [[id], showDelegate(mostVoted)]),
      [[resigned.username], showDelegate(resigned)],
      [[fresh.username], showDelegate(fresh)],
    ),
    ...missing("Delegate", ["nobody"], [nobody], [cold.address]),
  ],
  "delegates.blocks": [
    ...found(
      ...[mostVoted.username, mostVoted.address, mostVoted.publicKey].map((id): [unknown[], unknown] => [
        [id, { page: 1, limit: 5 }],
        listBlocks({ path: `delegates/${id}/blocks`, query: { page: 1, limit: 5 }, passes: ({ generatorPublicKey }) => generatorPublicKey === mostVoted.publicKey }),
      ]),
      [[fresh.publicKey], listBlocks({ path: `delegates/${fresh.publicKey}/blocks`, passes: () => false })],
    ),
    ...missing("Delegate", ["nobody"]),
  ],
  "delegates.voters": [
    ...found(
      [[mostVoted.username], listWallets({ path: `delegates/${mostVoted.username}/voters`, passes: (row) => votersOf(mostVoted).includes(row) })],
      [
        [mostVoted.publicKey, { page: 2, limit: 3 }],
        listWallets({ path: `delegates/${mostVoted.publicKey}/voters`, query: { page: 2, limit: 3 }, passes: (row) => votersOf(mostVoted).includes(row) }),
      ],
    ),
    ...missing("Delegate", ["nobody"]),
  ],
  "delegates.search": [
    ...found(
      [[{ username: "s_4" }], listDelegates({ path: "delegates/search", passes: ({ username }) => username.includes("s_4") })],
      [
        [{ usernames: [mostVoted.username, resigned.username, "nobody"] }],
        listDelegates({ path: "delegates/search", passes: ({ username }) => [mostVoted.username, resigned.username].includes(username) }),
      ],
      [
        [{ producedBlocks: { from: 6 }, approval: { to: 2.5 } }],
        listDelegates({ path: "delegates/search", passes: ({ producedBlocks, approval }) => producedBlocks >= 6 && approval <= 2.5 }),
      ],
    ),
    ...pagedSearch([
      [{ forgedTotal: { from: 1 } }, { page: 2, limit: 20, orderBy: "forgedTotal:desc" }],
      listDelegates({ path: "delegates/search", query: { page: 2, limit: 20, orderBy: "forgedTotal:desc" }, passes: ({ forgedTotal }) => amount(forgedTotal) >= 1n, order: "forgedTotal:desc" }),
    ]),
  ],
};

const blocks: Record<string, Call[]> = {
  "blocks.all": found(
    [[], listBlocks({ path: "blocks" })],
    [[{ limit: 1 }], listBlocks({ path: "blocks", query: { limit: 1 } })],
    [[{ height: 77 }], listBlocks({ path: "blocks", query: { height: 77 }, passes: ({ height }) => height === 77 })],
    [[{ height: tip.height + 1 }], listBlocks({ path: "blocks", query: { height: tip.height + 1 }, passes: () => false })],
    [
      [{ generatorPublicKey: mostVoted.publicKey, limit: 3, page: 2 }],
      listBlocks({ path: "blocks", query: { generatorPublicKey: mostVoted.publicKey, limit: 3, page: 2 }, passes: ({ generatorPublicKey }) => generatorPublicKey === mostVoted.publicKey }),
    ],
  ),
  "blocks.first": found([[], showBlock(blockRows[0] ?? fullest)]),
  "blocks.last": found([[], showBlock(blockRows.at(-1) ?? fullest)]),
  "blocks.get": [...found([[fullest.id], showBlock(fullest)], [[fullest.height], showBlock(fullest)], [[1], showBlock(blockRows[0] ?? fullest)]), ...missing("Block", ["0"], [tip.height + 1], [noHash])],
  "blocks.transactions": [
    ...found(
      [[fullest.id], listTransactions({ path: `blocks/${fullest.id}/transactions`, passes: ({ block }) => block.id === fullest.id })],
      [
        [fullest.height, { page: 2, limit: 20 }],
        listTransactions({ path: `blocks/${fullest.height}/transactions`, query: { page: 2, limit: 20 }, passes: ({ block }) => block.id === fullest.id }),
      ],
    ),
    ...missing("Block", ["0"]),
  ],
  "blocks.search": [
    ...found(
      [[{ generatorPublicKey: mostVoted.publicKey }], listBlocks({ path: "blocks/search", passes: ({ generatorPublicKey }) => generatorPublicKey === mostVoted.publicKey })],
      [
        [{ height: { from: 100, to: 150 }, numberOfTransactions: { from: 5 } }],
        listBlocks({ path: "blocks/search", passes: ({ height, numberOfTransactions }) => height >= 100 && height <= 150 && numberOfTransactions >= 5 }),
      ],
      [[{ id: fullest.id }], listBlocks({ path: "blocks/search", passes: ({ id }) => id === fullest.id })],
    ),
    ...pagedSearch([
      [{ reward: { from: 1 } }, { page: 3, limit: 30 }],
      listBlocks({ path: "blocks/search", query: { page: 3, limit: 30 }, passes: ({ reward }) => amount(reward) >= 1n }),
    ]),
  ],
};

const transactions: Record<string, Call[]> = {
  "transactions.all": found(
    [[], listTransactions({ path: "transactions" })],
    [[{ page: 3, limit: 25, orderBy: "timestamp:desc" }], listTransactions({ path: "transactions", query: { page: 3, limit: 25, orderBy: "timestamp:desc" } })],
    [[{ senderId: busiest.address, limit: 1 }], listTransactions({ path: "transactions", query: { senderId: busiest.address, limit: 1 }, passes: sentBy(busiest.address) })],
    [[{ type: 6, typeGroup: 1, page: 2 }], listTransactions({ path: "transactions", query: { type: 6, typeGroup: 1, page: 2 }, passes: ({ type, typeGroup }) => type === 6 && typeGroup === 1 })],
    [[{ senderId: nobody }], listTransactions({ path: "transactions", query: { senderId: nobody }, passes: () => false })],
  ),
  "transactions.get": [
    ...found(...[aTransfer, aPayment, aForeign, lastVote].map((row): [unknown[], unknown] => [[row.id], showTransaction(row)])),
    ...missing("Transaction", [noHash], [unconfirmed[0]?.id]),
  ],
  "transactions.allUnconfirmed": found([[], listUnconfirmed()], [[{ page: 2, limit: 1 }], listUnconfirmed({ page: 2, limit: 1 })]),
  "transactions.getUnconfirmed": [
    ...found(...unconfirmed.map(({ id }, index): [unknown[], unknown] => [[id], { data: unconfirmedData[index] }])),
    ...missing("Transaction", [noHash], [aTransfer.id]),
  ],
  "transactions.search": [
    ...found(
      [[{ addresses: someAddresses }], listTransactions({ path: "transactions/search", passes: anyOf(...someAddresses.map(ownedBy)) })],
      [[{ type: 3 }], listTransactions({ path: "transactions/search", passes: ({ type }) => type === 3 })],
      [[{ recipientId: busiest.address }], listTransactions({ path: "transactions/search", passes: receivedBy(busiest.address) })],
      [
        [{ senderId: busiest.address, fee: { from: 10_000_000, to: 20_000_000 } }],
        listTransactions({ path: "transactions/search", passes: (row) => row.sender === busiest.address && amount(row.fee) >= 10_000_000n && amount(row.fee) <= 20_000_000n }),
      ],
      [
        [{ orderBy: "amount:desc", timestamp: { from: fullest.timestamp } }],
        listTransactions({ path: "transactions/search", passes: ({ time }) => time >= fullest.timestamp, order: "amount:desc" }),
      ],
    ),
    ...pagedSearch([
      [{ ownerId: busiest.address }, { limit: 5, page: 2 }],
      listTransactions({ path: "transactions/search", query: { limit: 5, page: 2 }, passes: ownedBy(busiest.address) }),
    ]),
  ],
  "transactions.types": found([[], typesBody]),
  "transactions.fees": found([[], { data: staticFees }]),
  "transactions.schemas": [{ args: [], body: undefined, check: checkSchemas }],
};

const others: Record<string, Call[]> = {
  "votes.all": found(
    [[], listTransactions({ path: "votes", passes: isVote })],
    [[{ page: 2, limit: 11 }], listTransactions({ path: "votes", query: { page: 2, limit: 11 }, passes: isVote })],
  ),
  "votes.get": [...found([[lastVote.id], showTransaction(lastVote)]), ...missing("Vote", [noHash], [aTransfer.id])],
  "rounds.delegates": [...found([[meta.roundOfTip.round], roundBody]), ...missing("Round", [0], [meta.roundOfTip.round + 1])],
  "locks.all": found(
    [[], listLocks({ path: "locks" })],
    [[{ page: 2, limit: 7, orderBy: "amount:desc" }], listLocks({ path: "locks", query: { page: 2, limit: 7, orderBy: "amount:desc" }, order: "amount:desc" })],
    [[{ recipientId: nobody }], listLocks({ path: "locks", query: { recipientId: nobody }, passes: () => false })],
  ),
  "locks.get": [...found(...lockRows.slice(0, 2).map((row): [unknown[], unknown] => [[row.lockId], showLock(row)])), ...missing("Lock", [noHash], [endingOf(someEndings[0] ?? aTransfer)])],
  "locks.search": [
    ...found([
      [{ senderPublicKey: locker.publicKey }],
      listLocks({ path: "locks/search", passes: ({ sender }) => sender.address === locker.address }),
    ]),
    ...pagedSearch([[{ expirationType: 1 }, { limit: 2 }], listLocks({ path: "locks/search", query: { limit: 2 }, passes: ({ expiration }) => expiration.type === 1 })]),
  ],
  "locks.unlocked": [
    ...found([
      [{ ids: someEndings.map(endingOf) }],
      listTransactions({ path: "locks/unlocked", passes: (row) => someEndings.includes(row) }),
    ]),
    ...pagedSearch([
      [{ ids: someEndings.map(endingOf) }, { limit: 3, page: 2 }],
      listTransactions({ path: "locks/unlocked", query: { limit: 3, page: 2 }, passes: (row) => someEndings.includes(row) }),
    ]),
  ],
  "node.configuration": found([[], configurationBody]),
  "node.crypto": found([[], cryptoBody]),
  "node.fees": found([[7], feesBody(7)], [[30], feesBody(30)], [[1], feesBody(1)]),
  "node.status": found([[], statusBody]),
  "node.syncing": found([[], syncingBody]),
};

const peers = (node: RunningNode): Record<string, Call[]> => ({
  "peers.all": found(
    [[], listPeers(node)],
    [[{ limit: 2, page: 2 }], listPeers(node, { limit: 2, page: 2 })],
    [[{ version: "3.9.1" }], listPeers(node, { version: "3.9.1" }, ({ version }) => version === "3.9.1")],
    [[{ os: "linux", status: "OK" }], listPeers(node, { os: "linux", status: "OK" }, ({ os, status }) => os === "linux" && status === 200)],
  ),
  "peers.get": [...found(...publicPeersAt(node.port).map((peer): [unknown[], unknown] => [[peer.ip], { data: peer }])), ...missing("Peer", ["10.0.0.4"], ["10.9.9.9"])],
});

/** Every call of the second generation by `resource.method`, except submitting transactions. */
export const callsOf = (node: RunningNode): Record<string, Call[]> => ({ ...wallets, ...delegates, ...blocks, ...transactions, ...others, ...peers(node), ...elsewhere });
