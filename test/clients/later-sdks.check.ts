import Module, { createRequire } from "node:module";
import { join } from "node:path";
import { expect } from "chai";
import { build } from "esbuild";
import { installOutside } from "../hosts/ark-core/installation.js";
import {
  busiest,
  delegateRows,
  listDelegates,
  network,
  ownedBy,
  receivedBy,
  sentBy,
  tip,
  transactionRows,
  voter,
  votersOf,
  walletRows,
} from "./knowledge.js";
import { runningNode } from "./running-node.js";

/**
 * The SDKs of later wallets, unmodified, each in a folder of its own outside the project. What they read of the chain `core3-custom-c` is
 * compared with what the real node reports. They want amounts as strings, as ARK Core 3 gives them; they read no blocks.
 */

/** What is read of a wallet, and of a transaction. Methods by name; big numbers as text. */
type Dto = Record<string, (() => unknown) | undefined>;

interface Page {
  items(): Dto[];
  nextPage(): string | number | undefined;
  hasMorePages(): boolean;
}

interface Client {
  wallet(id: unknown): Promise<Dto>;
  wallets(query: object): Promise<Page>;
  delegate(id: string): Promise<Dto>;
  delegates(query?: object): Promise<Page>;
  transaction(id: string): Promise<Dto>;
  transactions(query: object): Promise<Page>;
  votes(id: string): Promise<object>;
  voters(id: string, query?: object): Promise<Page>;
  /** Of the first SDK alone. */
  syncing?(): Promise<boolean>;
}

interface Sdk {
  name: string;
  connect(base: string): Promise<Client>;
  /** How a wallet is named. */
  named(address: string): unknown;
  /** Of several addresses. */
  ofAddresses(addresses: string[]): object;
  votesOf(publicKey: string | null): object;
  /** Whether its lists of transactions take `senderId` and `recipientId`. */
  takesParties: boolean;
}

/** The transport that applications hand in. */
const http = (() => {
  const answer = async (response: Response) => {
    const body: unknown = await response.json();
    return { json: () => body, status: () => response.status, serverError: () => response.status >= 500 };
  };
  const withQuery = (url: string, query: object = {}): string => {
    const given = Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]);
    return `${url}?${new URLSearchParams(given).toString()}`;
  };
  return {
    get: async (url: string, query?: object) => answer(await fetch(withQuery(url, query))),
    post: async (url: string, body: object, query?: object) => {
      const headers = { "content-type": "application/json" };
      return answer(await fetch(withQuery(url, query), { method: "POST", headers, body: JSON.stringify(body) }));
    },
  };
})();

const platform = (id: "ark.mainnet" | "ark.devnet"): Sdk => ({
  name: `@arkecosystem/platform-sdk-ark 0.9.422, ${id}`,
  connect: async (base) => {
    const folder = installOutside({ name: "platform-sdk-ark-0.9.422", packages: ["@arkecosystem/platform-sdk-ark@0.9.422"] });
    const load = createRequire(join(folder, "package.json"));
    // The system's keychain, which is native code, and not read from.
    const keychain = load.resolve("keytar");
    load.cache[keychain] = Object.assign(new Module(keychain), { filename: keychain, loaded: true, exports: {} });
    const { Coins } = load("@arkecosystem/platform-sdk") as {
      Coins: { CoinFactory: { make(coin: unknown, options: object): Promise<{ client(): Client }> } };
    };
    const { ARK } = load("@arkecosystem/platform-sdk-ark") as {
      ARK: { manifest: { networks: Record<string, { currency: object }> } };
    };
    Object.assign(ARK.manifest.networks[id]?.currency ?? {}, { ticker: network.network.client.token });
    return (await Coins.CoinFactory.make(ARK, { network: id, peer: base, httpClient: http })).client();
  },
  named: (address) => address,
  ofAddresses: (addresses) => ({ addresses }),
  votesOf: (vote) => ({ used: vote === null ? 0 : 1, available: vote === null ? 1 : 0, publicKeys: vote === null ? [] : [vote] }),
  // Elsewhere it sends them in the query of a search, which nodes refuse: ARK Core 2 takes them in the body.
  takesParties: id === "ark.devnet",
});

/** On networks named `bind…` it uses `POST` searches. */
const payvo = (id: "ark.devnet" | "bind.testnet"): Sdk => ({
  name: `@payvo/sdk-ark 4.6.6, ${id}`,
  connect: async (base) => {
    const folder = installOutside({ name: "payvo-sdk-ark-4.6.6", packages: ["@payvo/sdk-ark@4.6.6"] });
    // Its modules import files without their extensions, as bundlers allow.
    const outfile = join(folder, "bundle.cjs");
    const contents = 'export { Coins } from "@payvo/sdk"; export { ARK } from "@payvo/sdk-ark";';
    await build({ stdin: { contents, resolveDir: folder }, bundle: true, platform: "node", format: "cjs", outfile, logLevel: "error" });
    const { ARK, Coins } = createRequire(outfile)(outfile) as {
      ARK: { manifest: { networks: Record<string, object> } };
      Coins: { CoinFactory: { make(coin: unknown, options: object): { __construct(): Promise<void>; client(): Client } } };
    };
    const currency = { decimals: 8, symbol: "T", ticker: network.network.client.token };
    const networks = { [id]: { ...ARK.manifest.networks["ark.devnet"], id, currency } };
    const hostSelector = () => ({ host: base, type: "full" });
    const options = { network: id, networks, httpClient: http, hostSelector, ledgerTransportFactory: () => undefined };
    const coin = Coins.CoinFactory.make(ARK, options);
    await coin.__construct();
    return coin.client();
  },
  named: (address) => ({ type: "address", value: address }),
  ofAddresses: (addresses) => ({ identifiers: addresses.map((value) => ({ type: "address", value })) }),
  votesOf: (vote) => ({
    used: vote === null ? 0 : 1,
    available: vote === null ? 1 : 0,
    votes: vote === null ? [] : [{ amount: 0, id: vote }],
  }),
  takesParties: true,
});

