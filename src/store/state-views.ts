import type { Transaction as ReadTransaction } from "lmdb";
import type { ChainRules } from "../chain/rules.js";
import type { StateRecord } from "./codec.js";
import { type DelegateList, readDelegates } from "./delegate-list.js";
import type { Environment } from "./environment.js";
import { createReading } from "./reading.js";
import type { StateView } from "./snapshot.js";

export interface ViewsNeeds {
  environment: Environment;
  rules: ChainRules;
  lastState(transaction: ReadTransaction): StateRecord | undefined;
}

/** Views of the store's states, each on a read transaction that is held for as long as somebody reads by it. */
export interface Views {
  /** The state of now, for the process that writes: it alone knows when that changes, so all requests until then share one. */
  ofNow(): StateView | undefined;
  /** The state that was committed last, by whatever process. */
  ofLastCommit(): StateView | undefined;
  /** Counts a reader in. Returns what counts it out again, once. */
  take(view: StateView): () => void;
  /** To be called after each write, before anything else can be: what is written later must not get into the view of this state. */
  changed(): void;
  /** Lets go of everything, before the environment is closed. */
  forget(): void;
}

interface Held {
  transaction: ReadTransaction;
  readers: number;
}

export const createViews = ({ environment, rules, lastState }: ViewsNeeds): Views => {
  const held = new Map<StateView, Held>();
  let current: StateView | undefined;
  let known: DelegateList | undefined;

  const open = (): StateView | undefined => {
    environment.root.resetReadTxn();
    const transaction = environment.root.useReadTransaction();
    const reading = createReading(environment, transaction);
    const state = lastState(transaction);
    if (state === undefined) {
      transaction.done();
      return undefined;
    }
    const delegates = (): DelegateList => {
      if (known?.tip.id !== state.tip.id) known = readDelegates(reading, state, known);
      return known;
    };
    const view = { reading, state, rules, delegates };
    held.set(view, { transaction, readers: 0 });
    return view;
  };

  const letGo = (view: StateView): void => {
    const holding = held.get(view);
    if (view === current || holding === undefined || holding.readers > 0) return;
    held.delete(view);
    holding.transaction.done();
  };

  return {
    ofNow: () => current,
    ofLastCommit: open,
    take: (view) => {
      const holding = held.get(view);
      if (holding !== undefined) holding.readers++;
      let reading = true;
      return () => {
        if (!reading) return;
        reading = false;
        if (holding !== undefined) holding.readers--;
        letGo(view);
      };
    },
    changed: () => {
      const before = current;
      current = open();
      if (before !== undefined) letGo(before);
    },
    forget: () => {
      held.clear();
      current = undefined;
    },
  };
};
