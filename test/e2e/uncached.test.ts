import { EventEmitter, once } from "node:events";
import { type AddressInfo } from "node:net";
import { expect } from "chai";
import fc from "fast-check";
import { Agent } from "undici";
import { createApiPlugin } from "../../src/index.js";
import type { BlockData } from "../../types/events.js";
import type { NodeContext } from "../../types/node-context.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { createMemoryAdapter, type MemoryAdapter } from "../memory-adapter/adapter.js";
import { buildRandomChain, chainWish, type RandomChain } from "../random-chain.js";
import { namesIn, type Question, questionsAbout } from "./random-questions.js";
import { count, endAfter } from "../fixtures/long.js";

/**
 * One chain, served twice: from the LMDB store with every cache, and from an adapter that computes each answer from the whole chain
 * with nothing cached. Whatever is asked, at any time, both must answer the same bytes.
 */

interface Served {
  ask(question: Question): Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }>;
  stop(): Promise<void>;
}

/** Headers that differ from one request to the next. */
const passing = ["date", "x-request-id", "keep-alive", "connection"];

const now = Date.parse("2017-04-01T00:00:00.000Z");

const serve = async (context: Omit<NodeContext, "clock">): Promise<Served & { settled(): Promise<void> }> => {
  const plugin = createApiPlugin({ ...context, clock: { now: () => now } });
  const server = await plugin.listen(0);
  const agent = new Agent({ connections: 8 });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    ask: async ({ method, path, body, encoding }) => {
      const headers = { ...(encoding === undefined ? {} : { "accept-encoding": encoding }), ...(body === undefined ? {} : { "content-type": "application/json" }) };
      const reply = await agent.request({ origin, path, method, headers, body: body ?? null });
      const kept = Object.fromEntries(Object.entries(reply.headers).filter(([name]) => !passing.includes(name)));
      return { status: reply.statusCode, headers: kept, body: Buffer.from(await reply.body.arrayBuffer()) };
    },
    settled: () => plugin.settled(),
    stop: async () => {
      const closed = once(server, "close");
      await agent.close();
      await plugin.stop();
      await closed;
    },
  };
};

interface Twice {
  cached: Awaited<ReturnType<typeof serve>>;
  plain: Served;
  memory: MemoryAdapter;
  events: EventEmitter;
}

const openTwice = async (network: RandomChain["network"]): Promise<Twice> => {
  const memory = createMemoryAdapter(network);
  memory.apply(network.genesisBlock);
  const events = new EventEmitter();
  const common = { network, options: { webhooks: false, rateLimit: false } } as const;
  const cached = await serve({ ...common, events, dataDir: temporaryFolder() });
  const plain = await serve({ ...common, events: new EventEmitter(), chain: memory, options: { ...common.options, cacheSize: 0 } });
  return { cached, plain, memory, events };
};

const told = (question: Question, { status, headers, body }: Awaited<ReturnType<Served["ask"]>>): unknown => ({
  question,
  status,
  headers,
  body: headers["content-encoding"] === undefined ? body.toString("utf8") : body.toString("base64"),
});

const expectSame = async ({ cached, plain }: Twice, questions: readonly Question[]): Promise<void> => {
  for (const question of questions) {
    const [found, expected] = await Promise.all([cached.ask(question), plain.ask(question)]);
    expect(told(question, found)).to.deep.equal(told(question, expected));
  }
};

/** Asks while a block arrives: each answer must be of the state before or of the state after, never a mixture. */
const moveWhileAsked = async (
  { cached, plain, memory, events }: Twice,
  event: "block.applied" | "block.reverted",
  block: BlockData,
  questions: readonly Question[],
): Promise<void> => {
  const askPlain = () => Promise.all(questions.map((question) => plain.ask(question)));
  const before = await askPlain();
  const early = questions.map((question) => cached.ask(question));
  events.emit(event, block);
  const late = questions.map((question) => cached.ask(question));
  const answers = [await Promise.all(early), await Promise.all(late)];
  await cached.settled();
  if (event === "block.applied") memory.apply(block);
  else memory.revert();
  const after = await askPlain();
  questions.forEach((question, index) => {
    const either = [before, after].map((state) => JSON.stringify(told(question, state[index]!)));
    for (const answer of answers) expect(JSON.stringify(told(question, answer[index]!))).to.be.oneOf(either);
  });
};

describe("the caches", () => {
  it("never answer another question or for another tip: every byte is as if computed anew", async () => {
    const scenario = chainWish({ maxBlocks: 10 }).chain((wish) => fc.record({ wish: fc.constant(wish), seed: fc.nat() }));
    await fc.assert(
      fc.asyncProperty(scenario, async ({ wish, seed }) => {
        const { network, blocks, forkHeight, otherBranch } = await buildRandomChain(wish);
        const twice = await openTwice(network);
        const arbitrary = questionsAbout(namesIn([...blocks, ...otherBranch]));
        const pool = fc.sample(arbitrary, { numRuns: 40, seed });
        let turn = 0;
        const next = (count: number): Question[] => Array.from({ length: count }, () => pool[(turn++ * 7) % pool.length]!);
        const move = async (event: "block.applied" | "block.reverted", block: BlockData): Promise<void> => {
          await moveWhileAsked(twice, event, block, next(6));
          const questions = next(12);
          await expectSame(twice, [...questions, ...questions.slice(0, 6)]);
        };
        try {
          // Anything asked for twice is cached from then on.
          await expectSame(twice, [...pool, ...pool]);
          for (const block of blocks.slice(1)) await move("block.applied", block);
          for (const block of blocks.slice(forkHeight).reverse()) await move("block.reverted", block);
          for (const block of otherBranch) await move("block.applied", block);
          await expectSame(twice, pool);
        } finally {
          await twice.cached.stop();
          await twice.plain.stop();
        }
      }),
      { numRuns: count(2, 100), plugins: endAfter(90_000) },
    );
  });
});
