import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mock } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { expect } from "chai";
import { EventEmitter } from "eventemitter3";
import type { HostLog } from "../../types/host-log.js";
import type { EventJournal } from "../../types/host-log.js";
import { createChainRules } from "../../src/chain/rules.js";
import { createProblems } from "../../src/operate/problems.js";
import { type HostFeed, startHostFeed } from "../../src/follow/host-feed.js";
import { createHostLog } from "../../src/store/follow/host-log.js";
import { openEventJournal } from "../../src/store/follow/event-journal.js";
import { openWebhookStore, type WebhookEnvironment } from "../../src/webhooks/rows/store.js";
import { loadChain } from "../data/read.js";
import { createLogger } from "../webhooks/stage.js";
import { temporaryFolder } from "../fixtures/folder.js";

const name = "host-events.journal";
const rules = createChainRules(loadChain("core3-testnet-a").network);
const upTo = (last: number): number[] => Array.from({ length: last }, (_unused, index) => index + 1);

describe("events of the host on their way into the log", () => {
  let dataDir: string;
  let environment: WebhookEnvironment;
  let log: HostLog;
  let lines: string[];
  let events: EventEmitter;
  let feed: HostFeed;

  const expectNoEvent = (event: string): never => {
    throw new Error(`there is no such event: ${event}`);
  };
  const start = ({ journal = (given) => given, log: wrapLog = (given) => given, emitter = new EventEmitter() }: { journal?: (given: EventJournal) => EventJournal; log?: (given: HostLog) => HostLog; emitter?: EventEmitter } = {}): void => {
    events = emitter;
    feed = startHostFeed({
      ...{ events, rules, names: ["peer.added", "transaction.forged"], clock: { now: () => 7 }, logger: createLogger(lines), problems: createProblems(createLogger(lines)), logged: () => undefined },
      log: wrapLog(log),
      journal: journal(openEventJournal(dataDir)),
      blocksWritten: () => Promise.resolve(),
      tip: () => undefined,
    });
  };
  const emit = (from: number, to: number): void => {
    for (let n = from; n <= to; n++) events.emit("peer.added", { n });
  };
  const kept = (): number[] => log.read(0, 100).map(({ json }) => (JSON.parse(json) as { n: number }).n);
  const errors = (): string[] => lines.filter((line) => line.startsWith("error"));

  beforeEach(() => {
    dataDir = temporaryFolder();
    environment = openWebhookStore(dataDir);
    log = createHostLog(environment.environment, { writes: true });
    lines = [];
  });
  afterEach(async () => {
    mock.timers.reset();
    await feed.end();
    await environment.close();
  });

  it("are taken into it at the next start, each once, where the process ended before", async () => {
    start();
    emit(1, 1);
    await feed.end();
    // The first was not forgotten, and the others not taken.
    writeFileSync(join(dataDir, name), upTo(3).map((number) => `${JSON.stringify([number, 5, "peer.added", `{"n":${number}}`])}\n`).join(""));
    start();
    emit(4, 4);
    await feed.settled();
    expect(log.read(0, 100).map(({ sequence, at, json }) => [sequence, at, json])).to.deep.equal([
      [1, 7, '{"n":1}'],
      [2, 5, '{"n":2}'],
      [3, 5, '{"n":3}'],
      [4, 7, '{"n":4}'],
    ]);
  });

  it("are not lost, nor taken again, where the journal is older than the log, as after a power failure", async () => {
    start();
    emit(1, 10);
    const written = readFileSync(join(dataDir, name), "utf8").split("\n");
    await feed.end();
    writeFileSync(join(dataDir, name), `${written.slice(0, 3).join("\n")}\n`);
    start();
    emit(11, 20);
    await feed.settled();
    expect(kept()).to.deep.equal(upTo(20));
    expect(log.last()).to.equal(20);
  });

  it("are kept with the addresses of their transactions, in the journal as in the log", async () => {
    const transaction = { id: "a", type: 0, amount: 1n, fee: 1n, senderPublicKey: `02${"1".repeat(64)}`, recipientId: "b" };
    const addresses = [rules.addressOf(transaction.senderPublicKey), "b"];
    const written: string[] = [];
    const append = (given: EventJournal): EventJournal["append"] => (event) => {
      written.push(event.json);
      given.append(event);
    };
    start({ journal: (given) => ({ ...given, append: append(given) }) });
    events.emit("transaction.forged", transaction);
    await feed.settled();
    expect(log.read(0, 1).map(({ json }) => json)).to.deep.equal(written);
    expect(JSON.parse(written[0] ?? "")).to.deep.equal({ ...transaction, amount: "1", fee: "1", addresses });
  });

  it("are logged where they cannot be kept, and the host's emitter learns nothing of it", async () => {
    let fails = true;
    const append = (given: EventJournal): EventJournal["append"] => (event) => {
      if (fails) throw new Error("the disk is full");
      given.append(event);
    };
    start({ journal: (given) => ({ ...given, append: append(given) }) });
    emit(1, 1);
    expect(errors()).to.deep.equal(["error peer.added could not be kept for readers: the disk is full"]);
    fails = false;
    emit(2, 2);
    await feed.settled();
    expect(log.read(0, 100).map(({ sequence, json }) => [sequence, json])).to.deep.equal([[1, '{"n":2}']]);
  });

  it("wait in the journal while the log cannot be written, and are taken a second later", async () => {
    mock.timers.enable({ apis: ["setTimeout"] });
    let fails = true;
    start({ log: (given) => ({ ...given, node: given.node, append: (added) => (fails ? Promise.reject(new Error("the disk is full")) : given.append(added)) }) });
    emit(1, 2);
    await feed.settled();
    expect(errors()).to.deep.equal(["error the host's events cannot be moved from the journal into the log: the disk is full"]);
    expect(kept()).to.deep.equal([]);
    fails = false;
    mock.timers.tick(1_000);
    while (log.last() < 2) await turn();
    expect(kept()).to.deep.equal([1, 2]);
    expect(lines.filter((line) => line.startsWith("info the host's events are moved into the log again"))).to.have.length(1);
  });

  it("are heard once, though the emitter refused a name at the first start", async () => {
    const plain = new EventEmitter();
    const strict = { on: (event: string, listener: (payload?: unknown) => void) => (event === "transaction.forged" ? expectNoEvent(event) : plain.on(event, listener)), off: plain.off.bind(plain) };
    expect(() => start({ emitter: strict as never })).to.throw("no such event");
    expect(plain.listenerCount("peer.added")).to.equal(0);
    start({ emitter: plain });
    events.emit("peer.added", { n: 1 });
    await feed.settled();
    expect(kept()).to.deep.equal([1]);
  });

  it("are not tried again after the end, though the journal kept failing", async () => {
    mock.timers.enable({ apis: ["setTimeout"] });
    let tries = 0;
    const failing = (): never => {
      tries++;
      throw new Error("the disk is full");
    };
    start({ journal: (given) => ({ ...given, forget: failing }) });
    for (let n = 1; n <= 3; n++) {
      emit(n, n);
      await feed.settled();
    }
    expect(tries).to.equal(3);
    await feed.end();
    expect(tries).to.equal(4);
    mock.timers.tick(10_000);
    for (let turns = 0; turns < 10; turns++) await turn();
    expect(tries).to.equal(4);
    expect(errors(), "told once").to.have.length(1);
    // All were in the log before that, once.
    expect(kept()).to.deep.equal([1, 2, 3]);
    expect(existsSync(join(dataDir, name))).to.equal(true);
  });
});
