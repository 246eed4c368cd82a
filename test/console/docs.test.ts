import { join } from "node:path";
import { expect } from "chai";
import type { Page } from "playwright-core";
import { type Host, startHost } from "../../examples/standalone/host.js";
import { readHostOptions } from "../../examples/standalone/options.js";
import { systemClock } from "../../src/async/clock.js";
import { addAxe, axeFindings } from "../fixtures/axe.js";
import { onlyWithChromium, openPage } from "../fixtures/chromium.js";
import { until } from "../fixtures/until.js";
import { silentLogger } from "../silent.js";
import { temporaryFolder } from "../fixtures/folder.js";

describe("the interactive reference, in Chromium", () => {
  onlyWithChromium("the reference is");
  let folder: string | undefined;
  let host: Host | undefined;
  let page: Page;
  /** What the page may not do: complain, or ask anybody but the node. */
  const faults: string[] = [];

  before(async () => {
    folder = temporaryFolder();
    const options = readHostOptions(["--data-dir", join(folder, "data"), "--port", "0", "--forge-interval", "500"]);
    host = await startHost(options, { logger: silentLogger, clock: systemClock });
    await load();
  });
  after(async () => {
    await (page as Page | undefined)?.close();
    await host?.stop();
  });
  afterEach(() => expect(faults.splice(0)).to.deep.equal([]));

  /** Of some four seconds of Chromium's work, so the tests open different operations of one page, which is dark and narrow at first. */
  const load = async (): Promise<void> => {
    if (host === undefined) throw new Error("there is nothing to look at");
    page = await openPage({ colorScheme: "dark", viewport: { width: 390, height: 900 } });
    const { origin } = new URL(host.url);
    page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("request", (request) => !request.url().startsWith(origin) && !request.url().startsWith("data:") && faults.push(request.url()));
    page.setDefaultTimeout(20_000);
    await addAxe(page);
    await page.goto(`${host.url}/docs`);
    await page.waitForSelector(".opblock-tag");
  };

  const operationOf = (group: string, operation: string): ReturnType<Page["locator"]> => page.locator(`#operations-${group}-${operation}`);
  /** Opens an operation of a group that is closed, as all are at first. */
  const opened = async (group: string, operation: string): Promise<ReturnType<Page["locator"]>> => {
    await page.locator(`#operations-tag-${group}`).click();
    const block = operationOf(group, operation);
    await block.locator(".opblock-summary-control").click();
    return block;
  };

  /** Sends the request of an open operation, and returns status and body of the reply as the page shows them. */
  const tried = async (block: ReturnType<Page["locator"]>, parameters: Record<string, string> = {}): Promise<{ status: string; body: unknown }> => {
    for (const [name, value] of Object.entries(parameters)) await block.locator(`tr[data-param-name="${name}"] input`).fill(value);
    await block.locator("button.execute").click();
    const status = await block.locator(".live-responses-table .response-col_status").last().innerText();
    const body = await block.locator(".live-responses-table .response-col_description pre").first().innerText();
    return { status: status.trim().slice(0, 3), body: JSON.parse(body) as unknown };
  };

  /** What axe-core finds, but for how Swagger UI builds its pages: headings, landmarks, buttons within buttons, selects without a label. */
  const wrong = (): Promise<string[]> => axeFindings(page, { without: ["heading-order", "nested-interactive", "select-name", "region"] });
  const isAsWide = async (): Promise<boolean> => (await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")) === 0;
  const isDark = (): Promise<boolean> => page.evaluate("document.documentElement.classList.contains('dark-mode')");

  it("shows examples of replies, and each group with what it is for", async () => {
    const block = await opened("wallets", "getWallet");
    expect(await block.locator(".highlight-code").first().innerText()).to.match(/"address": "A\w{33}"/);
    expect(await page.locator(".opblock-tag").count()).to.be.above(15);
    expect(await page.locator(".opblock-tag small").first().innerText()).to.match(/\.$/);
  });

  it("is dark where the reader's system is, as wide as a phone, and stands out from what is behind it by axe-core", async () => {
    expect([await isAsWide(), await isDark(), await wrong()]).to.deep.equal([true, true, []]);
  });

  it("is light where the reader's system is, and stands out from what is behind it by axe-core", async () => {
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.waitForSelector("html:not(.dark-mode)");
    // Buttons take on their colours little by little.
    await until(async () => ((await page.evaluate("document.getAnimations().length")) === 0 ? true : undefined));
    expect([await isAsWide(), await isDark(), await wrong()]).to.deep.equal([true, false, []]);
  });

  it("tries a request with a parameter, and a search with the example as its body, and shows the replies of the node that serves the page", async () => {
    const found = await tried(await opened("blocks", "searchBlocks"), { limit: "3" });
    expect(found.status).to.equal("200");
    expect(found.body).to.have.nested.property("meta.totalCount");
    const wallet = await tried(operationOf("wallets", "getWallet"), { id: "genesis_7" });
    expect(wallet.status).to.equal("200");
    expect(wallet.body).to.have.nested.property("data.username", "genesis_7");
  });
});
