import { once } from "node:events";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { expect } from "chai";
import { csvOf, payout } from "../../examples/payout/payout.js";
import { loadChain } from "../data/read.js";
import { startNode } from "../fixtures/node.js";
import { programOf } from "../fixtures/programs.js";
import { copyOfStored } from "../fixtures/stored-chain.js";
import { createMemoryAdapter } from "../memory-adapter/adapter.js";
import { temporaryFolder } from "../fixtures/folder.js";

const { network, blocks, delegates } = loadChain("core3-custom-c");
const [from, to, share] = [60, 330, 80];

/** Runs the README's payout on other values, and returns its lines: address and amount. */
const tenLines = async (values: (string | number)[], percent: number): Promise<[address: string, amount: string][]> => {
  const [, code = ""] = /```js\n(const \[node, delegate[^]*?)```/.exec(readFileSync(new URL("../../README.md", import.meta.url), "utf8")) ?? [];
  const [first = "", ...rest] = code.split("\n");
  expect(code.trimEnd().split("\n")).to.have.length(10);
  const own = first.replace(/= \[.*\];$/, () => `= [...${JSON.stringify(values)}, ${percent}n];`);
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", [own, ...rest].join("\n")]);
  return stdout.trimEnd().split("\n").map((line) => line.split(",") as [string, string]);
};

describe("the payout example", () => {
  it("gives each voter what a replay gives it, to the digit", async () => {
    const forger = delegates.find(({ producedBlocks, publicKey }) => producedBlocks > 3 && blocks.slice(from, to).some((block) => block.generatorPublicKey === publicKey));
    if (forger === undefined) throw new Error("no delegate forged in the period");

    const expected = new Map<string, { amount: bigint; blocks: number }>();
    const memory = createMemoryAdapter(network);
    for (const block of blocks.slice(0, to)) {
      memory.apply(block);
      if (block.height < from || block.generatorPublicKey !== forger.publicKey) continue;
      const snapshot = await memory.snapshot();
      const { rows = [] } = (await snapshot?.wallets({ filter: { vote: forger.publicKey }, order: { field: "balance", direction: "desc" }, offset: 0, limit: 10_000 })) ?? {};
      const voters = rows.filter(({ balance }) => balance > 0n);
      const weight = voters.reduce((sum, { balance }) => sum + balance, 0n);
      const pot = ((BigInt(String(block.reward)) + BigInt(String(block.totalFee))) * BigInt(share)) / 100n;
      for (const { address, balance } of voters) {
        const amount = (pot * balance) / weight;
        const before = expected.get(address) ?? { amount: 0n, blocks: 0 };
        if (amount > 0n) expected.set(address, { amount: before.amount + amount, blocks: before.blocks + 1 });
      }
    }
    expect(expected.size).to.be.greaterThan(0);

    const dataDir = await copyOfStored("core3-custom-c", temporaryFolder());
    const { url: node } = await startNode({ network, dataDir, blocks, options: { webhooks: false } });
    const payees = await payout({ node, delegate: forger.username, from, to, share });
    expect(new Map(payees.map(({ address, ...rest }) => [address, rest]))).to.deep.equal(expected);
    const csv = csvOf(payees).split("\r\n");
    expect(csv[0]).to.equal("address,amount,blocks");
    expect(csv[1]).to.equal(`${payees[0]?.address ?? ""},${payees[0]?.amount ?? 0n},${payees[0]?.blocks ?? 0}`);

    const printed = await tenLines([`${node}/strings`, forger.username, from, to], share);
    expect(new Map(printed.filter(([, amount]) => amount !== "0").map(([address, amount]) => [address, BigInt(amount)]))).to.deep.equal(
      new Map([...expected].map(([address, { amount }]) => [address, amount])),
    );
  });

  it("asks a node again that has had too many requests, when the node says so", async () => {
    let asked = 0;
    const server = createServer((_, response) => {
      if (++asked === 1) response.writeHead(429, { "Retry-After": "0" }).end("{}");
      else response.end(JSON.stringify({ meta: { next: null }, data: [] }));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    try {
      expect(await payout({ node: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`, delegate: "genesis_1", from, to, share })).to.deep.equal([]);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });

  it("ends with a sentence where the node cannot be asked or knows no such delegate", async () => {
    const server = createServer((_, response) => response.writeHead(404).end(JSON.stringify({ message: "Delegate not found" }))).listen(0, "127.0.0.1");
    await once(server, "listening");
    const node = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`;
    const run = () => promisify(execFile)(process.execPath, [programOf("examples/payout/main.ts"), "--node", node, "--delegate", "nobody", "--from", "1", "--to", "2"]).catch((error: unknown) => error);
    const unknown = await run();
    expect(unknown).to.deep.include({ code: 1, stdout: "" });
    expect((unknown as { stderr: string }).stderr).to.match(/^http\S+: Delegate not found\n$/);
    server.close();
    await once(server, "close");
    const silent = await run();
    expect(silent).to.deep.include({ code: 1, stdout: "" });
    expect((silent as { stderr: string }).stderr).to.match(/^http\S+ cannot be asked: .*ECONNREFUSED.*\n$/);
  });

  it("refuses a share that is no percentage", async () => {
    const fault = await promisify(execFile)(process.execPath, [programOf("examples/payout/main.ts"), "--delegate", "genesis_1", "--from", "1", "--to", "2", "--share", "800"]).catch((error: unknown) => error);
    expect(fault).to.deep.include({ code: 2, stdout: "" });
  });
});
