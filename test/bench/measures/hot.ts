import { walletAddress } from "../chain/parties.js";
import type { Measure, Run } from "../measure.js";
import type { Row } from "../table.js";
import { contest, type Contestant, ratioOf, type Score } from "./contest.js";
import { bodyAt, headersAt, openPeer, openPortico, type PorticoServer } from "./servers.js";

/** What clients ask for most, by its name in the table. */
export const hotPaths: Readonly<Record<string, string>> = {
  delegates: "/api/delegates?limit=100",
  "wallets/top": "/api/wallets/top?limit=100",
  votes: "/api/votes?limit=100",
  transactions: "/api/transactions?limit=100",
  blocks: "/api/blocks?limit=100",
  "node/status": "/api/node/status",
  "one wallet": `/api/wallets/${walletAddress(60)}`,
};

/** Replies that depend on the time are made anew for every request. */
const neverKept = ["node/status"];

const groups = { listener: "hot", middleware: "hot, in a host's Koa app" } as const;

const pathsFor = (run: Run): [what: string, path: string][] => Object.entries(hotPaths).filter(([what]) => !run.quick || !neverKept.includes(what));

const withoutQuery = (path: string): string => path.split("?", 1)[0] ?? path;

const connections = 16;

type Peers = Record<"koa" | "node", Contestant>;

const rowOf = (what: string, figures: Record<"portico" | "peer", Score>, peer: keyof Peers, run: Run): Row => ({
  group: groups.listener,
  what,
  figure: figures.portico.perSecond,
  unit: "req/s",
  against: peer === "koa" ? "bare Koa" : "bare node:http",
  peer: figures.peer.perSecond,
  ...ratioOf(figures.portico, figures.peer, run),
});

/** On a listener of its own. */
const measureListener = async (portico: PorticoServer, { koa, node }: Peers, run: Run): Promise<Row[]> => {
  const rows: Row[] = [];
  for (const [what, path] of pathsFor(run)) {
    run.say(`${groups.listener}: ${what}`);
    const scores = await contest({ portico, koa, node }, run, { connections, requestsOf: () => [path] });
    rows.push(
      { ...rowOf(what, { portico: scores.portico, peer: scores.koa }, "koa", run), goal: { atLeast: 0.85 } },
      { ...rowOf(what, { portico: scores.portico, peer: scores.node }, "node", run), goal: { atLeast: 0.6 } },
    );
  }
  return rows;
};

/**
 * As middleware. Not in the same process: code that is called in two ways is optimized for neither. `same` is a Koa app that sends the
 * same headers: Koa keeps them one by one for the host's other middleware, which takes longer than all that Portico does.
 */
const measureMiddleware = async (portico: PorticoServer, { koa, same }: Record<"koa" | "same", Contestant>, run: Run): Promise<Row[]> => {
  const mounted = { port: await portico.process.ask("mount", undefined), cpuTime: portico.cpuTime };
  const rows: Row[] = [];
  for (const [what, path] of pathsFor(run)) {
    run.say(`${groups.middleware}: ${what}`);
    const scores = await contest({ mounted, koa, same }, run, { connections, requestsOf: () => [path] });
    const row = { ...rowOf(what, { portico: scores.mounted, peer: scores.koa }, "koa", run), group: groups.middleware };
    rows.push(
      { ...row, goal: { atLeast: 0.85 } },
      { ...row, against: "Koa, same headers", peer: scores.same.perSecond, ...ratioOf(scores.mounted, scores.same, run), goal: { atLeast: 0.85 } },
    );
  }
  return rows;
};

/** What is asked for most, and cached where it can be: against servers that send the same bytes from memory and do nothing else. */
export const measureHot: Measure = async (run) => {
  const portico = await openPortico({ size: run.size.name });
  const routes = await Promise.all(Object.values(hotPaths).map(async (path) => ({ path: withoutQuery(path), body: await bodyAt(portico.port, path) })));
  const [koa, node] = await Promise.all([openPeer("koa", routes), openPeer("node", routes)]);
  const withHeaders = await Promise.all(Object.values(hotPaths).map(async (path, index) => ({ ...routes[index]!, headers: await headersAt(portico.port, path) })));
  const rows = await measureListener(portico, { koa, node }, run);
  await portico.close();
  const [inHost, same] = await Promise.all([openPortico({ size: run.size.name }), openPeer("koa", withHeaders)]);
  rows.push(...(await measureMiddleware(inHost, { koa, same }, run)));
  await Promise.all([inHost.close(), koa.close(), same.close(), node.close()]);
  return rows;
};
