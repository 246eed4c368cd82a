import type { ChainChanges } from "../../types/chain-adapter.js";
import type { HostLog } from "../../types/host-log.js";
import type { ChainRules } from "../chain/rules.js";
import { createChainReader } from "./chain-reader.js";
import type { Follow } from "./follow.js";
import { createLogReader } from "./host/log-reader.js";

interface FollowNeeds {
  /** Undefined: the chain is a host's own that offers no changes, and there is the log alone. */
  changes: ChainChanges | undefined;
  /** Undefined: this node keeps no events of its host. */
  log: () => HostLog | undefined;
  rules: ChainRules;
  /** The option `finality`. */
  finality: number | undefined;
}

/** Following, and the way in which its readers learn of new events in the log. */
export interface FollowRoom extends Follow {
  /** To be called when the log has new events. */
  logged(): void;
}

export const createFollow = ({ changes, log, rules, finality }: FollowNeeds): FollowRoom => {
  const listeners = new Set<() => void>();
  const tell = (): void => listeners.forEach((listener) => listener());
  let leave: (() => void) | undefined;
  const reader = changes === undefined ? createLogReader(log) : createChainReader({ changes, log, rules, finality });
  return {
    ...reader,
    logged: tell,
    watch: (changed) => {
      // Each call is a watcher of its own, even of the same function.
      const listener = (): void => changed();
      if (listeners.size === 0) leave = changes?.watch(tell);
      listeners.add(listener);
      return () => {
        if (!listeners.delete(listener) || listeners.size > 0) return;
        leave?.();
        leave = undefined;
      };
    },
  };
};