interface Amount {
  toFixed(): string;
}

const read = (dto: Dto, name: string): unknown => {
  const value = dto[name]?.call(dto);
  return typeof value === "object" && value !== null && "toFixed" in value ? (value as Amount).toFixed() : value;
};

const balanceOf = (dto: Dto): unknown => {
  const value = dto.balance?.call(dto) as { available?: { toFixed(): string }; toFixed?(): string };
  return (value.available ?? (value as { toFixed(): string })).toFixed();
};

const walletFigures = (dto: Dto) => ({
  address: read(dto, "address"),
  publicKey: read(dto, "publicKey"),
  balance: balanceOf(dto),
  nonce: read(dto, "nonce"),
  secondPublicKey: read(dto, "secondPublicKey") ?? null,
  username: read(dto, "username") ?? null,
  rank: read(dto, "rank") ?? null,
  votes: read(dto, "votes") ?? null,
  isResignedDelegate: read(dto, "isResignedDelegate"),
  isSecondSignature: read(dto, "isSecondSignature"),
  multiSignature: read(dto, "isMultiSignature") === true ? read(dto, "multiSignature") : null,
});

const expectedWallet = (row: (typeof walletRows)[number]) => ({
  address: row.address,
  publicKey: row.publicKey,
  balance: row.balance,
  nonce: row.nonce,
  secondPublicKey: row.secondPublicKey,
  username: row.username,
  rank: row.delegate?.rank ?? null,
  votes: row.delegate?.voteBalance ?? null,
  isResignedDelegate: row.resigned,
  isSecondSignature: row.secondPublicKey !== null,
  multiSignature: row.multiSignature,
});

const delegateFigures = (dto: Dto) => ({
  address: read(dto, "address"),
  publicKey: read(dto, "publicKey"),
  username: read(dto, "username"),
  rank: read(dto, "rank") ?? null,
  votes: read(dto, "votes"),
  isResignedDelegate: read(dto, "isResignedDelegate"),
});

const expectedDelegate = ({ address, publicKey, username, rank, voteBalance, resigned }: (typeof delegateRows)[number]) => ({
  address,
  publicKey,
  username,
  rank,
  votes: voteBalance,
  isResignedDelegate: resigned,
});

type TransactionRow = (typeof transactionRows)[number];

interface Asset {
  payments?: { recipientId: string; amount: string }[];
  votes?: string[];
}

const assetOf = ({ asset }: TransactionRow): Asset => asset ?? {};
const paymentsIn = (row: TransactionRow) => (isMultiPayment(row) ? (assetOf(row).payments ?? []) : []);
const isMultiPayment = ({ typeGroup, type }: TransactionRow): boolean => typeGroup === 1 && type === 6;
const typeOf = {
  isTransfer: 0,
  isSecondSignature: 1,
  isDelegateRegistration: 2,
  isIpfs: 5,
  isMultiPayment: 6,
  isDelegateResignation: 7,
  isHtlcLock: 8,
  isHtlcClaim: 9,
  isHtlcRefund: 10,
};
const kinds = Object.entries(typeOf);

const transactionFigures = (dto: Dto) => ({
  id: read(dto, "id"),
  blockId: read(dto, "blockId"),
  timestamp: (dto.timestamp?.call(dto) as { toUNIX(): number }).toUNIX(),
  confirmations: read(dto, "confirmations"),
  sender: read(dto, "sender"),
  recipient: read(dto, "recipient"),
  recipients: (dto.recipients?.call(dto) as { address: string; amount: Amount }[]).map(({ address, amount }) => ({
    address,
    amount: amount.toFixed(),
  })),
  amount: read(dto, "amount"),
  fee: read(dto, "fee"),
  memo: read(dto, "memo"),
  kinds: kinds.filter(([kind]) => read(dto, kind) === true).map(([kind]) => kind),
  isVote: read(dto, "isVote"),
  isUnvote: read(dto, "isUnvote"),
});

const votesIn = (row: TransactionRow): string[] => (row.typeGroup === 1 && row.type === 3 ? (assetOf(row).votes ?? []) : []);

