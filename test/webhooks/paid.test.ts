import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { expect } from "chai";
import type { BlockData } from "../../types/events.js";
import { token, webhookOptions } from "../e2e/reader-options.js";
import { startMovingNode } from "../e2e/moving-node.js";
import { endProcess } from "../fixtures/end-process.js";
import { programsFolder } from "../fixtures/programs.js";
import { freePort } from "../free-port.js";
import { loadChain } from "../data/read.js";

const manual = readFileSync(new URL("../../src/webhooks/README.md", import.meta.url), "utf8");
const codeOf = (language: string): string => new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(manual)?.[1] ?? "";

describe("the manual's answer to who was paid", () => {
  let receiver: ChildProcess | undefined;
  afterEach(() => endProcess(receiver, "SIGKILL"));

  it("is the statement's, for transactions of every type: each final payment once", async () => {
    const { network, blocks, wallets } = loadChain("core3-custom-c");
    const finality = 5;
    // All types of transactions are in these.
    const end = 130;
    const node = await startMovingNode(network, blocks[0] as BlockData, { finality, webhooks: webhookOptions, rateLimit: false });
    await node.apply(...blocks.slice(1, end));

    const paid: string[] = [];
    const kinds = new Set<string>();
    for (const { address } of wallets) {
      const { text, status } = await node.get(`/wallets/${address}/statement?to=${end - finality}`);
      for (const line of status === 200 ? text.split("\n").filter((one) => one !== "") : []) {
        const row = JSON.parse(line) as { in: string; kind: string; id: string };
        if (row.in === "") continue;
        paid.push(`${address} ${row.in} ${row.kind} ${row.id}`);
        kinds.add(row.kind);
      }
    }
    expect([...kinds]).to.include.members(["transfer", "multiPayment", "htlcClaim", "forged"]);

    const port = await freePort();
    const webhook = JSON.parse(codeOf("json")) as { conditions: [{ value: string[] }, unknown] };
    webhook.conditions[0].value = wallets.map(({ address }) => address);
    const made = await node.get("/webhooks", {
      method: "POST",
      headers: { authorization: token, "content-type": "application/json" },
      body: JSON.stringify({ ...webhook, from: "genesis", target: `http://127.0.0.1:${port}` }),
    });
    expect(made.status, made.text).to.equal(201);
    const { secret } = (made.json as { data: { secret: string } }).data;
    const env = { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) };
    const child = (receiver = spawn(process.execPath, ["--input-type=module", "--eval", codeOf("js")], { cwd: programsFolder(), env, stdio: ["ignore", "pipe", "inherit"] }));
    await once(child, "spawn");
    const told: string[] = [];
    for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) if (told.push(line) === paid.length) break;
    expect(told.toSorted()).to.deep.equal(paid.toSorted());
  });
});
