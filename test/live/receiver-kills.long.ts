/** A node and a webhook receiver killed 200 times, while the chain forks. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { request } from "undici";
import { balancesAt } from "./bookings.js";
import { token } from "../e2e/reader-options.js";
import { count, seedOr } from "../fixtures/long.js";
import { genesis, randomFrom } from "../follow/schedule.js";
import { freePort } from "../free-port.js";
import { runExample, type StartedProcess } from "../fixtures/process.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { createReceiver, type Receiver } from "../webhooks/receiver.js";
import { ForkingChain, type Step } from "./forking-host.js";
import { startLedger } from "./ledger-client.js";
import { Listener } from "./listener.js";
import { balancesOfNode } from "./node-wallets.js";

const kills = count(200, 200);

const ask = async <T>(api: string, path: string, body?: object): Promise<T> => {
  const headers = { Authorization: token, "Content-Type": "application/json" };
  const reply = await request(`${api}${path}`, body === undefined ? { headers } : { headers, method: "POST", body: JSON.stringify(body) });
  return (await reply.body.json()) as T;
};

interface Shown {
  data: { id: number; secret: string; behind: number };
}

/** All webhooks have seen the tip, and nothing is open. */
const isQuiet = async (api: string, ids: readonly number[]): Promise<boolean> => {
  for (const id of ids) {
    const { behind } = (await ask<Shown>(api, `/webhooks/${id}`)).data;
    if (behind > 0) return false;
    for (const state of ["pending", "retrying"]) {
      const { meta } = await ask<{ meta: { totalCount: number } }>(api, `/webhooks/${id}/deliveries?state=${state}&limit=1`);
      if (meta.totalCount > 0) return false;
    }
  }
  return true;
};

/** Where the host's chain ends by its own log. */
const tipOfHost = (folder: string): { height: number; id: string } => {
  const chain = new ForkingChain("read", 0);
  for (const line of readFileSync(join(folder, "host.ndjson"), "utf8").trimEnd().split("\n")) chain.take(JSON.parse(line) as Step);
  return chain.blocks.at(-1) ?? genesis;
};

describe("A node that forges and forks, its webhook receiver, and a client of its stream", function () {
  this.timeout(60_000 + kills * 15_000);

  it(`agree on every wallet after ${kills} kills of node and receiver: nothing lost, in order, each repeat under its webhook-id`, async () => {
    const random = randomFrom(seedOr(94));
    const folder = temporaryFolder();
    const second: Receiver = await createReceiver();
    const [port, receiverPort] = [await freePort(), await freePort()];
    const api = `http://127.0.0.1:${port}/api`;
    const file = join(folder, "ledger.ndjson");

    const listener = new Listener();
    let wake = (): void => undefined;
    let heard = 0;
    second.answer = ({ headers, body }, response) => {
      listener.hear(String(headers["webhook-id"]), body);
      const fails = random() < 0.1;
      if (!fails) listener.take(body, false);
      response.writeHead(fails ? 500 : 204).end();
      second.received.length = 0;
      heard++;
      wake();
    };
    let starts = 0;
    const startNode = async (mode?: "rest"): Promise<StartedProcess> => {
      const node = runExample("test/live/forking-node.ts", {}, [folder, String(port), mode ?? String(++starts)]);
      await node.line(/^serves/);
      return node;
    };
    let node = await startNode();
    const wanted = { events: ["block.applied", "block.reverted", "transaction.applied", "transaction.reverted"], from: "genesis" };
    const { data: strict } = await ask<Shown>(api, "/webhooks", { events: ["booking.*"], from: "genesis", order: "strict", target: `http://127.0.0.1:${receiverPort}` });
    const { data: first } = await ask<Shown>(api, "/webhooks", { ...wanted, target: second.url });
    const startReceiver = async (): Promise<StartedProcess> => {
      const receiver = runExample("examples/webhook-receiver/main.ts", { PORT: String(receiverPort), WEBHOOK_SECRET: strict.secret, LEDGER: file });
      await receiver.line(/^Waiting/);
      return receiver;
    };
    let receiver = await startReceiver();

    let reached = "";
    const stream = startLedger(api, (cursor) => {
      reached = cursor;
      wake();
    });
    const until = async (isSo: () => boolean): Promise<void> => {
      while (!isSo()) await new Promise<void>((resolve) => (wake = resolve));
    };

    try {
      // It asks for the network first, at a node that is there.
      await until(() => reached !== "");
      for (let kill = 0; kill < kills; kill++) {
        const enough = heard + 1 + Math.floor(random() * 200);
        await until(() => heard >= enough);
        if (random() < 0.6) {
          node.kill("SIGKILL");
          await node.ended;
          node = await startNode();
        } else {
          receiver.kill("SIGKILL");
          await receiver.ended;
          receiver = await startReceiver();
        }
      }
      node.kill("SIGKILL");
      await node.ended;
      node = await startNode("rest");
      const { height, id } = tipOfHost(folder);
      const block = async () => (await ask<{ data: { block: { id: string } } }>(api, "/blockchain")).data.block;
      while ((await block()).id !== id);
      while (!(await isQuiet(api, [strict.id, first.id])));
      const wallets = await balancesOfNode(api);
      await until(() => reached.startsWith(`${height}-${id}`));

      expect(listener.faults).to.deep.equal([]);
      const shown = (await (await fetch(`http://127.0.0.1:${receiverPort}`)).json()) as Record<string, string>;
      const receiverBalances = new Map(Object.entries(shown).map(([address, amount]) => [address, BigInt(amount)]));
      const all = { "the stream's client": stream.balances, "the receiver": receiverBalances, "the other target": await balancesAt(api, listener.bookings) };
      for (const [name, balances] of Object.entries(all)) {
        expect(wallets.map(([address]) => [address, balances.get(address) ?? 0n]), name).to.deep.equal(wallets);
      }
      console.log(`      ${kills + 1} kills, height ${height}, ${heard} requests to the other target, ${listener.repeats} of them again`);
    } finally {
      await stream.stop();
      await second.close();
    }
  });
});
