import type { Chain } from "../../test/data/read.js";
import type { TransactionData } from "../../types/events.js";

/** A request whose reply is an example. */
export interface Ask {
  params?: Record<string, string>;
  query?: string;
  body?: unknown;
  /** Keeps of a text what shows its form. */
  shorten?: (text: string) => string;
}

/** What the file has of an operation. `replyInText`: with amounts as text, where that differs. */
export interface Made {
  params?: Record<string, string>;
  body?: unknown;
  reply?: unknown;
  replyInText?: unknown;
  texts?: Record<string, string>;
}

type Asks = Record<string, () => Ask | Promise<Ask>>;

export interface Surroundings {
  chain: Chain;
  /** URL to which webhooks deliver. */
  target: string;
  /** What has been made so far. */
  made: Partial<Record<string, Made>>;
  get(path: string): Promise<unknown>;
  until(isSo: () => Promise<boolean>): Promise<void>;
}

const ask = (given: Ask = {}) => (): Ask => given;
const firstLines = (count: number) => (text: string): string => `${text.split(/\r?\n/).slice(0, count).join(text.includes("\r\n") ? "\r\n" : "\n")}\n`;

/** Transactions of the chain as they were before they had a block: they stand for what waits in the pool. */
export const waitingOf = ({ blocks }: Chain): TransactionData[] => {
  const transactions = blocks.slice(1).flatMap(({ transactions: list = [] }) => list);
  return [0, 6].flatMap((type) => transactions.filter((one) => one.typeGroup === 1 && one.type === type && one.signatures === undefined).slice(-1)).map(({ blockId: _id, blockHeight: _height, sequence: _sequence, timestamp: _timestamp, ...wire }) => wire);
};

const subjectsOf = (chain: Chain) => {
  const { blocks, wallets, delegates } = chain;
  const transactions = blocks.slice(1).flatMap(({ transactions: list = [] }) => list);
  const ofType = (type: number) => transactions.find((one) => one.typeGroup === 1 && one.type === type)?.id ?? "";
  const voter = wallets.find(({ vote, publicKey, isDelegate }) => vote !== null && publicKey !== null && !isDelegate);
  const locker = wallets.find(({ locks }) => locks !== null && Object.keys(locks).length > 0);
  const delegate = delegates.find(({ resigned, producedBlocks }) => !resigned && producedBlocks > 5);
  const block = blocks.find(({ height }) => height === 401);
  if (block === undefined || voter?.publicKey == null || locker?.locks == null || delegate === undefined) throw new Error("The chain has too little for examples");
  return { voter, locker, delegate, ofType, lock: Object.keys(locker.locks)[0] ?? "", blockId: block.id, waiting: waitingOf(chain)[0]?.id ?? "" };
};

