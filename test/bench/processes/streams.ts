/** Clients of a node's event stream: `node streams.js PORT COUNT`. Tells when all are open, then for each block when the last of them has it. */
import { connect } from "node:net";

export interface StreamsTold {
  port?: number;
  /** KB. */
  memory?: number;
  /** Microseconds of processor time since the last block was emitted. */
  used?: number;
  /** Milliseconds since 1970, with fractions. */
  at?: number;
}

const [, , port = "0", count = "0"] = process.argv;
const tell = (told: StreamsTold): void => void process.send?.(told);
let left = Number(count);

/** All connections read into it: memory of its own for each piece would be most of what a client costs. */
const buffer = Buffer.alloc(65_536);

const open = (): Promise<void> =>
  new Promise((resolve) => {
    let isOpen = false;
    const read = (length: number): boolean => {
      const chunk = buffer.subarray(0, length);
      if (!isOpen && chunk.includes("id: ")) {
        isOpen = true;
        resolve();
      }
      if (chunk.includes("event: block.applied") && --left === 0) {
        left = Number(count);
        tell({ at: performance.timeOrigin + performance.now() });
      }
      return true;
    };
    const socket = connect({ port: Number(port), host: "127.0.0.1", onread: { buffer, callback: read } });
    socket.write("GET /api/events?event=block.applied HTTP/1.1\r\nHost: node\r\n\r\n");
  });

for (let opened = 0; opened < Number(count); opened += 50) await Promise.all(Array.from({ length: Math.min(50, Number(count) - opened) }, open));
tell({});
