import { runSliced, type Pace, type Sliced } from "../../async/time-slicing.js";
import type { FullBlock } from "../../chain/blocks/block.js";
import { putOrphan, leaveRebuilt } from "../follow/orphans.js";
import type { Environment } from "../lmdb/environment.js";
import { readState } from "../records/records.js";
import { removeOldUndo } from "../write/undo.js";
import { createWriteBatch, type WriteBatch } from "../write/write-batch.js";
import { readFillProgress } from "../write/account-indexes.js";
import { createWriter, type Writer } from "../write/writer.js";
import { idIn, type StateView, type Views } from "./views.js";
import { beginRebuild, readRebuild, removeOldChain, completeKey, type Rebuild, writeRebuild } from "./rebuild.js";
import type { Store, StoreNeeds, BlockName } from "./store-contract.js";
import { textKey } from "../layout/keys.js";
import { transact } from "../lmdb/safe/transact.js";

/** What the store notes of itself beside the chain. */
export interface ChainMarks extends Pick<Store, "isComplete" | "markComplete" | "disown" | "disowned"> {
  /** As the process that writes knows it. */
  complete: boolean;
  /** As the process that writes knows it. Undefined unless the store is being rebuilt. */
  rebuild: Rebuild | undefined;
}

const disownedKey = textKey("disowned");

interface MarksNeeds {
  isWriter: boolean;
  views: Pick<Views, "ofNow" | "refresh">;
  /** When a block was reverted, in milliseconds since 1970. */
  revertedAt(id: string): number;
}

export const createChainMarks = (environment: Environment, { isWriter, views, revertedAt }: MarksNeeds): ChainMarks => {
  const { meta } = environment.db;
  const readComplete = (): boolean => meta.get(completeKey) === true;
  const complete = readComplete();
  let disowned = meta.get(disownedKey) as BlockName | undefined;

  const isOnChain = ({ height, id }: BlockName): boolean => {
    const view = views.ofNow();
    return view !== undefined && idIn(view, height) === id;
  };

  const marks: ChainMarks = {
    complete,
    rebuild: complete ? undefined : readRebuild(environment),
    isComplete: () => {
      if (isWriter) return marks.complete;
      environment.root.resetReadTxn();
      return readComplete();
    },
    markComplete: () => {
      transact(environment, () => {
        if (marks.rebuild !== undefined) leaveRebuilt(environment, isOnChain, revertedAt);
        meta.putSync(completeKey, true);
        writeRebuild(environment, undefined);
      });
      marks.complete = true;
      marks.rebuild = undefined;
      // What the rebuild has left is read in the view of its last block.
      views.refresh();
    },
    disown: (block) => {
      if (block?.id === disowned?.id) return;
      transact(environment, () => (block === undefined ? meta.removeSync(disownedKey) : meta.putSync(disownedKey, block)));
      disowned = block;
    },
    disowned: () => disowned,
  };
  return marks;
};

interface CommitQueueNeeds {
  /** Commits what was prepared, and does all that follows from that. */
  commit(): Promise<void>;
  /** Discards what was prepared and not committed. */
  giveUp(): void;
}

/** Writes one after the other. Each is prepared in turns and then committed, with `writeAhead` while the next is being prepared. */
interface CommitQueue {
  /** Resolves when it is committed. */
  write(work: Sliced<void>): Promise<void>;
  /** Resolves when it is prepared, in a hurry, and the write before is committed. If its own commit fails, the next call rejects. */
  writeAhead(work: Sliced<void>): Promise<void>;
  /** Does other work when all is committed. */
  alone(work: () => Promise<void>): Promise<void>;
  /** Takes no more work, and resolves when all that was taken has ended, however it went. */
  close(): Promise<void>;
}

const createCommitQueue = ({ commit, giveUp }: CommitQueueNeeds): CommitQueue => {
  /** The commit that is under way, until a caller has been told how it went. */
  let committing: Promise<void> | undefined;
  /** The work that is being prepared. */
  let taken: Promise<void> | undefined;
  let isClosed = false;

  const heard = async (): Promise<void> => {
    try {
      await committing;
    } finally {
      committing = undefined;
    }
  };

  const run = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      giveUp();
      // If the commit before has failed, that is the cause.
      await heard();
      throw error;
    }
  };

  /** One piece of work at a time; one that fails leaves nothing behind. */
  const take = async (work: () => Promise<void>): Promise<void> => {
    if (isClosed) throw new Error("the store is closed");
    if (taken !== undefined) throw new Error("the store is already being written");
    taken = run(work).finally(() => (taken = undefined));
    await taken;
  };

  const workOut = async (work: Sliced<void>, pace: Pace): Promise<void> => {
    await runSliced(work, pace);
    await heard();
    committing = commit();
    committing.catch(() => undefined);
  };

  return {
    write: (work) =>
      take(async () => {
        await heard();
        await workOut(work, "background");
        await heard();
      }),
    writeAhead: (work) => take(() => workOut(work, "cooperative")),
    alone: (work) =>
      take(async () => {
        await heard();
        await work();
      }),
    close: async () => {
      isClosed = true;
      await taken?.catch(() => undefined);
      await committing?.catch(() => undefined);
    },
  };
};

