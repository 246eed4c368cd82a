import { type Figures, type BlockRow, type LockRow, type RankedDelegate, shownAsset, timestampOf, type TransactionRow, type WalletRow } from "./figures.js";
import type { Filter, Kind, Value } from "./naive-list.js";

/** A row, or value, from the middle of the list. */
const middle = <T>(rows: T[]): T => rows[Math.floor(rows.length / 2)] as T;

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const amount = (value: unknown): bigint => BigInt(String(value));

const exactly = <Row>(name: string, rows: Row[], value: (row: Row) => Value | undefined): Filter<Row>[] => {
  const having = rows.filter((row) => value(row) !== undefined && value(row) !== null);
  if (having.length === 0) return [];
  const wanted = value(middle(having));
  return [{ body: { [name]: wanted }, passes: (row) => value(row) === wanted }];
};

/** From the first third to the second of the values that occur, bounds included; and with a lower bound only. */
const between = <Row>(name: string, rows: Row[], value: (row: Row) => bigint | number | null): Filter<Row>[] => {
  const values = rows.map(value).filter((each) => each !== null).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  if (values.length === 0) return [];
  const from = values[Math.floor(values.length / 3)] as bigint | number;
  const to = values[Math.floor((2 * values.length) / 3)] as bigint | number;
  const passes = (row: Row, upTo: bigint | number | undefined, least: bigint | number): boolean => {
    const has = value(row);
    return has !== null && has >= least && (upTo === undefined || has <= upTo);
  };
  return [
    { body: { [name]: { from, to } }, passes: (row) => passes(row, to, from) },
    { body: { [name]: { from: to } }, passes: (row) => passes(row, undefined, to) },
  ];
};

/** As ARK Core 3 has them: what there is not is absent. */
const attributesOf = ({ delegate, vote, secondPublicKey, multiSignature, lockedBalance }: WalletRow): object => {
  const { username, voteBalance, forgedFees, forgedRewards, producedBlocks, rank, resigned } = delegate ?? {};
  const asDelegate = { username, voteBalance, forgedFees, forgedRewards, producedBlocks, rank: rank ?? undefined, resigned: resigned || undefined };
  const htlc = amount(lockedBalance ?? 0) === 0n ? undefined : { lockedBalance };
  const all = { delegate: delegate && asDelegate, vote, secondPublicKey, multiSignature, htlc };
  return JSON.parse(JSON.stringify(all, (_, value: unknown) => value ?? undefined)) as object;
};

export const walletKind: Kind<WalletRow> = {
  filters: (rows) => {
    const some = [rows[0], middle(rows), rows.at(-1)].flatMap((row) => (row === undefined ? [] : [row.address]));
    return [
      ...exactly("address", rows, ({ address }) => address),
      { body: { addresses: [...some, "AnAddressThatNobodyHasEverSeen12345"] }, passes: ({ address }) => some.includes(address) },
      ...exactly("publicKey", rows, ({ publicKey }) => publicKey),
      ...exactly("secondPublicKey", rows, ({ secondPublicKey }) => secondPublicKey),
      ...exactly("vote", rows, ({ vote }) => vote),
      ...exactly("username", rows, ({ username }) => username),
      ...between("balance", rows, ({ balance }) => amount(balance)),
      { body: { balance: { to: -1 } }, passes: ({ balance }) => amount(balance) < 0n },
      ...between("nonce", rows, ({ nonce }) => amount(nonce)),
      ...between("producedBlocks", rows, ({ delegate }) => delegate?.producedBlocks ?? 0),
      { body: { producedBlocks: 6 }, passes: ({ delegate }) => delegate?.producedBlocks === 6 },
      { body: { voteBalance: { from: 1 } }, passes: ({ delegate }) => amount(delegate?.voteBalance ?? 0) >= 1n },
      { body: { voteBalance: { to: 0 } }, passes: ({ delegate }) => amount(delegate?.voteBalance ?? 0) <= 0n },
      { body: { votebalance: { to: 244_100_000_000_000 } }, passes: ({ delegate }) => amount(delegate?.voteBalance ?? 0) <= 244_100_000_000_000n },
    ];
  },
  orders: {
    address: ({ address }) => address,
    publicKey: ({ publicKey }) => publicKey,
    username: ({ username }) => username,
    balance: ({ balance }) => amount(balance),
    voteBalance: ({ delegate }) => amount(delegate?.voteBalance ?? 0),
    nonce: ({ nonce }) => amount(nonce),
  },
  defaultOrder: "balance:desc",
  tie: (a, b) => compareText(a.address, b.address),
  key: ({ address }) => address,
  present: (row) => ({
    address: row.address,
    publicKey: row.publicKey,
    username: row.username,
    secondPublicKey: row.secondPublicKey,
    balance: amount(row.balance),
    isDelegate: row.isDelegate,
    vote: row.vote,
    lockedBalance: amount(row.lockedBalance ?? 0),
    nonce: row.nonce,
    isResigned: row.resigned,
    ...(row.multiSignature === null ? {} : { multiSignature: row.multiSignature }),
    attributes: attributesOf(row),
  }),
};

