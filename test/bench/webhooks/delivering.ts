import { Agent } from "undici";
import type { WebhookOptions } from "../../../types/webhook-options.js";
import { examples } from "../../../src/follow/event-catalogue.js";
import { payloadJson } from "../../../src/follow/payload.js";
import { median } from "../load/statistics.js";
import type { Row } from "../table/row.js";
import { openEngine } from "./engine.js";
import { openSink, type Sink } from "./sink.js";

const total = 10_000;

/** Milliseconds that the same client takes to post as many, without Portico. */
const postBare = async (sink: Sink, atOnce: number): Promise<number> => {
  const agent = new Agent({ connections: atOnce });
  const body = `{"timestamp":1,"data":${payloadJson(examples.transfer)},"event":"transaction.forged"}`;
  let left = total;
  const post = async (): Promise<void> => {
    while (left-- > 0) {
      const answer = await agent.request({
        origin: `http://127.0.0.1:${sink.port}`,
        path: "/",
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
      });
      await answer.body.dump();
    }
  };
  const begun = performance.now();
  await Promise.all([...Array.from({ length: atOnce }, post), sink.until(total)]);
  const spent = performance.now() - begun;
  await agent.close();
  return spent;
};

const deliver = async (sink: Sink, webhooks: number, options: WebhookOptions): Promise<number> => {
  const { events, engine, close } = await openEngine(options);
  for (let index = 0; index < webhooks; index++) {
    engine.create({ event: "transaction.forged", target: `http://127.0.0.1:${sink.port}/${index}` });
  }
  const begun = performance.now();
  for (let count = 0; count < total / webhooks; count++) events.emit("transaction.forged", examples.transfer);
  await sink.until(total);
  const spent = performance.now() - begun;
  await close();
  return spent;
};

/** Deliveries with durability on, against the same HTTP client posting as much to the same target. */
export const measureDelivering = async (rounds: number): Promise<Row[]> => {
  const sink = await openSink();
  const rows: Row[] = [];
  for (const [what, atOnce] of [
    ["in order, to one target", 1],
    ["to eight targets at once", 8],
  ] as const) {
    const [bare, own]: [number[], number[]] = [[], []];
    await postBare(sink, atOnce);
    for (let round = 0; round < rounds; round++) {
      bare.push(await postBare(sink, atOnce));
      own.push(await deliver(sink, atOnce, { concurrencyPerTarget: atOnce }));
    }
    const [figure, peer] = [(total / median(own)) * 1_000, (total / median(bare)) * 1_000];
    rows.push({
      group: "webhooks",
      what: `deliveries with durability on, ${what}`,
      figure,
      unit: "deliveries/s",
      against: "the same client without Portico",
      peer,
      ratio: figure / peer,
    });
  }
  await sink.close();
  return rows;
};
