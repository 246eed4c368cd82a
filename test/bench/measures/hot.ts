import { walletAddress } from "../questions/parties.js";
import type { Row } from "../table/row.js";
import { contest, ratioOf } from "./contest.js";
import type { Measure } from "./measure.js";
import { bodyAt, openPeer, openPortico } from "./servers.js";

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

const withoutQuery = (path: string): string => path.split("?", 1)[0] ?? path;

const connections = 16;

/** What is asked for most, and cached where it can be: against servers that send the same bytes from memory and do nothing else. */
export const measureHot: Measure = async (run) => {
  const portico = await openPortico({ size: run.size.name });
  const mounted = { port: await portico.process.ask("mount", undefined), usage: portico.usage };
  const routes = await Promise.all(Object.values(hotPaths).map(async (path) => ({ path: withoutQuery(path), body: await bodyAt(portico.port, path) })));
  const [koa, node] = await Promise.all([openPeer("koa", routes), openPeer("node", routes)]);
  const own: Row[] = [];
  const inside: Row[] = [];
  for (const [what, path] of Object.entries(hotPaths)) {
    if (run.quick && neverKept.includes(what)) continue;
    run.say(`hot: ${what}`);
    const scores = await contest({ portico, mounted, koa, node }, run, { connections, requestsOf: () => [path] });
    const row = (name: "portico" | "mounted", peer: "koa" | "node", atLeast: number): Row => ({
      group: name === "portico" ? "hot" : "hot, in a host's Koa app",
      what,
      figure: scores[name].perSecond,
      unit: "req/s",
      against: peer === "koa" ? "bare Koa" : "bare node:http",
      peer: scores[peer].perSecond,
      ...ratioOf(scores[name], scores[peer], run),
      ...(name === "portico" ? { goal: { atLeast } } : {}),
    });
    own.push(row("portico", "koa", 0.85), row("portico", "node", 0.6));
    inside.push(row("mounted", "koa", 0.85));
  }
  await Promise.all([portico.close(), koa.close(), node.close()]);
  return [...own, ...inside];
};
