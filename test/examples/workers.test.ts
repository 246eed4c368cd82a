import { request } from "node:http";
import { join } from "node:path";
import { expect } from "chai";
import { EventSource } from "eventsource";
import type { TransactionData } from "../../types/events.js";
import { type Actor, createCast } from "../../examples/standalone/chain/cast.js";
import { createCrypto, transactionData } from "../../examples/standalone/chain/crypto.js";
import { localSeed, token } from "../../examples/standalone/chain/genesis.js";
import { readNetwork } from "../../examples/standalone/chain/network.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { runHost, type StartedProcess, urlIn } from "../fixtures/process.js";
import { until } from "../fixtures/until.js";
import { createReceiver, type Receiver } from "../webhooks/receiver.js";

const webhookToken = "token of the test";

interface Answer {
  status: number;
  height: number;
  /** The process that answered: request ids begin with an id of their process. */
  from: string;
  body: { data?: unknown };
}

/** Uses a connection of its own, since the workers get connections in turn. */
const ask = (url: string, { method = "GET", body }: { method?: string; body?: object } = {}): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: webhookToken, ...(body === undefined ? {} : { "content-type": "application/json" }) };
    const asked = request(url, { method, agent: false, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        const from = String(response.headers["x-request-id"]).split("-")[0] ?? "";
        resolve({ status: response.statusCode ?? 0, height: Number(response.headers["x-block-height"]), from, body: JSON.parse(text) as Answer["body"] });
      });
    });
    asked.on("error", reject);
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });

/** Asks until every worker has answered. */
const askEach = async (workers: number, url: string): Promise<Answer[]> => {
  const answers = new Map<string, Answer>();
  while (answers.size < workers) {
    const answer = await ask(url);
    answers.set(answer.from, answer);
  }
  return [...answers.values()];
};