interface StoreWritesNeeds extends StoreNeeds {
  undoBlocks: number;
  /** Whether the states at earlier heights are kept. */
  history: boolean;
  /** Whether this process writes the blocks. */
  isWriter: boolean;
  environment: Environment;
  views: Views;
  marks: ChainMarks;
  /** When a block was reverted, in milliseconds since 1970. */
  revertedAt(id: string): number;
}

type Writes = "apply" | "applyAhead" | "written" | "revert" | "trimUndo" | "filling" | "fillSets" | "startOver";

interface StoreWrites extends Pick<Store, Writes> {
  /** Takes no more writes, and resolves when none is under way. */
  close(): Promise<void>;
}

/** Makes what was committed the state that is served. */
const createShow = ({ views, marks, changed }: StoreWritesNeeds) => {
  const showNow = (view: StateView | undefined): void => {
    views.show(view);
    changed?.();
  };

  const show = async (view: StateView | undefined): Promise<void> => {
    // If nothing was committed, nothing has to be read beforehand.
    const isNew = view?.state.tip.id !== views.ofNow()?.state.tip.id;
    if (view === undefined || !isNew || !marks.complete) return showNow(view);
    const letGo = views.take(view);
    try {
      await runSliced(views.prepare(view));
    } finally {
      showNow(view);
      letGo();
    }
  };

  return { show, showNow };
};

/** Writes one after the other; each that is committed becomes the state that is served. */
const createLine = (pending: WriteBatch, writer: Writer, views: Views, show: (view: StateView | undefined) => Promise<void>) =>
  createCommitQueue({
    commit: async () => {
      try {
        await pending.commit();
      } finally {
        await show(views.ofLastCommit());
      }
    },
    giveUp: () => {
      pending.clear();
      writer.aborted();
    },
  });

/** Some at a time: there may be many. */
const trimUndo = async (pending: WriteBatch, undoBlocks: number, write: (work: Sliced<void>) => Promise<void>, isStopped: () => boolean): Promise<void> => {
  const during = { isLeft: true };
  const some = function* (): Sliced<void> {
    during.isLeft = removeOldUndo(pending, readState(pending)?.tip.height ?? 0, undoBlocks);
    yield;
  };
  while (during.isLeft && !isStopped()) await write(some());
};

/** The writing side of the store. */
export const createStoreWrites = (needs: StoreWritesNeeds): StoreWrites => {
  const { undoBlocks, environment, views, marks, revertedAt } = needs;
  const pending = createWriteBatch(environment);
  const writer = createWriter(pending, needs.rules, { undoBlocks, history: needs.history, timesOf: needs.timesOf });
  const { show, showNow } = createShow(needs);
  const line = createLine(pending, writer, views, show);

  const putOn = (blocks: readonly FullBlock[], chainHeight = 0, appliedAt?: number): Sliced<void> =>
    writer.apply(blocks, chainHeight - undoBlocks, appliedAt);

  const takeOut = function* (): Sliced<void> {
    const full = writer.revert();
    if (full !== undefined) putOrphan(pending, full, revertedAt(full.block.id));
    yield;
  };

  const makeEmpty: Store["startOver"] = async (fork, { isStopped = () => false, onBegun } = {}) => {
    const tip = views.ofNow()?.state.tip;
    if (tip !== undefined) {
      // Nobody has seen the blocks of an incomplete chain, but for those kept from the chain before it.
      const rebuild = { fork, top: marks.complete ? tip.height : 0, emptied: false };
      await beginRebuild(pending, rebuild);
      marks.rebuild = rebuild;
      marks.complete = false;
      showNow(undefined);
      writer.aborted();
    }
    onBegun?.();
    await removeOldChain(environment, { revertedAt, isStopped });
    marks.rebuild = readRebuild(environment);
  };

  const filling: Store["filling"] = () => {
    const view = views.ofNow();
    return view && readFillProgress(view.reading);
  };

  return {
    apply: (blocks, chainHeight, appliedAt) => line.write(putOn(blocks, chainHeight, appliedAt)),
    applyAhead: (blocks, chainHeight, appliedAt) => line.writeAhead(putOn(blocks, chainHeight, appliedAt)),
    written: () => line.alone(() => Promise.resolve()),
    revert: () => line.write(takeOut()),
    trimUndo: (isStopped = () => false) => trimUndo(pending, undoBlocks, line.write, isStopped),
    filling,
    fillSets: async () => {
      if (filling() !== undefined) await line.write(writer.fill());
      return filling() !== undefined;
    },
    startOver: (fork, during) => line.alone(() => makeEmpty(fork, during)),
    close: line.close,
  };
};
