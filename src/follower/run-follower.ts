import { type Change, type Client, PorticoClientError, type WholeBlock } from "../client/index.js";
import { isTransient, pause } from "../client/transport.js";
import type { FollowerStore, Place, Writing } from "./store.js";

export interface FollowerProgress {
  /** Of the last block that was applied. */
  height: number;
  /** Blocks between that and the node's tip, as far as it was seen. */
  behind: number;
  /** Since the follower began. */
  blocksPerSecond: number;
}

export interface RunFollowerOptions<Tx> {
  /** Asks the node, or several: `createClient` of `portico/client`. */
  client: Pick<Client, "changes" | "blockchain" | "node">;
  /** Keeps the cursor: `postgresStore(pool)`, `sqliteStore(db)` (`node:sqlite`, `better-sqlite3`) or `memoryStore()`. */
  store: FollowerStore<Tx>;
  /** Writes what a block means; amounts are bigints. It is awaited. */
  apply: (tx: Tx, block: WholeBlock) => unknown;
  /** Undoes what `apply` has written for the block. Without it, the store undoes what was written to its `tables`. @default none */
  revert?: ((tx: Tx, block: WholeBlock) => unknown) | undefined;
  /** Blocks by which to stay behind the tip: a block reverted earlier is never applied. @default 0 */
  confirmations?: number | undefined;
  /** Where an empty store begins: `genesis`, `tip`, a height or a cursor. @default "genesis" */
  from?: string | number | undefined;
  /** Ends the follower: it resolves after the open transaction. @default none */
  signal?: AbortSignal | undefined;
  /** Called with `{height, behind, blocksPerSecond}` after each transaction. @default none */
  onProgress?: ((progress: FollowerProgress) => void) | undefined;
}

/** Blocks in one transaction while it catches up, at the most, and milliseconds. */
const together = { blocks: 200, milliseconds: 200 };
/** Milliseconds between two looks at the node's tip. */
const lookInterval = 2_000;

const placeOf = ({ block: { height }, cursor }: Change): Place => ({ height, cursor });

/** Where a reader stands once a block is reverted. */
const placeBefore = ({ block: { height }, cursor }: Change): Place => ({ height: height - 1, cursor });

/** Asks until the node is there. */
const patiently = async <T>(ask: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (signal?.aborted === true || !isTransient(error)) throw error;
      await pause(1_000, signal);
    }
  }
};

const heightOf = async ({ blockchain }: RunFollowerOptions<never>["client"], signal: AbortSignal | undefined): Promise<number> =>
  (await blockchain.get(undefined, { signal })).block.height;

/**
 * Which blocks are final: those at least two rounds below a tip of their own chain. Of the node's tips, only one that was seen before the blocks
 * were asked for counts: a later one may be on another branch than a block that was already on its way.
 */
const createFinality = async (client: RunFollowerOptions<never>["client"], signal: AbortSignal | undefined) => {
  const { constants } = await patiently(() => client.node.configuration(undefined, { signal }), signal);
  let tip = await patiently(() => heightOf(client, signal), signal);
  return {
    /** The height of the last final block, once the follower has reached this one. */
    reach: (height: number): number => (tip = Math.max(tip, height)) - 2 * constants.activeDelegates,
    leave: (height: number): void => void (tip = height - 1),
  };
};

type Finality = Awaited<ReturnType<typeof createFinality>>;

/** Holds blocks back until so many are above them. */
async function* confirmed(changes: AsyncIterable<Change>, confirmations: number): AsyncGenerator<Change, void> {
  const waiting: Change[] = [];
  for await (const change of changes) {
    if (change.kind === "reverted" && waiting.length > 0) waiting.pop();
    else if (change.kind === "reverted") yield change;
    else if (waiting.push(change) > confirmations) yield waiting.shift() as Change;
  }
}

const soon = (): Promise<undefined> => new Promise((resolve) => setTimeout(() => resolve(undefined), 0));

/** Changes that are there together; the next lot begins where one has to be waited for. */
async function* inLots(changes: AsyncIterator<Change, void>): AsyncGenerator<AsyncIterable<Change>, void> {
  let next = changes.next();
  next.catch(() => undefined);
  for (;;) {
    const first = await next;
    if (first.done === true) return;
    yield (async function* () {
      const began = Date.now();
      let current: IteratorResult<Change, void> = first;
      for (let count = 1; current.done !== true; count++) {
        next = changes.next();
        next.catch(() => undefined);
        yield current.value;
        if (count >= together.blocks || Date.now() - began > together.milliseconds) return;
        const ready = await Promise.race([next.catch(() => undefined), soon()]);
        if (ready === undefined) return;
        current = ready;
      }
    })();
  }
}

