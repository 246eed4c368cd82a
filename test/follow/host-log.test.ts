import { expect } from "chai";
import type { HostLog, LoggedEvent } from "../../types/host-log.js";
import { PorticoError } from "../../src/errors.js";
import type { Cursor } from "../../src/follow/cursor.js";
import { createFollow } from "../../src/follow/create-follow.js";
import { Node, rules } from "./schedule.js";
import { temporaryFolder } from "../fixtures/folder.js";

const many = 3_000;

describe("The log of the host's events", () => {
  let node: Node;
  let log: HostLog;

  beforeEach(async () => {
    node = new Node(temporaryFolder(), "log");
    await node.begin();
    ({ log } = node);
    const json = JSON.stringify("x".repeat(500));
    const [first] = log.read(0, 1) as [LoggedEvent];
    await log.append(Array.from({ length: many - 1 }, (_, i) => ({ ...first, sequence: i + 2, at: 2 * 10 ** 12 + i, json })));
  });
  afterEach(() => node.store.stop());

  const trim = (bounds: { before: number; bytes: number }): void => {
    while (log.trim(bounds));
  };
  const oldest = (): number => log.read(0, 1)[0]?.sequence ?? 0;
  const at = (sequence: number): Cursor => ({ block: { height: 1, id: node.chain[0]!.block.id }, log: { node: log.node, sequence } });
  const code = async (work: () => unknown): Promise<string> => {
    try {
      await work();
      return "none";
    } catch (error) {
      return error instanceof PorticoError ? error.code : String(error);
    }
  };

  it("takes no more bytes than it may: the oldest events are removed, and the newest stays", () => {
    trim({ before: 0, bytes: 10 ** 9 });
    expect(oldest()).to.equal(1);
    trim({ before: 0, bytes: 1_000_000 });
    // An event takes some 530 bytes; pages are not quite full.
    expect(many - oldest()).to.be.within(1_200, 1_900);
    trim({ before: 0, bytes: 0 });
    expect([oldest(), log.last()]).to.deep.equal([many, many]);
  });

  it("tells a reader clearly that events were removed that it has not seen, if it wants them all", async () => {
    const { follow } = node;
    const whole = { whole: true };
    const [seen, unseen] = [at(2_000), at(1_000)];
    // A reader that has begun already is told so, too.
    const open = await follow.after(unseen, { ...whole, limit: 10 });
    expect(open.groups).to.have.length(10);
    trim({ before: 2 * 10 ** 12 + 1_998, bytes: Infinity });
    expect(oldest()).to.be.within(1_999, 2_001);
    expect(await code(() => follow.after(open.cursor, whole))).to.equal("CURSOR_UNKNOWN");
    const texts = [unseen, seen].map(({ block, log: place }) => `${block?.height}-${block?.id}~${place?.node}.${place?.sequence}`) as [string, string];
    expect(await code(() => follow.locate(texts[0], whole))).to.equal("CURSOR_UNKNOWN");
    expect((await follow.locate(texts[1], whole)).log?.sequence).to.equal(2_000);
    // The first that has not lost any counts; a cursor without a place, or of another node, begins with what is kept.
    expect((await follow.locate(texts.join(), whole)).log?.sequence).to.equal(2_000);
    for (const text of ["genesis", `1-${node.chain[0]!.block.id}`, `1-${node.chain[0]!.block.id}~abcd.7`]) {
      const { groups } = await follow.after(await follow.locate(text, whole), { ...whole, limit: 2 });
      expect(groups.find(({ change }) => change === undefined)?.events[0]?.id, text).to.equal(`${log.node}.${oldest()}`);
    }
    // Blocks alone are not concerned, nor is a reader that takes what there is.
    expect((await follow.locate(texts[0], { ...whole, hostEvents: false })).block?.height).to.equal(1);
    expect((await follow.after(unseen, { limit: 1 })).groups[0]?.events[0]?.id).to.equal(`${log.node}.${oldest()}`);
  });

  it("reads no more events at a time than a reader takes, and few at first", async () => {
    const asked: number[] = [];
    const read: HostLog["read"] = (after, limit) => {
      asked.push(limit);
      return log.read(after, limit);
    };
    const changes = { view: () => node.store.changesView(), watch: () => () => undefined };
    const follow = createFollow({ changes, log: () => ({ node: log.node, last: log.last, append: log.append, trim: log.trim, read }), rules, finality: undefined });
    const readsFor = async (limit: number) => {
      asked.length = 0;
      expect((await follow.after(at(2_000), { limit })).groups).to.have.length(limit);
      return asked;
    };
    expect(await readsFor(1)).to.deep.equal([1]);
    expect(await readsFor(20)).to.deep.equal([8, 16]);
    expect(await readsFor(300)).to.deep.equal([8, 16, 32, 64, 100, 100]);
  });

  it("does so where there is no chain to follow, too", async () => {
    const follow = createFollow({ changes: undefined, log: () => log, rules, finality: undefined });
    trim({ before: 0, bytes: 0 });
    expect(await code(() => follow.locate(`~${log.node}.${many - 2}`, { whole: true }))).to.equal("CURSOR_UNKNOWN");
    expect(await code(() => follow.after({ block: undefined, log: { node: log.node, sequence: 7 } }, { whole: true }))).to.equal("CURSOR_UNKNOWN");
    expect((await follow.locate(`~${log.node}.${many - 1}`, { whole: true })).log?.sequence).to.equal(many - 1);
    expect((await follow.after(await follow.locate("genesis", { whole: true }), { whole: true })).groups).to.have.length(1);
  });
});
