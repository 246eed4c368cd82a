import { expect } from "chai";
import type { Page } from "playwright-core";
import { publicPeersAt } from "../clients/running-node.js";
import { createTestPool } from "../clients/test-pool.js";
import { loadChain } from "../data/read.js";
import { addAxe, axeFindings } from "../fixtures/axe.js";
import { onlyWithChromium, openPage } from "../fixtures/chromium.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { type StartedNode, startNode } from "../fixtures/node.js";
import { until } from "../fixtures/until.js";

interface Parameter {
  name: string;
  in: string;
  example?: string | number;
  schema: { default?: string | number };
}
type Paths = Record<string, { get?: { parameters?: Parameter[]; security?: object[] } }>;

const token = "a-token-of-thirty-two-characters!";
const chain = loadChain("core3-custom-c");

describe("the interactive reference, in Chromium", () => {
  onlyWithChromium("the reference is");
  let node: StartedNode;
  let page: Page;
  /** Seconds of processor time until the page could be used. */
  let work = 0;
  /** What the page may not do: complain, or ask anybody but the node. */
  const faults: string[] = [];

  before(async () => {
    node = await startNode({
      network: chain.network,
      blocks: chain.blocks,
      pool: createTestPool(chain.blocks.flatMap(({ transactions = [] }) => transactions).slice(-1)),
      peers: { list: () => publicPeersAt(4003) },
      node: { version: "2.7.24" },
      options: { staleAfter: false, rateLimit: false, lake: { dir: temporaryFolder(), blocksPerFile: 100 }, webhooks: { tokens: [token] } },
    });
    await until(async () => ((await node.get("/lake/manifest.json")).text.includes('"previous": "') ? true : undefined));
    page = await load("/docs");
  });
  after(() => (page as Page | undefined)?.close());
  afterEach(() => expect(faults.splice(0)).to.deep.equal([]));

  /** Of some seconds of Chromium's work, so the tests open different operations of one page, which is dark and narrow at first. */
  const load = async (path: string): Promise<Page> => {
    const opened = await openPage({ colorScheme: "dark", viewport: { width: 390, height: 900 } });
    opened.on("console", (message) => message.type() === "error" && !message.text().includes("401") && faults.push(message.text()));
    opened.on("pageerror", (error) => faults.push(error.message));
    opened.on("request", (request) => !request.url().startsWith(node.origin) && !request.url().startsWith("data:") && faults.push(request.url()));
    opened.on("request", (request) => request.url().endsWith("/rewards") && faults.push("asks for the rewards of the whole chain"));
    opened.setDefaultTimeout(60_000);
    await addAxe(opened);
    const browser = await opened.context().newCDPSession(opened);
    await browser.send("Performance.enable", { timeDomain: "threadTicks" });
    await opened.goto(node.url + path);
    await opened.waitForSelector(".opblock-tag");
    const { metrics } = await browser.send("Performance.getMetrics");
    work = metrics.find(({ name }) => name === "TaskDuration")?.value ?? Infinity;
    return opened;
  };

  const operationOf = (group: string, operation: string): ReturnType<Page["locator"]> => page.locator(`#operations-${group}-${operation}`);
  /** Opens an operation, and its group if that is closed, as all are at first. */
  const opened = async (group: string, operation: string): Promise<ReturnType<Page["locator"]>> => {
    const block = operationOf(group, operation);
    if ((await block.count()) === 0) await page.locator(`#operations-tag-${group}`).click();
    await block.locator(".opblock-summary-control").click();
    return block;
  };

  /** Sends the request of an open operation, and returns status and body of the reply as the page shows them. */
  const tried = async (block: ReturnType<Page["locator"]>, parameters: Record<string, string> = {}): Promise<{ status: string; text: string }> => {
    for (const [name, value] of Object.entries(parameters)) await block.locator(`tr[data-param-name="${name}"] input`).fill(value);
    // The reply before stays until the next one is there.
    const clear = block.locator("button.btn-clear");
    if ((await clear.count()) > 0) await clear.click();
    await block.locator("button.execute").click();
    const status = await block.locator(".live-responses-table .response-col_status").last().innerText();
    const text = await block.locator(".live-responses-table .response-col_description pre").first().innerText();
    return { status: status.trim().slice(0, 3), text };
  };

  /** What axe-core finds, but for how Swagger UI builds its pages: headings, landmarks, buttons within buttons, selects without a label. */
  const wrong = (): Promise<string[]> => axeFindings(page, { without: ["heading-order", "nested-interactive", "select-name", "region"] });
  const isAsWide = async (): Promise<boolean> => (await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")) === 0;
  const isDark = (): Promise<boolean> => page.evaluate("document.documentElement.classList.contains('dark-mode')");

  /** Sends every GET with what its fields contain when it is opened, but those that need a token. Returns what does not work. */
  const failures = async (shown: Page, count: number): Promise<string[]> => {
    const paths: Paths = await shown.evaluate("ui.specSelectors.specJson().toJS().paths");
    const failed: string[] = [];
    // So short a chain has no snapshot.
    const asked = Object.entries(paths).flatMap(([path, { get }]) => (get === undefined || get.security !== undefined || path.includes("/snapshots/") ? [] : [{ path, parameters: get.parameters ?? [] }]));
    expect(asked).to.have.length.of.at.least(count);
    for (const { path, parameters } of asked) {
      const given = parameters.map((one) => ({ ...one, value: one.example ?? one.schema.default })).filter(({ value }) => value !== undefined);
      const query = new URLSearchParams(given.filter((one) => one.in === "query").map(({ name, value }): [string, string] => [name, String(value)]));
      const filled = path.replace(/\{(\w+)\}/g, (all, name: string) => encodeURIComponent(String(given.find((one) => one.name === name)?.value ?? all)));
      const leave = new AbortController();
      const reply = await fetch(`${node.url}${filled}?${query.toString()}`, { signal: leave.signal });
      const refused = reply.status === 200 && path.startsWith("/v1/") && ((await reply.json()) as { success?: boolean }).success === false;
      if (reply.status !== 200 || refused) failed.push(`${reply.status} ${filled}?${query.toString()}`);
      leave.abort();
    }
    return failed;
  };

  it("can be used after little work, which two quiet cores do within two seconds", async () => {
    for (let tries = 0; work > 3 && tries < 2; tries++) await (await load("/docs")).close();
    expect(work).to.be.below(3);
  });

  it("begins with the second generation, and with a guide", async () => {
    expect(await page.locator("nav [aria-current]").innerText()).to.equal("Second generation");
    const groups = await page.locator(".opblock-tag").allInnerTexts();
    expect(groups.filter((group) => group.includes("first generation"))).to.deep.equal([]);
    const guide = await page.locator(".info li").allInnerTexts();
    expect(guide.map((line) => line.split(/[ :]/)[0])).to.include.members(["Amounts", "Lists", "Events"]);
    expect(guide.join(" ")).to.include("at (a height").and.to.include("token");
  });

  it("fills every GET of the second generation with what the node has: it is answered with 200", async () => {
    expect(await failures(page, 40)).to.deep.equal([]);
  });

  it("fills every GET of the first generation with what the node has: it is answered with 200", async () => {
    const first = await load("/docs?generation=1");
    expect(await first.locator("nav [aria-current]").innerText()).to.equal("First generation");
    const found = await failures(first, 40);
    await first.close();
    expect(found).to.deep.equal([]);
  });

  it("shows examples of replies, and each group with what it is for", async () => {
    const block = await opened("wallets", "getWallet");
    expect(await block.locator(".highlight-code").first().innerText()).to.match(/"address": "A\w{33}"/);
    expect(await page.locator(".opblock-tag").count()).to.be.above(10);
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

  it("tries a request as it is filled, or with another parameter, and shows the replies of the node that serves the page", async () => {
    const [filled, other] = [await tried(operationOf("wallets", "getWallet")), await tried(operationOf("wallets", "getWallet"), { id: "genesis_7" })];
    expect([filled.status, other.status]).to.deep.equal(["200", "200"]);
    expect(JSON.parse(other.text)).to.have.nested.property("data.username", "genesis_7");
  });

  it("tries a search with the example as its body", async () => {
    const found = await tried(await opened("blocks", "searchBlocks"), { limit: "3" });
    expect(found.status).to.equal("200");
    expect(JSON.parse(found.text)).to.have.nested.property("meta.totalCount");
  });

  it("says which replies are streams, shows the beginning of one, and takes conditions as text", async () => {
    const block = await opened("events", "getEvents");
    expect(await block.locator(".opblock-description").innerText()).to.include("The reply is a stream");
    expect(await block.locator('tr[data-param-name="conditions"] input').getAttribute("type")).to.equal("text");
    const { status, text } = await tried(block, { after: "519" });
    expect([status, text.includes("event: block.applied")]).to.deep.equal(["200", true]);
  });

  it("has all of its fields and buttons whole on a phone, and stands out from what is behind it also where requests were tried", async () => {
    await page.setViewportSize({ width: 390, height: 900 });
    expect(await isAsWide()).to.equal(true);
    const filter = (await page.locator(".operation-filter-input").boundingBox()) ?? expect.fail();
    expect(filter.width).to.be.above(330);
    const cut = "[...document.querySelectorAll('button, select, input')].filter((one) => { const { left, right } = one.getBoundingClientRect(); return left < 0 || right > 390; })";
    expect(await page.evaluate(`${cut}.map(({ outerHTML }) => outerHTML)`)).to.deep.equal([]);
    expect(await axeFindings(page, { rules: "of colour" })).to.deep.equal([]);
  });

  it("asks for the token where a request lacks it, and sends it from then on", async () => {
    const block = await opened("webhooks", "getWebhooks");
    expect((await tried(block)).status).to.equal("401");
    const dialog = page.locator(".modal-ux");
    await dialog.locator("input").fill(token);
    await dialog.locator("button.authorize").click();
    await dialog.locator("button.btn-done").click();
    await block.locator("button.execute").click();
    await block.locator(".live-responses-table .response-col_status", { hasText: "200" }).waitFor();
  });
});
