import { execFile } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { atEndOfTest } from "../at-end.js";
import { onlyWithChromium, openPage } from "../fixtures/chromium.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { bundled, clientProgram, expected, startChain } from "./one-file.js";

describe("the package's client", () => {
  it("runs in Node.js from one file, as an ES module and as CommonJS", async () => {
    const { url } = await startChain();
    const folder = temporaryFolder();
    for (const [format, name, load] of [["esm", "client.mjs", 'import { createClient } from "./client.mjs";'], ["cjs", "client.cjs", 'const { createClient } = require("./client.cjs");']] as const) {
      writeFileSync(join(folder, name), await bundled("client", format));
      const main = join(folder, `main.${name.slice(-3)}`);
      writeFileSync(main, `${load}\n(async () => {${clientProgram(url)}})().then((result) => console.log(JSON.stringify(result)));`);
      // The node is in this process: a call that waits would hold it.
      const { stdout } = await promisify(execFile)(process.execPath, [main]);
      expect(JSON.parse(stdout)).to.deep.equal(expected);
    }
  });

  describe("in a browser", () => {
    onlyWithChromium("The client is");

    it("runs in Chromium from one file, on a page of another origin", async () => {
      const { url } = await startChain();
      const text = await bundled("client");
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
      const result = await page.evaluate(`import("/client.js").then(async ({ createClient }) => {${clientProgram(url)}})`);
      expect(result).to.deep.equal(expected);
    });
  });
});
