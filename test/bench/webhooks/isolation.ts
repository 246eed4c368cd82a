import { quantile } from "../load/statistics.js";
import type { Row } from "../table/row.js";
import { openEngine } from "./engine.js";
import { openSink } from "./sink.js";

const samples = 300;
const others = 100;

/** Milliseconds from the event to its arrival at a healthy target, alone and while a hundred others hang. */
export const measureIsolation = async (): Promise<Row[]> => {
  const [sink, ...hanging] = await Promise.all([openSink(), openSink(true), openSink(true)]);
  const measure = async (beside: number): Promise<Float64Array> => {
    const { events, engine, close } = await openEngine();
    engine.create({ event: "peer.added", target: `http://127.0.0.1:${sink.port}/` });
    events.emit("peer.added", {});
    await sink.until(1);
    for (let index = 0; index < beside; index++) {
      // Different names, so that each is an origin of its own.
      engine.create({ event: "peer.added", target: `http://h${index}.localhost:${hanging[index % hanging.length]?.port ?? 0}/` });
    }
    const delays: number[] = [];
    for (let count = 0; count < samples; count++) {
      const begun = performance.now();
      events.emit("peer.added", {});
      await sink.until(1);
      delays.push(performance.now() - begun);
    }
    await close();
    return Float64Array.from(delays).sort();
  };
  const alone = await measure(0);
  const beside = await measure(others);
  await Promise.all([sink, ...hanging].map((one) => one.close()));
  return ([["median", 0.5], ["99th percentile", 0.99]] as const).map(([what, part]) => ({
    group: "webhooks",
    what: `delay of a healthy target while ${others} others hang, ${what}`,
    figure: quantile(beside, part),
    unit: "ms",
    against: "with no others",
    peer: quantile(alone, part),
    ratio: quantile(beside, part) / quantile(alone, part),
  }));
};