const secondGeneration = ({ voter, locker, delegate, ofType, lock, blockId, waiting }: ReturnType<typeof subjectsOf>): Asks => {
  const [wallet, byName, byId] = [{ params: { id: voter.address } }, { params: { id: delegate.username } }, { params: { id: blockId } }];
  const two = ask({ query: "limit=2" });
  return {
    ...Object.fromEntries(["NodeConfiguration", "NodeConfigurationCrypto", "NodeFees", "NodeStatus", "NodeSyncing", "FirstBlock", "LastBlock", "Blockchain", "TransactionsTypes", "TransactionsFees", "TransactionsSchemas", "Health", "HealthLive", "HealthReady", "Root"].map((name) => [`get${name}`, ask()])),
    ...Object.fromEntries(["Wallets", "TopWallets", "Delegates", "Votes", "Peers", "SuspendedPeers", "Blocks", "Transactions", "UnconfirmedTransactions", "Locks"].map((name) => [`get${name}`, two])),
    ...Object.fromEntries(["Transactions", "TransactionsReceived", "TransactionsSent", "Votes", "History"].map((name) => [`getWallet${name}`, ask({ ...wallet, query: "limit=2" })])),
    getWallet: ask(wallet),
    getWalletLocks: ask({ params: { id: locker.address }, query: "limit=2" }),
    getWalletStatement: ask({ ...wallet, shorten: firstLines(3) }),
    getDelegate: ask(byName),
    getDelegateBlocks: ask({ ...byName, query: "limit=2" }),
    getDelegateVoters: ask({ ...byName, query: "limit=2" }),
    getDelegateVotersBalances: ask(byName),
    getVote: ask({ params: { id: ofType(3) } }),
    getPeer: ask({ params: { ip: "127.0.0.1" } }),
    getBlock: ask(byId),
    getBlockTransactions: ask({ ...byId, query: "limit=2" }),
    getTransaction: ask({ params: { id: ofType(6) } }),
    getBlockProof: ask({ ...byId, query: "confirmations=2" }),
    getTransactionProof: ask({ params: { id: ofType(0) }, query: "confirmations=2" }),
    getUnconfirmedTransaction: ask({ params: { id: waiting } }),
    getRoundDelegates: ask({ params: { id: "5" } }),
    getLock: ask({ params: { id: lock } }),
    searchWallets: ask({ query: "limit=2", body: { balance: { from: 100000000 }, orderBy: "balance:desc" } }),
    searchDelegates: ask({ query: "limit=2", body: { producedBlocks: { from: 5 }, orderBy: "username:asc" } }),
    searchBlocks: ask({ query: "limit=2", body: { height: { from: 100, to: 200 }, orderBy: "timestamp:asc" } }),
    searchTransactions: ask({ query: "limit=2", body: { senderId: voter.address, timestamp: { from: "2026-01-01" }, orderBy: "timestamp:desc" } }),
    searchLocks: ask({ query: "limit=2", body: { isExpired: true, amount: { from: 1 } } }),
    getUnlockedLocks: ask({ query: "limit=2", body: { ids: [lock] } }),
  };
};

const transferOf = ({ blocks }: Chain): Partial<TransactionData> =>
  blocks.flatMap(({ transactions = [] }) => transactions).find(({ type, typeGroup, version, signatures }) => type === 0 && typeGroup === 1 && version === 2 && signatures === undefined) ?? {};

const submitting = (chain: Chain): Asks => {
  const { blockId: _id, blockHeight: _height, sequence: _sequence, timestamp: _timestamp, ...wire } = transferOf(chain);
  return { submitTransactions: ask({ body: { transactions: [wire] } }) };
};

const following = ({ blocks, meta }: Chain): Asks => {
  const after = `${meta.tip.height - 1}-${blocks.at(-2)?.id ?? ""}`;
  return {
    getEvents: ask({ query: `after=${after}&event=block.applied` }),
    getEventsFeed: ask({ query: `after=${after}&event=block.applied` }),
    postEventsFeed: ask({ body: { after: "400", event: ["transaction.applied"], conditions: [{ key: "type", condition: "eq", value: 0 }], limit: 1 } }),
    getChanges: ask({ query: "after=100&limit=1" }),
    getLakeManifest: ask(),
    getMetrics: ask({ shorten: (text) => `${text.split("\n").filter((line) => /portico_(?:tip_height|tip_age_seconds|blocks_behind|streams)\b/.test(line)).join("\n")}\n` }),
  };
};

const rewards = ({ chain, get }: Surroundings): Asks => {
  const { username } = subjectsOf(chain).delegate;
  const due = async (): Promise<string> => ((await get(`/delegates/${username}/rewards`)) as { data: { voters: { address: string }[] } }).data.voters[0]?.address ?? "";
  return {
    getDelegateRewards: ask({ params: { id: username }, query: "share=80&minimum=1000000", shorten: firstLines(3) }),
    getDelegateReward: async () => ({ params: { id: username, address: await due() }, query: "share=80" }),
  };
};

