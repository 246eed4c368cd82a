import type { MaybePromise } from "../../../types/chain-adapter.js";
import { andThen } from "../../async/maybe-promise.js";
import type { ApiState } from "../state.js";

interface HostStatus {
  synced: boolean;
  /** Height of the network minus this node's; negative if this node is ahead. */
  behind: number;
}

/** Whether this node is in step with its network. A host without `sync` knows only its own height, and so counts as synced. */
export const hostStatus = ({ chain, host: { sync } }: ApiState): MaybePromise<HostStatus> => {
  if (sync === undefined) return { synced: true, behind: 0 };
  return andThen(sync.networkHeight(), (networkHeight) => {
    const behind = networkHeight - chain.tip.height;
    return andThen(sync.synced?.(), (synced) => ({ synced: synced ?? behind <= 0, behind }));
  });
};
