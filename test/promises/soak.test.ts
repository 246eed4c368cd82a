/** A node that forges while it is read, followed, asked for earlier heights and delivers: what it holds at the end, and at the beginning. */
import { expect } from "chai";
import { EventSource } from "eventsource";
import { count, isLong, seedOr } from "../fixtures/long.js";
import { randomFrom } from "../follow/schedule.js";
import { programOf } from "../fixtures/programs.js";
import { createWorkbench, urlIn } from "../hosts/example-process.js";
import { createReceiver } from "../webhooks/receiver.js";

const blocks = count(40, 4_500);
const parts = isLong ? 10 : 2;
/** Milliseconds from block to block, in place of eight seconds. */
const interval = 50;
const token = "a-token-of-thirty-two-characters!";

/** Has garbage collected at a signal, so that what is left is what is held. */
const collecting = ["--expose-gc", "--import", 'data:text/javascript,process.on("SIGUSR2",()=>{gc();process.stdout.write("collected\\n")})'];

/** What a node says of itself. */
interface Sample {
  height: number;
  /** MB in JavaScript's heap and beside it, after a collection; of these, replies that are kept, which have a bound of their own (`cacheSize`). */
  memory: number;
  replies: number;
  handles: number;
  /** MB of the store's file. */
  store: number;
  /** Seconds of processor time since its start. */
  worked: number;
  /** Milliseconds that each request since the last sample took, and that those took which cost next to nothing: as slow as the machine is just now. */
  waits: number[];
  idleWaits: number[];
}

const middle = (numbers: readonly number[]): number => [...numbers].sort((one, other) => one - other)[numbers.length >> 1] ?? 0;

/** What is worth comparing of the blocks from one sample to a later one. */
const partOf = (from: Sample, to: Sample) => ({
  heights: `${from.height} to ${to.height}`,
  /** Beside the replies. */
  memory: to.memory - to.replies,
  replies: to.replies,
  handles: to.handles,
  storePerBlock: (to.store - from.store) / (to.height - from.height),
  workPerBlock: (1000 * (to.worked - from.worked)) / (to.height - from.height),
  wait: middle(to.waits),
  idleWait: middle(to.idleWaits),
});

type Part = ReturnType<typeof partOf>;

describe("a node that forges, is read, followed and asked for earlier heights, and delivers", function () {
  this.timeout(0);

  it(`holds no more, and works no longer for a block and its readers, after ${blocks} blocks than at the beginning`, async () => {
    const workbench = createWorkbench();
    const receiver = await createReceiver();
    const random = randomFrom(seedOr(31));
    const node = workbench.node([...collecting, programOf("examples/standalone/main.ts"), "--port", "0", "--data-dir", workbench.folder, "--forge-interval", String(interval), "--webhook-token", token, "--log-format", "json"]);
    const api = `${urlIn(await node.line(/http:\/\/\S+/)).replace(/\/api.*|\/$/, "")}/api`;
    const ask = async (path: string): Promise<string> => {
      const response = await fetch(`${api}${path}`);
      const body = await response.text();
      expect(response.status, `${path}: ${body}`).to.equal(200);
      return body;
    };
    const heightNow = async (): Promise<number> => (JSON.parse(await ask("/blockchain")) as { data: { block: { height: number } } }).data.block.height;

    let delivered = 0;
    receiver.answer = (_request, response) => {
      receiver.received.length = 0;
      delivered++;
      response.end();
    };
    const created = await fetch(`${api}/webhooks`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: token },
      body: JSON.stringify({ events: ["block.applied"], from: "genesis", target: receiver.url }),
    });
    expect(created.status).to.equal(201);
    const stream = new EventSource(`${api}/events?after=genesis`);
    let told = 0;
    stream.addEventListener("block.applied", () => told++);

    let [waits, idleWaits]: [number[], number[]] = [[], []];
    const timed = async (path: string): Promise<number> => {
      const begun = performance.now();
      await ask(path);
      return performance.now() - begun;
    };
    /** What is held is told apart from garbage. */
    const sampleNow = async (height: number): Promise<Sample> => {
      const seen = node.lines.length;
      node.kill("SIGUSR2");
      while (!node.lines.includes("collected", seen)) await ask("/health/live");
      const text = await ask("/metrics");
      const of = (name: string): number => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
      const memory = of("nodejs_heap_size_used_bytes") + of("nodejs_external_memory_bytes");
      const megabytes = { memory: memory / 2 ** 20, replies: of("portico_reply_cache_bytes") / 2 ** 20, store: of("portico_store_bytes") / 2 ** 20 };
      const sample = { height, ...megabytes, handles: of("process_open_fds"), worked: of("process_cpu_seconds_total"), waits, idleWaits };
      [waits, idleWaits] = [[], []];
      return sample;
    };
    const questions = (height: number): string[] => {
      const at = 1 + Math.floor(random() * height);
      return ["/wallets?limit=10", "/transactions?limit=100", "/delegates", `/delegates?at=${at}`, `/transactions?at=${at}&limit=10`, `/blocks/${at}`];
    };

    try {
      let height = await heightNow();
      const goOn = async (count: number): Promise<void> => {
        for (const end = height + count; height < end; height = await heightNow()) {
          for (const path of questions(height)) waits.push(await timed(path));
          idleWaits.push(await timed("/health/live"));
        }
      };
      // Compiled, and with all that is made once.
      await goOn(isLong ? blocks / 10 : 15);
      const samples = [await sampleNow(height)];
      while (samples.length <= parts) {
        await goOn(blocks / parts);
        samples.push(await sampleNow(height));
      }
      const compared = samples.slice(1).map((sample, index) => partOf(samples[index] as Sample, sample));
      const [first, last] = [compared[0], compared.at(-1)] as [Part, Part];
      if (isLong) console.log({ first, last, delivered, told, memory: compared.map(({ memory }) => Math.round(memory)) });
      expect(last.handles).to.be.below(first.handles + 10);
      // Other caches have bounds, too: of lists at earlier heights, and of payloads.
      expect(last.memory).to.be.below(first.memory + 20);
      expect(last.workPerBlock).to.be.below(2 * first.workPerBlock);
      if (isLong) {
        expect(last.storePerBlock).to.be.below(1.5 * first.storePerBlock);
        // On a machine that others use, all waits change.
        expect(last.wait / last.idleWait).to.be.below((2 * first.wait) / first.idleWait);
      }
      while (told < height || delivered < height) await ask("/blockchain");
      stream.close();
      node.kill("SIGTERM");
      expect(await node.ended).to.equal(0);
    } finally {
      stream.close();
      await workbench.clear();
      await receiver.close();
    }
  });
});
