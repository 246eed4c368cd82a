import type { MaybePromise } from "../../types/chain-adapter.js";
import type { NodeContext } from "../../types/node-context.js";
import { isPromised } from "../async/maybe-promise.js";
import { PorticoError } from "../errors.js";

/** What requests ask the host, besides its chain. */
type Host = Pick<NodeContext, "peers" | "sync" | "pool" | "node">;

interface HostPatience {
  /** Milliseconds that an answer may take. */
  timeout: number;
  /** Aborted when the node stops: nothing is waited for much longer then. */
  stopping(): AbortSignal | undefined;
}

/** Milliseconds that answers may still take once the node stops. */
const lastPatience = 2_000;

/** Waits for an answer of the host, but not for ever. @throws PorticoError HOST_SILENT, NOT_READY while the node stops */
const within = <T>(what: string, answer: Promise<T>, { timeout, stopping }: HostPatience): Promise<T> =>
  new Promise((resolve, reject) => {
    const signal = stopping();
    let timer = setTimeout(() => end(() => reject(new PorticoError("HOST_SILENT", `The node's ${what} did not answer within ${timeout / 1000} s.`))), timeout);
    const onStop = (): void => {
      if (timeout <= lastPatience) return;
      clearTimeout(timer);
      timer = setTimeout(() => end(() => reject(new PorticoError("NOT_READY", "The node is stopping."))), lastPatience);
    };
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onStop);
      settle();
    };
    if (signal?.aborted === true) onStop();
    else signal?.addEventListener("abort", onStop, { once: true });
    answer.then(
      (value) => end(() => resolve(value)),
      (error: unknown) => end(() => reject(error instanceof Error ? error : new Error(String(error)))),
    );
  });

/** The same functions of the host, each with a limit of time. */
export const createPatientHost = (host: Host, patience: HostPatience): Host => {
  const { peers, sync, pool } = host;
  const limited =
    <Args extends unknown[], T>(what: string, ask: (...args: Args) => MaybePromise<T>) =>
    (...args: Args): MaybePromise<T> => {
      const answer = ask(...args);
      return isPromised(answer) ? within(what, Promise.resolve(answer), patience) : answer;
    };
  // Called as members, since a host's objects may be classes.
  return {
    // It may change.
    get node() {
      return host.node as NonNullable<typeof host.node>;
    },
    ...(peers === undefined
      ? {}
      : {
          peers: {
            list: limited("peers", () => peers.list()),
            ...(peers.suspended === undefined ? {} : { suspended: limited("suspended peers", () => peers.suspended?.() ?? []) }),
          },
        }),
    ...(sync === undefined
      ? {}
      : {
          sync: {
            networkHeight: limited("network height", () => sync.networkHeight()),
            ...(sync.synced === undefined ? {} : { synced: limited("state of syncing", () => sync.synced?.() ?? false) }),
          },
        }),
    ...(pool === undefined
      ? {}
      : {
          pool: {
            list: limited("pool", () => pool.list()),
            ...(pool.get === undefined ? {} : { get: limited("pool", (id: string) => pool.get?.(id)) }),
            ...(pool.submit === undefined ? {} : { submit: limited("pool", (transactions: Parameters<NonNullable<typeof pool.submit>>[0]) => pool.submit?.(transactions) ?? { accept: [], broadcast: [], excess: [], invalid: [] }) }),
          },
        }),
  };
};
