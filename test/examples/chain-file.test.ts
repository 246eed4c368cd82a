import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import type { BlockData } from "../../types/events.js";
import { openBlockLog } from "../../examples/standalone/files/block-log.js";
import { type ChainFile, openChainFile } from "../../examples/standalone/files/chain-file.js";
import { HostError } from "../../examples/standalone/program/host-error.js";
import { chainFile, loadChain } from "../data/read.js";
import { localBlocks } from "./local-chain.js";
import { temporaryFolder } from "../fixtures/folder.js";

const refusal = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work;
  } catch (error) {
    if (error instanceof HostError) return error.message;
    throw error;
  }
  throw new Error("it was not refused");
};

describe("the standalone host's chain files", () => {
  let folder: string;
  let path: string;
  let open: ChainFile[];
  beforeEach(() => {
    folder = temporaryFolder();
    path = join(folder, "chain.ndjson");
    open = [];
  });
  afterEach(async () => {
    for (const file of open) await file.close();
  });

  const opened = async (content: string): Promise<ChainFile> => {
    writeFileSync(path, content);
    const file = await openChainFile(path);
    open.push(file);
    return file;
  };
  const toLines = (blocks: BlockData[]): string => blocks.map((block) => `${JSON.stringify(block)}\n`).join("");
  const heights = (blocks: BlockData[]): number[] => blocks.map(({ height }) => height);

  describe("reading", () => {
    it("streams a real chain block by block", async () => {
      const { blocks } = loadChain("core3-testnet-a");
      const file = await opened(chainFile("core3-testnet-a"));
      expect(file.height()).to.equal(268);
      expect(file.firstBlock.id).to.equal(blocks[0]?.id);
      const read: BlockData[] = [];
      while (read.length < blocks.length) read.push(...(await file.read(read.length + 1, 100)));
      expect(read).to.deep.equal(blocks);
      expect(await file.read(269, 100)).to.deep.equal([]);
    });

    it("finds any height, whatever was read before and however long the lines are", async () => {
      const { blocks } = loadChain("core3-custom-c");
      const file = await opened(chainFile("core3-custom-c"));
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: blocks.length }), fc.integer({ min: 1, max: 7 }), async (from, limit) => {
          expect(heights(await file.read(from, limit))).to.deep.equal(heights(blocks.slice(from - 1, from - 1 + limit)));
        }),
        { numRuns: 60 },
      );
    });

    it("finds a line longer than one read", async () => {
      const [genesis, second] = (await localBlocks()) as [BlockData, BlockData];
      const long = { ...genesis, padding: "x".repeat(3_000_000) };
      const file = await opened(toLines([long, second]));
      expect(heights(await file.read(2, 10))).to.deep.equal([2]);
      expect(heights(await file.read(1, 10))).to.deep.equal([1, 2]);
    });

    it("accepts a last line without a newline", async () => {
      const file = await opened(toLines((await localBlocks()).slice(0, 3)).trimEnd());
      expect(file.height()).to.equal(3);
      expect(heights(await file.read(3, 5))).to.deep.equal([3]);
    });

    it("reports a missing file, and a folder in its place", async () => {
      expect(await refusal(openChainFile(path))).to.equal(`${path} cannot be read: there is no such file.`);
      expect(await refusal(openChainFile(folder))).to.equal(`${folder} is not a file.`);
    });

    it("reports that an empty file has no block", async () => {
      expect(await refusal(opened(""))).to.equal(`${path} contains no block.`);
    });

    it("returns the blocks before a broken line, then names the line", async () => {
      const all = await localBlocks();
      const file = await opened(toLines(all.slice(0, 7)) + '{"height":8,\n' + toLines(all.slice(8)));
      expect(heights(await file.read(1, 5))).to.deep.equal([1, 2, 3, 4, 5]);
      expect(heights(await file.read(6, 100))).to.deep.equal([6, 7]);
      for (const from of [8, 7]) expect(await refusal(file.read(from, 100))).to.match(/chain\.ndjson, line 8: the line is not valid JSON \(.+\)\.$/);
    });

    it("names a broken line that it finds while it looks for a height", async () => {
      const all = await localBlocks();
      const lines = all.map((block) => `${JSON.stringify(block)}\n`);
      const file = await opened(lines.map((line, index) => (index > 3 && index < 59 ? `x${line}` : line)).join(""));
      expect(await refusal(file.read(50, 1))).to.match(/chain\.ndjson, line \d+: the line is not valid JSON/);
    });

    it("names a line that is too long to be a block", async () => {
      const all = await localBlocks();
      const most = 64 * 2 ** 20;
      writeFileSync(path, Buffer.concat([Buffer.from(toLines(all.slice(0, 3))), Buffer.alloc(most + 2 ** 20, "A")]));
      expect(await refusal(openChainFile(path))).to.equal(`${path}: its last line has more than ${most} bytes.`);
      appendFileSync(path, `\n${toLines(all.slice(4))}`);
      const file = await openChainFile(path);
      open.push(file);
      expect(heights(await file.read(1, 3))).to.deep.equal([1, 2, 3]);
      expect(await refusal(file.read(4, 5))).to.equal(`${path}, line 4: the line has more than ${most} bytes.`);
    });

    it("names a truncated last line before anything is read", async () => {
      const text = toLines((await localBlocks()).slice(0, 5));
      expect(await refusal(opened(text.slice(0, -40)))).to.equal(`${path}, line 5: the line is truncated.`);
    });

    it("names a line that is not a block", async () => {
      const all = await localBlocks();
      const file = await opened(`${toLines(all.slice(0, 2))}{"name":"x"}\n${toLines(all.slice(3))}`);
      await file.read(1, 2);
      expect(await refusal(file.read(3, 1))).to.equal(`${path}, line 3: the line is not a block with id, height and transactions.`);
    });

    it("names a block that does not chain", async () => {
      const all = await localBlocks();
      const wrong = all.map((block) => (block.height === 4 ? { ...block, previousBlock: "17" } : block));
      const file = await opened(toLines(wrong));
      await file.read(1, 3);
      expect(await refusal(file.read(4, 1))).to.equal(
        `${path}, line 4: block 4 does not follow the one before it: its previousBlock is 17, not ${String(all[2]?.id)}.`,
      );
    });

    it("checks the first block of a read against the one before it", async () => {
      const all = await localBlocks();
      const file = await opened(toLines(all.map((block) => (block.height === 30 ? { ...block, previousBlock: "17" } : block))));
      expect(await refusal(file.read(30, 1))).to.match(/line 30: block 30 does not follow the one before it/);
    });

    it("names a missing height", async () => {
      const all = await localBlocks();
      const file = await opened(toLines(all.filter(({ height }) => height !== 4)));
      await file.read(1, 3);
      expect(await refusal(file.read(4, 1))).to.equal(`${path}, line 4: the block's height is 5, not 4.`);
    });

    it("names a block with missing transactions", async () => {
      const all = await localBlocks();
      const height = all.findIndex((block) => block.height > 1 && block.numberOfTransactions > 1) + 1;
      const file = await opened(toLines(all.map((block) => (block.height === height ? { ...block, transactions: block.transactions?.slice(1) } : block))));
      await file.read(1, height - 1);
      expect(await refusal(file.read(height, 1))).to.match(new RegExp(`line ${height}: block ${height} declares \\d+ transactions but contains \\d+\\.$`));
    });
  });

  describe("the log of forged blocks", () => {
    it("returns what was appended, before and after it is reopened", async () => {
      const all = (await localBlocks()).slice(1);
      const log = await openBlockLog(path);
      expect(log.height()).to.equal(0);
      for (const block of all.slice(0, 20)) log.append(block);
      expect(await log.read(2, 100)).to.deep.equal(all.slice(0, 20));
      await log.close();

      const again = await openBlockLog(path);
      expect(again.height()).to.equal(21);
      for (const block of all.slice(20)) again.append(block);
      const read: BlockData[] = [];
      while (read.length < all.length) read.push(...(await again.read(read.length + 2, 13)));
      expect(read).to.deep.equal(all);
      expect(await again.read(61, 10)).to.deep.equal([]);
      await again.close();
    });

    it("has the form of a chain file", async () => {
      const all = await localBlocks();
      const log = await openBlockLog(path);
      for (const block of all) log.append(block);
      await log.close();
      expect(readFileSync(path, "utf8")).to.equal(toLines(all));
      const file = await openChainFile(path);
      open.push(file);
      expect(await file.read(1, 100)).to.deep.equal(all);
    });

    it("drops the partial line that a crashed process left", async () => {
      const all = (await localBlocks()).slice(1, 6);
      writeFileSync(path, toLines(all.slice(0, 3)));
      appendFileSync(path, JSON.stringify(all[3]).slice(0, 200));
      const log = await openBlockLog(path);
      expect(log.height()).to.equal(4);
      log.append(all[3] as BlockData);
      expect(await log.read(2, 100)).to.deep.equal(all.slice(0, 4));
      await log.close();
      expect(readFileSync(path, "utf8")).to.equal(toLines(all.slice(0, 4)));
    });

    it("refuses a block that does not follow", async () => {
      const all = await localBlocks();
      const log = await openBlockLog(path);
      log.append(all[4] as BlockData);
      expect(() => log.append(all[6] as BlockData)).to.throw(HostError, "ends at height 5; block 7 cannot follow");
      await log.close();
    });

    it("is renamed, not deleted, when it is set aside", async () => {
      const all = await localBlocks();
      const log = await openBlockLog(path);
      for (const block of all.slice(1, 4)) log.append(block);
      const aside = await log.setAside(9);
      expect(aside).to.equal(join(folder, "chain.until-9.ndjson"));
      expect(readFileSync(aside, "utf8")).to.equal(toLines(all.slice(1, 4)));
      expect([log.first(), log.height(), await log.read(2, 10)]).to.deep.equal([0, 0, []]);
      log.append(all[9] as BlockData);
      expect([log.first(), log.height(), await log.read(10, 10)]).to.deep.equal([10, 10, [all[9]]]);
      await log.close();
    });

    it("creates no file before there is a block", async () => {
      const log = await openBlockLog(path);
      await log.close();
      expect(existsSync(path)).to.equal(false);
    });

    it("reports that it cannot be written", async () => {
      const [block] = await localBlocks();
      const log = await openBlockLog(join(folder, "missing", "chain.ndjson"));
      expect(() => log.append(block as BlockData)).to.throw(HostError, /chain\.ndjson cannot be written: ENOENT/);
      expect(log.height()).to.equal(0);
    });
  });
});
