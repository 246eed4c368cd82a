import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { EventEmitter } from "eventemitter3";
import { open, type RootDatabase } from "lmdb";
import { createChainRules } from "../../src/chain/rules.js";
import { PorticoError } from "../../src/errors.js";
import { createApiPlugin, verifyStore } from "../../src/index.js";
import { copyChainAt } from "../../src/store/copy/copy-chain.js";
import { formatKey, textKey } from "../../src/store/layout/keys.js";
import { openEnvironment, type StoreDatabases } from "../../src/store/lmdb/environment.js";
import { createReaderChain } from "../../src/store/reader-chain.js";
import { openWebhookStore } from "../../src/webhooks/rows/store.js";
import type { BlockData, TransactionData } from "../../types/events.js";
import { loadChain } from "../data/read.js";
import { closeStores, closeTemporaryStores, contentsOf, openStoreAt, openTemporaryStore, temporaryFolder } from "./temporary-store.js";
import { silentLogger } from "../silent.js";
import { codeOf, refusalOf } from "../fixtures/refusal.js";
import { programOf } from "../fixtures/programs.js";
import { storeBlocks } from "../fixtures/stored-blocks.js";

const name = "core3-custom-c";
const chain = loadChain(name);
const whole = { filter: {}, order: { field: "address", direction: "asc" }, offset: 0, limit: 1e9 } as const;

const messageOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "",
    (error: unknown) => (error as Error).message,
  );

