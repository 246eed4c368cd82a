import { execFile } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { build } from "esbuild";
import { atEndOfTest } from "../at-end.js";
import { onlyWithChromium, openPage } from "../fixtures/chromium.js";
import { temporaryFolder } from "../fixtures/folder.js";
import type { StartedNode } from "../fixtures/node.js";
import { startStoredNode } from "../fixtures/stored-chain.js";

const entry = fileURLToPath(new URL("../../src/client/index.ts", import.meta.url));

/** The client as one file. */
const bundled = async (format: "esm" | "cjs"): Promise<string> => {
  const { outputFiles } = await build({ entryPoints: [entry], bundle: true, minify: true, format, target: "es2022", write: false });
  return outputFiles[0]!.text;
};

const startChain = (): Promise<StartedNode> => startStoredNode("core3-testnet-a", { options: { rateLimit: false, staleAfter: false, webhooks: false } }, 60);

const program = (url: string): string => `
  const client = createClient(${JSON.stringify(url)});
  const { supply, block } = await client.blockchain.get();
  let rows = 0;
  for await (const row of client.blocks.list({ limit: 25 })) rows++;
  const leaving = new AbortController();
  const events = [];
  await client.follow({ after: 55, events: ["block.*"], signal: leaving.signal, onEvent: ({ data }) => { if (events.push(data.height) === 5) leaving.abort(); } });
  const code = await client.wallets.get("nobody").catch((error) => error.code);
  const { data: [{ id }] } = await client.transactions.list({ limit: 1 });
  const { round: { delegates } } = await client.transactions.proof(id);
  const proven = (await client.transactions.get(id, { proof: { delegates } })).id === id;
  const step = await client.transactions.get(id, { proof: { delegates: delegates.toReversed() } }).catch((error) => error.step);
  return { supply: typeof supply, height: block.height, rows, events, code, proven, step };
`;
const expected = { proven: true, step: "round", supply: "bigint", height: 60, rows: 60, events: [56, 57, 58, 59, 60], code: "WALLET_NOT_FOUND" };

describe("the package's client", () => {
  it("runs in Node.js from one file, as an ES module and as CommonJS", async () => {
    const { url } = await startChain();
    const folder = temporaryFolder();
    for (const [format, name, load] of [["esm", "client.mjs", 'import { createClient } from "./client.mjs";'], ["cjs", "client.cjs", 'const { createClient } = require("./client.cjs");']] as const) {
      writeFileSync(join(folder, name), await bundled(format));
      const main = join(folder, `main.${name.slice(-3)}`);
      writeFileSync(main, `${load}\n(async () => {${program(url)}})().then((result) => console.log(JSON.stringify(result)));`);
      // The node is in this process: a call that waits would hold it.
      const { stdout } = await promisify(execFile)(process.execPath, [main]);
      expect(JSON.parse(stdout)).to.deep.equal(expected);
    }
  });

  describe("in a browser", () => {
    onlyWithChromium("The client is");

    it("runs in Chromium from one file, on a page of another origin", async () => {
      const { url } = await startChain();
      const text = await bundled("esm");
      const site = createServer((request, response) => {
        const isScript = request.url === "/client.js";
        response.writeHead(200, { "content-type": isScript ? "text/javascript" : "text/html" }).end(isScript ? text : "<!doctype html>");
      }).listen(0, "127.0.0.1");
      await once(site, "listening");
      const page = await openPage();
      atEndOfTest(async () => {
        await page.close();
        site.close();
      });
      await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
      const result = await page.evaluate(`import("/client.js").then(async ({ createClient }) => {${program(url)}})`);
      expect(result).to.deep.equal(expected);
    });
  });
});
