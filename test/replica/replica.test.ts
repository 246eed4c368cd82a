import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { createApiPlugin, followNode, PorticoError } from "../../src/index.js";
import { createChainRules } from "../../src/chain/rules.js";
import { derivedEvents } from "../../src/follow/derive.js";
import { createAnswer } from "../../src/replica/answers.js";
import { createStore } from "../../src/store/state/store.js";
import type { TransactionData } from "../../types/events.js";
import { branch } from "../store/branches.js";
import { byHand } from "../store/by-hand.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { until } from "../fixtures/until.js";
import { chainBlocks, folderWith, level, lookOften, network, peer, startNodeWithLake, startProxy, startReplica, startServer, TestNode, TestReplica, tipOf } from "./machines.js";

const transactions = chainBlocks.flatMap((block) => block.transactions ?? []);
const address = "AJPicaX6vmFoKoYnDRPqCqYCsGvYoeXgPo";

const replyOf = async (url: string, path: string): Promise<string> => {
  const reply = await fetch(`${url}/${path}`, { headers: { "API-Version": path.startsWith("v1") ? "1" : "2" } });
  return `${reply.status} ${await reply.text()}`;
};

/** The digest is of all that is answered from the chain. */
const expectSameState = async (node: TestNode, replica: TestReplica): Promise<void> => {
  const reply = await replyOf(node.url, "blockchain");
  expect(reply).to.match(/^200 .*"digest":"[\da-f]{64}"/);
  expect(await replyOf(replica.url, "blockchain")).to.equal(reply);
};

