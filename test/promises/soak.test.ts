/** A node that forges while it is read, followed, asked for earlier heights and delivers: what it holds at the end, and at the beginning. */
import { expect } from "chai";
import { EventSource } from "eventsource";
import { count, isLong, seedOr } from "../fixtures/long.js";
import { randomFrom } from "../follow/schedule.js";
import { programOf } from "../fixtures/programs.js";
import { createWorkbench, urlIn } from "../hosts/example-process.js";
import { createReceiver } from "../webhooks/receiver.js";

const blocks = count(100, 4_500);
/** Milliseconds from block to block, in place of eight seconds. */
const interval = 50;
const token = "a-token-of-thirty-two-characters!";
/** MB that replies may be kept in (`cacheSize`), which fill up in the course of hours. */
const cache = 64;

/** Has garbage collected at a signal, so that what is left is what is held. */
const collecting = ["--expose-gc", "--import", 'data:text/javascript,process.on("SIGUSR2",()=>gc())'];

interface Sample {
  height: number;
  /** MB, in JavaScript's heap and beside it. */
  memory: number;
  handles: number;
  /** MB. */
  store: number;
  /** Milliseconds that the requests since the last sample took. */
  waits: number[];
}

const middle = (numbers: readonly number[]): number => [...numbers].sort((one, other) => one - other)[numbers.length >> 1] ?? 0;

/** What is worth comparing of some samples. */
const summaryOf = (samples: readonly Sample[]) => {
  const [first, last] = [samples[0] as Sample, samples.at(-1) as Sample];
  return {
    heights: `${first.height} to ${last.height}`,
    memory: Math.min(...samples.map(({ memory }) => memory)),
    handles: Math.max(...samples.map(({ handles }) => handles)),
    storePerBlock: (last.store - first.store) / (last.height - first.height),
    wait: middle(samples.flatMap(({ waits }) => waits)),
  };
};

describe("a node that forges, is read, followed and asked for earlier heights, and delivers", function () {
  this.timeout(0);

  it(`holds no more, and answers no later, after ${blocks} blocks than at the beginning`, async () => {
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

    const metricsNow = async (): Promise<Omit<Sample, "height" | "waits">> => {
      const text = await ask("/metrics");
      const of = (name: string): number => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
      const heap = of("nodejs_heap_size_used_bytes") + of("nodejs_external_memory_bytes");
      return { memory: heap / 2 ** 20, handles: of("process_open_fds"), store: of("portico_store_bytes") / 2 ** 20 };
    };
    const questions = (height: number): string[] => {
      const at = 1 + Math.floor(random() * height);
      return ["/wallets?limit=10", "/transactions?limit=100", "/delegates", `/delegates?at=${at}`, `/transactions?at=${at}&limit=10`, `/blocks/${at}`];
    };

    try {
      const samples: Sample[] = [];
      let height = await heightNow();
      // Compiled, and with all that is made once.
      for (const begin = height; height < begin + blocks / 10; height = await heightNow()) for (const path of questions(height)) await ask(path);
      const end = height + blocks;
      while (height < end) {
        const waits: number[] = [];
        for (const path of questions(height)) {
          const begun = performance.now();
          await ask(path);
          waits.push(performance.now() - begun);
        }
        height = await heightNow();
        // Rarely: it takes longer than all the rest.
        if (samples.length % 20 === 0) node.kill("SIGUSR2");
        samples.push({ height, ...(await metricsNow()), waits });
      }
      const tenth = Math.ceil(samples.length / 10);
      const [first, last] = [summaryOf(samples.slice(0, tenth)), summaryOf(samples.slice(-tenth))];
      if (isLong) console.log({ first, last, delivered, told, tenths: Array.from({ length: 10 }, (_, index) => Math.round(summaryOf(samples.slice(index * tenth, (index + 1) * tenth)).memory)) });
      expect(last.handles).to.be.below(first.handles + 10);
      // In some seconds nothing can be said of these: V8 is still growing its heap.
      if (isLong) {
        expect(last.memory).to.be.below(first.memory + cache + 20);
        expect(last.storePerBlock).to.be.below(1.5 * first.storePerBlock);
        expect(last.wait).to.be.below(2 * first.wait);
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
