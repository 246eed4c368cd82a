import type { Subjects } from "./node.js";
import type { RouteName } from "./names.js";

/** A request: a path below `/api`, or also a body. */
export type Asked = string | { path: string; body: unknown };

/** What every route is asked at least: something that it answers with 2xx, and something that it refuses. */
export interface RouteCase {
  answered(subjects: Subjects): Asked;
  /** Absent where a route takes no input. */
  refused?: { status: number; ask(subjects: Subjects): Asked };
}

const always = (asked: Asked) => (): Asked => asked;

/** A route of the second generation that takes no input: it refuses a parameter. */
const plain = (path: string): RouteCase => ({ answered: always(path), refused: { status: 400, ask: always(`${path}?unknown=1`) } });

/** A list, in pages. */
const list = (path: string | ((subjects: Subjects) => string)): RouteCase => {
  const of = typeof path === "string" ? () => path : path;
  return { answered: (subjects) => `${of(subjects)}?limit=2`, refused: { status: 400, ask: (subjects) => `${of(subjects)}?limit=0` } };
};

const search = (path: string, body: object): RouteCase => ({ answered: always({ path, body }), refused: { status: 400, ask: always({ path, body: { unknown: 1 } }) } });

/** One thing by its name, which nothing else has. */
const one = (path: (subjects: Subjects) => string, missing: string): RouteCase => ({ answered: path, refused: { status: 404, ask: always(missing) } });

/** A route of the first generation, which ignores what it does not know, and refuses with 200 and `success: false`. */
const first = (path: string | ((subjects: Subjects) => string), refused?: string): RouteCase => ({
  answered: typeof path === "string" ? always(path) : path,
  ...(refused === undefined ? {} : { refused: { status: 200, ask: always(refused) } }),
});

const delegate = ({ delegateRows }: Subjects): string => delegateRows[0]!.publicKey;
const username = ({ delegateRows }: Subjects): string => delegateRows[0]!.username;
/** One of the wallets that vote for a delegate that has forged, and that delegate. */
const votes = ({ walletRows, delegateRows }: Subjects): { voter: string; voted: string }[] =>
  walletRows.flatMap(({ address, vote, balance }) => {
    const forger = delegateRows.find(({ publicKey, producedBlocks, forgedTotal }) => publicKey === vote && producedBlocks > 2 && BigInt(forgedTotal) > 0n);
    return forger === undefined || BigInt(balance) < 10n ** 12n ? [] : [{ voter: address, voted: forger.username }];
  });
const voter = (subjects: Subjects): string => votes(subjects)[0]!.voter;
const voted = (subjects: Subjects): string => votes(subjects)[0]!.voted;
const wallet = ({ transactionRows }: Subjects): string => transactionRows.at(-1)!.sender;
const block = ({ tip }: Subjects): string => tip.id;
const transaction = ({ transactionRows }: Subjects): string => transactionRows.at(-1)!.id;
const vote = ({ transactionRows }: Subjects): string => transactionRows.findLast(({ type, typeGroup }) => type === 3 && typeGroup === 1)!.id;
const nobody = "AHXtmB84sTZ9Zd35h9Y1vfFvPE2Xzqj8rj";
const nothing = "0".repeat(64);

/** A webhook's route that is told what to do. */
const toWebhook = (act: string, body?: unknown): RouteCase => {
  const asked = (path: string): Asked => (body === undefined ? path : { path, body });
  return { answered: ({ webhook }) => asked(`/webhooks/${webhook()}${act}`), refused: { status: 404, ask: always(asked(`/webhooks/999999${act}`)) } };
};