describe("A replica", () => {
  lookOften();

  it("answers a reader with a cursor as its node does, also across a fork", async () => {
    const node = await new TestNode(60).start();
    const replica = await startReplica(node, 60);
    await level(node, replica);
    const cursor = await tipOf(node);
    await node.fork(55, 9);
    await level(node, replica);
    const events = (url: string, after: string): Promise<string> => replyOf(url, `events/feed?after=${after}&event=block.*,transaction.*,round.*,wallet.*,delegate.*&limit=1000`);
    const told = await events(replica.url, cursor);
    expect(told).to.equal(await events(node.url, cursor));
    expect(told).to.contain("block.reverted");
    // The node's second time, which a replica that begins later has not counted itself.
    await node.revertTo(55);
    await node.grow(8);
    const late = await startReplica(node);
    for (const each of [replica, late]) {
      await level(node, each);
      expect(await events(each.url, "40")).to.equal(await events(node.url, "40"));
    }
  });

  it("answers a request that waited with the height of when it does", async () => {
    const node = await new TestNode(60).start();
    const replica = await startReplica(node, 60);
    await level(node, replica);
    const waiting = fetch(`${replica.url}/events/feed?event=block.*&after=60&wait=30`);
    await fetch(`${replica.url}/events/feed`);
    await node.grow(1);
    expect((await waiting).headers.get("x-block-height")).to.equal("61");
  });

  it("tells of everything but what its node's host emits, and says where that is told", async () => {
    const node = await new TestNode(60).start();
    const replica = await startReplica(node, 60);
    await level(node, replica);
    for (const ip of ["10.0.0.8", "10.0.0.9"]) {
      node.events.emit("peer.added", { ip });
      await node.grow(2);
    }
    await level(node, replica);
    const chain = `events/feed?after=50&event=${derivedEvents.join()}&limit=1000`;
    expect(await replyOf(replica.url, chain)).to.equal(await replyOf(node.url, chain));
    // With the host's events, which a pattern may name, too, cursors have a place in the node's log, which another node ignores.
    const all = async (url: string): Promise<unknown> => JSON.parse((await replyOf(url, "events/feed?after=50&limit=1000")).slice(4).replace(/~[\da-f]{8}\.\d+/g, "")) as unknown;
    const [nodes, own] = [(await all(node.url)) as { data: { event: string }[]; meta: unknown }, await all(replica.url)];
    expect(nodes.data.filter(({ event }) => event === "peer.added")).to.have.length(2);
    expect(own).to.deep.equal({ ...nodes, data: nodes.data.filter(({ event }) => event !== "peer.added") });
    for (const [path, name] of [["events/feed?event=block.applied,peer.added", "peer.added"], ["events?event=peer.added", "peer.added"], ["events/feed?event=peer.*", "peer.*"], ["events?event=block.*,transaction.pool.*", "transaction.pool.*"]]) {
      const refused = await fetch(`${replica.url}/${path}`);
      expect([refused.status, await refused.json()]).to.deep.equal([501, { statusCode: 501, error: "Not Implemented", message: `This replica does not have ${name} events. Its node has them, at ${node.url}.`, code: "NOT_SUPPORTED" }]);
    }
  });

  it("begins with a snapshot of the lake, goes on with its blocks, and then with the node's changes", async () => {
    const node = await startNodeWithLake({ snapshotEvery: 50 });
    const asked = new Set<string>();
    const replica = new TestReplica((await startProxy(node, { of: (line) => (asked.add(line.slice(0, 120)), line) })).url);
    await replica.start();
    await level(node, replica);
    expect(replica.lines.find((line) => line.includes("the store begins with"))).to.contain(`/lake/snapshots/150-`);
    // Blocks up to 160 are the lake's.
    expect([...asked].filter((line) => line.includes('"height":158,'))).to.deep.equal([]);
    await node.grow(5);
    await level(node, replica);
    await expectSameState(node, replica);
  });

  it("reads the blocks of a lake where there is no snapshot, and the node's where a file is damaged", async () => {
    const node = await startNodeWithLake({ snapshotEvery: 0 });
    const folder = join(node.lake.dir, "blocks");
    const [, , third = ""] = readdirSync(folder);
    writeFileSync(join(folder, third), "damaged");
    const replica = await startReplica(node);
    await level(node, replica);
    expect(replica.lines.find((line) => line.includes(third))).to.contain("the blocks are read from the node instead");
    await expectSameState(node, replica);
  });

  it("serves what it has while the node is away, says so after five seconds, and goes on when the node is back", async () => {
    const node = await new TestNode(60).start();
    node.pool.push({ ...(transactions.at(-1) as TransactionData) });
    const replica = await startReplica(node, 60);
    await level(node, replica);
    const before = await Promise.all(["blocks", "node/configuration", "peers", "transactions/unconfirmed", "node/syncing"].map((path) => replyOf(replica.url, path)));
    const begun = performance.now();
    await node.stop();
    const { status } = await replica.ready();
    // A machine that has taken as long for that may say so already.
    if (performance.now() - begun < 4_000) expect(status).to.equal(200);
    replica.clock.pass(5_001);
    const unready = await until("word that the node is away", async () => {
      const found = await replica.ready();
      return found.status === 503 && found;
    });
    expect(unready.problem).to.equal("node unreachable");
    const submitted = await fetch(`${replica.url}/transactions`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ transactions: transactions.slice(-1) }) });
    // Without asking a node that may hang.
    expect([submitted.status, ((await submitted.json()) as { message: string }).message]).to.satisfy(([status, message]: [number, string]) => status === 503 && message.includes("has not answered for"));
    expect(unready.detail).to.contain(node.url);
    expect(unready.lag).to.be.at.least(5_000);
    expect(await Promise.all(["blocks", "node/configuration", "peers", "transactions/unconfirmed", "node/syncing"].map((path) => replyOf(replica.url, path)))).to.deep.equal(before);
    const refused = await fetch(`${replica.url}/transactions`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ transactions: [{ ...transactions.at(-1), id: "00" }] }) });
    expect(refused.status).to.equal(503);
    node.chain.push(...chainBlocks.slice(60, 120));
    await node.restart();
    await level(node, replica);
    await until("a ready replica", async () => (await replica.ready()).status === 200);
    await expectSameState(node, replica);
  });

  it("asks as often after an hour without the node as at first, serves what it has, says so once, and then follows it through the fork that it missed", async () => {
    const node = await new TestNode(100).start();
    const looks: number[] = [];
    const replica = await startReplica(await startProxy(node, { of: (line) => line, asked: (path) => void (path === "/api/health" && looks.push(performance.now())) }), 100);
    await level(node, replica);
    const seen = await tipOf(node);
    const served = await replyOf(replica.url, "blocks?limit=100");
    await node.stop();
    const said = replica.lines.length;
    for (let minutes = 30; minutes <= 60; minutes += 30) {
      replica.clock.pass(1_800_000);
      const before = looks.length;
      await until("looks at the node", () => looks.length > before + 4);
      const pauses = looks.slice(before).flatMap((at, index, all) => (index === 0 ? [] : [at - (all[index - 1] ?? 0)]));
      // The shortest, whatever else the machine does: one that grew with each look would be of seconds in the second round.
      expect(Math.min(...pauses), "there are four looks a second").to.be.below(1_000);
      const { status, problem, lag } = await replica.ready();
      expect([status, problem]).to.deep.equal([503, "node unreachable"]);
      expect(lag).to.be.within(minutes * 60_000, minutes * 60_000 + 60_000);
      expect(await replyOf(replica.url, "blocks?limit=100")).to.equal(served);
    }
    expect((await replica.ready()).detail).to.match(/ has not answered for 36\d\d s: /);
    expect(replica.lines.length - said, replica.lines.slice(said).join("\n")).to.be.below(6);
    await node.restart();
    await node.fork(92, 170);
    await level(node, replica);
    await until("a ready replica", async () => (await replica.ready()).status === 200);
    expect(await replica.ready()).to.include({ behind: 0, lag: 0 });
    const missed = `events/feed?after=${seen}&event=block.*&limit=1000`;
    const told = await replyOf(replica.url, missed);
    expect(told).to.equal(await replyOf(node.url, missed));
    expect([told.match(/"block\.reverted"/g)?.length, told.match(/"block\.applied"/g)?.length]).to.deep.equal([8, 170]);
    await expectSameState(node, replica);
  });

  it("asks a reader to come again for a block that it does not have and the node may have, however far ahead, and for no other", async () => {
    const node = await new TestNode(110).start();
    const held = { of: (line: string): string | undefined => line };
    const replica = await startReplica(await startProxy(node, held), 110);
    await level(node, replica);
    held.of = () => undefined;
    await node.grow(150);
    const whole = await startReplica(node, 110);
    await level(node, whole);
    await until("word of the node's height", async () => (await replica.ready()).behind === 150);
    const ask = async (path: string, { url } = replica): Promise<{ status: number; code: string | undefined; retryAfter: string | null }> => {
      const reply = await fetch(`${url}/${path}`);
      return { status: reply.status, code: ((await reply.json()) as { code?: string }).code, retryAfter: reply.headers.get("retry-after") };
    };
    const cursorAt = (height: number): string => `${height}-${chainBlocks[height - 1]?.id ?? ""}`;
    const [notYet, gone, malformed] = [{ status: 503, code: "NOT_READY", retryAfter: "5" }, { status: 410, code: "CURSOR_UNKNOWN", retryAfter: null }, { status: 400, code: "BAD_REQUEST", retryAfter: null }];
    const feed = "events/feed?after=";
    const expectAll = async (expected: Record<string, object>, of = replica): Promise<void> => {
      const found = await Promise.all(Object.keys(expected).map(async (path) => [path, await ask(path, of)] as const));
      expect(Object.fromEntries(found)).to.deep.equal(expected);
    };
    const notFound = { status: 404, code: "BLOCK_NOT_FOUND", retryAfter: null };
    const unknown = { [`${feed}9999-1`]: gone, [`${feed}5-1`]: gone, [`${feed}9999`]: malformed, "blocks?at=9999": notFound };
    const ofHeld = {
      ...unknown,
      // Far ahead of the replica, and near it; the newest of several counts; another block at the replica's tip.
      ...{ [`${feed}${cursorAt(260)}`]: notYet, [`changes?after=${cursorAt(230)}`]: notYet, [`${feed}${cursorAt(115)}`]: notYet, [`events?after=${cursorAt(260)},9-1`]: notYet, [`${feed}110-1`]: notYet },
      ...{ [`${feed}240`]: notYet, "blocks?at=260": notYet, "blocks?at=115": notYet },
    };
    // Both wait for blocks near their tips, which might be on their way.
    await Promise.all([expectAll(ofHeld), expectAll({ ...unknown, [`${feed}261`]: malformed, "blocks?at=261": notFound }, whole)]);
    // A node that is away may have any block.
    await node.stop();
    replica.clock.pass(5_001);
    await until("word that the node is away", async () => (await replica.ready()).problem === "node unreachable");
    await expectAll({ ...unknown, [`${feed}9999-1`]: notYet, [`${feed}9999`]: notYet, "blocks?at=9999": notYet, [`${feed}${cursorAt(260)}`]: notYet });
    held.of = (line) => line;
    await node.restart();
    await level(node, replica);
    expect((await ask(`${feed}${cursorAt(260)}`)).status).to.equal(200);
    await expectAll(unknown);
  });

  it("counts its lag from when it last had all blocks of the node, whether or not somebody asked then", async () => {
    const node = await new TestNode(60).start();
    let [begun, ended] = [0, 0];
    const isLook = (path: string): number => (path === "/api/health" ? 1 : 0);
    const held = { of: (line: string): string | undefined => line, asked: (path: string) => void (begun += isLook(path)), answered: (path: string) => void (ended += isLook(path)) };
    const replica = await startReplica(await startProxy(node, held), 60);
    await level(node, replica);
    await replica.ready();
    replica.clock.pass(600_000);
    await node.grow(1);
    await level(node, replica);
    held.of = () => undefined;
    await node.grow(1);
    const before = begun;
    await until("a look at the node that has begun since", () => ended > before);
    const { lag } = await until("word of the other block", async () => {
      const found = await replica.ready();
      return found.behind === 1 && found;
    });
    expect(lag).to.be.within(1, 300_000);
  });

  it("writes blocks that come by another way while the node is away, however long that lasts", async () => {
    const [node, other] = [await new TestNode(60).start(), await new TestNode(60).start()];
    let looks = 0;
    const replica = new TestReplica((await startProxy(node, { of: (line) => line, asked: (path) => void (looks += path === "/api/health" ? 1 : 0) })).url, await folderWith(60));
    let take: (line: string) => Promise<void> = () => Promise.resolve();
    replica.tip = { start: (_, given) => ((take = given), { stop: () => Promise.resolve() }) };
    await replica.start();
    await level(node, replica);
    await node.stop();
    replica.clock.pass(5_001);
    await until("word that the node is away", async () => (await replica.ready()).problem === "node unreachable");
    // Four a second: longer than between two comparisons of the tip.
    const before = looks;
    await until("some seconds", () => looks > before + 28);
    await other.grow(2);
    const changes = await (await fetch(`${other.url}/changes?after=60&times=true`)).text();
    for (const line of changes.trimEnd().split("\n")) await take(line);
    await level(other, replica);
    expect(await tipOf(replica)).to.equal(`62-${chainBlocks[61]?.id ?? ""}`);
  });

  it("starts while the node is away, from what it has, and joins it later", async () => {
    const node = await new TestNode(60).start();
    const replica = await startReplica(node, 60);
    await level(node, replica);
    const before = await replyOf(replica.url, "peers");
    await replica.plugin.stop();
    await node.stop();
    await replica.start();
    expect(await tipOf(replica)).to.equal(`60-${chainBlocks[59]?.id ?? ""}`);
    expect(await replyOf(replica.url, "peers")).to.equal(before);
    node.chain = chainBlocks.slice(0, 50);
    await node.restart();
    await node.fork(45, 20);
    await level(node, replica);
  });

  it("follows a node whose store is made anew, and one that comes back on another branch, deeper than can be reverted", async () => {
    const node = await new TestNode(120).start();
    const replica = await startReplica(node, 120);
    await level(node, replica);
    await node.restart(await folderWith(120));
    await node.grow(3);
    await level(node, replica);
    await node.stop();
    await node.fork(20, 110);
    await node.restart(temporaryFolder());
    await level(node, replica);
    await expectSameState(node, replica);
  });

  it("keeps what it has while its node has less of the same chain, as from a backup, says so, also after a restart, and goes on when the node has got as far", async () => {
    const node = await new TestNode(100).start();
    const replica = await startReplica(node, 100);
    await level(node, replica);
    const [seen, before] = [await tipOf(node), await replyOf(replica.url, "blocks?limit=100")];
    const restored = async (height: number): Promise<void> => {
      await node.stop();
      node.chain = chainBlocks.slice(0, height);
      await node.restart(await folderWith(height));
    };
    const expectBehind = async (height: number): Promise<void> => {
      const told = `is at height ${height} and this replica at 100 of the same chain. Was the node restored from a backup?`;
      const { status, problem, detail, behind } = await until("word that the node is behind", async () => {
        const found = await replica.ready();
        return found.detail?.includes(told) === true && found;
      });
      expect([status, problem, behind, detail?.startsWith(`the node is behind this replica: ${node.url} is at height`)]).to.deep.equal([503, "node behind", 0, true]);
      expect(await tipOf(replica)).to.equal(seen);
      expect(await replyOf(replica.url, "blocks?limit=100")).to.equal(before);
    };
    await restored(60);
    await expectBehind(60);
    // As it gets blocks from its peers: the replica has these.
    await node.grow(3);
    await replica.restart();
    await expectBehind(63);
    await node.grow(37);
    await until("a ready replica", async () => (await replica.ready()).status === 200);
    await node.grow(5);
    await level(node, replica);
    // Not one was taken back.
    expect(await replyOf(replica.url, `events/feed?after=${seen}&event=block.*`)).to.contain('"block.applied"').and.not.contain("block.reverted");
    expect(replica.warnings.filter((line) => line.includes("behind"))).to.have.length(2);
    expect(replica.lines.filter((line) => line.startsWith("the node is no longer behind this replica"))).to.have.length(1);
    await expectSameState(node, replica);
  });

  it("leaves what it has for other blocks of a node that had less, and is ready then", async () => {
    const node = await new TestNode(100).start();
    const replica = await startReplica(node, 100);
    await level(node, replica);
    await node.stop();
    node.chain = chainBlocks.slice(0, 80);
    await node.restart(await folderWith(80));
    await until("word that the node is behind", async () => (await replica.ready()).problem === "node behind");
    // Away, too: that is what is known then.
    await node.stop();
    replica.clock.pass(5_001);
    await until("word that the node is away", async () => (await replica.ready()).problem === "node unreachable");
    await node.restart();
    await until("word that the node is still behind", async () => (await replica.ready()).problem === "node behind");
    await node.apply(...branch(80, 82));
    await level(node, replica);
    await until("a ready replica", async () => (await replica.ready()).status === 200);
    await expectSameState(node, replica);
  });

  it("passes transactions on to the node's pool, and has no webhooks of its own", async () => {
    const node = await new TestNode(50).start();
    const replica = await startReplica(node, 50);
    await level(node, replica);
    const fresh = { ...(transactions.at(-1) as TransactionData) };
    const reply = await fetch(`${replica.url}/transactions`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ transactions: [fresh] }) });
    expect(await reply.json()).to.deep.equal({ data: { accept: [fresh.id], broadcast: [fresh.id], excess: [], invalid: [] } });
    expect(node.submitted.map(({ id }) => id)).to.deep.equal([fresh.id]);
    node.peers.push(peer("10.0.0.3"));
    replica.clock.pass(1_001);
    expect(await replyOf(replica.url, "peers")).to.equal(await replyOf(node.url, "peers"));
    const webhooks = await fetch(`${replica.url}/webhooks`);
    expect(webhooks.status).to.equal(501);
    expect(((await webhooks.json()) as { message: string }).message).to.contain(node.url);
  });

  it("stops serving a state that is not the node's with the next block, and begins again when it is restarted", async () => {
    const node = await new TestNode(60).start();
    const fault = { of: (line: string): string => line };
    const replica = await startReplica(await startProxy(node, fault), 60);
    await level(node, replica);
    fault.of = (line) => line.replace(/"digest":"./, '"digest":"g');
    await node.grow(1);
    const unready = await until("word of the other state", async () => {
      const found = await replica.ready();
      return found.status === 503 && found;
    });
    expect(unready.problem).to.equal("diverged");
    for (const path of ["blocks", `wallets/${address}`, "v1/blocks", "changes", "events/feed?after=genesis"]) expect(await replyOf(replica.url, path), path).to.match(/^503 /);
    fault.of = (line) => line;
    await replica.restart();
    expect(replica.lines.join("\n")).to.contain("so the store is rebuilt");
    await level(node, replica);
    expect((await replica.ready()).status).to.equal(200);
  });

  it("serves its state again, without a restart, when the node's digest agrees", async () => {
    const node = await new TestNode(60).start();
    const fault = { of: (line: string): string => line };
    const replica = await startReplica(await startProxy(node, fault), 60);
    await level(node, replica);
    fault.of = (line) => line.replace(/"digest":"./, '"digest":"g');
    await node.grow(1);
    await until("word of the other state", async () => (await replica.ready()).problem === "diverged");
    await node.grow(1);
    expect((await until("word of the next block", async () => ((await replica.ready()).detail?.includes("at block 62") === true ? replica.ready() : undefined))).problem).to.equal("diverged");
    fault.of = (line) => line;
    await node.grow(1);
    await until("a ready replica", async () => (await replica.ready()).status === 200);
    await expectSameState(node, replica);
    await replica.restart();
    expect(replica.lines.join("\n")).not.to.contain("so the store is rebuilt");
  });

  it("never takes a digest from anybody but its node, and asks that for a block whose state differs, whoever brought it", async () => {
    const node = await new TestNode(60).start();
    const replica = new TestReplica(node.url, await folderWith(60));
    let bring: (line: string) => Promise<void> = () => Promise.resolve();
    replica.tip = { start: (_nethash, take) => ((bring = take), { stop: () => Promise.resolve() }) };
    await replica.start();
    await level(node, replica);
    const lineOf = (height: number, change: object = {}): string => JSON.stringify({ kind: "applied", block: { ...chainBlocks[height - 1], ...change }, cursor: `${height}-${chainBlocks[height - 1]?.id}`, digest: "f".repeat(64) });
    await bring(lineOf(60));
    await bring(lineOf(61));
    await until("the block that was brought", async () => (await tipOf(replica)) === `61-${chainBlocks[60]?.id}`);
    await node.grow(1);
    await bring(lineOf(62, { reward: "5" }));
    await node.grow(1);
    const digestOf = async ({ url }: { url: string }): Promise<unknown> => ((await (await fetch(`${url}/blockchain`)).json()) as { data?: { digest: string } }).data?.digest;
    await until("the node's state", async () => (await digestOf(replica)) === (await digestOf(node)) && (await tipOf(replica)) === (await tipOf(node)));
    await node.grow(2);
    await level(node, replica);
    await expectSameState(node, replica);
    expect(replica.lines.join("\n")).not.to.contain("differs from the node's");
  });

  it("whose store was changed by hand while it was stopped does not serve it, and begins again when it is restarted", async () => {
    const node = await new TestNode(60).start();
    const replica = await startReplica(node, 60);
    await level(node, replica);
    await replica.plugin.stop();
    const store = createStore({ dataDir: replica.dataDir, undoBlocks: 100 }, { rules: createChainRules(network) });
    byHand.balance(store.environment);
    await store.stop();
    await replica.start();
    const unready = await until("word of the other state", async () => {
      const found = await replica.ready();
      return found.problem === "diverged" && found;
    });
    expect(unready.status).to.equal(503);
    expect(await replyOf(replica.url, "blocks")).to.match(/^503 /);
    await replica.restart();
    await level(node, replica);
    await expectSameState(node, replica);
  });

  it("is refused without a URL, and says why it cannot begin where nobody answers as a node", async () => {
    const failure = async (work: Promise<unknown>): Promise<unknown> => work.then(() => undefined, (error: unknown) => error);
    for (const url of ["localhost", "http://127.0.0.1:1\n", " http://127.0.0.1:1", "http://127.0.\r0.1:1"])
      expect(await failure(followNode({ url }))).to.be.instanceOf(PorticoError).with.property("code", "OPTION_INVALID");
    const node = await new TestNode(2).start();
    const wrong = await failure(followNode({ url: `${node.url}/nothing` }));
    expect(wrong).to.be.instanceOf(PorticoError).with.property("code", "HOST_SILENT");
    expect(String(wrong)).to.contain("(the URL to follow is the node's origin, or that of its interface, such as http://10.0.0.5:4003/api)");
    const { origin } = new URL(node.url);
    const beside: [beyond: string, meant: string][] = [["/api/v2", "/api"], ["/api/V2//", "/api"], ["/api/strings/v2/", "/api"], ["/v1", ""], ["/portico/api/numbers", "/portico/api"], ["/api?x=1", "/api"], ["/#/console", ""]];
    for (const [beyond, meant] of beside) {
      const refused = await failure(followNode({ url: `${origin}${beyond}` }));
      expect(refused, beyond).to.be.instanceOf(PorticoError).with.property("code", "OPTION_INVALID");
      expect(String(refused), beyond).to.match(/without a version or a query: (.*)$/).and.satisfy((text: string) => text.endsWith(`: ${origin}${meant}`));
    }
    const page = await startServer((_, response) => void response.end("<p>Another service</p>"));
    expect(String(await failure(followNode({ url: page.url })))).to.contain(`${page.url}/api/v2/node/configuration/crypto did not return the reply of a node`);
    const context = await followNode({ url: new URL(node.url).origin });
    expect(() => createApiPlugin(context)).to.throw("dataDir");
    expect(existsSync("followed-node.json")).to.equal(false);
  });

  it("follows a node behind a proxy, whatever comes before its interface in the path", async () => {
    const node = await new TestNode(20).start();
    const proxy = await startServer((request, response) => {
      const path = (request.url ?? "").replace("/v2/portico/api", "");
      void fetch(`${node.url}${path}`).then(async (reply) => response.writeHead(reply.status).end(await reply.text()));
    });
    for (const end of ["", "/"]) {
      const { network: found } = await followNode({ url: `${proxy.url}/v2/portico/api${end}` });
      expect(found.network).to.deep.equal(network.network);
    }
  });

  it("lets go of a lake that does not answer, and of what it was reading, when it stops", async () => {
    const node = await new TestNode(60).start();
    let asked = 0;
    const lake = await startServer((_, response) => {
      // No lake at first, as for a node that has none; then one that does not answer.
      if (++asked === 1) response.writeHead(404).end();
    });
    const replica = new TestReplica(node.url);
    replica.lake = `${lake.url}/lake`;
    const starting = replica.start().catch(() => undefined);
    await until("the second question", () => asked > 1);
    await replica.plugin.stop();
    await starting;
    await until("the end of the connection", async () => (await lake.connections()) === 0);
    expect(replica.lines.filter((line) => line.includes("abort"))).to.deep.equal([]);
  });

  it("reads no more of a lake's file than its manifest says, and leaves nothing of it", async () => {
    const node = await startNodeWithLake({ snapshotEvery: 50 });
    let sent = 0;
    const lake = await startServer((request, response) => {
      const path = join(node.lake.dir, (request.url ?? "").replace("/lake/", ""));
      if (!path.endsWith(".gz")) return void response.end(readFileSync(path));
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(1 << 20))) sent++;
      };
      response.on("drain", more);
      more();
    });
    const replica = new TestReplica(node.url);
    replica.lake = `${lake.url}/lake`;
    await replica.start();
    await level(node, replica);
    expect(replica.lines.find((line) => line.includes("has more than the"))).to.contain("bytes that its manifest says: the blocks are read from the node instead");
    expect(sent).to.be.below(100);
    await replica.plugin.stop();
    expect(existsSync(join(replica.dataDir, "lake-download"))).to.equal(false);
  });

  it("says that its node refuses what it asks", async () => {
    const node = await new TestNode(30).start();
    const refusing = await startServer((request, response) => {
      if (request.url?.includes("/changes") === true) return void response.writeHead(403, { "Content-Type": "application/json" }).end(JSON.stringify({ message: "Not from there." }));
      void fetch(`${node.url.replace(/\/api$/, "")}${request.url ?? ""}`).then(async (reply) => response.writeHead(reply.status).end(await reply.text()));
    });
    const replica = new TestReplica(refusing.url);
    const starting = replica.start().catch(() => undefined);
    await until("the warning", () => replica.warnings.some((line) => line.includes("the node's blocks: ") && line.includes("was answered with 403: Not from there.")));
    await replica.plugin.stop();
    await starting;
  });
});

describe("What a replica asks its node", () => {
  const answerStore = () => {
    const values = new Map<string, unknown>();
    return { get: (name: string) => values.get(name), put: (name: string, value: unknown) => void values.set(name, value), settled: () => Promise.resolve() };
  };

  it("is asked anew once it is forgotten, and an older answer that comes later does not count", async () => {
    const answers: ((value: number) => void)[] = [];
    const asked = createAnswer<number>({ name: "pool", ask: () => new Promise((resolve) => answers.push(resolve)), answers: answerStore(), isReachable: () => true, now: () => 0, goodFor: 500 });
    const first = asked.get();
    asked.forget();
    const second = asked.get();
    expect(answers).to.have.length(2);
    answers[1]?.(2);
    expect(await second).to.equal(2);
    answers[0]?.(1);
    expect(await first).to.equal(2);
    expect(await asked.get()).to.equal(2);
    expect(answers).to.have.length(2);
  });
});
