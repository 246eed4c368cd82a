import { randomBytes } from "node:crypto";
import type { Database, RootDatabase } from "lmdb";
import type { HostLog, LoggedEvent } from "../../../types/host-log.js";
import type { WriteWatch } from "../lmdb/environment.js";
import { transact, transactSoon } from "../lmdb/safe/transact.js";

/** An open LMDB environment, whatever else is kept in it. */
export interface LogEnvironment {
  /** Its file. */
  path: string;
  writes?: WriteWatch;
  root: Pick<RootDatabase<never, never>, "openDB" | "transactionSync" | "childTransaction" | "getWriteTxnId" | "resetReadTxn">;
}

type Row = [at: number, event: string, json: string, height: number | null, id: string | null];

/** Bytes of the log's name. Six hex digits would do for one operator's nodes. */
const nameBytes = 4;
/** Events removed in one transaction. */
const removedTogether = 1_000;

const encoding = { encoding: "msgpack", keyEncoding: "ordered-binary", encoder: { useRecords: false, useBigIntExtension: true } } as const;

/** What lmdb-js's types leave open. */
type PageCounts = "pageSize" | "treeBranchPageCount" | "treeLeafPageCount" | "overflowPages" | "entryCount";

interface Databases {
  events: Database<Row, number>;
  about: Database<string, string>;
}

const openDatabases = ({ root }: LogEnvironment): Partial<Databases> => {
  const open = (name: string): unknown => root.openDB({ name, ...encoding } as never);
  // A process that only reads gets none where there is none.
  return { events: open("host-events") as Databases["events"] | undefined, about: open("host-events-about") as Databases["about"] | undefined } as Partial<Databases>;
};

const eventOf = (sequence: number, [at, event, json, height, id]: Row): LoggedEvent => ({
  sequence,
  at,
  event,
  json,
  position: height === null || id === null ? null : { height, id },
});

const rowOf = ({ at, event, json, position }: LoggedEvent): Row => [at, event, json, position?.height ?? null, position?.id ?? null];

/** Events to be removed for the others to take so many bytes, by what one takes on average. */
const surplusOf = (events: Database<Row, number>, bytes: number): number => {
  const { pageSize, treeBranchPageCount, treeLeafPageCount, overflowPages, entryCount } = events.getStats() as Record<PageCounts, number>;
  const taken = pageSize * (treeBranchPageCount + treeLeafPageCount + overflowPages);
  return taken <= bytes ? 0 : Math.ceil(entryCount * (1 - bytes / taken));
};

const emptyLog: HostLog = { node: "none", last: () => 0, read: () => [], append: () => Promise.reject(new Error("the log is only read here")), trim: () => false };

/**
 * The log in an open LMDB environment, beside whatever else that keeps. `writes`: whether this process adds to it; the first one that may
 * gives the log its name.
 */
export const createHostLog = (environment: LogEnvironment, { writes }: { writes: boolean }): HostLog => {
  const { root } = environment;
  const { events, about } = openDatabases(environment);
  if (events === undefined || about === undefined) return emptyLog;

  const readName = (): string | undefined => {
    root.resetReadTxn();
    return about.get("node");
  };
  const nameIt = (): string =>
    transact(environment, () => {
      const name = about.get("node") ?? randomBytes(nameBytes).toString("hex");
      about.putSync("node", name);
      return name;
    });
  let node = readName() ?? (writes ? nameIt() : undefined);

  const readLast = (): number => {
    root.resetReadTxn();
    for (const sequence of events.getKeys({ reverse: true, limit: 1 })) return sequence;
    return 0;
  };
  let last = readLast();

  return {
    get node() {
      return (node ??= readName()) ?? "none";
    },
    last: () => (writes ? last : readLast()),
    read: (after, limit) => {
      root.resetReadTxn();
      return [...events.getRange({ start: after + 1, limit })].map(({ key, value }) => eventOf(key, value));
    },
    append: async (added) => {
      const fresh = added.filter(({ sequence }) => sequence > last);
      const newest = fresh.at(-1);
      if (newest === undefined) return;
      await transactSoon(environment, () => fresh.forEach((event) => events.putSync(event.sequence, rowOf(event))));
      last = newest.sequence;
    },
    trim: ({ before, bytes }) => {
      const old: number[] = [];
      root.resetReadTxn();
      const surplus = surplusOf(events, bytes);
      for (const { key, value } of events.getRange({ limit: removedTogether })) {
        if ((value[0] >= before && old.length >= surplus) || key >= last) break;
        old.push(key);
      }
      if (old.length === 0) return false;
      transact(environment, () => old.forEach((key) => events.removeSync(key)));
      return old.length === removedTogether;
    },
  };
};
