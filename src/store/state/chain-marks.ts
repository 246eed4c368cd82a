import { textKey } from "../layout/keys.js";
import type { Environment } from "../lmdb/environment.js";
import { leaveRebuilt } from "../follow/orphans.js";
import { transact } from "../lmdb/safe/transact.js";
import { readBlock } from "../records/records.js";
import type { Views } from "./read-views.js";
import { completeKey, readRebuild, type Rebuild, writeRebuild } from "./rebuild.js";
import type { BlockName, Store } from "./store-contract.js";

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
    return view !== undefined && height <= view.state.tip.height && readBlock(view.reading, height)?.id === id;
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