/** In percent: hundredths in whole numbers, halves up. */
const productivity = ({ producedBlocks, missedBlocks }: RankedDelegate): number | null => {
  const turns = producedBlocks + missedBlocks;
  return turns === 0 ? null : Number((BigInt(producedBlocks) * 20_000n + BigInt(turns)) / BigInt(2 * turns)) / 100;
};

/** A delegate with its wallet. */
export interface DelegateRow extends RankedDelegate {
  wallet: WalletRow;
}

export const delegateRowsOf = (figures: Figures): DelegateRow[] =>
  figures.delegateRows.map((delegate) => {
    const wallet = figures.walletRows.find(({ username }) => username === delegate.username);
    if (wallet === undefined) throw new Error(`no wallet of ${delegate.username}`);
    return { ...delegate, wallet };
  });

export const delegateKind: Kind<DelegateRow> = {
  filters: (rows) => {
    const some = [rows[0], middle(rows), rows.at(-1)].flatMap((row) => (row === undefined ? [] : [row.username]));
    return [
      { body: { username: "s_4" }, passes: ({ username }) => username.includes("s_4") },
      { body: { usernames: [...some, "nobody"] }, passes: ({ username }) => some.includes(username) },
      ...exactly("address", rows, ({ address }) => address),
      ...exactly("publicKey", rows, ({ publicKey }) => publicKey),
      ...exactly("secondPublicKey", rows, ({ wallet }) => wallet.secondPublicKey),
      ...exactly("vote", rows, ({ wallet }) => wallet.vote),
      ...between("balance", rows, ({ wallet }) => amount(wallet.balance)),
      ...between("approval", rows, ({ approval }) => approval),
      ...between("forgedFees", rows, ({ forgedFees }) => amount(forgedFees)),
      ...between("forgedRewards", rows, ({ forgedRewards }) => amount(forgedRewards)),
      ...between("forgedTotal", rows, ({ forgedTotal }) => amount(forgedTotal)),
      ...between("producedBlocks", rows, ({ producedBlocks }) => producedBlocks),
      ...between("missedBlocks", rows, ({ missedBlocks }) => missedBlocks),
      ...between("productivity", rows, productivity),
      ...between("voteBalance", rows, ({ voteBalance }) => amount(voteBalance)),
      ...between("voters", rows, ({ voters }) => voters),
    ];
  },
  orders: {
    username: ({ username }) => username,
    rank: ({ rank }) => rank,
    votes: ({ voteBalance }) => amount(voteBalance),
    address: ({ address }) => address,
    publicKey: ({ publicKey }) => publicKey,
    approval: ({ approval }) => approval,
    producedBlocks: ({ producedBlocks }) => producedBlocks,
    missedBlocks: ({ missedBlocks }) => missedBlocks,
    productivity,
    forgedFees: ({ forgedFees }) => amount(forgedFees),
    forgedRewards: ({ forgedRewards }) => amount(forgedRewards),
    forgedTotal: ({ forgedTotal }) => amount(forgedTotal),
    voteBalance: ({ voteBalance }) => amount(voteBalance),
    voters: ({ voters }) => voters,
  },
  defaultOrder: "rank:asc",
  tie: (a, b) => compareText(a.username, b.username),
  key: ({ username }) => username,
  present: (row) => ({
    username: row.username,
    address: row.address,
    publicKey: row.publicKey,
    votes: amount(row.voteBalance),
    voters: row.voters,
    ...(row.rank === null ? {} : { rank: row.rank }),
    isResigned: row.resigned,
    blocks: {
      produced: row.producedBlocks,
      missed: row.missedBlocks,
      ...(row.lastBlock === null ? {} : { last: { id: row.lastBlock.id, height: row.lastBlock.height, timestamp: timestampOf(row.lastBlock.timestamp) } }),
    },
    production: { approval: row.approval, productivity: productivity(row) },
    forged: { fees: amount(row.forgedFees), rewards: amount(row.forgedRewards), total: amount(row.forgedTotal) },
  }),
};