const webhooks = ({ chain, target, made, get, until }: Surroundings): Asks => {
  const idOf = (): string => String((made.createWebhook?.reply as { data: { id: number } } | undefined)?.data.id);
  const params = () => ({ id: idOf() });
  const delivery = async (): Promise<{ id: string; deliveryId: string }> => {
    const list = async () => ((await get(`/webhooks/${idOf()}/deliveries?state=delivered`)) as { data: { id: number }[] }).data;
    await until(async () => (await list()).length > 0);
    return { id: idOf(), deliveryId: String((await list())[0]?.id) };
  };
  const conditions = [{ key: "amount", condition: "gte", value: "100000000" }];
  return {
    createWebhook: ask({ body: { events: ["block.applied"], target, conditions: [], from: 519, description: "New blocks", tags: ["explorer"] } }),
    getWebhooks: ask(),
    getWebhooksKeys: ask(),
    getWebhooksEvents: ask(),
    getWebhook: () => ({ params: params() }),
    dryRunWebhook: ask({ body: { conditions, payload: transferOf(chain) } }),
    getWebhookDeliveries: async () => ({ params: { id: (await delivery()).id }, query: "limit=2" }),
    getWebhookDelivery: async () => ({ params: await delivery() }),
    redeliverWebhookDelivery: async () => ({ params: await delivery() }),
    pingWebhook: () => ({ params: params() }),
    replayWebhook: () => ({ params: params(), body: { from: 500, to: 501 } }),
    recoverWebhook: () => ({ params: params(), body: { since: Date.now() - 86_400_000 } }),
    updateWebhook: () => ({ params: params(), body: { conditions: [{ key: "numberOfTransactions", condition: "gt", value: 0 }] } }),
    replaceWebhook: () => ({ params: params(), body: { event: "transaction.applied", target, enabled: true, conditions } }),
    rotateWebhook: () => ({ params: params() }),
    deleteWebhook: () => ({ params: params() }),
  };
};

const firstGeneration = ({ voter, delegate, ofType, blockId, waiting }: ReturnType<typeof subjectsOf>): Asks => {
  const none = ["AccountsDelegatesFee", "AccountsCount", "BlocksHeight", "BlocksHeightAlias", "BlocksEpoch", "BlocksNethash", "BlocksFee", "BlocksFees", "BlocksFeesAlias", "BlocksMilestone", "BlocksReward", "BlocksSupply", "BlocksStatus", "DelegatesFee", "DelegatesCount", "LoaderAutoconfigure", "LoaderStatus", "LoaderStatusSync", "PeersVersion", "SignaturesFee"];
  const lists = ["AllAccounts", "TopAccounts", "Blocks", "Delegates", "NextForgers", "Peers", "Transactions", "UnconfirmedTransactions"];
  const ofAccount = ["Account", "AccountsBalance", "AccountsPublicKey", "AccountsPublicKeyAlias", "AccountsDelegates"];
  return {
    ...Object.fromEntries(none.map((name) => [`getV1${name}`, ask()])),
    ...Object.fromEntries(lists.map((name) => [`getV1${name}`, ask({ query: "limit=2" })])),
    ...Object.fromEntries(ofAccount.map((name) => [`getV1${name}`, ask({ query: `address=${voter.address}` })])),
    getV1AllAccounts: ask(),
    getV1Block: ask({ query: `id=${blockId}` }),
    getV1Delegate: ask({ query: `username=${delegate.username}` }),
    getV1DelegatesSearch: ask({ query: `q=${delegate.username.slice(0, 3)}&limit=2` }),
    getV1DelegatesVoters: ask({ query: `publicKey=${delegate.publicKey}` }),
    getV1ForgedByAccount: ask({ query: `generatorPublicKey=${delegate.publicKey}` }),
    getV1Peer: ask({ query: "ip=127.0.0.1&port=4001" }),
    getV1Transaction: ask({ query: `id=${ofType(0)}` }),
    getV1UnconfirmedTransaction: ask({ query: `id=${waiting}` }),
  };
};

/** What is asked for the example of each operation, in order. */
export const asksOf = (surroundings: Surroundings): Asks => {
  const subjects = subjectsOf(surroundings.chain);
  return { ...secondGeneration(subjects), ...submitting(surroundings.chain), ...following(surroundings.chain), ...rewards(surroundings), ...webhooks(surroundings), ...firstGeneration(subjects) };
};
