import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { createReaderChain } from "../../src/store/reader-chain.js";
import { fullLengthName, lmdbFileFault } from "../../src/store/lmdb/safe/file-check.js";
import { metaOffsets } from "../../src/store/lmdb/safe/meta-pages.js";
import { transact } from "../../src/store/lmdb/safe/transact.js";
import { textKey } from "../../src/store/layout/keys.js";
import { loadChain } from "../data/read.js";
import { silentLogger } from "../silent.js";
import type { Outcome } from "./cutting-process.js";
import { lastPageAt, pagesOf } from "./pages.js";
import { closeTemporaryStores, contentsOf, openStoreAt, openTemporaryStore, temporaryFolder } from "./temporary-store.js";
import { programOf } from "../fixtures/programs.js";

const name = "core3-custom-c";
const chain = loadChain(name);
const pageSize = 4_096;

describe("a store file that is cut off", () => {
  afterEach(closeTemporaryStores);

  const makeStore = async (change?: (opened: ReturnType<typeof openTemporaryStore>) => void) => {
    const opened = await openStoreAt(name, 20);
    opened.store.markComplete();
    change?.(opened);
    const contents = contentsOf(opened.store);
    await opened.store.stop();
    return { path: opened.store.environment.path, dataDir: opened.dataDir, contents };
  };

  /** What comes of opening the store when it is cut to each of the sizes, in a process of its own; and how that ended. */
  const cut = async (path: string, sizes: readonly number[]) => {
    const script = programOf(new URL("cutting-process.ts", import.meta.url));
    const child = spawn(process.execPath, [script, path, temporaryFolder(), ...sizes.map(String)], { stdio: ["ignore", "pipe", "inherit"] });
    const [output, [code, signal]] = await Promise.all([text(child.stdout), once(child, "exit") as Promise<[number | null, string | null]>]);
    const outcomes = output.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line) as Outcome);
    return { outcomes, ended: signal ?? code };
  };

  it("is refused at the start, whatever is missing, and never ends the process by a signal: cut by 200 KB, it died of SIGBUS at the first read", async () => {
    const { path } = await makeStore();
    const { size } = statSync(path);
    const inMetaPages = [0, 1, 23, 24, 100, 159, 160, 167, 168, 4_095, 4_096, 4_097, 4_255, 4_256, 8_191, 8_192, 8_193];
    const nearTheEnd = Array.from({ length: 12 }, (_, i) => size - (i + 1) * pageSize);
    const anywhere = Array.from({ length: 18 }, (_, i) => Math.floor((size * (i + 1)) / 19));
    const sizes = [...inMetaPages, ...nearTheEnd, ...anywhere, size - 1, size - 200_000, size - 204_800, Math.floor(size / 2), Math.floor(size / 3 / pageSize) * pageSize];
    const { outcomes, ended } = await cut(path, sizes);
    expect(ended).to.equal(0);
    expect(sizes).to.have.length.above(50);
    expect(outcomes).to.have.length(sizes.length * 2);
    for (const { size: bytes, access, result, isUnchanged } of outcomes) {
      expect(result, `${bytes} ${access}`).to.have.property("code", "STORE_DAMAGED");
      expect((result as { message: string }).message, `${bytes} ${access}`).to.match(
        /chain\.mdb cannot be opened: (?:it is (?:truncated|empty|not an LMDB file)|its second meta page is damaged)\b.*; restore it from a backup, or move it away and start anew: .+/,
      );
      expect(isUnchanged, `${bytes} ${access}`).to.equal(true);
    }
    const messages = outcomes.filter(({ access }) => access === "write").map(({ size: bytes, result }) => [bytes, (result as { message: string }).message] as const);
    const faultAt = (bytes: number): string => /cannot be opened: (.*?); /.exec(messages.find(([at]) => at === bytes)?.[1] ?? "")?.[1] ?? "";
    const whole = size.toLocaleString("en");
    expect(faultAt(0)).to.equal("it is empty");
    expect(faultAt(1)).to.equal("it is not an LMDB file: it ends within its first meta page, after 1 byte");
    expect(faultAt(4_096)).to.equal("its second meta page is damaged: the file ends before it, after 4,096 bytes");
    expect(faultAt(size - 1)).to.equal(`it is truncated: of ${whole} bytes, the last 1 byte is missing`);
    expect(faultAt(size - 204_800)).to.equal(`it is truncated: of ${whole} bytes, the last 204,800 bytes are missing`);
  });

  it("is refused to readers, too", async () => {
    const { path, dataDir } = await makeStore();
    truncateSync(path, statSync(path).size - 200_000);
    const { createChainRules } = await import("../../src/chain/rules.js");
    const reader = createReaderChain({ dataDir, lookInterval: 5 }, { rules: createChainRules(chain.network), logger: silentLogger });
    const error = await reader.start().catch((reason: unknown) => reason);
    expect(error).to.have.property("code", "STORE_DAMAGED");
    expect((error as Error).message).to.include("it is truncated");
    await reader.stop();
  });

  it("is brought to its full length by whoever writes it, where LMDB left out pages that it freed at once", async () => {
    const { store } = openTemporaryStore(chain.network);
    const { path, db } = store.environment;
    const lacking = (): number => pagesOf(path).last + 1 - statSync(path).size / pageSize;
    const addAndRemove = (): void => {
      for (const put of [true, false]) {
        for (let i = 0; i < 400; i++) {
          const key = Buffer.from(`${i}`);
          if (put) db.usernames.putSync(key, Buffer.alloc(200));
          else db.usernames.removeSync(key);
        }
      }
    };
    transact(store.environment, addAndRemove);
    expect(lacking()).to.be.above(0);
    expect(lmdbFileFault(path), "beside a writer").to.equal(undefined);
    await store.stop();
    expect(lacking()).to.equal(0);
    truncateSync(path, statSync(path).size - pageSize);
    expect(lmdbFileFault(path)).to.match(/^it is truncated: of [\d,]+ bytes, the last 4,096 bytes are missing; /);
    writeFileSync(`${path}-writer`, "1");
    expect(lmdbFileFault(path), "a writer was killed").to.equal(undefined);
  });

  it("is opened if an earlier version left it too short, as long as no page is missing that is used", async () => {
    const { path, contents } = await makeStore(({ store }) => store.environment.db.meta.removeSync(textKey(fullLengthName)));
    const bytes = readFileSync(path);
    const { last } = pagesOf(path);
    /** As if the file had once had more pages, which LMDB has lost. */
    for (const meta of [0, pageSize]) bytes.writeBigUInt64LE(BigInt(last + 5), meta + lastPageAt);
    const dataDir = temporaryFolder();
    writeFileSync(join(dataDir, "chain.mdb"), bytes);
    expect(pagesOf(join(dataDir, "chain.mdb")).lost).to.equal(5);
    const { store } = openTemporaryStore(chain.network, { dataDir });
    expect(contentsOf(store)).to.deep.equal({ ...contents, meta: contentsOf(store).meta });
    await store.stop();
    expect(statSync(store.environment.path).size).to.be.least((last + 6) * pageSize);
    writeFileSync(join(dataDir, "chain.mdb"), bytes.subarray(0, bytes.length - 60 * pageSize));
    expect(() => openTemporaryStore(chain.network, { dataDir })).to.throw(/it is truncated/);
  });

  it("is refused if its meta pages are damaged: they name pages that cannot be, or another version of the layout", async () => {
    const { path } = await makeStore();
    const whole = readFileSync(path);
    for (const [member, value] of [
      [lastPageAt, 2n ** 52n],
      [lastPageAt, 2n ** 63n],
      [metaOffsets.mainRoot, 2n ** 40n],
      [metaOffsets.freeRoot, 2n ** 62n],
      // Of the file's layout: lmdb-js reads a null pointer where it does not know it.
      [metaOffsets.version, 0x503n],
      // Of the whole file, among them that it is encrypted, at which lmdb-js ended the process.
      [metaOffsets.freeTree, 0x1_e608_0000_1000n],
      [metaOffsets.mainTree, 0x1_0004_0000_0000n],
    ] as const) {
      const bytes = Buffer.from(whole);
      for (const meta of [0, pageSize]) bytes.writeBigUInt64LE(value, meta + member);
      const dataDir = temporaryFolder();
      writeFileSync(join(dataDir, "chain.mdb"), bytes);
      expect(() => openTemporaryStore(chain.network, { dataDir }), `${member} ${value}`).to.throw(/chain\.mdb cannot be opened: it/);
      expect(readFileSync(join(dataDir, "chain.mdb")).equals(bytes)).to.equal(true);
    }
  });
});