export const blockKindOf = ({ tip }: Figures): Kind<BlockRow> => ({
  filters: (rows) => [
    ...exactly("id", rows, ({ id }) => id),
    ...exactly("version", rows, ({ version }) => version),
    ...exactly("previousBlock", rows, ({ previousBlock }) => previousBlock),
    ...exactly("payloadHash", rows, ({ payloadHash }) => payloadHash),
    ...exactly("generatorPublicKey", rows, ({ generatorPublicKey }) => generatorPublicKey),
    ...exactly("blockSignature", rows, ({ blockSignature }) => blockSignature),
    ...between("timestamp", rows, ({ timestamp }) => timestamp),
    ...between("height", rows, ({ height }) => height),
    ...between("numberOfTransactions", rows, ({ numberOfTransactions }) => numberOfTransactions),
    ...between("totalAmount", rows, ({ totalAmount }) => amount(totalAmount)),
    { body: { totalAmount: { from: 12_499_999_999_999_999n } }, passes: ({ totalAmount }) => amount(totalAmount) >= 12_499_999_999_999_999n },
    ...between("totalFee", rows, ({ totalFee }) => amount(totalFee)),
    ...between("reward", rows, ({ reward }) => amount(reward)),
    ...between("payloadLength", rows, ({ payloadLength }) => payloadLength),
  ],
  orders: {
    height: ({ height }) => height,
    timestamp: ({ timestamp }) => timestamp,
    version: ({ version }) => version ?? 0,
    id: ({ id }) => id,
    numberOfTransactions: ({ numberOfTransactions }) => numberOfTransactions,
    totalAmount: ({ totalAmount }) => amount(totalAmount),
    totalFee: ({ totalFee }) => amount(totalFee),
    reward: ({ reward }) => amount(reward),
    payloadLength: ({ payloadLength }) => payloadLength,
  },
  defaultOrder: "height:desc",
  tie: (a, b) => b.height - a.height,
  key: ({ id }) => id,
  present: (row) => ({
    id: row.id,
    version: row.version,
    height: row.height,
    previous: row.height === 1 ? null : row.previousBlock,
    forged: {
      reward: amount(row.reward),
      fee: amount(row.totalFee),
      total: amount(row.reward) + amount(row.totalFee),
      amount: amount(row.totalAmount),
    },
    payload: { hash: row.payloadHash, length: row.payloadLength },
    generator: row.generator,
    signature: row.blockSignature,
    confirmations: tip.height - row.height,
    transactions: row.numberOfTransactions,
    timestamp: timestampOf(row.timestamp),
  }),
});

const hexOf = (text: string | undefined): string => Buffer.from(text ?? "", "utf8").toString("hex");