/** One for every route: without it, this does not compile. */
export const routeCases: Record<RouteName, RouteCase> = {
  getBlockchain: plain("/blockchain"),
  getNodeConfiguration: plain("/node/configuration"),
  getNodeConfigurationCrypto: plain("/node/configuration/crypto"),
  getNodeFees: { answered: always("/node/fees?days=7"), refused: { status: 400, ask: always("/node/fees?days=0") } },
  getNodeStatus: plain("/node/status"),
  getNodeSyncing: plain("/node/syncing"),

  getWallets: list("/wallets"),
  getTopWallets: list("/wallets/top"),
  searchWallets: search("/wallets/search", { balance: { from: 1 } }),
  getWallet: one((subjects) => `/wallets/${wallet(subjects)}`, `/wallets/${nobody}`),
  getWalletTransactions: list((subjects) => `/wallets/${wallet(subjects)}/transactions`),
  getWalletTransactionsReceived: list((subjects) => `/wallets/${wallet(subjects)}/transactions/received`),
  getWalletTransactionsSent: list((subjects) => `/wallets/${wallet(subjects)}/transactions/sent`),
  getWalletVotes: list((subjects) => `/wallets/${wallet(subjects)}/votes`),
  getWalletLocks: list((subjects) => `/wallets/${wallet(subjects)}/locks`),
  getWalletHistory: list((subjects) => `/wallets/${wallet(subjects)}/history`),
  getWalletStatement: one((subjects) => `/wallets/${wallet(subjects)}/statement?from=1&to=100`, `/wallets/${nobody}/statement?from=1&to=100`),

  getDelegates: list("/delegates"),
  searchDelegates: search("/delegates/search", { username: "genesis" }),
  getDelegate: one((subjects) => `/delegates/${username(subjects)}`, "/delegates/nobody"),
  getDelegateBlocks: list((subjects) => `/delegates/${username(subjects)}/blocks`),
  getDelegateVoters: list((subjects) => `/delegates/${username(subjects)}/voters`),
  getDelegateVotersBalances: one((subjects) => `/delegates/${username(subjects)}/voters/balances`, "/delegates/nobody/voters/balances"),
  getDelegateRewards: one((subjects) => `/delegates/${voted(subjects)}/rewards?to=100`, "/delegates/nobody/rewards"),
  getDelegateReward: one((subjects) => `/delegates/${voted(subjects)}/rewards/${voter(subjects)}`, `/delegates/genesis_1/rewards/${nobody}`),
  getRoundDelegates: one(() => "/rounds/1/delegates", "/rounds/999999/delegates"),

  getVotes: list("/votes"),
  getVote: one((subjects) => `/votes/${vote(subjects)}`, `/votes/${nothing}`),

  getPeers: list("/peers"),
  getSuspendedPeers: list("/peers/suspended"),
  getPeer: one(({ peerIp }) => `/peers/${peerIp}`, "/peers/10.9.9.9"),

  getBlocks: list("/blocks"),
  searchBlocks: search("/blocks/search", { height: { from: 2, to: 9 } }),
  getFirstBlock: plain("/blocks/first"),
  getLastBlock: plain("/blocks/last"),
  getBlock: one((subjects) => `/blocks/${block(subjects)}`, "/blocks/999999999"),
  getBlockProof: one((subjects) => `/blocks/${block(subjects)}/proof`, "/blocks/999999/proof"),
  getBlockTransactions: list(() => "/blocks/1/transactions"),

  getTransactions: list("/transactions"),
  searchTransactions: search("/transactions/search", { type: 0 }),
  submitTransactions: {
    answered: ({ pooled }) => ({ path: "/transactions", body: { transactions: [{ ...pooled, amount: "1", fee: "10000000" }] } }),
    refused: { status: 422, ask: always({ path: "/transactions", body: { transactions: [] } }) },
  },
  getUnconfirmedTransactions: list("/transactions/unconfirmed"),
  getUnconfirmedTransaction: one(({ pooled }) => `/transactions/unconfirmed/${pooled.id}`, `/transactions/unconfirmed/${nothing}`),
  getTransactionsTypes: plain("/transactions/types"),
  getTransactionsFees: plain("/transactions/fees"),
  getTransactionsSchemas: plain("/transactions/schemas"),
  getTransactionProof: one((subjects) => `/transactions/${transaction(subjects)}/proof`, `/transactions/${nothing}/proof`),
  getTransaction: one((subjects) => `/transactions/${transaction(subjects)}`, `/transactions/${nothing}`),

  getLocks: list("/locks"),
  searchLocks: search("/locks/search", { amount: { from: 1 } }),
  getUnlockedLocks: { answered: () => ({ path: "/locks/unlocked", body: { ids: [nothing] } }), refused: { status: 400, ask: always({ path: "/locks/unlocked", body: {} }) } },
  getLock: one(({ lockRows }) => `/locks/${lockRows[0]!.lockId}`, `/locks/${nothing}`),

  getEvents: { answered: always("/events?after=1"), refused: { status: 400, ask: always("/events?after=none") } },
  getEventsFeed: { answered: always("/events/feed?after=1&limit=5"), refused: { status: 400, ask: always("/events/feed?limit=0") } },
  postEventsFeed: search("/events/feed", { after: "1", limit: 5 }),
  getChanges: { answered: always("/changes?after=1&limit=2"), refused: { status: 400, ask: always("/changes?limit=0") } },

  getWebhooks: list("/webhooks"),
  createWebhook: { answered: ({ target }) => ({ path: "/webhooks", body: { event: "peer.added", target } }), refused: { status: 400, ask: always({ path: "/webhooks", body: { event: "peer.added" } }) } },
  getWebhooksKeys: plain("/webhooks/keys"),
  getWebhooksEvents: list("/webhooks/events"),
  dryRunWebhook: {
    answered: always({ path: "/webhooks/dry-run", body: { conditions: [], payload: { ip: "10.0.0.1" } } }),
    refused: { status: 400, ask: always({ path: "/webhooks/dry-run", body: { conditions: 1 } }) },
  },
  getWebhook: toWebhook(""),
  replaceWebhook: {
    answered: ({ webhook, target }) => ({ path: `/webhooks/${webhook()}`, body: { event: "peer.removed", target } }),
    refused: { status: 400, ask: ({ webhook, target }) => ({ path: `/webhooks/${webhook()}`, body: { target } }) },
  },
  updateWebhook: toWebhook("", { enabled: false }),
  deleteWebhook: toWebhook(""),
  replayWebhook: toWebhook("/replay", { from: 1, to: 2 }),
  pingWebhook: toWebhook("/ping"),
  rotateWebhook: toWebhook("/rotate"),
  recoverWebhook: toWebhook("/recover", { since: "2020-01-01T00:00:00Z" }),
  getWebhookDeliveries: list(({ pinged }) => `/webhooks/${pinged.id}/deliveries`),
  getWebhookDelivery: one(({ pinged }) => `/webhooks/${pinged.id}/deliveries/${pinged.delivery}`, "/webhooks/999999/deliveries/1"),
  redeliverWebhookDelivery: one(({ pinged }) => `/webhooks/${pinged.id}/deliveries/${pinged.delivery}/redeliver`, "/webhooks/999999/deliveries/1/redeliver"),

  getHealth: plain("/health"),
  getHealthLive: plain("/health/live"),
  getHealthReady: plain("/health/ready"),
  getMetrics: plain("/metrics"),
  getDocs: plain("/docs"),
  getDocsFile: one(() => "/docs/swagger-ui.css", "/docs/none.css"),
  getOpenapiJson: plain("/openapi.json"),
  getRoot: plain(""),

  getLakeManifest: plain("/lake/manifest.json"),
  getLakeOlderManifest: one(({ lake }) => `/lake/manifests/${lake.older}`, `/lake/manifests/${nothing}.json`),
  getLakeBlockFile: one(({ lake }) => `/lake/blocks/${lake.blocks}`, "/lake/blocks/none.ndjson.gz"),
  getLakeSnapshotFile: one(({ lake }) => `/lake/snapshots/${lake.snapshot}`, "/lake/snapshots/none"),

  getV1Account: first((subjects) => `/v1/accounts?address=${wallet(subjects)}`, "/v1/accounts?address=x"),
  getV1AllAccounts: first("/v1/accounts/getAllAccounts?limit=2", "/v1/accounts/getAllAccounts?limit=101"),
  getV1AccountsBalance: first((subjects) => `/v1/accounts/getBalance?address=${wallet(subjects)}`, "/v1/accounts/getBalance"),
  getV1AccountsPublicKey: first((subjects) => `/v1/accounts/getPublicKey?address=${wallet(subjects)}`, "/v1/accounts/getPublicKey"),
  getV1AccountsPublicKeyAlias: first((subjects) => `/v1/accounts/getPublickey?address=${wallet(subjects)}`, "/v1/accounts/getPublickey"),
  getV1AccountsDelegates: first((subjects) => `/v1/accounts/delegates?address=${wallet(subjects)}`, "/v1/accounts/delegates"),
  getV1AccountsDelegatesFee: first("/v1/accounts/delegates/fee"),
  getV1AccountsCount: first("/v1/accounts/count"),
  getV1TopAccounts: first("/v1/accounts/top?limit=2", "/v1/accounts/top?limit=101"),
  getV1Blocks: first("/v1/blocks?limit=2", "/v1/blocks?limit=101"),
  getV1Block: first((subjects) => `/v1/blocks/get?id=${block(subjects)}`, "/v1/blocks/get?id=0"),
  getV1BlocksHeight: first("/v1/blocks/getHeight"),
  getV1BlocksHeightAlias: first("/v1/blocks/getheight"),
  getV1BlocksEpoch: first("/v1/blocks/getEpoch"),
  getV1BlocksNethash: first("/v1/blocks/getNethash"),
  getV1BlocksFee: first("/v1/blocks/getFee"),
  getV1BlocksFees: first("/v1/blocks/getFees"),
  getV1BlocksFeesAlias: first("/v1/blocks/getfees"),
  getV1BlocksMilestone: first("/v1/blocks/getMilestone"),
  getV1BlocksReward: first("/v1/blocks/getReward"),
  getV1BlocksSupply: first("/v1/blocks/getSupply"),
  getV1BlocksStatus: first("/v1/blocks/getStatus"),
  getV1Delegates: first("/v1/delegates?limit=2", "/v1/delegates?limit=102"),
  getV1Delegate: first((subjects) => `/v1/delegates/get?username=${username(subjects)}`, "/v1/delegates/get?username=nobody"),
  getV1DelegatesFee: first("/v1/delegates/fee"),
  getV1DelegatesCount: first("/v1/delegates/count"),
  getV1DelegatesSearch: first("/v1/delegates/search?q=genesis", "/v1/delegates/search"),
  getV1DelegatesVoters: first((subjects) => `/v1/delegates/voters?publicKey=${delegate(subjects)}`, "/v1/delegates/voters"),
  getV1NextForgers: first("/v1/delegates/getNextForgers?limit=2", "/v1/delegates/getNextForgers?limit=x"),
  getV1ForgedByAccount: first((subjects) => `/v1/delegates/forging/getForgedByAccount?generatorPublicKey=${delegate(subjects)}`, "/v1/delegates/forging/getForgedByAccount"),
  getV1LoaderAutoconfigure: first("/v1/loader/autoconfigure"),
  getV1LoaderStatus: first("/v1/loader/status"),
  getV1LoaderStatusSync: first("/v1/loader/status/sync"),
  getV1Peers: first("/v1/peers?limit=2", "/v1/peers?limit=x"),
  getV1Peer: first(({ peerIp }) => `/v1/peers/get?ip=${peerIp}&port=4001`, "/v1/peers/get?ip=10.9.9.9&port=1"),
  getV1PeersVersion: first("/v1/peers/version"),
  getV1SignaturesFee: first("/v1/signatures/fee"),
  getV1Transactions: first("/v1/transactions?limit=2", "/v1/transactions?limit=101"),
  getV1Transaction: first((subjects) => `/v1/transactions/get?id=${transaction(subjects)}`, "/v1/transactions/get"),
  getV1UnconfirmedTransactions: first("/v1/transactions/unconfirmed", "/v1/transactions/unconfirmed?senderPublicKey=1"),
  getV1UnconfirmedTransaction: first(({ pooled }) => `/v1/transactions/unconfirmed/get?id=${pooled.id}`, "/v1/transactions/unconfirmed/get"),
};
