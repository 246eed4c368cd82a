import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect } from "chai";
import { programOf } from "../fixtures/programs.js";
import { freePort } from "../free-port.js";
import { atEndOfTest } from "../at-end.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { until } from "../fixtures/until.js";
import { hasNats, NatsServer } from "./nats-server.js";

const start = (program: string, ...args: string[]): void => {
  const child = spawn(process.execPath, [programOf(program), ...args], { stdio: "ignore" });
  const ended = once(child, "exit");
  atEndOfTest(() => {
    child.kill();
    return ended;
  });
};

/** Values of the metrics of NATS, by their names and labels; undefined while nobody answers. */
const scrape = async (url: string): Promise<Record<string, number> | undefined> => {
  const text = await fetch(url).then((reply) => reply.text()).catch(() => undefined);
  return text === undefined ? undefined : Object.fromEntries([...text.matchAll(/^(portico_nats_\S+) (\d+)$/gm)].map(([, name, value]) => [name ?? "", Number(value)]));
};

describe("A replica of the example host, with NATS", () => {
  it("shows in its metrics that changes come over NATS, and how many have come", async function () {
    if (!hasNats()) this.skip();
    const server = await new NatsServer().start();
    const [port, own] = [await freePort(), await freePort()];
    const nats = ["--nats", server.url];
    const folder = temporaryFolder();
    start("examples/standalone/main.ts", "--data-dir", `${folder}/node`, "--port", String(port), "--forge-interval", "300", ...nats);
    start("examples/standalone/main.ts", "--data-dir", `${folder}/replica`, "--port", String(own), "--follow", `http://127.0.0.1:${port}`, ...nats);
    const counted = await until("changes over NATS", async () => {
      const now = await scrape(`http://127.0.0.1:${own}/api/metrics`);
      return now !== undefined && (now.portico_nats_changes_received_total ?? 0) >= 2 && now;
    });
    expect(Object.keys(counted)).to.deep.equal(["portico_nats_changes_received_total", "portico_nats_changes_connected"]);
    expect(counted.portico_nats_changes_connected).to.equal(1);
  });
});
