import { setTimeout as delay } from "node:timers/promises";
import { type Connection, openConnection } from "./connection.js";

/** What a request asks: a path, or a path and a body. */
export type Asked = string | { path: string; body: string };

export interface Load {
  port: number;
  connections: number;
  /** Made one after the other, by whichever connection is free; from the beginning again after the last. */
  requests: readonly Asked[];
  /** Milliseconds; without it, each request is made once. */
  duration?: number;
  /** Requests per second, by the clock, whatever the server does: waiting for a free connection counts. Without it: as fast as it goes. */
  rate?: number;
}

export interface LoadFigures {
  requests: number;
  /** Milliseconds. */
  spent: number;
  perSecond: number;
  /** Milliseconds, ascending. */
  latencies: Float64Array;
}

const bytesOf = (asked: Asked): Buffer => {
  const [path, body] = typeof asked === "string" ? [asked, undefined] : [asked.path, asked.body];
  const head = `${body === undefined ? "GET" : "POST"} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: keep-alive\r\n`;
  return Buffer.from(body === undefined ? `${head}\r\n` : `${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
};

/** Gives the next request and when it is due; undefined when there are no more. */
const createSchedule = ({ requests, duration, rate }: Load) => {
  const begun = performance.now();
  let made = 0;
  return (): { request: Asked; due: number } | undefined => {
    if (duration === undefined ? made >= requests.length : performance.now() - begun >= duration) return undefined;
    const request = requests[made % requests.length];
    const due = rate === undefined ? 0 : begun + (made * 1_000) / rate;
    made++;
    return request === undefined ? undefined : { request, due };
  };
};

/**
 * Keeps this process from sleeping while it waits for replies. Within one machine, waking it up would be the work of the server that sends
 * one (a third of what a short reply costs), and the more often the slower the server is: clients over a network cost it nothing of the kind.
 */
const stayAwake = (): (() => void) => {
  let awake = true;
  const turn = (): void => void (awake && setImmediate(turn));
  turn();
  return () => void (awake = false);
};

/** Puts load on a server, and takes one core for it. @throws Error at the first reply that is not 200. */
export const putLoad = async (load: Load): Promise<LoadFigures> => {
  const connections: Connection[] = await Promise.all(Array.from({ length: load.connections }, () => openConnection(load.port)));
  // Made beforehand, except for long lists, which are gone through once.
  const few = load.requests.length <= 1_000 ? new Map(load.requests.map((asked) => [asked, bytesOf(asked)])) : undefined;
  const latencies: number[] = [];
  const next = createSchedule(load);
  const sleep = stayAwake();
  const begun = performance.now();
  const work = async (connection: Connection): Promise<void> => {
    for (let turn = next(); turn !== undefined; turn = next()) {
      const early = turn.due - performance.now();
      if (load.rate !== undefined && early > 0) await delay(early);
      // A late request has kept its client waiting. An early one waits for a timer, whose lateness is not the server's.
      const from = early < 0 && load.rate !== undefined ? turn.due : performance.now();
      const status = await connection.ask(few?.get(turn.request) ?? bytesOf(turn.request));
      if (status !== 200) throw new Error(`${JSON.stringify(turn.request)} was answered ${status}`);
      latencies.push(performance.now() - from);
    }
  };
  try {
    await Promise.all(connections.map(work));
  } finally {
    sleep();
    for (const connection of connections) connection.close();
  }
  const spent = performance.now() - begun;
  return { requests: latencies.length, spent, perSecond: (latencies.length / spent) * 1_000, latencies: Float64Array.from(latencies).sort() };
};