export const transactionKindOf = ({ tip }: Figures): Kind<TransactionRow> => ({
  filters: (rows) => {
    const someone = middle(rows).sender;
    const [many] = rows.filter(({ recipients }) => recipients.length > 1);
    const receiver = many?.recipients[1] ?? middle(rows).recipient;
    const owns = (row: TransactionRow, address: string): boolean => row.sender === address || row.recipients.includes(address);
    return [
      ...exactly("id", rows, ({ id }) => id),
      ...exactly("blockId", rows, ({ block }) => block.id),
      ...exactly("type", rows, ({ type }) => type),
      { body: { type: 6 }, passes: ({ type }) => type === 6 },
      ...exactly("typeGroup", rows, ({ typeGroup }) => typeGroup),
      ...exactly("version", rows, ({ version }) => version),
      ...exactly("senderPublicKey", rows, ({ senderPublicKey }) => senderPublicKey),
      { body: { senderId: someone }, passes: ({ sender }) => sender === someone },
      { body: { recipientId: receiver }, passes: ({ recipients }) => recipients.includes(receiver) },
      { body: { ownerId: receiver }, passes: (row) => owns(row, receiver) },
      { body: { addresses: [someone, receiver] }, passes: (row) => owns(row, someone) || owns(row, receiver) },
      ...exactly("vendorField", rows, ({ vendorField }) => vendorField),
      { body: { vendorFieldHex: "e29883" }, passes: ({ vendorField }) => hexOf(vendorField).includes("e29883") },
      { body: { vendorFieldHex: "6F" }, passes: ({ vendorField }) => hexOf(vendorField).includes("6f") },
      ...between("timestamp", rows, ({ time }) => time),
      ...between("amount", rows, (row) => amount(row.amount)),
      ...between("fee", rows, ({ fee }) => amount(fee)),
      { body: { nonce: 2 }, passes: ({ nonce }) => nonce !== undefined && amount(nonce) === 2n },
    ];
  },
  orders: {
    timestamp: ({ block }) => block.height,
    type: ({ type }) => type,
    amount: (row) => amount(row.amount),
    fee: ({ fee }) => amount(fee),
    version: ({ version }) => version,
    id: ({ id }) => id,
  },
  defaultOrder: "timestamp:desc",
  tie: (a, b) => b.block.height - a.block.height || b.sequence - a.sequence,
  key: ({ id }) => id,
  present: (row) => ({
    id: row.id,
    version: row.version,
    type: row.type,
    typeGroup: row.typeGroup,
    amount: amount(row.amount),
    fee: amount(row.fee),
    sender: row.sender,
    senderPublicKey: row.senderPublicKey,
    recipient: row.recipient,
    signature: row.signature,
    signSignature: row.secondSignature ?? null,
    signatures: row.signatures,
    vendorField: row.vendorField === "" ? undefined : row.vendorField,
    asset: row.asset === undefined || Object.keys(row.asset).length === 0 ? undefined : shownAsset(row.asset),
    nonce: row.nonce === undefined ? undefined : String(row.nonce),
    blockId: row.block.id,
    confirmations: tip.height - row.block.height + 1,
    timestamp: timestampOf(row.time),
  }),
});

export const lockKindOf = ({ tip }: Figures): Kind<LockRow> => {
  const expired = ({ expiration: { type, value } }: LockRow): boolean => (type === 1 ? value <= tip.timestamp : value <= tip.height);
  return {
    filters: (rows) => [
      ...exactly("lockId", rows, ({ lockId }) => lockId),
      ...exactly("senderPublicKey", rows, ({ sender }) => sender.publicKey),
      ...exactly("senderId", rows, ({ sender }) => sender.address),
      ...exactly("recipientId", rows, ({ recipientId }) => recipientId),
      ...exactly("secretHash", rows, ({ secretHash }) => secretHash),
      { body: { isExpired: true }, passes: expired },
      { body: { isExpired: false }, passes: (row) => !expired(row) },
      { body: { expirationType: 1 }, passes: ({ expiration }) => expiration.type === 1 },
      ...between("amount", rows, (row) => amount(row.amount)),
      ...between("expirationValue", rows, ({ expiration }) => expiration.value),
      ...between("timestamp", rows, ({ timestamp }) => timestamp),
    ],
    orders: {
      timestamp: ({ timestamp }) => timestamp,
      amount: (row) => amount(row.amount),
      expirationValue: ({ expiration }) => expiration.value,
      lockId: ({ lockId }) => lockId,
    },
    defaultOrder: "timestamp:desc",
    tie: (a, b) => compareText(a.lockId, b.lockId),
    key: ({ lockId }) => lockId,
    present: (row) => ({
      lockId: row.lockId,
      senderPublicKey: row.sender.publicKey,
      senderId: row.sender.address,
      recipientId: row.recipientId,
      isExpired: expired(row),
      amount: amount(row.amount),
      secretHash: row.secretHash,
      timestamp: timestampOf(row.timestamp),
      expirationType: row.expiration.type,
      expirationValue: row.expiration.value,
      vendorField: row.vendorField === "" ? undefined : row.vendorField,
    }),
  };
};
