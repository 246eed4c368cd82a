/** A node that forges while it is read, followed, asked for earlier heights and delivers: what it holds at the end, and at the beginning. */
import { expect } from "chai";
import { EventSource } from "eventsource";
import { count, isLong, seedOr } from "../fixtures/long.js";
import { randomFrom } from "../follow/schedule.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { programOf } from "../fixtures/programs.js";
import { run, urlIn } from "../fixtures/process.js";
import { until } from "../fixtures/until.js";
import { createReceiver } from "../webhooks/receiver.js";

const blocks = count(30, 4_500);
const parts = isLong ? 10 : 2;
/** Milliseconds from block to block, in place of eight seconds. */
const interval = isLong ? 50 : 30;
const token = "a-token-of-thirty-two-characters!";

/** Collections of a sample, of which the least counts: what is under way at one of them is not held. */
const collections = 3;
/** Samples of each part. */
const perPart = isLong ? 5 : 1;

/**
 * What the node keeps up to a bound of its own, beside replies. In a soak that fills it on its way it looks like a leak, of 25 MB in all, so it is
 * full when the first sample is taken: lists of delegates at earlier heights (20,000 rows, `src/store/history/past-snapshot.ts`; a list has
 * 52), and payloads of deliveries (2^22 characters, `src/webhooks/deliver/payloads.ts`); and the replies at the heights that are asked for.
 */
const kept = { lists: Math.ceil(20_000 / 52), characters: 2 ** 22 };

/**
 * MB that the last part may hold beyond the first. In the long form all that has a bound is full, so this is the block that is just being written or
 * delivered. In the short form nothing is full: its 30 blocks add lists of 50 KB and payloads of 2.
 */
const most = isLong ? 2 : 4;
/** MB that a thousand blocks may add: 0.03 are measured. A block's row in memory would be 1.5, and a node has four million blocks a year. */
const mostGrowth = 0.3;

/** What a node says of itself. */
interface Sample {
  height: number;
  /** MB in JavaScript's heap and beside it, after a collection, without replies that are kept: these have a bound of their own (`cacheSize`). */
  memory: number;
  replies: number;
  handles: number;
  /** MB of the store's file. */
  store: number;
  /** Seconds of processor time since its start. */
  worked: number;
  /** Blocks, and rounds of six requests, since the sample before: a machine that others use has more requests to a block. */
  done: number;
  /** Milliseconds that each request since the last sample took, and that those took which cost next to nothing: as slow as the machine is just now. */
  waits: number[];
  idleWaits: number[];
}

const middle = (numbers: readonly number[]): number => [...numbers].sort((one, other) => one - other)[numbers.length >> 1] ?? 0;

/** What is worth comparing of the blocks from one sample to the last of some later ones. */
const partOf = (from: Sample, samples: readonly Sample[]) => {
  const to = samples.at(-1) ?? from;
  return {
    heights: `${from.height} to ${to.height}`,
    memory: middle(samples.map(({ memory }) => memory)),
    replies: to.replies,
    handles: to.handles,
    storePerBlock: (to.store - from.store) / (to.height - from.height),
    work: (1000 * (to.worked - from.worked)) / samples.reduce((sum, { done }) => sum + done, 0),
    wait: middle(samples.flatMap(({ waits }) => waits)),
    idleWait: middle(samples.flatMap(({ idleWaits }) => idleWaits)),
  };
};

/** MB that a thousand blocks add: the middle of what any two samples say, so that no single one decides. */
const growthOf = (samples: readonly Sample[]): number =>
  middle(samples.flatMap((to, index) => samples.slice(0, index).map((from) => (1_000 * (to.memory - from.memory)) / (to.height - from.height))));

type Part = ReturnType<typeof partOf>;

