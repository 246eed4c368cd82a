import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { EventEmitter } from "eventemitter3";
import type { BlockData } from "../../types/events.js";
import { createApiPlugin } from "../../src/index.js";
import { blockCodec, transactionCodec } from "../../src/store/layout/codec.js";
import { loadChain } from "../data/read.js";
import { silentLogger } from "../silent.js";
import { closeTemporaryStores, temporaryFolder } from "./temporary-store.js";

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

  it("is parsed once, and each of its records once for all its webhooks", async () => {
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
    // With what opened the locks that it ends.
    const ended = next.transactions?.filter(({ type, typeGroup = 1 }) => typeGroup === 1 && (type === 9 || type === 10)).length ?? 0;
    expect(records.counts.transactions).to.equal(next.numberOfTransactions + ended);
  });
});
