import { Worker } from "node:worker_threads";

/** A target in a thread of its own: counts the requests it gets and answers 200 at once. Paths below `/hangs/` never answer, and are not counted. */
export interface Sink {
  port: number;
  /** Resolves when it has got so many since the last call resolved. */
  until(count: number): Promise<void>;
  close(): Promise<void>;
}

const sinkCode = `
  const { createServer } = require("node:http");
  const { parentPort, workerData } = require("node:worker_threads");
  let got = 0, wanted = Infinity;
  const look = () => { if (got >= wanted) { got -= wanted; wanted = Infinity; parentPort.postMessage("enough"); } };
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      if (workerData.hangs || request.url.startsWith("/hangs/")) return;
      response.end();
      got++;
      look();
    });
  }).listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
  parentPort.on("message", (count) => { wanted = count; look(); });
`;

/** `hangs`: no path answers. */
export const openSink = async (hangs = false): Promise<Sink> => {
  const worker = new Worker(sinkCode, { eval: true, workerData: { hangs } });
  const message = (): Promise<unknown> => new Promise((resolve) => worker.once("message", resolve));
  const port = (await message()) as number;
  return {
    port,
    until: async (count) => {
      const enough = message();
      worker.postMessage(count);
      await enough;
    },
    close: async () => void (await worker.terminate()),
  };
};
