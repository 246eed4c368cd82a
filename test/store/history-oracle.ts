import { expect } from "chai";
import { rowOf, rowsOf } from "../../src/conformance/comparing.js";
import type { Surroundings } from "../../src/conformance/filters.js";
import { blockSpec, delegateSpec, everyRow, type ListSpec, transactionSpec, walletSpec } from "../../src/conformance/lists.js";
import type { ChainSnapshot } from "../../types/chain-adapter.js";
import type { Order, WalletOrder } from "../../types/chain-queries.js";

/** Questions about earlier heights, asked of a store and of a replay, which must give the same answers. */

/** Whole numbers from 0 on, the same for the same seed (xorshift32). */
export const createPicks = (seed: number): ((below: number) => number) => {
  let state = seed | 0 || 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % Math.max(1, below);
  };
};

export type Pick = ReturnType<typeof createPicks>;

/** Opens the state at a height. */
export type OpenAt = (height: number) => ChainSnapshot;

/** What questions are made from: every row of the replay's last state. */
export interface Samples {
  addresses: string[];
  /** Of delegates. */
  publicKeys: string[];
  usernames: string[];
  /** For each list: its filters' names and values. */
  filters: Record<"delegates" | "blocks" | "transactions" | "wallets", [name: string, values: unknown[]][]>;
}

const filtersOf = async <Row extends object, Filter, Field extends string>(
  spec: ListSpec<Row, Filter, Field>,
  snapshot: ChainSnapshot,
  around: Surroundings,
): Promise<[string, unknown[]][]> => {
  const rows = await everyRow(snapshot, spec);
  return spec.filters.map(({ name, samples }) => [name, samples(rows, around)]);
};

export const samplesOf = async (snapshot: ChainSnapshot): Promise<Samples> => {
  const wallets = await everyRow(snapshot, walletSpec);
  const delegates = await everyRow(snapshot, delegateSpec);
  const secondPublicKeys = new Map(wallets.map(({ address, secondPublicKey }) => [address, secondPublicKey]));
  const around: Surroundings = { height: snapshot.tip.height, timestamp: snapshot.tip.timestamp, secondPublicKeys };
  return {
    addresses: wallets.map(({ address }) => address),
    publicKeys: delegates.map(({ publicKey }) => publicKey),
    usernames: delegates.map(({ username }) => username),
    filters: {
      delegates: await filtersOf(delegateSpec, snapshot, around),
      blocks: await filtersOf(blockSpec, snapshot, around),
      transactions: await filtersOf(transactionSpec, snapshot, around),
      wallets: await filtersOf(walletSpec, snapshot, around),
    },
  };
};

type Question = (snapshot: ChainSnapshot) => Promise<unknown>;

const one = <T>(list: readonly T[], pick: Pick): T => list[pick(list.length)] as T;

const randomFilter = (filters: [string, unknown[]][], pick: Pick): Record<string, unknown> =>
  Object.fromEntries(
    Array.from({ length: pick(3) }, () => one(filters, pick)).flatMap(([name, values]) => (values.length === 0 ? [] : [[name, one(values, pick)]])),
  );

const page = (pick: Pick) => ({ offset: pick(3) === 0 ? pick(30) : 0, limit: one([100, 7, 1], pick) });
const direction = (pick: Pick): "asc" | "desc" => one(["asc", "desc"], pick);

const listQuestion =
  <Row extends object, Filter, Field extends string>(spec: ListSpec<Row, Filter, Field>, filter: Record<string, unknown>, order: Order<Field>, pick: Pick): Question => {
    const query = { filter: filter as Filter, order, ...page(pick) };
    return async (snapshot) => {
      const { rows, total } = await spec.ask(snapshot, query);
      return { list: spec.name, query, total, rows: rowsOf(spec.kind, rows) };
    };
  };

/** One question of each kind, each with the answer's rows as plain values. */
export const questionKinds: Record<string, (samples: Samples, pick: Pick) => Question> = {
  wallet: ({ addresses, publicKeys, usernames }, pick) => {
    const name = one([one(addresses, pick), one(addresses, pick), one(publicKeys, pick), one(usernames, pick)], pick);
    return async (snapshot) => ({ name, wallet: rowOf("wallet", await snapshot.wallet(name)) });
  },
  delegate: ({ publicKeys, usernames, addresses }, pick) => {
    const name = one([one(publicKeys, pick), one(usernames, pick), one(addresses, pick)], pick);
    return async (snapshot) => ({ name, delegate: rowOf("delegate", await snapshot.delegate(name)) });
  },
  voters: ({ publicKeys, filters }, pick) => {
    const filter = { ...(pick(2) === 0 ? {} : randomFilter(filters.wallets, pick)), vote: one(publicKeys, pick) };
    const order: Order<WalletOrder> = { field: one(walletSpec.fields, pick), direction: direction(pick) };
    return listQuestion(walletSpec, filter, order, pick);
  },
  delegates: ({ filters }, pick) =>
    listQuestion(delegateSpec, randomFilter(filters.delegates, pick), { field: one(delegateSpec.fields, pick), direction: direction(pick) }, pick),
  blocks: ({ filters }, pick) =>
    listQuestion(blockSpec, randomFilter(filters.blocks, pick), { field: one(["height", "timestamp"], pick), direction: direction(pick) }, pick),
  transactions: ({ filters }, pick) =>
    listQuestion(transactionSpec, randomFilter(filters.transactions, pick), { field: "timestamp", direction: direction(pick) }, pick),
  figures: (_samples, pick) => {
    const [back, length] = [pick(4_000), pick(8_000)];
    const round = pick(40);
    const minFee = BigInt(pick(2) * 10_000_000);
    return async (snapshot) => {
      const { tip, supply } = snapshot;
      const from = Math.max(0, tip.timestamp - back);
      const fees = await snapshot.feeStatistics({ from, to: from + length, minFee });
      return { tip: { id: tip.id, height: tip.height, timestamp: tip.timestamp }, supply, digest: snapshot.digest, fees: rowsOf("feeStatistics", fees), round, of: rowsOf("roundDelegate", await snapshot.round(round)) };
    };
  },
  changes: ({ addresses }, pick) => {
    const from = pick(3) === 0 ? pick(100) : undefined;
    const to = pick(3) === 0 ? pick(300) : undefined;
    const heights = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
    const query = { address: one(addresses, pick), heights, direction: direction(pick), ...page(pick) };
    return async (snapshot) => ({ query, page: await snapshot.walletChanges?.(query) });
  },
};

/** Asks `count` random questions of each kind at random heights up to `height`. */
export const compareAtHeights = async (
  store: OpenAt,
  replay: OpenAt,
  { height, count, pick, kinds = Object.keys(questionKinds) }: { height: number; count: number; pick: Pick; kinds?: readonly string[] },
): Promise<void> => {
  const samples = await samplesOf(replay(height));
  // A replay takes long to make each of its states.
  const heights = [1, Math.max(1, height - 1), ...Array.from({ length: Math.ceil(count / 8) }, () => 1 + pick(height))];
  for (const kind of kinds) {
    for (let asked = 0; asked < count; asked++) {
      const at = one(heights, pick);
      const question = questionKinds[kind]?.(samples, pick);
      if (question === undefined) throw new Error(`no questions about ${kind}`);
      const snapshot = store(at);
      const found = await question(snapshot);
      snapshot.release?.();
      expect({ kind, at, found }).to.deep.equal({ kind, at, found: await question(replay(at)) });
    }
  }
};