describe("npm start -- --workers", () => {
  const folder = temporaryFolder();
  const sources: EventSource[] = [];
  let receiver: Receiver;
  /** A node with two workers, which all but the last tests share. */
  let host: StartedProcess;
  let url: string;
  let pids: number[];

  const run = (...args: string[]): StartedProcess => runHost(args, { PORTICO_LOG_FORMAT: "pretty" });
  const node = (...args: string[]): StartedProcess => run("--data-dir", join(folder, "data"), "--port", "0", "--webhook-token", webhookToken, ...args);
  const served = async (started: StartedProcess): Promise<string> => urlIn(await started.line(/^Portico serves the network local at /));
  const pidOf = async (worker: number): Promise<number> => Number(/process (\d+)$/.exec(await host.line(new RegExp(`^worker ${worker} serves`)))?.[1]);
  const heightsIn = ({ lines }: StartedProcess): number[] => lines.flatMap((line) => /^block (\d+)/.exec(line)?.[1] ?? []).map(Number);
  const errorOf = async (asked: string): Promise<unknown> => ask(asked).catch((error: unknown) => (error as { code: string }).code);

  before(async () => {
    receiver = await createReceiver();
    host = node("--workers", "2", "--forge-interval", "50");
    url = await served(host);
    pids = [await pidOf(1), await pidOf(2)];
  });
  after(async () => {
    sources.forEach((source) => source.close());
    await receiver.close();
  });

  it("serves one port from several processes, each at the last reported block", async () => {
    const created: string[] = [];
    for (const path of ["a", "b"]) {
      const answer = await ask(`${url}/webhooks`, { method: "POST", body: { event: "block.applied", target: `${receiver.url}/${path}` } });
      expect(answer.status).to.equal(201);
      created.push(answer.from);
    }
    expect(new Set(created).size).to.equal(2);
    // Once a block is reported, every worker must serve it.
    let [told, wake] = [0, (): void => undefined];
    receiver.answer = ({ json }, response) => {
      told = Math.max(told, (json.data as { height: number }).height);
      response.end();
      wake();
    };
    const byWorker = new Map<string, number>();
    for (let reported = 0; reported < 10; reported++) {
      await new Promise<void>((resolve) => (wake = resolve));
      for (const path of ["blockchain", "delegates?limit=5", "blocks/last", "blockchain", "delegates?limit=5", "blocks/last"]) {
        const least = told;
        const answer = await ask(`${url}/${path}`);
        expect(answer.status).to.equal(200);
        expect(answer.height).to.be.at.least(least);
        byWorker.set(answer.from, (byWorker.get(answer.from) ?? 0) + 1);
      }
    }
    expect(byWorker.size).to.equal(2);
    expect([...byWorker.values()].every((count) => count > 10)).to.equal(true);
    // Each of them has the earlier states, too.
    for (const [path, at] of [["blockchain?at=2", 2], ["delegates?at=2&limit=5", 2], ["transactions?at=4&limit=3", 4]] as const) {
      const answers = await askEach(2, `${url}/${path}`);
      expect(new Set(answers.map(({ status, height, body }) => JSON.stringify({ status, height, body }))).size, path).to.equal(1);
      expect(answers[0]).to.include({ status: 200, height: at });
    }
  });

  it("accepts transactions at every worker into one pool, and forges them", async () => {
    const network = readNetwork("local");
    const crypto = createCrypto(network);
    const { treasury, person } = createCast(localSeed, crypto);
    const [sender, recipient] = [person(900), person(901)];
    const transfer = (from: Actor, to: Actor, nonce: bigint, tokens: bigint): TransactionData => {
      const order = { type: 0, nonce, fee: 10_000_000n, amount: tokens * token, recipientId: to.address } as const;
      return transactionData(crypto.sign(order, { senderPublicKey: from.keys.publicKey, keys: from.keys }, 3));
    };
    const submit = (transaction: TransactionData): Promise<Answer> => ask(`${url}/transactions`, { method: "POST", body: { transactions: [transaction] } });
    const nonceOf = async (wallet: Actor): Promise<bigint> => BigInt(((await ask(`${url}/wallets/${wallet.address}`)).body.data as { nonce?: string }).nonce ?? 0);
    // The host itself pays newcomers from this wallet: a nonce that it takes first is lost, and the next is tried.
    for (let isFunded = false; !isFunded;) {
      const nonce = (await nonceOf(treasury)) + 1n;
      const payment = transfer(treasury, sender, nonce, 100n);
      await submit(payment);
      await until(async () => ((await nonceOf(treasury)) >= nonce ? true : undefined));
      isFunded = (await ask(`${url}/transactions/${payment.id}`)).status === 200;
    }
    const by = new Set<string>();
    const ids: string[] = [];
    while (by.size < 2) {
      const sent = transfer(sender, recipient, BigInt(ids.length) + 1n, 1n);
      const answer = await submit(sent);
      expect([answer.status, answer.body.data]).to.deep.include.members([200, { accept: [sent.id], broadcast: [sent.id], excess: [], invalid: [] }]);
      ids.push(sent.id);
      by.add(answer.from);
    }
    for (const id of ids) {
      const found = await until(async () => {
        const answer = await ask(`${url}/transactions/${id}`);
        return answer.status === 404 ? undefined : answer;
      });
      expect((found.body.data as { id: string }).id).to.equal(id);
    }
    for (const { body } of await askEach(2, `${url}/wallets/${recipient.address}`)) expect(body.data).to.deep.include({ balance: ids.length * Number(token) });
    for (const { body } of await askEach(2, `${url}/node/configuration`)) {
      expect((body.data as { ports: object }).ports).to.deep.equal({ "@arkecosystem/core-p2p": null, "@arkecosystem/core-api": Number(new URL(url).port) });
    }
  });

  it("streams every block from each worker, through the death of one and the end of the other, which are replaced", async () => {
    /** As many as surely reach both workers. */
    const heights = Array.from({ length: 8 }, (): number[] => []);
    const waiting = new Set<() => void>();
    for (const seen of heights) {
      const source = new EventSource(`${url}/events?after=genesis&event=block.applied`);
      sources.push(source);
      source.addEventListener("block.applied", ({ data }) => {
        seen.push((JSON.parse(data as string) as { block: { height: number } }).block.height);
        waiting.forEach((wake) => wake());
      });
    }
    const allHave = async (height: number): Promise<void> => {
      while (!heights.every((seen) => (seen.at(-1) ?? 0) >= height)) await new Promise<void>((resolve) => waiting.add(resolve));
    };
    const highest = (): number => Math.max(...heights.map((seen) => seen.at(-1) ?? 0));
    await allHave(5);
    process.kill(pids[0] ?? 0, "SIGKILL");
    await host.line(/^warn: worker 1 ended \(SIGKILL\); starting another/);
    // The other one serves in the meantime.
    expect((await ask(`${url}/health`)).status).to.equal(200);
    await host.line(new RegExp(`^worker 1 serves as process (?!${String(pids[0])}$)`));
    expect(await askEach(2, `${url}/delegates?limit=1`)).to.have.length(2);
    await allHave(highest() + 3);
    // A worker that is stopped on its own ends cleanly and is replaced too.
    process.kill(pids[1] ?? 0, "SIGTERM");
    await host.line(/^warn: worker 2 ended \(code 0\); starting another/);
    await host.line(new RegExp(`^worker 2 serves as process (?!${String(pids[1])}$)`));
    expect(await askEach(2, `${url}/delegates?limit=1`)).to.have.length(2);
    await allHave(highest() + 3);
    for (const seen of heights) expect(seen).to.deep.equal(seen.map((_unused, place) => 1 + place));
  });

  it("ends the streams and every process when it is stopped, and has delivered each webhook once", async () => {
    expect(sources.map(({ readyState }) => readyState)).to.deep.equal(sources.map(() => EventSource.OPEN));
    host.kill("SIGINT");
    expect(await host.ended).to.equal(0);
    expect(await errorOf(`${url}/health`)).to.equal("ECONNREFUSED");
    for (const path of ["/a", "/b"]) {
      const heights = receiver.received.filter((one) => one.path === path).map(({ json }) => (json.data as { height: number }).height);
      expect(heights.length).to.be.greaterThan(10);
      expect(heights).to.deep.equal(heights.map((_, index) => (heights[0] ?? 0) + index));
    }
  });

  it("ends its workers when it is killed, and resumes at the next start with any number of them", async () => {
    const killed = node("--workers", "2", "--forge-interval", "5");
    const before = await served(killed);
    const created = await ask(`${before}/webhooks`, { method: "POST", body: { event: "peer.added", target: receiver.url } });
    await killed.line(new RegExp(`^block ${Math.max(...heightsIn(host)) + 5} `));
    killed.kill("SIGKILL");
    // Their standard output is the node's: it closes when the last of them has ended.
    expect(await killed.ended).to.equal(null);
    expect(await errorOf(`${before}/health`)).to.equal("ECONNREFUSED");
    const told = Math.max(...heightsIn(killed));

    const after = node("--no-forge");
    const again = await served(after);
    expect(after.lines.some((line) => line.startsWith("worker"))).to.equal(false);
    expect((await ask(`${again}/blockchain`)).height).to.be.at.least(told);
    expect((await ask(`${again}/webhooks/${(created.body.data as { id: number }).id}`)).status).to.equal(200);
    after.kill("SIGTERM");
    expect(await after.ended).to.equal(0);
  });

  it("reports in one sentence that its port is in use", async () => {
    const { port } = new URL(receiver.url);
    const refused = run("--data-dir", join(folder, "data"), "--port", port, "--webhook-token", webhookToken, "--workers", "2", "--no-forge");
    expect(await refused.ended).to.equal(1);
    expect(refused.lines).to.deep.equal([`Port ${port} on 127.0.0.1 is in use: stop what uses it, or choose another --port.`]);
  });
});
