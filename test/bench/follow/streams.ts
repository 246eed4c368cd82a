import { blocksBeyond } from "../chain/chain.js";
import { sizes } from "../chain/sizes.js";
import { median, quantile } from "../load/statistics.js";
import type { Contestant } from "../measures/contest.js";
import { openPeer, openPortico } from "../measures/servers.js";
import { openProcess } from "../processes/asking.js";
import type { StreamsHandlers } from "../processes/streams.js";
import { limited, type Row } from "../table.js";

const clients = 2;
const blocks = 100;
/** Before those that count, to have the code compiled: of Portico's and of the bare server's. */
const warmUp = 10;

interface BlockFigures {
  /** Milliseconds until the last client has the block. */
  delay: number;
  /** Microseconds of the server's processor time. */
  used: number;
}

/** Opens streams of a server. Returns what sends them a block and measures it. */
const openStreams = async (server: Contestant, streams: number, emit: () => Promise<number>) => {
  const listeners = Array.from({ length: clients }, () => openProcess<StreamsHandlers>("streams"));
  await Promise.all(listeners.map((listener) => listener.ask("open", { port: server.port, count: streams / clients })));
  return {
    block: async (): Promise<BlockFigures> => {
      const arrivals = listeners.map((listener) => listener.ask("block", undefined));
      const before = await server.cpuTime();
      const at = await emit();
      const last = Math.max(...(await Promise.all(arrivals)));
      return { delay: last - at, used: (await server.cpuTime()) - before };
    },
    close: () => Promise.all(listeners.map((listener) => listener.close())),
  };
};

/**
 * A node in one process, its streams' clients in others: from when the host emits a block until the last client has it. In turns with a
 * server of `node:http` alone, which shows what of it is the machine's and the clients'.
 */
export const measureStreams = async (streams: number, limit: number): Promise<Row[]> => {
  const size = sizes["10k"];
  const portico = await openPortico({ size: size.name, options: { maxStreams: streams, maxConnections: 2 * streams } });
  const bare = await openPeer("streams");
  const forge = async (): Promise<number> => (await portico.process.ask("forge", { blocks: 1, interval: 0 }))[0]?.at ?? NaN;
  await portico.process.ask("hold", blocksBeyond(size, 10)(warmUp + blocks));
  const before = await portico.process.ask("heapUsed", undefined);
  const ours = await openStreams(portico, streams, forge);
  const each = (((await portico.process.ask("heapUsed", undefined)) - before) * 1_024) / streams;
  const theirs = await openStreams(bare, streams, bare.emit);
  const own: BlockFigures[] = [];
  const peer: BlockFigures[] = [];
  for (let block = -warmUp; block < blocks; block++) {
    const [one, other] = [await ours.block(), await theirs.block()];
    if (block < 0) continue;
    own.push(one);
    peer.push(other);
  }
  await portico.process.ask("takeOut", undefined);
  await Promise.all([ours.close(), theirs.close(), portico.close(), bare.close()]);
  const delay = (all: readonly BlockFigures[], part: number): number => quantile(Float64Array.from(all, (one) => one.delay).sort(), part);
  const used = (all: readonly BlockFigures[]): number => median(all.map((one) => one.used)) / streams;
  const [group, count] = ["following", `${streams.toLocaleString("en")} streams`];
  const note = `median ${delay(own, 0.5).toFixed(0)} ms; bare node:http: ${delay(peer, 0.99).toFixed(0)}, median ${delay(peer, 0.5).toFixed(0)} ms`;
  return [
    limited({ group, what: `${count}: from a block to the last client, p99 of ${blocks}`, figure: delay(own, 0.99), unit: "ms", note }, limit),
    { group, what: `${count}: processor time for a block and stream`, figure: used(own), unit: "µs", against: "bare node:http", peer: used(peer), ratio: used(own) / used(peer) },
    limited({ group, what: `${count}: memory of each`, figure: each, unit: "KB" }, 20),
  ];
};
