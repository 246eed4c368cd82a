/** Clients of event streams. */
import { connect } from "node:net";
import { answerWith } from "./asking.js";

/** Streams that have not had the next block yet. */
let left = 0;
let opened = 0;
let tell: (at: number) => void = () => undefined;

/** All connections read into it: memory of its own for each piece would be most of what a client costs. */
const buffer = Buffer.alloc(65_536);

const open = (port: number): Promise<void> =>
  new Promise((resolve) => {
    let isOpen = false;
    const read = (length: number): boolean => {
      const chunk = buffer.subarray(0, length);
      if (!isOpen && chunk.includes("id: ")) {
        isOpen = true;
        resolve();
      }
      if (chunk.includes("event: block.applied") && --left === 0) tell(performance.timeOrigin + performance.now());
      return true;
    };
    const socket = connect({ port, host: "127.0.0.1", onread: { buffer, callback: read } });
    socket.write("GET /api/events?event=block.applied HTTP/1.1\r\nHost: node\r\n\r\n");
  });

const handlers = {
  /** Resolves when all are open. */
  open: async ({ port, count }: { port: number; count: number }): Promise<void> => {
    for (; opened < count; opened += Math.min(50, count - opened)) await Promise.all(Array.from({ length: Math.min(50, count - opened) }, () => open(port)));
  },
  /** Resolves when the last of them has the next block: milliseconds since 1970, with fractions. */
  block: (): Promise<number> =>
    new Promise((resolve) => {
      [left, tell] = [opened, resolve];
    }),
};

export type StreamsHandlers = typeof handlers;

answerWith(handlers);