describe("a node that forges, is read, followed and asked for earlier heights, and delivers", () => {
  it(`holds no more, and works no longer for a block and its readers, after ${blocks} blocks than at the beginning`, async () => {
    const receiver = await createReceiver();
    const random = randomFrom(seedOr(31));
    const node = run(process.execPath, ["--expose-gc", programOf("test/promises/soak-node.ts"), "--port", "0", "--data-dir", temporaryFolder(), "--forge-interval", String(interval), "--webhook-token", token, "--log-format", "json"]);
    const api = `${urlIn(await node.line(/http:\/\/\S+/)).replace(/\/api.*|\/$/, "")}/api`;
    const ask = async (path: string): Promise<string> => {
      const response = await fetch(`${api}${path}`);
      const body = await response.text();
      expect(response.status, `${path}: ${body}`).to.equal(200);
      return body;
    };
    const heightNow = async (): Promise<number> => (JSON.parse(await ask("/blockchain")) as { data: { block: { height: number } } }).data.block.height;

    let [delivered, characters] = [0, 0];
    receiver.answer = ({ body }, response) => {
      receiver.received.length = 0;
      delivered++;
      characters += body.length;
      response.end();
    };
    const post = async (path: string, body: object): Promise<number> => {
      const { status } = await fetch(`${api}${path}`, { method: "POST", headers: { "Content-Type": "application/json", Authorization: token }, body: JSON.stringify(body) });
      return status;
    };
    expect(await post("/webhooks", { events: ["block.applied"], from: "genesis", target: receiver.url })).to.equal(201);
    const stream = new EventSource(`${api}/events?after=genesis`);
    let told = 0;
    stream.addEventListener("block.applied", () => told++);

    let [waits, idleWaits, rounds, sampled]: [number[], number[], number, number] = [[], [], 0, 0];
    const timed = async (path: string): Promise<number> => {
      const begun = performance.now();
      await ask(path);
      return performance.now() - begun;
    };
    /** Bytes that are held, whatever garbage there is. */
    const heldNow = async (): Promise<number> => {
      const seen = node.lines.length;
      node.kill("SIGUSR2");
      const line = await until(() => Promise.resolve(node.lines.slice(seen).find((one) => one.startsWith("held "))));
      return Number(line.slice("held ".length));
    };
    const sampleNow = async (height: number): Promise<Sample> => {
      const held: number[] = [];
      while (held.length < collections) held.push(await heldNow());
      const text = await ask("/metrics");
      const of = (name: string): number => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
      const replies = of("portico_reply_cache_bytes");
      const megabytes = { memory: (Math.min(...held) - replies) / 2 ** 20, replies: replies / 2 ** 20, store: of("portico_store_bytes") / 2 ** 20 };
      const sample = { height, ...megabytes, handles: of("process_open_fds"), worked: of("process_cpu_seconds_total"), done: height - sampled + rounds, waits, idleWaits };
      [waits, idleWaits, rounds, sampled] = [[], [], 0, height];
      return sample;
    };
    const questionsAt = (at: number): string[] => [`/delegates?at=${at}`, `/transactions?at=${at}&limit=10`, `/blocks/${at}`];
    /** At earlier heights: of the first blocks. Later ones have ever more delegates, and their lists cost ever more. */
    const questions = (height: number): string[] => ["/wallets?limit=10", "/transactions?limit=100", "/delegates", ...questionsAt(1 + Math.floor(random() * Math.min(height, kept.lists)))];

    try {
      let height = await heightNow();
      const goOn = async (count: number): Promise<void> => {
        for (const end = height + count; height < end; height = await heightNow()) {
          for (const path of questions(height)) waits.push(await timed(path));
          idleWaits.push(await timed("/health/live"));
          rounds++;
        }
      };
      let replayed = 0;
      /** Delivers what was, again and again, until as many payloads as are kept have gone out. */
      const fillUp = async (): Promise<void> => {
        // What is asked for twice is kept.
        for (let at = 1; at <= kept.lists; at++) for (const path of [...questionsAt(at), ...questionsAt(at)]) await ask(path);
        while (characters < 1.5 * kept.characters) {
          expect(await post("/webhooks/1/replay", { from: 1, to: kept.lists })).to.equal(202);
          replayed += kept.lists;
          while (delivered < replayed + kept.lists) await ask("/blockchain");
        }
        height = await heightNow();
      };
      // Compiled, and with all that is made once.
      await goOn(isLong ? Math.max(blocks / 10, kept.lists) : 10);
      // Before payloads are sent again: what that leaves free in the file is used by the blocks after it.
      const { store } = await sampleNow(height);
      const storePerBlock = store / height;
      if (isLong) await fillUp();
      const start = await sampleNow(height);
      const samples: Sample[] = [];
      while (samples.length < parts * perPart) {
        await goOn(blocks / (parts * perPart));
        samples.push(await sampleNow(height));
      }
      const partAt = (part: number): Part => partOf(samples[part * perPart - 1] ?? start, samples.slice(part * perPart, (part + 1) * perPart));
      const compared = Array.from({ length: parts }, (_, part) => partAt(part));
      const [first, last] = [compared[0], compared.at(-1)] as [Part, Part];
      // The least of some parts: those of the short form are so short that what else the machine does decides about one.
      let { work } = last;
      for (let tries = 0; !isLong && tries < 5 && work >= 2 * first.work; tries++) {
        await goOn(blocks / parts);
        samples.push(await sampleNow(height));
        work = Math.min(work, partAt(samples.length - 1).work);
      }
      const growth = growthOf(samples);
      if (isLong) console.log({ storePerBlock, first, last, delivered, told, growth, memory: samples.map(({ memory }) => memory.toFixed(1)).join(" "), work: compared.map(({ work }) => work.toFixed(1)).join(" ") });
      expect(last.handles).to.be.below(first.handles + 10);
      expect(last.memory).to.be.below(first.memory + most);
      expect(work).to.be.below((isLong ? 1.5 : 2) * first.work);
      if (isLong) {
        expect(growth).to.be.below(mostGrowth);
        expect(last.storePerBlock).to.be.below(1.5 * storePerBlock);
        // On a machine that others use, all waits change.
        expect(last.wait / last.idleWait).to.be.below((2 * first.wait) / first.idleWait);
      }
      await until(() => Promise.resolve(told >= height && delivered >= height + replayed ? true : undefined));
      stream.close();
      node.kill("SIGTERM");
      expect(await node.ended).to.equal(0);
    } finally {
      stream.close();
      await receiver.close();
    }
  });
});
