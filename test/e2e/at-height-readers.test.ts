import { expect } from "chai";
import type { BlockData } from "../../types/events.js";
import { loadChain } from "../data/read.js";
import { runExample, urlIn } from "../fixtures/process.js";
import { ask } from "../http/ask.js";
import { answersOf, pastQuestions, type PastQuestion, withAt } from "./at-height-questions.js";
import { type MovingNode, startMovingNode } from "./moving-node.js";

const { network, blocks } = loadChain("core3-testnet-a");
const top = 130;
const heights = [52, top];

describe("earlier states in processes that read a node's store", () => {
  let node: MovingNode;
  let port: number;
  let questions: PastQuestion[];

  const asking = (path: string, body?: object) =>
    ask(port, `/api${path}`, body === undefined ? {} : { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } });

  before(async () => {
    node = await startMovingNode(network, blocks[0] as BlockData);
    await node.apply(...blocks.slice(1, top));
    const reader = runExample("test/e2e/reader-process.ts", { DATA_DIR: node.dataDir, CHAIN: "core3-testnet-a" });
    port = Number(new URL(urlIn(await reader.line(/^listens at /))).port);
    await reader.line(/^started/);
    questions = pastQuestions(blocks.slice(0, top), 3);
  });

  it("are, byte for byte, those that the node itself gives", async () => {
    for (const at of heights) {
      const own = await answersOf((path, body) => (body === undefined ? node.get(path) : node.post(path, body)), questions, at);
      const theirs = await answersOf(asking, questions, at);
      for (const [question, reply] of own) expect({ at, question, reply: theirs.get(question) }).to.deep.equal({ at, question, reply });
    }
  });

  it("carry the height, the links, and the header that lets caches keep them, as the node's do", async () => {
    for (const path of ["/blockchain", "/transactions?limit=3", "/blocks?limit=2", "/delegates?limit=2"]) {
      for (const at of heights) {
        const [own, theirs] = [await node.get(withAt(path, at)), await asking(withAt(path, at))];
        for (const header of ["x-block-height", "cache-control", "etag", "content-type"]) expect({ path, at, header, value: theirs.headers[header] }).to.deep.equal({ path, at, header, value: own.headers[header] });
        expect(theirs.text).to.equal(own.text);
      }
    }
  });

  it("follow the chain as it goes back: what is no longer on it is not found, what is below stays", async () => {
    const kept = await asking("/wallets/" + (blocks[0]?.transactions?.[0]?.recipientId ?? "") + "/history?at=100");
    await node.revert();
    for (const at of [String(top), blocks[top - 1]?.id ?? ""]) {
      const { status, json } = await asking(`/blockchain?at=${at}`);
      expect({ at, status, code: (json as { code: string }).code }).to.deep.equal({ at, status: 404, code: "BLOCK_NOT_FOUND" });
    }
    expect((await asking("/wallets/" + (blocks[0]?.transactions?.[0]?.recipientId ?? "") + "/history?at=100")).text).to.equal(kept.text);
    await node.apply(blocks[top - 1] as BlockData);
    expect((await asking(`/blockchain?at=${top}`)).text).to.equal((await node.get(`/blockchain?at=${top}`)).text);
  });
});
