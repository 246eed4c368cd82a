import type { PeerHandlers, PeerRoute } from "../processes/peer.js";
import { type BenchProcess, openProcess } from "../processes/asking.js";
import type { PorticoHandlers, ServeInput } from "../processes/portico.js";
import type { Contestant } from "./contest.js";

export interface PorticoServer extends Contestant {
  readonly process: BenchProcess<PorticoHandlers>;
  /** Milliseconds from `createApiPlugin` until it listens. */
  readonly opening: number;
  close(): Promise<void>;
}

/** Portico on a store, in a process of its own. */
export const openPortico = async (input: ServeInput): Promise<PorticoServer> => {
  const process = openProcess<PorticoHandlers>("portico");
  const { port, opening } = await process.ask("serve", input);
  return {
    process,
    port,
    opening,
    cpuTime: () => process.ask("cpuTime", undefined),
    close: async () => {
      await process.ask("stop", undefined);
      await process.close();
    },
  };
};

export interface PeerServer extends Contestant {
  /** Sends an event to all streams; returns when it began. */
  emit(): Promise<number>;
  close(): Promise<void>;
}

export const openPeer = async (kind: "koa" | "node" | "streams", routes: PeerRoute[] = []): Promise<PeerServer> => {
  const process = openProcess<PeerHandlers>("peer");
  const port = await process.ask("serve", { kind, routes });
  return { port, cpuTime: () => process.ask("cpuTime", undefined), emit: () => process.ask("emit", undefined), close: process.close };
};

const answerAt = async (port: number, path: string): Promise<Response> => {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { "accept-encoding": "identity" } });
  if (answer.status !== 200) throw new Error(`${path} was answered ${answer.status}`);
  return answer;
};

/** What a server answers a path with. */
export const bodyAt = async (port: number, path: string): Promise<Uint8Array> => new Uint8Array(await (await answerAt(port, path)).arrayBuffer());

export const jsonAt = async <T>(port: number, path: string): Promise<T> => (await (await answerAt(port, path)).json()) as T;

/** Those that every server of Node.js sends. */
const usual = ["content-type", "content-length", "connection", "keep-alive", "date"];

/** The headers that a server answers a path with, apart from those that every server sends. */
export const headersAt = async (port: number, path: string): Promise<[name: string, value: string][]> => {
  const answer = await answerAt(port, path);
  await answer.arrayBuffer();
  return [...answer.headers].filter(([name]) => !usual.includes(name));
};
