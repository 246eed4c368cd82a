import { mkdtemp, readFile, rm, stat, writeFile, chmod, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { PorticoError } from "../../src/errors.js";
import { createAuthorize, openAuthorize, tokenFile } from "../../src/webhooks/register/tokens.js";
import { createLogger } from "./stage.js";

const refusal = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work;
  } catch (error) {
    return (error as Error).message;
  }
  return "nothing was refused";
};

describe("webhook tokens", () => {
  const tokens = ["first-token", "second-token"];

  for (const [header, expected] of [
    ["first-token", true],
    ["second-token", true],
    ["Bearer first-token", true],
    ["bearer second-token", true],
    [" first-token ", true],
    ["third-token", false],
    ["first-toke", false],
    ["first-token1", false],
    ["FIRST-TOKEN", false],
    ["Basic first-token", false],
    ["Bearer", false],
    ["Bearer ", false],
    ["", false],
    [undefined, false],
  ] as const) {
    it(`${expected ? "accept" : "refuse"} ${String(header)}`, () => {
      expect(createAuthorize(tokens)(header)).to.equal(expected);
    });
  }

  it("admit nobody if there are none", () => {
    expect(createAuthorize([])("")).to.equal(false);
  });

  it("take as long to refuse however much of one is right, and to accept whichever it is", () => {
    // So long that a comparison which stops at the first difference would show.
    const length = 1_000_000;
    const right = "a".repeat(length);
    const authorize = createAuthorize([right, "b".repeat(length), "c".repeat(length)]);
    const given = { "wrong from the start": `x${right.slice(1)}`, "wrong at the end": `${right.slice(1)}x`, "of the first": right, "of the last": "c".repeat(length) };
    const least: Record<string, number> = {};
    const ratio = (): number => Math.max(...Object.values(least)) / Math.min(...Object.values(least));
    // Where others use the processor, the least of each comes later.
    for (let tries = 0; tries < 15 || (tries < 500 && ratio() >= 2); tries++) {
      for (const [what, header] of Object.entries(given)) {
        const begun = performance.now();
        expect(authorize(header)).to.equal(what.startsWith("of"));
        least[what] = Math.min(least[what] ?? Infinity, performance.now() - begun);
      }
    }
    expect(ratio(), JSON.stringify(least)).to.be.below(2);
  });

  describe("when generated", () => {
    let dataDir: string;
    let lines: string[];
    const open = (given: string[] = []) => openAuthorize({ tokens: given, dataDir: join(dataDir, "inner"), makes: true }, createLogger(lines));
    const path = (): string => join(dataDir, "inner", tokenFile);

    beforeEach(async () => {
      dataDir = await mkdtemp(join(tmpdir(), "portico-token-"));
      lines = [];
    });
    afterEach(() => rm(dataDir, { recursive: true }));

    it("are kept in the data folder, readable only by their owner, and never logged", async () => {
      const authorize = await open();
      const token = (await readFile(path(), "utf8")).trim();
      expect(token).to.match(/^[0-9a-f]{64}$/);
      expect((await stat(path())).mode & 0o777).to.equal(0o600);
      expect(authorize(token)).to.equal(true);
      expect(lines).to.deep.equal([`info webhooks: a token was generated; it is kept in ${path()}`]);
      expect(await readdir(join(dataDir, "inner"))).to.deep.equal([tokenFile]);

      const again = await open();
      expect(again(token)).to.equal(true);
      expect(lines.join()).not.to.include(token);
    });

    it("are the same for two processes that start at once", async () => {
      const both = await Promise.all([open(), open()]);
      const token = (await readFile(path(), "utf8")).trim();
      expect(both.map((authorize) => authorize(token))).to.deep.equal([true, true]);
    });

    it("are read from the file at each request, whichever process wrote it", async () => {
      const authorize = await open();
      const first = (await readFile(path(), "utf8")).trim();
      await rm(path());
      expect(authorize(first)).to.equal(true);
      const another = await open();
      const second = (await readFile(path(), "utf8")).trim();
      expect([authorize, another].map((one) => [one(first), one(second)])).to.deep.equal(Array.from({ length: 2 }, () => [false, true]));
      // An empty token authorizes nothing.
      await writeFile(path(), "\n");
      expect([authorize(""), authorize(second)]).to.deep.equal([false, true]);
    });

    it("are made unreadable to others, with a warning", async () => {
      await open();
      await chmod(path(), 0o644);
      await open();
      expect((await stat(path())).mode & 0o777).to.equal(0o600);
      expect(lines.join()).to.include("readable by others");
    });

    it("are refused if the file is empty", async () => {
      await open();
      await writeFile(path(), "\n");
      expect(await refusal(open())).to.equal(`${path()} does not contain a valid token; remove it, and the next start generates another`);
    });

    it("are shared by the node's other processes, which generate none", async () => {
      const authorize = await openAuthorize({ tokens: [], dataDir: join(dataDir, "inner"), makes: false }, createLogger(lines));
      expect(await readdir(dataDir)).to.deep.equal([]);
      expect(() => authorize("any token")).to.throw(PorticoError).with.property("code", "NOT_READY");
      await open();
      expect(authorize((await readFile(path(), "utf8")).trim())).to.equal(true);
      expect(authorize("any token")).to.equal(false);
    });

    it("are not generated if tokens are configured", async () => {
      const authorize = await open(["configured"]);
      expect(authorize("configured")).to.equal(true);
      expect(await readdir(dataDir)).to.deep.equal([]);
    });
  });
});