/** Writes a lot of changes. Returns how many, and where the store stands then. */
const writeLot = async <Tx>(
  lot: AsyncIterable<Change>,
  writing: Writing<Tx>,
  { apply, revert }: RunFollowerOptions<Tx>,
  finality: Finality,
): Promise<{ count: number; place: Place | undefined }> => {
  /** The last block, if it is final: of those the last one alone is noted. */
  let passed: Place | undefined;
  let [count, place] = [0, undefined as Place | undefined];
  const notePassed = async (): Promise<void> => {
    if (passed !== undefined) await writing.applied(passed, passed.height);
    passed = undefined;
  };
  for await (const change of lot) {
    count++;
    const { kind, block } = change;
    if (kind === "reverted") {
      await notePassed();
      if (revert === undefined) await writing.undo(block.height);
      else await revert(writing.tx, block);
      finality.leave(block.height);
      place = placeBefore(change);
      await writing.reverted(block.height, place);
      continue;
    }
    place = placeOf(change);
    const finalHeight = finality.reach(block.height);
    if (block.height > finalHeight) {
      await notePassed();
      if (revert === undefined) await writing.log(block.height);
      await apply(writing.tx, block);
      await writing.applied(place, finalHeight);
    } else {
      await apply(writing.tx, block);
      passed = place;
    }
  }
  await notePassed();
  return { count, place };
};

/** Reports how far the follower is. It looks at the node's tip every two seconds at most. */
const createReporter = ({ client, signal, onProgress }: Pick<RunFollowerOptions<never>, "client" | "signal" | "onProgress">) => {
  const began = Date.now();
  let [blocks, tip, looked] = [0, 0, -Infinity];
  return async (count: number, height: number): Promise<void> => {
    if (onProgress === undefined) return;
    blocks += count;
    if (Date.now() - looked > lookInterval) {
      looked = Date.now();
      tip = await heightOf(client, signal).catch(() => tip);
    }
    onProgress({ height, behind: Math.max(0, tip - height), blocksPerSecond: (blocks * 1000) / Math.max(1, Date.now() - began) });
  };
};

/** Follows from a cursor on until the signal aborts. `at`: the store's cursor, which moves. */
const followFrom = async <Tx>(start: string | number, at: { cursor: string | undefined }, options: RunFollowerOptions<Tx>): Promise<void> => {
  const { client, store, confirmations = 0, signal } = options;
  const finality = await createFinality(client, signal);
  const report = createReporter(options);
  const changes = confirmed(client.changes({ after: start, signal }), confirmations)[Symbol.asyncIterator]();
  try {
    for await (const lot of inLots(changes)) {
      const { count, place } = await store.write(at.cursor, (writing) => writeLot(lot, writing, options, finality));
      if (place === undefined) continue;
      at.cursor = place.cursor;
      await report(count, place.height);
    }
  } finally {
    await changes.return();
  }
};

const isUnknown = (error: unknown): boolean => error instanceof PorticoClientError && error.code === "CURSOR_UNKNOWN";

/**
 * The node has lost the store's block, by another branch that it read while it was away: the store goes back to the block before. Rethrows the
 * error where it cannot.
 */
const goBack = async <Tx>(error: unknown, at: { cursor: string | undefined }, { store, revert }: RunFollowerOptions<Tx>): Promise<true> => {
  const [left, before] = isUnknown(error) && revert === undefined ? await store.open() : [];
  if (left === undefined || before === undefined || left.height !== before.height + 1) throw error;
  await store.write(left.cursor, async (writing) => {
    await writing.undo(left.height);
    await writing.reverted(left.height, before);
  });
  at.cursor = before.cursor;
  return true;
};

/**
 * Keeps a database at the chain: `apply` writes each block's rows in the transaction that moves the cursor, reversals take them back. Resolves
 * when the signal aborts.
 * @throws FollowerError; PorticoClientError CURSOR_UNKNOWN where the node knows none of the last 32 blocks; whatever `apply` and `revert` throw
 */
export const runFollower = async <Tx>(options: RunFollowerOptions<Tx>): Promise<void> => {
  const { store, revert, from = "genesis", signal } = options;
  if (revert === undefined && !store.undoes) throw new TypeError("runFollower needs `revert`, or a store with `tables`");
  const at = { cursor: (await store.open())[0]?.cursor };
  try {
    while (await followFrom(at.cursor ?? from, at, options).then(() => false, (error: unknown) => goBack(error, at, options)));
  } catch (error) {
    if (signal?.aborted !== true || error !== signal.reason) throw error;
  }
};
