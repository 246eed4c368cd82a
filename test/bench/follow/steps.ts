import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent } from "undici";
import { openWebhookStore } from "../../../src/webhooks/rows/store.js";
import { createToken, deliveryHeaders } from "../../../src/webhooks/send/signature.js";
import type { WebhookStore } from "../../../src/webhooks/rows/store.js";
import { median } from "../load/statistics.js";
import type { Row } from "../table/row.js";
import { openSink } from "../webhooks/sink.js";
import { threadTime } from "./thread-time.js";

const rounds = 9;
const [messages, webhooks] = [250, 8];
const total = messages * webhooks;
/** As the engine writes them. */
const [appendedTogether, recordedTogether] = [20, 160];
const body = `{"timestamp":1700000000000,"data":${JSON.stringify({ text: "x".repeat(800) })},"event":"transaction.applied"}`;

/** Microseconds each. */
const timeOf = async (work: () => unknown): Promise<number> => {
  const before = threadTime();
  await work();
  return (threadTime() - before) / total;
};

const idOf = (round: number, index: number): string => `${round}-${index}-${"a".repeat(50)}`;

const append = async (store: WebhookStore, round: number): Promise<void> => {
  const recipients = Array.from({ length: webhooks }, (_, index) => ({ webhookId: index + 1, event: "transaction.applied", key: `msg_${index}_${"b".repeat(32)}` }));
  for (let index = 0; index < messages; ) {
    await store.transactionSoon(() => {
      for (const last = Math.min(messages, index + appendedTogether); index < last; index++) {
        const id = idOf(round, index);
        store.append({ at: 1_700_000_000_000, eventId: id, event: "transaction.applied", block: { height: round, id }, before: `1-${id}`, after: `2-${id}`, json: body, subject: `transaction ${id}` }, recipients);
      }
    });
  }
};

const record = async (store: WebhookStore): Promise<void> => {
  const open = Array.from({ length: webhooks }, (_, index) => store.deliveryIds(index + 1, "pending", 0, messages).map((id) => [index + 1, id] as const)).flat();
  for (let index = 0; index < open.length; ) {
    await store.transactionSoon(() => {
      for (const [webhookId, id] of open.slice(index, (index += recordedTogether))) {
        const row = store.delivery(webhookId, id);
        if (row === undefined) continue;
        const attempt = { at: row.at, duration: 3, status: 200, stage: null, error: null, body: "" };
        store.changeDelivery(row, Object.assign({ ...row }, { state: "delivered", finishedAt: row.at, attemptCount: 1, attempts: [attempt] }));
      }
    });
  }
};

const sign = (): void => {
  const token = createToken();
  for (let index = 0; index < total; index++) deliveryHeaders([token], { messageId: `msg_${index}`, at: 1_700_000_000_000 + index, body });
};

/**
 * What no delivery can do without, each by itself and nothing else done: its row written when it is due, and again with the outcome, each with its index
 * entries, and the signature. Against the request itself.
 */
export const measureSteps = async (): Promise<Row> => {
  const sink = await openSink();
  const agent = new Agent({ connections: webhooks });
  const dataDir = mkdtempSync(join(tmpdir(), "portico-bench-steps-"));
  const { store, close } = openWebhookStore(dataDir);
  const post = async (index: number): Promise<void> => {
    for (let left = messages; left > 0; left--) await (await agent.request({ origin: `http://127.0.0.1:${sink.port}`, path: `/${index}`, method: "POST", headers: { "content-type": "application/json" }, body })).body.dump();
  };
  const [posts, appends, records, signs]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (let round = 1; round <= rounds; round++) {
    posts.push(await timeOf(() => Promise.all([sink.until(total), ...Array.from({ length: webhooks }, (_, index) => post(index))])));
    appends.push(await timeOf(() => append(store, round)));
    records.push(await timeOf(() => record(store)));
    signs.push(await timeOf(sign));
  }
  await close();
  rmSync(dataDir, { recursive: true, force: true });
  await agent.close();
  await sink.close();
  const [peer, added, recorded, signed] = [posts, appends, records, signs].map(median) as [number, number, number, number];
  const figure = added + recorded + signed;
  const note = `row written ${added.toFixed(1)}, outcome ${recorded.toFixed(1)}, signature ${signed.toFixed(1)} µs; a delivery that did nothing else would reach ${(peer / (peer + figure)).toFixed(2)} of bare undici`;
  return { group: "following", what: "what a delivery writes and signs, by itself: processor time", figure, unit: "µs", against: "bare undici's request", peer, ratio: figure / peer, note };
};
