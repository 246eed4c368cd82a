/** Puts requests to a port, one after another on each of a few connections, apart from the process that is measured. Its thread ends after them. */
import { Agent, request } from "node:http";
import { parentPort, workerData } from "node:worker_threads";

const { port, paths, count } = workerData;
const agent = new Agent({ keepAlive: true, maxSockets: 8 });

const ask = (path) =>
  new Promise((resolve, reject) => {
    request({ host: "127.0.0.1", port, path, agent }, (response) => {
      response.resume();
      response.on("end", () => (response.statusCode === 200 ? resolve() : reject(new Error(`${path}: ${response.statusCode}`))));
    })
      .on("error", reject)
      .end();
  });

let next = 0;
const oneByOne = async () => {
  while (next < count) await ask(paths[next++ % paths.length]);
};
await Promise.all(Array.from({ length: 8 }, oneByOne));
agent.destroy();
parentPort.postMessage("done");
