import type { ChainSnapshot, SnapshotBounds } from "../../../types/chain-adapter.js";
import { PorticoError } from "../../errors.js";
import { createChangesView } from "../follow/changes-view.js";
import { createOldest, historyMissing } from "../history/completeness.js";
import { createPastLists, createPastSnapshot } from "../history/past-snapshot.js";
import type { Searches } from "../query/search.js";
import type { ChainMarks } from "./chain-marks.js";
import type { Views } from "./read-views.js";
import { completeKey } from "./rebuild.js";
import { createSnapshot, type StateView } from "./snapshot.js";
import type { Store } from "./store-contract.js";

interface StoreReadsNeeds {
  /** Whether this process writes the blocks. */
  isWriter: boolean;
  /** Whether the states at earlier heights are served. */
  history: boolean;
  views: Views;
  marks: ChainMarks;
  searches: Searches;
}

interface StoreReads extends Pick<Store, "snapshot" | "snapshotAt" | "changesView" | "oldest"> {
  /** A snapshot of a state that is not shown yet. */
  snapshotOf(view: StateView, bounds?: SnapshotBounds): ChainSnapshot;
}

/** The state that a process serves. In another process than the one that writes, what is committed may be half of a chain at any time. */
const createServedView = ({ isWriter, views }: StoreReadsNeeds) => (): StateView | undefined => {
  if (isWriter) return views.ofNow();
  const view = views.ofLastCommit();
  if (view === undefined || view.reading.get("meta", completeKey) === true) return view;
  views.take(view)();
  return undefined;
};

/** The reading side of the store. */
export const createStoreReads = (needs: StoreReadsNeeds): StoreReads => {
  const { isWriter, history, views, marks, searches } = needs;
  const servedView = createServedView(needs);
  const pastLists = createPastLists();

  const snapshotOf: StoreReads["snapshotOf"] = (view, { searchRows = Infinity } = {}) => createSnapshot(view, searches.begin(searchRows), views.take(view));

  const oldest = createOldest(history);

  const snapshotAt: Store["snapshotAt"] = (height, { searchRows = Infinity } = {}) => {
    if (!history) throw new PorticoError("NOT_SUPPORTED", "This node keeps no history.");
    const view = servedView();
    if (view === undefined) return undefined;
    const release = views.take(view);
    try {
      const { height: tip } = view.state.tip;
      if (height === tip) return createSnapshot(view, searches.begin(searchRows), release);
      if (height >= 1 && height < tip) {
        if (height < oldest.heightOf(view)) throw historyMissing(oldest.of(view));
        return createPastSnapshot(view, height, { search: searches.begin(searchRows), lists: pastLists, release });
      }
    } catch (error) {
      release();
      throw error;
    }
    release();
    return undefined;
  };

  return {
    snapshotOf,
    snapshot: (bounds) => {
      const view = servedView();
      return view && snapshotOf(view, bounds);
    },
    snapshotAt,
    changesView: () => {
      const view = isWriter && !marks.complete ? undefined : servedView();
      return view && createChangesView(view, views.take(view));
    },
    oldest: () => {
      const view = history ? views.ofNow() : undefined;
      return view && oldest.of(view);
    },
  };
};
