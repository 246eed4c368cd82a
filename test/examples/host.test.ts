import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect } from "chai";
import { hasNginx, startNginx } from "../fixtures/nginx.js";
import { open } from "lmdb";
import type { BlockData, IndexingProgress, TransactionData } from "../../types/events.js";
import { createCast } from "../../examples/standalone/chain/cast.js";
import { createCrypto, idOf, transactionData } from "../../examples/standalone/chain/crypto.js";
import { createLocalNetwork, localSeed, token } from "../../examples/standalone/chain/genesis.js";
import { type Host, startHost } from "../../examples/standalone/host.js";
import { HostError } from "../../examples/standalone/program/host-error.js";
import type { HostOptions } from "../../examples/standalone/options.js";
import { systemClock } from "../../src/async/clock.js";
import { noteOf } from "../../examples/standalone/files/noted-process.js";
import { chainFile, loadChain } from "../data/read.js";
import { createMemoryAdapter } from "../memory-adapter/adapter.js";
import { localBlocks } from "./local-chain.js";
import { temporaryFolder } from "../fixtures/folder.js";

const everything = { filter: {}, offset: 0, limit: Number.MAX_SAFE_INTEGER };

describe("the standalone host", () => {
  let folder: string;
  let hosts: Host[];
  let lines: string[];
  let progress: IndexingProgress[];
  beforeEach(() => {
    folder = temporaryFolder();
    hosts = [];
    lines = [];
    progress = [];
  });
  afterEach(async () => {
    for (const host of hosts) await host.stop();
  });

  const defaults = (): HostOptions => ({ network: "local", host: "127.0.0.1", port: 0, basePath: "/api", dataDir: join(folder, "data"), forge: false, workers: 1, allowTargets: [], logLevel: "info", logFormat: "pretty", accessLog: false });
  const say = (line: string): void => void lines.push(line);
  const logger = { debug: () => undefined, info: say, warn: say, error: say };
  const start = async (options: Partial<HostOptions> = {}, clock = systemClock): Promise<Host> => {
    const host = await startHost({ ...defaults(), ...options }, { logger, clock, onProgress: (told) => progress.push(told) });
    if (host === undefined) throw new Error("the start was given up");
    hosts.push(host);
    return host;
  };
  const refusal = async (options: Partial<HostOptions>, clock = systemClock): Promise<string> => {
    try {
      await start(options, clock);
    } catch (error) {
      if (error instanceof HostError) return error.message;
      throw error;
    }
    throw new Error("it started");
  };
  const write = (name: string, content: string): string => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  const toLines = (blocks: BlockData[]): string => blocks.map((block) => `${JSON.stringify(block)}\n`).join("");
  const get = async (host: Host, path: string): Promise<Record<string, unknown>> => {
    const response = await fetch(`${host.url}${path}`);
    expect(response.status, path).to.equal(200);
    return (await response.json()) as Record<string, unknown>;
  };
  const untilHeight = (host: Host, height: number): Promise<void> =>
    new Promise((resolve, reject) => {
      host.events.on("block.applied", (block) => {
        if ((block as BlockData).height >= height) resolve();
      });
      host.events.on("forger.failed", (failure) => reject(new Error((failure as { error: string }).error)));
    });
  const tipOf = async (host: Host) => {
    const snapshot = await host.plugin.chain.snapshot();
    const tip = snapshot?.tip;
    snapshot?.release?.();
    return tip;
  };

  const writeNetwork = (network: object): string => {
    const path = join(folder, "fork");
    mkdirSync(path);
    for (const [name, content] of Object.entries(network)) writeFileSync(join(path, `${name}.json`), JSON.stringify(content));
    return path;
  };

  it("serves below --base-path, and its docs name what is there behind a proxy that strips a prefix of its own", async function () {
    if (!hasNginx()) return this.skip();
    const { url } = await start({ basePath: "/node/api" });
    const { origin, pathname } = new URL(url);
    expect(pathname).to.equal("/node/api");
    expect((await fetch(`${origin}/api/blockchain`)).status).to.equal(404);
    const nginx = await startNginx(`server { listen 80; location /chain/ { proxy_pass ${origin}/; } }`);
    try {
      const page = await (await fetch(`${nginx.origin}/chain/`)).text();
      const docs = new URL(/href="([^"]+docs)"/.exec(page)?.[1] ?? "", `${nginx.origin}/chain/`);
      expect((await fetch(docs)).status).to.equal(200);
      const at = new URL("openapi.json", docs);
      const { servers, paths } = (await (await fetch(at)).json()) as { servers: { url: string }[]; paths: object };
      const path = Object.keys(paths).find((one) => one.endsWith("/blockchain")) ?? "";
      const { status } = await fetch(`${new URL(servers[0]?.url ?? "", at).href}${path}`);
      expect([path, status]).to.deep.equal(["/blockchain", 200]);
    } finally {
      await nginx.end();
    }
  });

  describe("importing a chain", () => {
    it("reads amounts of genesis that are numbers beyond 2^53 with all their digits, and whose rewards count", async () => {
      const { network, blocks } = loadChain("core3-custom-c");
      const path = writeNetwork({ ...network, network: { ...network.network, rewards: "blocks" } });
      const genesis = JSON.stringify(network.genesisBlock).replace(/"(amount|totalAmount)":"(\d+)"/g, '"$1":$2');
      writeFileSync(join(path, "genesisBlock.json"), genesis);
      expect(genesis).to.match(/"totalAmount":\d{17}[,}]/);
      const own = blocks.slice(0, 30).map((block) => (block.height === 20 ? { ...block, reward: "5" } : block));
      const host = await start({ network: path, import: write("c.ndjson", toLines(own)) });
      const { data } = (await get(host, "/node/configuration/crypto")) as { data: { genesisBlock: object; rewards: string } };
      expect(data.genesisBlock).to.include({ totalAmount: String(network.genesisBlock.totalAmount) });
      expect(data.rewards).to.equal("blocks");
      expect(await get(host, "/health")).to.include({ status: "ok", height: 30 });
    });

    it("serves a fork's chain to the end of the file, and no further", async () => {
      const { network, blocks } = loadChain("core3-custom-c");
      const host = await start({ network: writeNetwork(network), import: write("c.ndjson", toLines(blocks.slice(0, 60))) });
      expect(host.height).to.equal(60);
      expect(host.isForging).to.equal(false);
      const { data } = (await get(host, "/blocks?limit=1")) as { data: { id: string; height: number }[] };
      expect(data).to.have.length(1);
      expect(data[0]).to.include({ id: blocks[59]?.id, height: 60 });
      expect(await get(host, "/peers")).to.have.property("data").that.deep.equals([]);
      const last = progress.at(-1);
      expect(last).to.deep.include({ tip: { id: blocks[59]?.id, height: 60, timestamp: blocks[59]?.timestamp }, target: 60, secondsLeft: 0 });
      expect(last?.blocksPerSecond).to.be.above(0);
    });

    it("resumes where it stopped, and serves its chain without the file", async () => {
      const all = await localBlocks();
      const first = await start({ import: write("part.ndjson", toLines(all.slice(0, 25))) });
      expect(first.height).to.equal(25);
      await first.stop();
      const second = await start({ import: write("whole.ndjson", toLines(all)) });
      expect(second.height).to.equal(60);
      await second.stop();
      expect((await start()).height).to.equal(60);
    });

    it("can be interrupted, and resumes at the next start", async () => {
      const path = write("chain.ndjson", toLines(await localBlocks()));
      const ending = new AbortController();
      let now = 0;
      const given = await startHost(
        { ...defaults(), import: path },
        // Each reading of the clock advances it by a second, so that progress is reported after the first few blocks.
        { logger, clock: { now: () => Date.now(), monotonic: () => (now += 1_000) }, onProgress: (told) => (progress.push(told), ending.abort()), signal: ending.signal },
      );
      expect(given).to.equal(undefined);
      const reached = progress.at(-1)?.tip.height ?? 0;
      expect(reached).to.be.within(2, 59);
      const told = progress.length;
      const kept = await startHost({ ...defaults(), import: path }, { logger, clock: { now: () => Date.now(), monotonic: () => (now += 1_000) }, onProgress: (told) => progress.push(told) });
      if (kept !== undefined) hosts.push(kept);
      expect(kept?.height).to.equal(60);
      expect(progress[told]?.tip.height).to.be.above(reached);
    });

    it("can also be interrupted while it catches up with a longer file, and before it begins", async () => {
      const all = await localBlocks();
      await (await start({ import: write("part.ndjson", toLines(all.slice(0, 5))) })).stop();
      const options = { ...defaults(), import: write("whole.ndjson", toLines(all)) };
      const ending = new AbortController();
      let now = 0;
      const clock = { now: () => Date.now(), monotonic: () => (now += 1_000) };
      expect(await startHost(options, { logger, clock, onProgress: () => ending.abort(), signal: ending.signal })).to.equal(undefined);
      expect(await startHost(options, { logger, clock, signal: AbortSignal.abort() })).to.equal(undefined);
      expect(lines.filter((line) => !line.startsWith("webhooks: "))).to.deep.equal([]);
      expect((await start()).height).to.be.within(6, 59);
    });

    it("names a broken line, keeps the blocks before it, and resumes once the line is repaired", async () => {
      const all = await localBlocks();
      const text = toLines(all);
      const path = write("chain.ndjson", text.split("\n").map((line, index) => (index === 39 ? `${line.slice(0, 100)}}` : line)).join("\n"));
      expect(await refusal({ import: path })).to.match(/^\/.*chain\.ndjson, line 40: the line is not valid JSON \(.+\)\.$/);
      const kept = await start();
      expect(await tipOf(kept)).to.include({ height: 39, id: all[38]?.id });
      await kept.stop();
      writeFileSync(path, text);
      expect((await start({ import: path })).height).to.equal(60);
    });

    it("names the line of a block that does not chain", async () => {
      const all = (await localBlocks()).map((block) => (block.height === 12 ? { ...block, previousBlock: "1" } : block));
      expect(await refusal({ import: write("chain.ndjson", toLines(all)) })).to.match(/^\/.*chain\.ndjson, line 12: block 12 does not follow the one before it: /);
    });

    it("names the line of a block that Portico refuses", async () => {
      const all = (await localBlocks()).map((block) => (block.height === 12 ? { ...block, totalFee: "1.5" } : block));
      expect(await refusal({ import: write("chain.ndjson", toLines(all)) })).to.match(/^\/.*chain\.ndjson, line 12: block 12: totalFee: "1\.5" is not a whole number\.$/);
    });

    it("names a broken line of a longer file after an earlier import", async () => {
      const all = await localBlocks();
      await (await start({ import: write("a.ndjson", toLines(all.slice(0, 10))) })).stop();
      expect(await refusal({ import: write("b.ndjson", `${toLines(all.slice(0, 15))}x\n${toLines(all.slice(16))}`) })).to.match(/b\.ndjson, line 16: the line is not valid JSON/);
      expect((await start()).height).to.equal(15);
    });

    it("refuses the chain of another network", async () => {
      expect(await refusal({ import: write("c.ndjson", chainFile("core3-testnet-a")) })).to.match(
        /c\.ndjson, line 1: the chain begins with block 17184958558311101492; genesis of local is 7191607032646384712\.$/,
      );
      expect(existsSync(join(folder, "data", "chain.mdb"))).to.equal(false);
    });

    const otherReward = (from: number, to = Infinity): string =>
      write(
        "rewards.ndjson",
        toLines(loadChain("core3-testnet-a").blocks.map((block) => (block.height >= from && block.height <= to ? { ...block, reward: "300000000" } : block))),
      );
    /** Only the blocks above the first 26 have transactions, whose writing takes long. */
    const rewardRefusal = (height: number): RegExp =>
      new RegExp(
        `rewards\\.ndjson, line ${height}: block ${height} has the reward 300000000, but testnet gives 0 at this height; the chain of a fork needs the fork's network: --network DIR, `,
      );

    it("refuses a chain whose rewards are not those of the network that --network names, before anything is indexed", async () => {
      expect(await refusal({ network: "testnet", import: otherReward(75) })).to.match(rewardRefusal(75));
      expect(existsSync(join(folder, "data", "chain.mdb"))).to.equal(false);
    });

    it("refuses a chain in which only some rewards are not those of the network, at the first of them, however often it is tried", async () => {
      const options = { network: "testnet", import: otherReward(20, 24) };
      for (let tries = 0; tries < 2; tries++) expect(await refusal(options)).to.match(rewardRefusal(20));
      expect((await start({ network: "testnet" })).height).to.equal(19);
    });

    it("names the first wrong reward where blocks beyond it were imported already", async () => {
      const { blocks } = loadChain("core3-testnet-a");
      await (await start({ network: "testnet", import: write("chain.ndjson", toLines(blocks.slice(0, 24))) })).stop();
      const wrong = blocks.map((block) => ([20, 26].includes(block.height) ? { ...block, reward: "300000000" } : block));
      expect(await refusal({ network: "testnet", import: write("rewards.ndjson", toLines(wrong)) })).to.match(rewardRefusal(20));
    });

    it("forges on from there", async () => {
      const all = await localBlocks();
      const host = await start({ import: write("chain.ndjson", toLines(all)), forge: true, forgeInterval: 1 });
      await untilHeight(host, 65);
      await host.stop();
      const again = await start();
      expect(again.height).to.be.at.least(65);
      const { data } = (await get(again, "/blocks/61")) as { data: { previous: string } };
      expect(data.previous).to.equal(all[59]?.id);
    });
  });

  describe("forging blocks", () => {
    it("serves exactly the state that its blocks give, and their changes as it has written them, before and after a restart", async () => {
      const changed = async ({ url }: Host) => (await (await fetch(`${url}/changes?after=1`)).text()).trimEnd().split("\n").map((line) => (JSON.parse(line) as { block: BlockData }).block);
      const host = await start({ forge: true, forgeInterval: 1 });
      await untilHeight(host, 60);
      const told = await changed(host);
      await host.stop();
      const adapter = createMemoryAdapter(host.network);
      adapter.apply(host.network.genesisBlock);
      const written = readFileSync(join(folder, "data", "forged.ndjson"), "utf8").trimEnd().split("\n").map((line) => JSON.parse(line) as BlockData);
      for (const block of written) adapter.apply(block);
      expect(told).to.deep.equal(written.slice(0, told.length));

      const again = await start();
      expect(await changed(again)).to.deep.equal(written);
      const [ours, plain] = await Promise.all([again.plugin.chain.snapshot(), adapter.snapshot()]);
      if (ours === undefined || plain === undefined) throw new Error("no state");
      expect(ours.tip).to.deep.equal(plain.tip);
      const byAddress = { ...everything, order: { field: "address" as const, direction: "asc" as const } };
      expect(await ours.wallets(byAddress)).to.deep.equal(await plain.wallets(byAddress));
      expect(await ours.delegates(byAddress)).to.deep.equal(await plain.delegates(byAddress));
      ours.release?.();
    });

    it("has every key of the configuration that the interface names", async () => {
      type Configuration = { ports: object; constants: { fees: { staticFees: object } }; transactionPool: { dynamicFees: { addonBytes: object } } };
      const host = await start();
      const { data } = (await get(host, "/node/configuration")) as { data: Configuration };
      const kinds = ["transfer", "secondSignature", "delegateRegistration", "vote", "multiSignature", "ipfs", "timelockTransfer", "multiPayment", "delegateResignation"];
      expect(data.constants.fees.staticFees).to.include.all.keys(kinds);
      expect(data.transactionPool.dynamicFees.addonBytes).to.include.all.keys(kinds);
      expect(data.ports).to.deep.equal({ "@arkecosystem/core-p2p": null, "@arkecosystem/core-api": Number(new URL(host.url).port) });
    });

    it("forges transactions that are sent to it", async () => {
      const host = await start({ forge: true, forgeInterval: 5 });
      const crypto = createCrypto(host.network);
      const { treasury, person } = createCast(localSeed, crypto);
      await untilHeight(host, 3);
      const recipientId = person(999).address;
      const applied = new Set<string>();
      host.events.on("transaction.applied", (transaction) => applied.add((transaction as TransactionData).id));
      /** Whether it was in a block when the pool removed it. */
      const untilGone = (id: string): Promise<boolean> =>
        new Promise((resolve) => {
          host.events.on("transaction.pool.removed", (removed) => {
            if (removed === id) resolve(applied.has(id));
          });
        });
      const send = async (): Promise<string | undefined> => {
        const snapshot = await host.plugin.chain.snapshot();
        const nonce = (await snapshot?.wallet(treasury.address))?.nonce ?? 0n;
        snapshot?.release?.();
        const sent = crypto.sign({ type: 0, nonce: nonce + 1n, fee: 10_000_000n, amount: 7n * token, recipientId, vendorField: "by hand" }, { senderPublicKey: treasury.keys.publicKey, keys: treasury.keys }, 3);
        const gone = untilGone(idOf(sent));
        const response = await fetch(`${host.url}/transactions`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ transactions: [transactionData(sent)] }) });
        const { data } = (await response.json()) as { data: { accept: string[] } };
        return data.accept.includes(idOf(sent)) && (await gone) ? idOf(sent) : undefined;
      };
      let id: string | undefined;
      // The host's own newcomers are paid from the same wallet: the nonce may be used before this one arrives, or by the block
      // that is being made at that moment.
      for (let tries = 0; tries < 100 && id === undefined; tries++) id = await send();
      await host.plugin.settled();
      const { data } = (await get(host, `/transactions/${id}`)) as { data: { recipient: string; vendorField: string; confirmations: number } };
      expect(data).to.include({ recipient: recipientId, vendorField: "by hand" });
      expect(data.confirmations).to.be.above(0);
      expect(((await get(host, `/wallets/${recipientId}`)) as { data: { balance: number } }).data.balance).to.equal(700_000_000);
    });

    it("forges on a fork with the given secrets, in their slots only", async () => {
      const network = createLocalNetwork();
      const cast = createCast(localSeed, createCrypto(network));
      const mine = [3, 14, 15, 35].map((number) => cast.delegate(number));
      const secrets = write("delegates.json", JSON.stringify({ secrets: [...mine.map(({ passphrase }) => passphrase), "nobody at all"], bip38: "" }));
      const host = await start({ network: writeNetwork(network), secrets, forge: true, forgeInterval: 1 });
      await untilHeight(host, 20);
      await host.stop();
      const again = await start({ network: join(folder, "fork") });
      const { data } = (await get(again, "/blocks?limit=15")) as { data: { generator: { username: string }; transactions: number }[] };
      expect(new Set(data.map(({ generator }) => generator.username))).to.be.an("set").that.is.not.empty;
      for (const { generator, transactions } of data) {
        expect(mine.map(({ username }) => username)).to.include(generator.username);
        expect(transactions).to.equal(0);
      }
      expect(lines.filter((line) => line.startsWith("One of the secrets does not belong to a delegate: "))).to.have.length(1);
    });

    it("does not forge on another network without secrets", async () => {
      const host = await start({ network: "testnet", forge: true });
      expect(host.isForging).to.equal(false);
      expect(host.height).to.equal(1);
    });

    it("catches up from its log with blocks that its store lacks", async () => {
      const dataDir = join(folder, "data");
      const first = await start({ forge: true, forgeInterval: 1 });
      await untilHeight(first, 5);
      await first.stop();
      copyFileSync(join(dataDir, "chain.mdb"), join(folder, "early.mdb"));
      const second = await start({ forge: true, forgeInterval: 1 });
      await untilHeight(second, second.height + 5);
      await second.stop();
      const third = await start();
      const { height } = third;
      await third.stop();
      copyFileSync(join(folder, "early.mdb"), join(dataDir, "chain.mdb"));
      expect((await start()).height).to.equal(height);
    });

    it("sets aside a log that has fallen behind its store", async () => {
      const dataDir = join(folder, "data");
      const log = join(dataDir, "forged.ndjson");
      const first = await start({ forge: true, forgeInterval: 1 });
      await untilHeight(first, 10);
      await first.stop();
      truncateSync(log, readFileSync(log, "utf8").indexOf("\n", 4_000) + 1);
      const second = await start({ forge: true, forgeInterval: 1 });
      await untilHeight(second, second.height + 3);
      await second.stop();
      expect(readdirSync(dataDir).filter((name) => name.startsWith("forged."))).to.have.length(2);
      expect((await start()).height).to.be.at.least(second.height + 3);
    });
  });

  it("lets go of its folder although its chain fails to stop", async () => {
    const host = await start();
    const { stop } = host.plugin.chain;
    host.plugin.chain.stop = async () => {
      await stop?.();
      throw new Error("not now");
    };
    expect(await host.stop().then(() => "stopped", (error: unknown) => String(error))).to.equal("Error: not now");
    hosts = [];
    expect(existsSync(join(folder, "data", "node.pid"))).to.equal(false);
  });

  describe("unable to start", () => {
    it("reports that the port is in use", async () => {
      const server = createServer().listen(0, "127.0.0.1");
      await once(server, "listening");
      const { port } = server.address() as AddressInfo;
      expect(await refusal({ port })).to.equal(`Port ${port} on 127.0.0.1 is in use: stop what uses it, or choose another --port.`);
      server.close();
    });

    it("reports that the address is not one of this machine", async () => {
      expect(await refusal({ host: "192.0.2.1" })).to.equal("--host 192.0.2.1 is not an address of this machine.");
    });

    it("reports that the folder cannot be written", async () => {
      const path = write("file", "");
      expect(await refusal({ dataDir: path })).to.match(/^The data folder \/.*file cannot be written: EEXIST: .+\.$/);
      expect(await refusal({ dataDir: join(path, "below") })).to.match(/^The data folder \/.*below cannot be written: ENOTDIR: .+\.$/);
    });

    it("names a file that cannot be used", async () => {
      const dataDir = join(folder, "data");
      mkdirSync(dataDir);
      const token = join(dataDir, "webhook-token");
      symlinkSync(token, token);
      expect(await refusal({})).to.match(/^\/.*\/data\/webhook-token cannot be read or written: ELOOP: .+\.$/);
    });

    it("reports that another node uses the folder, but ignores the lock of a node that is gone", async () => {
      const dataDir = join(folder, "data");
      const lock = join(dataDir, "node.pid");
      mkdirSync(dataDir);
      writeFileSync(lock, noteOf(process.ppid));
      // Of the 5 s that it waits, each try takes one.
      let seconds = -1;
      const clock = { ...systemClock, monotonic: () => ++seconds * 1_000 };
      expect(await refusal({}, clock)).to.equal(`The data folder ${dataDir} is in use by process ${process.ppid}; if that process is not a node, remove ${lock}.`);
      expect(seconds).to.equal(5);
      expect(readFileSync(lock, "utf8")).to.equal(noteOf(process.ppid));
      expect(lines).to.deep.equal([`Waiting: The data folder ${dataDir} is in use by process ${process.ppid}; if that process is not a node, remove ${lock}.`]);
      writeFileSync(lock, String(spawnSync(process.execPath, ["--version"]).pid));
      const host = await start();
      expect(readFileSync(lock, "utf8")).to.equal(noteOf(process.pid));
      await host.stop();
      expect(existsSync(lock)).to.equal(false);
    });

    it("reports that the store belongs to another network, and leaves it unchanged", async () => {
      await (await start()).stop();
      expect(await refusal({ network: "testnet" })).to.match(/chain\.mdb belongs to the network 9dfe[0-9a-f]+, not to d9ac[0-9a-f]+; choose another --data-dir\.$/);
      expect((await start()).height).to.equal(1);
    });

    it("tells how to replace a store of another layout", async () => {
      await (await start()).stop();
      const path = join(folder, "data", "chain.mdb");
      const root = open({ path, noSubdir: true, keyEncoding: "binary" });
      const meta = root.openDB<unknown, Buffer>({ name: "meta", keyEncoding: "binary", encoding: "msgpack" });
      meta.putSync(Buffer.from("store"), { layout: 1 });
      await root.close();
      expect(await refusal({})).to.match(
        /chain\.mdb is not a store of layout 2, the only one that this version reads: move it away and the chain is reindexed from the block source; webhooks are kept\.$/,
      );
      rmSync(path);
      expect((await start()).height).to.equal(1);
    });

    it("reports that the store is damaged", async () => {
      mkdirSync(join(folder, "data"));
      writeFileSync(join(folder, "data", "chain.mdb"), "no such thing".repeat(1_000));
      expect(await refusal({})).to.match(/^The store in \/.*data cannot be used: \/.*chain\.mdb cannot be opened: .+\.$/);
      rmSync(join(folder, "data"), { recursive: true });
      await (await start()).stop();
      const path = join(folder, "data", "chain.mdb");
      truncateSync(path, statSync(path).size - 204_800);
      expect(await refusal({})).to.match(
        /^The store in \/.*data cannot be used: \/.*chain\.mdb cannot be opened: it is truncated: of [\d,]+ bytes, the last 204,800 bytes are missing; restore it from a backup, or move it away and start anew: .+\.$/,
      );
    });

    it("reports that a fork's milestones are invalid", async () => {
      const path = writeNetwork({ ...createLocalNetwork(), milestones: [{ height: 1, reward: 0 }] });
      expect(await refusal({ network: path })).to.match(/^The network \/.*fork cannot be served: network\.milestones: .+\.$/);
    });

    for (const [name, content, message] of [
      ["invalid JSON", "{", /delegates\.json is not valid JSON: .+\.$/],
      ["invalid JSON, of which nothing is shown", '{"secrets": [actor dove ostrich]}', /delegates\.json is not valid JSON: Unexpected token '?a'?\.$/],
      ["not a list", '{"secrets": "x"}', /delegates\.json must have a member "secrets", a list of passphrases\.$/],
      ["an empty list", '{"secrets": [], "bip38": "6PYV"}', /delegates\.json contains no secrets; this host cannot use a bip38 key\.$/],
    ] as const) {
      it(`reports what is wrong with the secrets: ${name}`, async () => {
        expect(await refusal({ network: "testnet", forge: true, secrets: write("delegates.json", content) })).to.match(message);
      });
    }
  });
});