describe("the LMDB store", () => {
  afterEach(closeTemporaryStores);

  it("returns to exactly the same bytes after reverts", async () => {
    const { store, rules } = await openStoreAt(name, 150);
    // Every type of transaction, and two ends of rounds.
    const blocks = chain.blocks.slice(150, 210).map(rules.parseBlock);
    const before = contentsOf(store);
    await store.apply(blocks);
    const after = contentsOf(store);
    for (const _ of blocks) await store.revert();
    expect(contentsOf(store)).to.deep.equal(before);
    for (const block of blocks) await store.apply([block]);
    expect(contentsOf(store)).to.deep.equal(after);
  });

  it("keeps its state when it is closed and reopened", async () => {
    const { store, rules, dataDir } = await openStoreAt(name, 60);
    await store.apply(chain.blocks.slice(60, 70).map(rules.parseBlock));
    const before = contentsOf(store);
    await store.stop();
    const again = openTemporaryStore(chain.network, { dataDir });
    expect(contentsOf(again.store)).to.deep.equal(before);
    await again.store.apply(chain.blocks.slice(70, 75).map(rules.parseBlock));
    expect(again.store.tip()?.height).to.equal(75);
  });

  it("writes a batch completely or not at all", async () => {
    const { store, rules } = await openStoreAt(name, 60);
    const before = contentsOf(store);
    const [next, , gap] = chain.blocks.slice(60, 63).map(rules.parseBlock);
    expect(await codeOf(() => store.apply([next!, gap!]))).to.equal("BLOCK_DOES_NOT_CHAIN");
    expect(contentsOf(store)).to.deep.equal(before);
  });

  it("answers from the old state until a write is committed, and takes one write at a time", async () => {
    const { store, rules } = await openStoreAt(name, 60);
    const writing = store.apply(chain.blocks.slice(60, 100).map(rules.parseBlock));
    expect(await messageOf(store.revert())).to.equal("the store is already being written");
    let [turns, done] = [0, false];
    void writing.then(() => (done = true));
    while (!done) {
      const height = store.tip()?.height;
      const snapshot = store.snapshot();
      expect(snapshot?.tip.height).to.equal(height);
      expect(snapshot?.block({ height: 61 }) !== undefined).to.equal(height === 100);
      snapshot?.release?.();
      turns++;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(turns, "turns of the process").to.be.above(3);
    expect(store.tip()?.height).to.equal(100);
  });

  it("processes blocks while earlier ones are being committed, and ends with the last valid ones", async () => {
    const { store, rules } = await openStoreAt(name, 60);
    const blocks = chain.blocks.slice(60, 110).map(rules.parseBlock);
    const tips: number[] = [];
    for (let from = 0; from < 40; from += 5) {
      await store.applyAhead(blocks.slice(from, from + 5));
      tips.push(store.tip()?.height ?? 0);
    }
    expect(tips, "of what was worked out, the last batch is not committed yet").to.deep.equal(tips.map((_, batch) => 60 + batch * 5));
    await store.written();
    expect(store.tip()?.height).to.equal(100);

    await store.applyAhead(blocks.slice(40, 45));
    expect(await codeOf(() => store.applyAhead([blocks[46]!]))).to.equal("BLOCK_DOES_NOT_CHAIN");
    expect(store.tip()?.height, "what was worked out before a bad block is committed").to.equal(105);
    await store.applyAhead(blocks.slice(45, 48));
    await store.revert();
    await store.applyAhead(blocks.slice(47, 50));
    await store.written();

    const other = await openStoreAt(name, 60);
    for (const block of blocks) await other.store.apply([block]);
    expect(contentsOf(store)).to.deep.equal(contentsOf(other.store));
  });

  it("finishes pending writes before it stops", async () => {
    const { store, rules, dataDir } = await openStoreAt(name, 60);
    await store.applyAhead(chain.blocks.slice(60, 100).map(rules.parseBlock));
    await store.stop();
    expect(openTemporaryStore(chain.network, { dataDir }).store.tip()?.height).to.equal(100);
  });

  it("finishes a write that is still being prepared as it is told to stop, and takes none after that", async () => {
    const { store, rules, dataDir } = await openStoreAt(name, 60);
    const written = store.apply(chain.blocks.slice(60, 100).map(rules.parseBlock));
    const stopped = store.stop();
    expect(await messageOf(store.revert())).to.equal("the store is closed");
    await stopped;
    await written;
    expect(openTemporaryStore(chain.network, { dataDir }).store.tip()?.height).to.equal(100);
  });

  it("lets a process exit during a write and still keeps every block", async () => {
    const script = programOf(new URL("exiting-process.ts", import.meta.url));
    for (const milliseconds of [1, 10]) {
      const { store, dataDir } = await openStoreAt(name, 60);
      await store.stop();
      const process = spawn(globalThis.process.execPath, [script, dataDir, String(milliseconds)], { timeout: 150_000, killSignal: "SIGKILL" });
      expect(await once(process, "exit")).to.deep.equal([7, null]);
      expect(openTemporaryStore(chain.network, { dataDir }).store.tip()?.height).to.equal(80);
    }
  });

  it("is written by one process at a time, and by the next after that one was killed", async () => {
    const script = programOf(new URL("holding-process.ts", import.meta.url));
    const dataDir = temporaryFolder();
    await storeBlocks(name, 1, 10, dataDir);
    const holding = spawn(process.execPath, [script, dataDir], { stdio: ["ignore", "pipe", "inherit"] });
    try {
      await once(holding.stdout, "data");
      const opening = Promise.resolve().then(() => openTemporaryStore(chain.network, { dataDir }));
      expect(await messageOf(opening)).to.match(new RegExp(`chain\\.mdb is being written by process ${holding.pid}: stop it`));
      expect(openTemporaryStore(chain.network, { dataDir, access: "read" }).store.tip()?.height).to.equal(1);
    } finally {
      const ended = once(holding, "exit");
      holding.kill("SIGKILL");
      await ended;
    }
    await closeStores();
    const { store } = openTemporaryStore(chain.network, { dataDir });
    expect(store.tip()?.height).to.equal(1);
    expect(await codeOf(() => openTemporaryStore(chain.network, { dataDir }))).to.equal("STORE_IN_USE");
    await store.stop();
    expect(readdirSync(dataDir)).to.deep.equal(["chain.mdb", "chain.mdb-lock"]);
    expect(openTemporaryStore(chain.network, { dataDir }).store.tip()?.height).to.equal(1);
  });

  it("is opened by only one of several processes that try at the same moment, and so are webhooks alone", async () => {
    const script = programOf(new URL("racing-process.ts", import.meta.url));
    const racing = Array.from({ length: 3 }, () => spawn(process.execPath, [script], { stdio: ["pipe", "pipe", "inherit"] }));
    const lineOf = async ({ stdout }: (typeof racing)[number]): Promise<string> => String(((await once(stdout, "data")) as [Buffer])[0]).trim();
    const linesOf = (): Promise<string[]> => Promise.all(racing.map(lineOf));
    try {
      expect(await linesOf()).to.deep.equal(["ready", "ready", "ready"]);
      for (const which of ["chain", "webhooks"]) {
        const dataDir = temporaryFolder();
        // The file exists, and so does the lock that a killed process left.
        await (which === "chain" ? openEnvironment(dataDir, chain.network.network.nethash) : openWebhookStore(dataDir)).close();
        writeFileSync(join(dataDir, `${which}.mdb-writer`), "999999");
        const told = linesOf();
        const moment = String(Date.now() + 50);
        for (const { stdin } of racing) stdin.write(`${which} ${moment} ${dataDir}\n`);
        const outcomes = await told;
        expect(outcomes.toSorted()).to.deep.equal(["STORE_IN_USE", "STORE_IN_USE", "opened"]);
        // Whoever tries later knows the writer by its place among LMDB's readers, which it must not have lost while it opened the store.
        const seen = open({ path: join(dataDir, `${which}.mdb`), readOnly: true });
        expect(seen.readerList()).to.match(new RegExp(`^ *${racing[outcomes.indexOf("opened")]?.pid} `, "m"));
        await seen.close();
      }
    } finally {
      const ended = racing.filter(({ exitCode }) => exitCode === null).map((one) => once(one, "exit"));
      for (const { stdin } of racing) stdin.end();
      await Promise.all(ended);
    }
  });

  it("can be written despite the lock of a killed process whose id now belongs to another", () => {
    const dataDir = temporaryFolder();
    writeFileSync(join(dataDir, "chain.mdb-writer"), String(process.ppid));
    expect(openTemporaryStore(chain.network, { dataDir }).store.tip()).to.equal(undefined);
  });

  it("writes where it was opened, even after the process changes its directory", async () => {
    const [folder, other, home] = [temporaryFolder(), temporaryFolder(), process.cwd()];
    try {
      process.chdir(folder);
      const { store, rules } = openTemporaryStore(chain.network, { dataDir: "data" });
      process.chdir(other);
      await store.apply([rules.parseBlock(chain.blocks[0]!)]);
      expect(store.tip()?.height).to.equal(1);
      expect(readdirSync(other)).to.deep.equal([]);
    } finally {
      process.chdir(home);
    }
  });

  it("is created under a temporary name, and leaves no other files, not even those of an earlier process", () => {
    const dataDir = temporaryFolder();
    writeFileSync(join(dataDir, `chain.mdb-${process.pid}`), "half a store");
    openTemporaryStore(chain.network, { dataDir });
    expect(readdirSync(dataDir).sort()).to.deep.equal(["chain.mdb", "chain.mdb-lock", "chain.mdb-writer"]);
  });

  it("reports a full disk, keeps the blocks before it, and goes on once there is space, whether blocks are written one by one or ahead", async () => {
    const folders = [];
    for (const mode of ["one by one", "ahead"]) {
      const { store, dataDir } = await openStoreAt(name, 10);
      await store.stop();
      folders.push({ mode, dataDir });
    }
    const script = programOf(new URL("full-disk-process.ts", import.meta.url));
    const { stdout } = await promisify(execFile)("sh", ["-c", `ulimit -f 4000; exec "$0" "$@"`, process.execPath, script, ...folders.map(({ dataDir }) => dataDir)]);
    const lines = stdout.trimEnd().split("\n");
    for (const [i, { mode, dataDir }] of folders.entries()) {
      const told = JSON.parse(lines[i] ?? "") as { height: number; failures: string[]; readable: boolean; after: number };
      expect(told.height, mode).to.be.above(11);
      expect(told, mode).to.deep.include({ readable: true, after: told.height });
      expect(told.failures, mode).to.have.length(2);
      for (const failure of told.failures) expect(failure).to.include("LMDB cannot write: ");

      const { store, rules } = openTemporaryStore(chain.network, { dataDir });
      expect(store.tip()?.height).to.equal(told.height);
      await store.apply(chain.blocks.slice(told.height, told.height + 5).map(rules.parseBlock));
      const other = await openStoreAt(name, 10);
      await other.store.apply(chain.blocks.slice(10, told.height + 5).map(rules.parseBlock));
      expect(contentsOf(store)).to.deep.equal(contentsOf(other.store));
    }
  });

  it("is not opened when the disk has no space for LMDB's lock file, which would crash the process", async () => {
    const dataDir = temporaryFolder();
    const script = programOf(new URL("no-room-process.ts", import.meta.url));
    const told = async (): Promise<string[]> => {
      const { stdout } = await promisify(execFile)("sh", ["-c", `ulimit -f 16; exec "$0" "$1" "$2"`, process.execPath, script, dataDir]);
      return JSON.parse(stdout) as string[];
    };
    const refused = ["chain.mdb", "webhooks.mdb"].map((name) => `${join(dataDir, name)} cannot be opened: there is no space left on its disk`);
    expect(await told()).to.deep.equal(refused);
    expect(readdirSync(dataDir)).to.deep.equal([]);

    const { store, rules } = openTemporaryStore(chain.network, { dataDir });
    await store.apply([rules.parseBlock(chain.blocks[0]!)]);
    await store.stop();
    await openWebhookStore(dataDir).close();
    for (const name of ["chain.mdb-lock", "webhooks.mdb-lock"]) rmSync(join(dataDir, name));
    expect(await told()).to.deep.equal(refused);
    expect(readdirSync(dataDir).sort()).to.deep.equal(["chain.mdb", "webhooks.mdb"]);
    expect(openTemporaryStore(chain.network, { dataDir }).store.tip()?.height).to.equal(1);
  });

  it("refuses a block of another chain, a gap and a vote for an unknown delegate", async () => {
    const { store, rules } = openTemporaryStore(chain.network);
    const apply = (block: BlockData): Promise<string> => codeOf(() => store.apply([rules.parseBlock(block)]));
    expect(await apply(chain.blocks[1]!)).to.equal("BLOCK_DOES_NOT_CHAIN");
    await store.apply(chain.blocks.slice(0, 2).map(rules.parseBlock));
    expect(await apply(chain.blocks[3]!)).to.equal("BLOCK_DOES_NOT_CHAIN");
    expect(await apply({ ...chain.blocks[2]!, previousBlock: "123" })).to.equal("BLOCK_DOES_NOT_CHAIN");
    const voter = chain.blocks.flatMap(({ transactions = [] }) => transactions).find(({ type, version }) => type === 3 && version === 2)!;
    const nobody = { ...voter, asset: { votes: [`+02${"00".repeat(31)}01`] } };
    expect(await apply({ ...chain.blocks[2]!, numberOfTransactions: 1, transactions: [nobody] })).to.equal("BLOCK_INVALID");
    expect(store.tip()?.height).to.equal(2);
  });

  it("refuses a transaction that the chain already has or that a block contains twice", async () => {
    const { store, rules } = openTemporaryStore(chain.network);
    const place = chain.blocks.findIndex(({ height, numberOfTransactions }) => height > 1 && numberOfTransactions > 0);
    const [known] = chain.blocks[place]!.transactions!;
    const apply = (at: number, transactions: TransactionData[]): Promise<string> =>
      codeOf(() => store.apply([rules.parseBlock({ ...chain.blocks[at]!, numberOfTransactions: transactions.length, transactions })]));
    await store.apply(chain.blocks.slice(0, place).map(rules.parseBlock));
    expect(await apply(place, [known!, known!])).to.equal("BLOCK_INVALID");
    expect(await apply(place, [known!])).to.equal("no error");
    expect(await apply(place + 1, [known!])).to.equal("BLOCK_INVALID");
    // Stored, both would be the same.
    for (const id of ["half \ud800", "half \udc00"]) expect(await apply(place + 1, [{ ...known!, id }])).to.equal("BLOCK_INVALID");
    expect(store.tip()?.height).to.equal(place + 1);
    // Any other text is the network's business: it has accepted the block.
    expect(await apply(place + 1, [{ ...known!, id: "00".repeat(32), vendorField: "half \ud800" }])).to.equal("no error");
  });

  it("lists a transaction under its recipient even if its type does not affect the recipient's wallet", async () => {
    const { store, rules } = await openStoreAt(name, 60);
    const before = store.snapshot()!;
    const richest = await before.wallets({ ...whole, order: { field: "balance", direction: "desc" } });
    const recipientId = richest.rows[0]!.address;
    before.release?.();
    const contents = contentsOf(store);
    const sender = chain.blocks.flatMap(({ transactions = [] }) => transactions).find(({ version }) => version === 2)!;
    const own: TransactionData = { ...sender, id: "77".repeat(32), typeGroup: 2, type: 77, recipientId };
    await store.apply([rules.parseBlock({ ...chain.blocks[60]!, numberOfTransactions: 1, transactions: [own] })]);
    const now = store.snapshot()!;
    const order = { field: "timestamp", direction: "desc" } as const;
    for (const filter of [{ recipientId }, { ownerId: recipientId }, { addresses: [recipientId] }]) {
      const last = await now.transactions({ filter, order, offset: 0, limit: 1 });
      expect(last.rows.map(({ id }) => id)).to.deep.equal([own.id]);
    }
    now.release?.();
    await store.revert();
    expect(contentsOf(store)).to.deep.equal(contents);
  });

  it("lists a transaction under a recipient that has no wallet, and before those of the wallet once there is one", async () => {
    const { store, rules } = await openStoreAt(name, 60);
    const contents = contentsOf(store);
    const sender = chain.blocks.flatMap(({ transactions = [] }) => transactions).find(({ version }) => version === 2)!;
    const recipientId = rules.addressOf(`02${"7".repeat(64)}`);
    const naming = (place: number, type: number): BlockData => {
      const transaction: TransactionData = { ...sender, id: `${70 + place}`.repeat(32).slice(0, 64), type, amount: "0", recipientId };
      return { ...chain.blocks[place]!, numberOfTransactions: 1, transactions: [transaction] };
    };
    const blocks = [naming(60, 5), naming(61, 0), naming(62, 5)];
    const newest = blocks.map(({ transactions = [] }) => transactions[0]!.id).reverse();
    const order = { field: "timestamp", direction: "desc" } as const;
    for (let count = 1; count <= 3; count++) {
      await store.apply([rules.parseBlock(blocks[count - 1]!)]);
      const now = store.snapshot()!;
      expect((await now.wallet(recipientId)) === undefined).to.equal(count === 1);
      const others = [{ amount: { from: 0n } }, { fee: { from: 0n } }, {}];
      for (const filter of [{ recipientId }, { ownerId: recipientId }, { addresses: [recipientId] }, { addresses: [recipientId, rules.addressOf(`03${"7".repeat(64)}`)] }])
        for (const other of others) {
          const { rows, total } = await now.transactions({ filter: { ...filter, ...other }, order, offset: 0, limit: 9 });
          expect([rows.map(({ id }) => id), total]).to.deep.equal([newest.slice(3 - count), count]);
        }
      now.release?.();
    }
    const past = store.snapshotAt(61)!;
    expect((await past.transactions({ filter: { recipientId }, order, offset: 0, limit: 9 })).rows.map(({ id }) => id)).to.deep.equal([newest[2]]);
    past.release?.();
    for (let count = 0; count < 3; count++) await store.revert();
    expect(contentsOf(store)).to.deep.equal(contents);
  });

  it("does not match a wallet by a prefix of its second public key", async () => {
    const { store } = await openStoreAt(name, 60);
    const now = store.snapshot()!;
    const { rows } = await now.wallets(whole);
    const known = rows.find(({ secondPublicKey }) => secondPublicKey !== null)!.secondPublicKey!;
    const totalOf = async (secondPublicKey: string): Promise<number> => (await now.wallets({ ...whole, filter: { secondPublicKey } })).total;
    expect(await totalOf(known)).to.equal(1);
    expect(await totalOf(known.slice(0, 64))).to.equal(0);
    now.release?.();
  });

  it("accepts amount bounds far beyond any real amount", async () => {
    const { store } = await openStoreAt(name, 10);
    const now = store.snapshot()!;
    const totalOf = async (balance: { from?: bigint; to?: bigint }): Promise<number> => (await now.wallets({ ...whole, filter: { balance } })).total;
    const all = await totalOf({});
    for (const digits of [400, 6_000]) {
      const beyond = 10n ** BigInt(digits);
      const totals = await Promise.all([{ to: beyond }, { from: -beyond }, { from: -beyond, to: beyond }, { from: beyond }, { to: -beyond }].map(totalOf));
      expect(totals).to.deep.equal([all, all, all, 0, 0]);
    }
    now.release?.();
  });

  it("keeps a snapshot unchanged while the chain moves on", async () => {
    const { store, rules } = await openStoreAt(name, 60);
    const still = store.snapshot()!;
    const wallets = await still.wallets(whole);
    const delegates = await still.delegates({ ...whole, order: { field: "rank", direction: "asc" } });
    await store.apply(chain.blocks.slice(60, 105).map(rules.parseBlock));
    const now = store.snapshot()!;
    expect(still.tip.height).to.equal(60);
    expect(now.tip.height).to.equal(105);
    expect(await still.wallets(whole)).to.deep.equal(wallets);
    expect(await still.delegates({ ...whole, order: { field: "rank", direction: "asc" } })).to.deep.equal(delegates);
    expect(await now.wallets(whole)).to.not.deep.equal(wallets);
    still.release?.();
    now.release?.();
  });

  it("reverts no further than its undo records reach, and fails with a code of its own", async () => {
    const { store, rules } = openTemporaryStore(chain.network, { undoBlocks: 5 });
    await store.apply(chain.blocks.slice(0, 10).map(rules.parseBlock));
    for (let i = 0; i < 5; i++) await store.revert();
    expect(store.tip()?.height).to.equal(5);
    expect(await codeOf(() => store.revert())).to.equal("STORE_UNDO_EXHAUSTED");
    expect(await messageOf(store.revert())).to.match(/^block \d+ cannot be reverted: at most 5 blocks can be \(`undoBlocks`\)$/);
    expect(store.tip()?.height).to.equal(5);
  });

  it("is readable only by its owner, since it holds webhooks and their secrets", () => {
    const { dataDir } = openTemporaryStore(chain.network);
    expect(statSync(join(dataDir, "chain.mdb")).mode & 0o777).to.equal(0o600);
  });

  it("refuses the store of another network and leaves it unchanged", async () => {
    const { store, dataDir } = await openStoreAt(name, 10);
    const before = contentsOf(store);
    await store.stop();
    const other = { ...chain.network, network: { ...chain.network.network, nethash: "ff".repeat(32) } };
    expect(await codeOf(() => openTemporaryStore(other, { dataDir }))).to.equal("STORE_FOREIGN");
    expect(contentsOf(openTemporaryStore(chain.network, { dataDir }).store)).to.deep.equal(before);
  });

  /** LMDB files that are no stores of this layout: the name of their form, and what makes one. */
  const otherFiles: readonly [form: string, make: (dataDir: string) => Promise<void>][] = [
    ["a later layout", (dataDir) => changed(dataDir, ({ meta, undo }) => (meta.putSync(formatKey, { layout: 1_000, nethash }), undo.dropSync()))],
    ["a layout before the first", (dataDir) => changed(dataDir, ({ meta }) => (meta.removeSync(formatKey), meta.putSync(textKey("format"), { schema: 1, nethash })))],
    ["a layout that nothing names", (dataDir) => changed(dataDir, ({ meta }) => void meta.removeSync(formatKey))],
    ["another encoding of keys", (dataDir) => written(dataDir, (root) => void root.openDB({ name: "meta" }).putSync("format", { schema: 1, nethash, state: [1, 2] }))],
    ["values that are texts", (dataDir) => written(dataDir, (root) => void root.openDB({ name: "meta", encoding: "string" }).putSync("state", "one"))],
    ["another program", (dataDir) => written(dataDir, (root) => void root.openDB({ name: "things" }).putSync("a", 1))],
    ["a program without databases", (dataDir) => written(dataDir, (root) => void root.putSync("a", 1))],
    ["nobody yet, without an entry", (dataDir) => written(dataDir, () => undefined)],
  ];
  const { nethash } = chain.network.network;
  const changed = async (dataDir: string, change: (db: StoreDatabases) => unknown): Promise<void> => {
    const { store } = await openStoreAt(name, 10, { dataDir });
    change(store.environment.db);
    await closeStores();
  };
  const written = async (dataDir: string, write: (root: RootDatabase) => void): Promise<void> => {
    const root = open({ path: join(dataDir, "chain.mdb"), noSubdir: true, maxDbs: 4 });
    root.transactionSync(() => write(root));
    await root.close();
  };

  for (const [form, make] of otherFiles) {
    it(`refuses an LMDB file of ${form} in one sentence, whoever opens it, and leaves it unchanged`, async () => {
      const dataDir = temporaryFolder();
      await make(dataDir);
      const path = join(dataDir, "chain.mdb");
      const before = readFileSync(path);
      const logger = silentLogger;
      const ways: Record<string, () => unknown> = {
        write: () => openEnvironment(dataDir, nethash),
        read: () => openEnvironment(dataDir, nethash, { access: "read" }),
        node: () => createApiPlugin({ network: chain.network, events: new EventEmitter(), dataDir, logger }).start(),
        reader: () => createReaderChain({ dataDir }, { rules: createChainRules(chain.network), logger }).start(),
        // What is no database may as well be damage: that is told with all else that is wrong.
        ...(form === "a program without databases" ? {} : { verify: () => verifyStore({ dataDir }) }),
        copy: () => copyChainAt({ dataDir, folder: join(dataDir, "copy"), height: 5, undoBlocks: 1 }, createChainRules(chain.network)),
      };
      for (const [way, begin] of Object.entries(ways)) {
        const error = await refusalOf(begin);
        expect({ way, code: error?.code, message: error?.message }).to.deep.equal({
          way,
          code: "STORE_FOREIGN",
          message: `${path} is not a store of layout 2, the only one that this version reads: move it away and the chain is reindexed from the block source; webhooks are kept`,
        });
        expect(readFileSync(path).equals(before), way).to.equal(true);
      }
    });
  }

  it("reports a damaged file, a truncated one and a folder that cannot be created", async () => {
    const { store, dataDir: whole } = await openStoreAt(name, 60);
    await store.stop();
    const healthy = join(whole, "chain.mdb");
    const dataDir = temporaryFolder();
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(join(dataDir, "chain.mdb"), "this is no database, whatever its name says".repeat(1_000));
    expect(() => openTemporaryStore(chain.network, { dataDir })).to.throw(PorticoError, /chain\.mdb cannot be/);
    writeFileSync(join(dataDir, "file"), "");
    truncateSync(healthy, Math.floor(statSync(healthy).size / 3 / 4096) * 4096);
    expect(() => openTemporaryStore(chain.network, { dataDir: dirname(healthy) })).to.throw(PorticoError, /chain\.mdb cannot be opened: it is truncated/);
    expect(() => openTemporaryStore(chain.network, { dataDir: join(dataDir, "file", "folder") })).to.throw(PorticoError, /file\/folder, which cannot be made: ENOTDIR/);
  });
});

describe("lmdb-js", () => {
  afterEach(closeTemporaryStores);

  it("rolls back a synchronous transaction when its function throws, as the store relies on", () => {
    const { root, db } = openTemporaryStore(chain.network).store.environment;
    const key = Buffer.from("key");
    expect(() =>
      root.transactionSync(() => {
        db.meta.putSync(key, 1);
        throw new Error("changed my mind");
      }),
    ).to.throw("changed my mind");
    expect(db.meta.get(key)).to.equal(undefined);
  });
});
