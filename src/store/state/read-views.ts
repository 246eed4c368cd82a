import type { Transaction as ReadTransaction } from "lmdb";
import type { ChainRules } from "../../chain/rules.js";
import type { StateRecord } from "../layout/codec.js";
import { atOnce, type Sliced } from "../../async/time-slicing.js";
import { type DelegateList, readDelegates } from "../query/lists/delegate-list.js";
import type { Environment } from "../lmdb/environment.js";
import { createCheckedSession, createReadSession } from "../lmdb/read-session.js";
import type { StateView } from "./snapshot.js";

interface ViewsNeeds {
  environment: Environment;
  /** Opens a read transaction of what is committed now. */
  openTransaction(): ReadTransaction;
  rules: ChainRules;
  tipState(transaction: ReadTransaction): StateRecord | undefined;
}

/** Views of the store's states, each on a read transaction that is held for as long as somebody reads in it. */
export interface Views {
  /** The current state, in the process that writes: it alone knows when that changes, so all requests until then share one view. */
  ofNow(): StateView | undefined;
  /** A view of the state that was committed last, by whichever process. The one that writes asks for it before it commits more. */
  ofLastCommit(): StateView | undefined;
  /** Counts a reader in. Returns what counts it out again; further calls of that do nothing. */
  take(view: StateView): () => void;
  /** Reads beforehand, for a state about to be shown, what was asked of the current one. */
  prewarm(view: StateView): Sliced<void>;
  /** Makes a state the current one. */
  show(view: StateView | undefined): void;
  /** Moves the current state to a new read transaction: while the old one is held, pages replaced since it began cannot be reused. */
  refresh(): void;
  /** Drops everything, before the environment is closed. */
  forget(): void;
}

interface OpenView {
  transaction: ReadTransaction;
  readers: number;
  delegates: DelegateList | undefined;
}

/** Further calls do nothing. */
const once = (work: () => void): (() => void) => {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    work();
  };
};

/** Ends the transaction where there is no state, or its record is damaged: each request would leave one open. */
const readOrEnd = (transaction: ReadTransaction, tipState: ViewsNeeds["tipState"]): StateRecord | undefined => {
  let state: StateRecord | undefined;
  try {
    return (state = tipState(transaction));
  } finally {
    if (state === undefined) transaction.done();
  }
};

/** Views that are open, each on its transaction. `isKept`: whether one stays open though nobody reads in it. */
const createOpenViews = ({ environment, rules, openTransaction, tipState }: ViewsNeeds, isKept: (view: StateView) => boolean) => {
  const openViews = new Map<StateView, OpenView>();
  /** The list that was read last, of whichever state. */
  let known: DelegateList | undefined;

  const open = (): StateView | undefined => {
    const transaction = openTransaction();
    const state = readOrEnd(transaction, tipState);
    if (state === undefined) return undefined;
    const reading = createCheckedSession(createReadSession(environment, transaction));
    const entry: OpenView = { transaction, readers: 0, delegates: undefined };
    const readList = (): DelegateList => (known?.tip.id === state.tip.id ? known : (known = atOnce(readDelegates(reading, state, known))));
    const delegates = (): DelegateList => (entry.delegates ??= readList());
    const view = { reading, state, rules, delegates };
    openViews.set(view, entry);
    return view;
  };

  const letGo = (view: StateView): void => {
    const entry = openViews.get(view);
    if (isKept(view) || entry === undefined || entry.readers > 0) return;
    openViews.delete(view);
    entry.transaction.done();
  };

  return {
    open,
    letGo,
    take: (view: StateView): (() => void) => {
      const entry = openViews.get(view);
      if (entry !== undefined) entry.readers++;
      return once(() => {
        if (entry !== undefined) entry.readers--;
        letGo(view);
      });
    },
    prewarm: function* (view: StateView, current: StateView | undefined): Sliced<void> {
      const entry = openViews.get(view);
      const before = current === undefined ? undefined : openViews.get(current)?.delegates;
      if (entry !== undefined && before !== undefined) entry.delegates = known = yield* readDelegates(view.reading, view.state, before);
    },
    forget: () => openViews.clear(),
  };
};

export const createViews = (needs: ViewsNeeds): Views => {
  let current: StateView | undefined;
  const { open, letGo, take, prewarm, forget } = createOpenViews(needs, (view) => view === current);

  const show = (view: StateView | undefined): void => {
    const before = current;
    current = view;
    if (before !== undefined) letGo(before);
  };

  const refresh = (): void => {
    const [before, again] = [current, current && open()];
    if (before === undefined || again === undefined) return;
    // A state that was committed meanwhile is shown by its own commit.
    if (again.state.tip.id === before.state.tip.id) show(again);
    else letGo(again);
  };

  return {
    ofNow: () => current,
    ofLastCommit: open,
    take,
    prewarm: (view) => prewarm(view, current),
    show,
    refresh,
    forget: () => {
      forget();
      current = undefined;
    },
  };
};
