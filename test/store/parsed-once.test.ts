import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { EventEmitter } from "eventemitter3";
import type { BlockData } from "../../types/events.js";
import { createChainRules } from "../../src/chain/rules.js";
import { appliedChange } from "../../src/follow/derive.js";
import { createApiPlugin } from "../../src/index.js";
import { blockCodec, transactionCodec } from "../../src/store/layout/block-codec.js";
import { loadChain } from "../data/read.js";
import { silentLogger } from "../silent.js";
import { closeStores, closeTemporaryStores, openTemporaryStore, temporaryFolder } from "./temporary-store.js";

const { network, blocks } = loadChain("core3-custom-c");

/** Counts the records of blocks and transactions that are parsed, until `end`. */
const countParsed = () => {
  const counts = { blocks: 0, transactions: 0 };
  const [unpackBlock, unpackTransaction] = [blockCodec.unpack, transactionCodec.unpack];
  blockCodec.unpack = (values) => {
    counts.blocks++;
    return unpackBlock(values);
  };
  transactionCodec.unpack = (values) => {
    counts.transactions++;
    return unpackTransaction(values);
  };
  return {
    counts,
    end: (): void => {
      blockCodec.unpack = unpackBlock;
      transactionCodec.unpack = unpackTransaction;
    },
  };
};

/** A block that counts how often it is parsed. */
const counting = (block: BlockData, parsed: () => void): BlockData =>
  Object.defineProperty({ ...block }, "generatorPublicKey", {
    enumerable: true,
    get: () => {
      parsed();
      return block.generatorPublicKey;
    },
  });

describe("a block that has just been applied", () => {
  afterEach(closeTemporaryStores);

  it("reaches readers as its record would, to the byte of its events", async () => {
    const rules = createChainRules(network);
    const first = openTemporaryStore(network);
    for (const data of blocks.slice(0, 60)) await first.store.apply([rules.parseBlock(data)]);
    const readAll = (store: typeof first.store): string[] => {
      store.markComplete();
      const view = store.changesView();
      if (view === undefined) throw new Error("there is no chain");
      const kept = Array.from({ length: 60 }, (_, i) => view.blocks(i + 1, 1)).flatMap((some) => (some instanceof Promise ? [] : some));
      view.release?.();
      return kept.map((one) => appliedChange(one, undefined, rules).events.map(({ id, at, json }) => `${id} ${at} ${json}`).join("\n"));
    };
    const atTip = readAll(first.store);
    await closeStores();
    expect(readAll(openTemporaryStore(network, { dataDir: first.dataDir }).store)).to.deep.equal(atTip);
    expect(atTip).to.have.length(60);
  });

  it("is parsed once, and none of its records is parsed for its webhooks", async () => {
    const height = blocks.findIndex(({ numberOfTransactions }, i) => i > 50 && numberOfTransactions >= 8);
    const [before, next] = [blocks.slice(0, height), blocks[height]];
    if (next === undefined) throw new Error("the chain has no such block");
    const bodies: unknown[] = [];
    let arrived = (): void => undefined;
    const all = new Promise<void>((resolve) => (arrived = resolve));
    const target = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += String(chunk)));
      request.on("end", () => {
        response.end();
        bodies.push(JSON.parse(body));
        if (bodies.length === 1 + next.numberOfTransactions) arrived();
      });
    }).listen(0, "127.0.0.1");
    await once(target, "listening");
    const events = new EventEmitter();
    const plugin = createApiPlugin({
      ...{ network, events, dataDir: temporaryFolder(), logger: silentLogger },
      blocks: { read: (from, limit) => before.slice(from - 1, from - 1 + limit) },
      options: { webhooks: { allowTargets: ["127.0.0.1/32"] } },
    });
    await plugin.start();
    const { port } = target.address() as AddressInfo;
    for (const event of ["block.applied", "transaction.applied"]) plugin.webhooks?.create({ event, target: `http://127.0.0.1:${port}/` });
    await plugin.settled();
    const records = countParsed();
    let parsed = 0;
    try {
      events.emit("block.applied", counting(next, () => parsed++));
      await plugin.settled();
      await all;
    } finally {
      records.end();
      await plugin.stop();
      target.close();
      target.closeAllConnections();
    }
    expect(bodies).to.have.length(1 + next.numberOfTransactions);
    // Its header alone when it arrives, to see what it follows; all of it when it is written.
    expect(parsed).to.equal(2);
    expect(records.counts.transactions).to.equal(0);
  });
});
