/** Clients of a node's event stream: `node streams.js PORT COUNT`. Tells when all are open, then for each block when the last of them has it. */
import { connect } from "node:net";

export interface StreamsTold {
  port?: number;
  /** KB. */
  memory?: number;
  /** Milliseconds since 1970, with fractions. */
  at?: number;
}

const [, , port = "0", count = "0"] = process.argv;
const tell = (told: StreamsTold): void => void process.send?.(told);
let left = Number(count);

const open = (): Promise<void> =>
  new Promise((resolve) => {
    const socket = connect(Number(port), "127.0.0.1", () => socket.write("GET /api/events?event=block.applied HTTP/1.1\r\nHost: node\r\n\r\n"));
    let isOpen = false;
    socket.on("data", (chunk: Buffer) => {
      if (!isOpen && chunk.includes("id: ")) {
        isOpen = true;
        resolve();
      }
      if (!chunk.includes("event: block.applied") || --left > 0) return;
      left = Number(count);
      tell({ at: performance.timeOrigin + performance.now() });
    });
  });

for (let opened = 0; opened < Number(count); opened += 50) await Promise.all(Array.from({ length: Math.min(50, Number(count) - opened) }, open));
tell({});
