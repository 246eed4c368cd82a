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
  client: Pick<Client, "changes" | "blockchain" | "node">;
  store: FollowerStore<Tx>;
  /** Writes what a block means. It is awaited. */
  apply: (tx: Tx, block: WholeBlock) => unknown;
  /** Takes back what `apply` has written for the block. Without it, the store undoes what was written to its `tables`. */
  revert?: ((tx: Tx, block: WholeBlock) => unknown) | undefined;
  /** Blocks by which to stay behind the tip: those that are reverted before are never applied. Default 0. */
  confirmations?: number | undefined;
  /** Where an empty store begins: `genesis` (default), `tip`, a height or a cursor. */
  from?: string | number | undefined;
  /** Ends the follower: it resolves after the transaction that is open. */
  signal?: AbortSignal | undefined;
  /** Told after each transaction. */
  onProgress?: ((progress: FollowerProgress) => void) | undefined;
}

/** Blocks in one transaction while it catches up, at the most, and milliseconds. */
const together = { blocks: 200, milliseconds: 200 };
/** Milliseconds between two looks at the node's tip while it catches up. */
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

/** What the node's chain is about. Blocks at least two rounds below the tip are final. */
const createTip = async ({ node, blockchain }: RunFollowerOptions<never>["client"], signal: AbortSignal | undefined) => {
  const { constants } = await patiently(() => node.configuration(undefined, { signal }), signal);
  const finality = 2 * constants.activeDelegates;
  let [height, looked] = [0, -Infinity];
  return {
    finality,
    /** The last height that was seen. A block at or above it is not final as far as anybody knows. */
    height: () => height,
    leave: (reverted: number): void => void (height = reverted - 1),
    see: async (reached: number): Promise<void> => {
      height = Math.max(height, reached);
      if (height - reached > finality || Date.now() - looked < lookInterval) return;
      looked = Date.now();
      // Without it, more is logged than has to be.
      const found = await blockchain.get(undefined, { signal, timeout: lookInterval }).catch(() => undefined);
      height = Math.max(height, found?.block.height ?? 0);
    },
  };
};

type Tip = Awaited<ReturnType<typeof createTip>>;

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
  tip: Tip,
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
      tip.leave(block.height);
      place = placeBefore(change);
      await writing.reverted(block.height, place);
      continue;
    }
    await tip.see(block.height);
    place = placeOf(change);
    const finalHeight = tip.height() - tip.finality;
    if (block.height > finalHeight) {
      await notePassed();
      await writing.log(block.height);
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

/** Follows from a cursor on until the signal aborts. `at`: the store's cursor, which moves. */
const followFrom = async <Tx>(start: string | number, at: { cursor: string | undefined }, options: RunFollowerOptions<Tx>, tip: Tip): Promise<void> => {
  const { client, store, confirmations = 0, signal, onProgress } = options;
  const began = Date.now();
  let blocks = 0;
  const changes = confirmed(client.changes({ after: start, signal }), confirmations)[Symbol.asyncIterator]();
  try {
    for await (const lot of inLots(changes)) {
      const { count, place } = await store.write(at.cursor, (writing) => writeLot(lot, writing, options, tip));
      if (place === undefined) continue;
      const { height, cursor } = place;
      at.cursor = cursor;
      blocks += count;
      onProgress?.({ height, behind: Math.max(0, tip.height() - height), blocksPerSecond: (blocks * 1000) / Math.max(1, Date.now() - began) });
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
  const { client, store, revert, from = "genesis", signal } = options;
  if (revert === undefined && !store.undoes) throw new TypeError("runFollower needs `revert`, or a store that is told its `tables`");
  const at = { cursor: (await store.open())[0]?.cursor };
  try {
    const tip = await createTip(client, signal);
    while (await followFrom(at.cursor ?? from, at, options, tip).then(() => false, (error: unknown) => goBack(error, at, options)));
  } catch (error) {
    if (signal?.aborted !== true || error !== signal.reason) throw error;
  }
};
