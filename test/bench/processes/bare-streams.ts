/** The same as `streaming.js` by `node:http` alone: `node bare-streams.js DIR STREAMS`. Each stream gets the bytes that Portico's would, ready made. */
import { createServer, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { StreamsTold } from "./streams.js";

const tell = (told: StreamsTold): void => void process.send?.(told);

const streams = new Set<ServerResponse>();
const server = createServer((_request, response) => {
  response.writeHead(200, { "Content-Type": "text/event-stream; charset=utf-8" }).write("id: 1-1\n\n");
  streams.add(response);
});
await once(server.listen(0), "listening");

/** As long as the event of a block in `streaming.js`. */
const event = Buffer.from(`event: block.applied\ndata: ${"x".repeat(900)}\nid: 1-1\n\n`);
let before = process.cpuUsage();

process.on("message", (asked) => {
  const { user, system } = process.cpuUsage(before);
  if (asked === "used") return tell({ used: user + system });
  before = process.cpuUsage();
  tell({ at: performance.timeOrigin + performance.now() });
  for (const response of streams) response.write(event);
});
tell({ port: (server.address() as AddressInfo).port });
