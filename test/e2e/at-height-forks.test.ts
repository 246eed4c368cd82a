import { expect } from "chai";
import fc from "fast-check";
import { v2Routes } from "../../src/api/index.js";
import type { BlockData } from "../../types/events.js";
import { loadChain } from "../data/read.js";
import { count, isLong, seedOr, spread } from "../fixtures/long.js";
import { buildRandomChain, chainWish } from "../random-chain.js";
import { answersOf, type PastQuestion, pastQuestions } from "./at-height-questions.js";
import { type MovingNode, startMovingNode } from "./moving-node.js";

const chains = count(1, 60);
/** States recorded on each branch. */
const heightsEach = isLong ? 6 : 2;

type Recorded = Map<number, Map<string, string>>;

const asking =
  (node: MovingNode) =>
  (path: string, body?: object): ReturnType<MovingNode["get"]> =>
    body === undefined ? node.get(path) : node.post(path, body);

describe("every reply at a height, on chains that fork", () => {
  it("is asked for at every route that takes at", () => {
    const taking = v2Routes.filter(({ atHeight }) => atHeight === true).map(({ path }) => path);
    const asked = pastQuestions(loadChain("core3-custom-c").blocks.slice(0, 30)).map(({ route }) => route);
    expect([...new Set(asked)].sort()).to.deep.equal([...new Set(taking)].sort());
  });

  const compare = async (node: MovingNode, questions: readonly PastQuestion[], recorded: Recorded, chain: readonly BlockData[]): Promise<void> => {
    for (const [height, replies] of recorded) {
      if (height > node.height()) continue;
      const names = [height, chain[height - 1]?.id ?? ""];
      for (const at of isLong ? names : [names[height % 2] ?? ""]) {
        const found = await answersOf(asking(node), questions, at);
        for (const [question, reply] of replies) expect({ at, question, reply: found.get(question) }).to.deep.equal({ at, question, reply });
      }
    }
  };

  it("is, byte for byte, the one that the node gave when that block was the tip, before and after the chain has left a branch", async () => {
    await fc.assert(
      fc.asyncProperty(chainWish({ maxBlocks: isLong ? 24 : 14 }), async (wish) => {
        const { network, blocks, forkHeight, otherBranch } = await buildRandomChain(wish);
        const questions = pastQuestions([...blocks, ...otherBranch], isLong ? 3 : 1);
        const node = await startMovingNode(network, blocks[0] as BlockData);
        const recorded: Recorded = new Map();
        const record = async (): Promise<void> => void recorded.set(node.height(), await answersOf(asking(node), questions));
        const grow = async (branch: readonly BlockData[]): Promise<void> => {
          const noted = new Set(spread(branch.map(({ height }) => height), heightsEach));
          for (const block of branch) {
            await node.apply(block);
            if (noted.has(block.height)) await record();
          }
        };
        await record();
        await grow(blocks.slice(1));
        await compare(node, questions, recorded, blocks);

        while (node.height() > forkHeight) await node.revert();
        await compare(node, questions, recorded, blocks);
        for (const { height, id } of blocks.slice(forkHeight)) {
          recorded.delete(height);
          for (const at of [height, id]) expect({ at, status: (await node.get(`/blockchain?at=${at}`)).status }).to.deep.equal({ at, status: 404 });
        }

        await grow(otherBranch);
        await compare(node, questions, recorded, [...blocks.slice(0, forkHeight), ...otherBranch]);
        await node.stop();
      }),
      { numRuns: chains, seed: seedOr(29) },
    );
  });
});