const expectedTransaction = (tipHeight: number, epoch: number) => (row: TransactionRow) => ({
  id: row.id,
  blockId: row.block.id,
  timestamp: epoch + row.time,
  confirmations: String(tipHeight - row.block.height + 1),
  sender: row.sender,
  recipient: row.recipient,
  recipients: paymentsIn(row).map(({ recipientId, amount }) => ({ address: recipientId, amount })),
  amount: String(isMultiPayment(row) ? paymentsIn(row).reduce((sum, { amount }) => sum + BigInt(amount), 0n) : row.amount),
  fee: String(row.fee),
  memo: row.vendorField,
  kinds: kinds.filter(([, type]) => row.typeGroup === 1 && row.type === type).map(([kind]) => kind),
  isVote: votesIn(row).some((vote) => vote.startsWith("+")),
  isUnvote: votesIn(row).some((vote) => vote.startsWith("-")),
});

/** Every row of a list, page after page as the SDK finds the next one. */
const all = async (ask: (cursor: object) => Promise<Page>): Promise<Dto[]> => {
  const rows: Dto[] = [];
  let cursor: object = {};
  for (;;) {
    const page = await ask({ limit: 100, ...cursor });
    rows.push(...page.items());
    if (!page.hasMorePages()) return rows;
    cursor = { cursor: page.nextPage() };
  }
};

const sorted = <T extends object>(rows: readonly T[], key: keyof T): T[] =>
  rows.toSorted((a, b) => (String(a[key]) < String(b[key]) ? -1 : 1));

for (const sdk of [platform("ark.mainnet"), platform("ark.devnet"), payvo("ark.devnet"), payvo("bind.testnet")]) {
  describe(`${sdk.name} reads`, function () {
    this.timeout(600_000);
    const epoch = Date.parse("2017-03-21T13:00:00.000Z") / 1000;
    let client: Client;
    before(async () => {
      // Its signatures are native code otherwise.
      process.env.NODE_BACKEND = "js";
      client = await sdk.connect(`${(await runningNode()).origin}/api/strings`);
    });

    it("every wallet, alone and in lists", async () => {
      const rows = (await all((page) => client.wallets(page))).map(walletFigures);
      expect(sorted(rows, "address")).to.deep.equal(sorted(walletRows.map(expectedWallet), "address"));
      for (const row of walletRows) expect(walletFigures(await client.wallet(sdk.named(row.address)))).to.deep.equal(expectedWallet(row));
      const some = walletRows.filter((_, index) => index % 40 === 0);
      const named = await client.wallets({ ...sdk.ofAddresses(some.map(({ address }) => address)), limit: 100 });
      expect(sorted(named.items().map(walletFigures), "address")).to.deep.equal(sorted(some.map(expectedWallet), "address"));
    });

    it("every delegate, alone and in the list, with its voters", async () => {
      const { data } = listDelegates({ path: "delegates", query: { limit: 100 } }) as { data: { username: string }[] };
      const rows = (await all((page) => client.delegates(page))).map(delegateFigures);
      expect(rows.slice(0, 100).map(({ username }) => username)).to.deep.equal(data.map(({ username }) => username));
      expect(sorted(rows, "address")).to.deep.equal(sorted(delegateRows.map(expectedDelegate), "address"));
      for (const row of delegateRows) {
        expect(delegateFigures(await client.delegate(row.publicKey))).to.deep.equal(expectedDelegate(row));
        const voters = await all((page) => client.voters(row.username, page));
        expect(sorted(voters.map(walletFigures), "address")).to.deep.equal(sorted(votersOf(row).map(expectedWallet), "address"));
      }
    });

    it("every wallet's vote, and whether the node is syncing", async () => {
      expect(await client.syncing?.()).to.be.oneOf([true, undefined]);
      for (const { address, vote } of walletRows) expect(await client.votes(address)).to.deep.equal(sdk.votesOf(vote));
    });

    it("every transaction, alone and in lists", async () => {
      const expected = expectedTransaction(tip.height, epoch);
      const rows = (await all((page) => client.transactions({ ...page, orderBy: "timestamp:desc" }))).map(transactionFigures);
      expect(sorted(rows, "id")).to.deep.equal(sorted(transactionRows.map(expected), "id"));
      const ofEither = (row: TransactionRow): boolean => [busiest, voter].some(({ address }) => ownedBy(address)(row));
      const queries: [object, TransactionRow[]][] = [
        [sdk.ofAddresses([busiest.address, voter.address]), transactionRows.filter(ofEither)],
        [{ senderId: busiest.address }, transactionRows.filter(sentBy(busiest.address))],
        [{ recipientId: busiest.address }, transactionRows.filter(receivedBy(busiest.address))],
      ];
      for (const [query, found] of sdk.takesParties ? queries : queries.slice(0, 1)) {
        const listed = (await all((page) => client.transactions({ ...query, ...page }))).map(transactionFigures);
        expect(sorted(listed, "id"), JSON.stringify(query)).to.deep.equal(sorted(found.map(expected), "id"));
      }
      for (const row of transactionRows.filter((_, index) => index % 10 === 0)) {
        expect(transactionFigures(await client.transaction(row.id))).to.deep.equal(expected(row));
      }
    });
  });
}
