import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FullBlock } from "../../../src/chain/blocks/block.js";
import { createDigest, delegatePart, type Digest, lockPart, ranksPart, supplyPart, walletPart } from "../../../src/chain/digest.js";
import { defaultOptions } from "../../../src/options/options.js";
import { delegateCodec, lockCodec, walletCodec } from "../../../src/store/layout/codec.js";
import type { DatabaseName } from "../../../src/store/layout/keys.js";
import { createReadSession } from "../../../src/store/lmdb/read-session.js";
import { readRanking, readState } from "../../../src/store/records/records.js";
import { createStore, type Store } from "../../../src/store/state/store.js";
import { createBenchChain } from "../chain/chain.js";
import { fullBlock, sizes } from "../chain/sizes.js";
import { median } from "../load/statistics.js";
import { recordWrite } from "../processes/recording.js";
import { usage } from "../processes/usage.js";
import type { Row } from "../table/row.js";
import type { Measure } from "./measure.js";

/** Of this size, the first blocks. */
const size = sizes["100k"];
const goal = { atMost: 0.05 };

/** One thing that a block changes: as it was, if it was there, and as it is, if it is still there. */
interface Change<T> {
  before: T | undefined;
  after: T | undefined;
}

const of = <T>(part: (value: T) => string, unpack: (fields: unknown[]) => T) => ({ part, unpack });

/** What the digest is made of, by the database that keeps it. */
const kinds = { wallets: of(walletPart, walletCodec.unpack), delegates: of(delegatePart, delegateCodec.unpack), locks: of(lockPart, lockCodec.unpack) };
type Kind = keyof typeof kinds;
const isKind = (database: DatabaseName): database is Kind => database in kinds;

/** The digest's steps for one block. */
type Steps = (digest: Digest) => void;

const stepsOf = <T>(part: (value: T) => string, { before, after }: Change<T>): Steps => (digest) => {
  if (before !== undefined) digest.takeOff(part(before));
  if (after !== undefined) digest.add(part(after));
};

/** Finds the digest's steps of each block by writing it into a store of its own, and looking at what that wrote. */
const createFinder = (store: Store) => {
  const { environment } = store;
  const known = new Map<string, unknown>([["supply", 0n], ["ranks", []]]);
  const reading = createReadSession(environment);

  const changeOf = (name: string, after: unknown): Change<never> => {
    const before = known.get(name);
    known.set(name, after);
    return { before, after } as Change<never>;
  };

  return async (full: FullBlock): Promise<{ steps: Steps[]; digest: string }> => {
    const written = await recordWrite(environment, () => store.apply([full]));
    environment.root.resetReadTxn();
    const steps: Steps[] = [];
    for (const name of new Set(written.filter(({ database }) => isKind(database)).map(({ database, key }) => `${database} ${key.toString("latin1")}`))) {
      const [database, key] = [name.slice(0, name.indexOf(" ")) as Kind, Buffer.from(name.slice(name.indexOf(" ") + 1), "latin1")];
      const fields = reading.get(database, key) as unknown[] | undefined;
      steps.push(stepsOf(kinds[database].part as (value: never) => string, changeOf(name, fields && kinds[database].unpack(fields))));
    }
    const [supply, ranking] = [readState(reading)?.supply ?? 0n, readRanking(reading).map(({ publicKey }) => publicKey)];
    steps.push(stepsOf(supplyPart, changeOf("supply", supply)));
    if ((known.get("ranks") as string[]).join() !== ranking.join()) steps.push(stepsOf(ranksPart, changeOf("ranks", ranking)));
    const snapshot = store.snapshot();
    const digest = snapshot instanceof Promise ? undefined : snapshot?.digest;
    if (!(snapshot instanceof Promise)) snapshot?.release?.();
    return { steps, digest: digest ?? "" };
  };
};

const timed = async (work: () => void | Promise<void>): Promise<number> => {
  const before = usage().cpu;
  await work();
  return usage().cpu - before;
};

interface Spent {
  /** Microseconds of processor time for each block. */
  indexing: number;
  digest: number;
}

/** Indexing, and after it the digest's steps of the same blocks alone. They are all there if they give the store's digest. */
const createMeasuring = async (chain: ReturnType<typeof createBenchChain>, store: Store, finding: Store) => {
  const find = createFinder(finding);
  const digest = createDigest();
  // What there is before genesis: no delegate has a rank, and nobody has anything.
  digest.add(supplyPart(0n));
  digest.add(ranksPart([]));

  const measure = async (blocks: FullBlock[], together: number, target?: number): Promise<Spent> => {
    const found: Awaited<ReturnType<typeof find>>[] = [];
    for (const full of blocks) found.push(await find(full));
    const indexing = await timed(async () => {
      for (let from = 0; from < blocks.length; from += together) await store.apply(blocks.slice(from, from + together), target);
    });
    const digests: string[] = [];
    const spent = await timed(() => {
      for (const { steps } of found) {
        for (const step of steps) step(digest);
        digests.push(digest.bytes().toString("hex"));
      }
    });
    const wrong = found.findIndex((one, place) => one.digest !== digests[place]);
    if (wrong !== -1) throw new Error(`these are not all steps of the digest of block ${blocks[wrong]?.block.height ?? 0}`);
    return { indexing: indexing / blocks.length, digest: spent / blocks.length };
  };
  await measure([chain.next()], 1);
  return measure;
};

/** What the digest costs of indexing: of blocks that a host missed, several a write, and of full ones, each a write of its own. */
export const measureDigest: Measure = async (run) => {
  const folders = [1, 2].map(() => mkdtempSync(join(tmpdir(), "portico-bench-digest-")));
  const chain = createBenchChain(size);
  const [store, finding] = folders.map((dataDir) => createStore({ dataDir, undoBlocks: defaultOptions.undoBlocks, disposable: true }, { rules: chain.rules })) as [Store, Store];
  try {
    const measure = await createMeasuring(chain, store, finding);
    const rounds = async (what: string, count: number, together: number, transactions?: number): Promise<Row> => {
      run.say(`digest: ${what}`);
      const all: Spent[] = [];
      for (let round = 0; round <= run.rounds; round++) {
        all.push(await measure(Array.from({ length: count }, () => chain.next(transactions)), together, together > 1 ? Infinity : undefined));
      }
      // The first has compiled the code.
      const [, ...counted] = all;
      const ratio = median(counted.map(({ digest, indexing }) => digest / indexing));
      const figure = median(counted.map(({ digest }) => digest));
      return { group: "digest", what, figure, unit: "µs/block", against: "indexing in all", peer: figure / ratio, ratio, goal, note: "processor time" };
    };
    const [many, full] = run.quick ? [500, 6] : [1_000, 12];
    return [await rounds("blocks of all sizes, a hundred a write", many, 100), await rounds(`blocks of ${fullBlock} transactions, one a write`, full, 1, fullBlock)];
  } finally {
    await Promise.all([store.stop(), finding.stop()]);
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
};
