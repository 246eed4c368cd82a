import { existsSync, readFileSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { createRequire } from "node:module";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { type Browser, chromium, type Page } from "playwright-core";
import { type Host, startHost } from "../../examples/standalone/host.js";
import { readHostOptions } from "../../examples/standalone/options.js";
import { systemClock } from "../../src/clock.js";
import { silentLogger } from "../silent.js";
import { until } from "../operate/until.js";

const executablePath = "/usr/bin/chromium";
const token = "letmein123";
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Nothing that Chromium asks of its maker's hosts by itself. */
const args = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

describe("the console, in Chromium", function () {
  this.timeout(120_000);
  let folder: string | undefined;
  let host: Host | undefined;
  let browser: Browser | undefined;
  let page: Page;
  let receiver: Server;
  const received: string[] = [];
  /** What no page may do: complain, or ask anybody but the node. */
  const faults: string[] = [];

  before(async function () {
    if (!existsSync(executablePath)) {
      console.log("      There is no /usr/bin/chromium (Debian: chromium): the console is not tested.");
      return this.skip();
    }
    folder = mkdtempSync(join(tmpdir(), "portico-console-"));
    const options = readHostOptions(["--data-dir", join(folder, "data"), "--port", "0", "--forge-interval", "500", "--webhook-token", token]);
    const started = await startHost(options, { logger: silentLogger, clock: systemClock });
    if (started === undefined) throw new Error("the start was given up");
    host = started;
    receiver = createServer((request, response) => {
      received.push(request.url ?? "");
      response.end();
    }).listen(0, "127.0.0.1");
    await once(receiver, "listening");
    browser = await chromium.launch({ executablePath, args });
  });
  after(async () => {
    await browser?.close();
    if (host !== undefined) receiver.close();
    await host?.stop();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    faults.length = 0;
    if (browser === undefined || host === undefined) throw new Error("there is nothing to look at");
    page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    const { origin } = new URL(host.url);
    page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("request", (request) => !request.url().startsWith(origin) && !request.url().startsWith("data:") && faults.push(request.url()));
  });
  afterEach(async () => {
    await page.close();
    expect(faults).to.deep.equal([]);
  });

  /** The node that is looked at. */
  const node = (): Host => {
    if (host === undefined) throw new Error("there is no node");
    return host;
  };
  const open = async (hash = ""): Promise<void> => {
    await page.goto(`${node().url}/console${hash}`);
    await page.waitForSelector("h1");
  };
  const heightShown = async (): Promise<number> => Number((await page.textContent(".figure b"))?.replaceAll(/\D/g, ""));

  it("shows a block within a second of its forging", async () => {
    await open();
    await page.waitForSelector(".figure");
    const before = await heightShown();
    await until(async () => ((await heightShown()) >= before + 2 ? true : undefined));
    const { height } = node().plugin.health();
    const seen = Date.now();
    await until(async () => ((await heightShown()) >= height ? true : undefined));
    expect(Date.now() - seen).to.be.below(1_000);
  });

  it("finds a delegate, a block, a wallet and a transaction, and says when there is nothing", async () => {
    await open();
    const find = async (text: string, heading: RegExp): Promise<void> => {
      await page.fill("#search", text);
      await page.press("#search", "Enter");
      await page.locator("h1", { hasText: heading }).waitFor();
    };
    await find("genesis_7", /^genesis_7$/);
    await find("2", /^Block 2$/);
    const { data } = (await (await fetch(`${node().url}/transactions?limit=1`)).json()) as { data: { id: string; sender: string }[] };
    await find(data[0]?.sender ?? "", /^Wallet$/);
    await find(data[0]?.id ?? "", /^[A-Z]/);
    await page.fill("#search", "nobody-is-called-so");
    await page.press("#search", "Enter");
    await page.waitForSelector("text=Nothing on the chain is called nobody-is-called-so.");
    // The browser notes the 404s of the look-up itself.
    faults.splice(0, Infinity, ...faults.filter((fault) => !fault.includes("404")));
  });

  it("makes a webhook, pings it, and shows its delivery", async () => {
    await open("#/webhooks");
    await page.fill("#token", token);
    await page.click("text=Go on");
    await page.fill("#target", `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`);
    await page.selectOption("#event", "block.applied");
    await page.click("text=Try the conditions");
    await page.waitForSelector("text=/payloads would have been sent|kept no payload/");
    await page.click("text=Create webhook");
    await page.waitForSelector(".secret");
    await page.click("table a");
    await page.click("button:text-is('Ping')");
    await page.waitForSelector("text=A ping is on its way.");
    await until(() => Promise.resolve(received.length > 0 ? true : undefined));
    await page.waitForSelector("td >> text=delivered");
  });

  it("is found right by axe-core, on each page, light and dark, wide and narrow", async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      for (const width of [1280, 390]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 900 });
        for (const hash of ["", "#/blocks", "#/delegates", "#/delegates/genesis_1", "#/node", "#/webhooks"]) {
          await open(hash);
          await page.waitForSelector(".card");
          await page.evaluate(axe);
          const found: string[] = await page.evaluate("axe.run().then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ''}`))");
          expect(found, `${hash} ${colorScheme} ${width}`).to.deep.equal([]);
        }
      }
    }
  });
});
