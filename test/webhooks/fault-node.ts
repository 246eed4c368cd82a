/**
 * A node that is killed: `node --import tsx fault-node.ts DIR TARGET`. It commits blocks and emits events as fast as it can, and says
 * nothing. What it acknowledged is found in its folder afterwards: blocks in its store, events in `acknowledged`.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { EventEmitter } from "eventemitter3";
import { open } from "lmdb";
import { openEventJournal } from "../../src/store/webhooks/event-journal.js";
import { createWebhookStore } from "../../src/store/webhooks/webhook-store.js";
import { createWebhookEngine } from "../../src/webhooks/engine.js";
import { faultBlock } from "./fault-block.js";
import { createLogger, localTargets } from "./stage.js";

const [, , dataDir = "", mode = ""] = process.argv;
const acknowledged = join(dataDir, "acknowledged");
const lastEvent = (): number => Number(readFileSync(acknowledged, { encoding: "utf8", flag: "a+" }).trimEnd().split("\n").at(-1));

const root = open<never, never>({ path: join(dataDir, "chain.mdb"), maxDbs: 64, noSubdir: true });
const blocks = root.openDB<number, number>({ name: "blocks", keyEncoding: "ordered-binary" });
const events = new EventEmitter();
const engine = createWebhookEngine(
  { allowTargets: localTargets, schedule: [20, 50, 100, 200, 400, 800, 1_600, 3_200], timeout: 5_000 },
  {
    store: createWebhookStore(root),
    openJournal: () => openEventJournal(dataDir),
    events,
    clock: { now: () => Date.now() },
    logger: createLogger([]),
    keepsChain: true,
  },
);
engine.start();

const tip = (): number => [...blocks.getKeys({ reverse: true, limit: 1 })][0] ?? 0;
const commit = (height: number): void => {
  root.transactionSync(() => {
    blocks.putSync(height, height);
    engine.witness({ kind: "applied", full: faultBlock(height) });
  });
  engine.committed();
};

let event = lastEvent();
const turn = (): void => {
  commit(tip() + 1);
  for (let count = 0; count < 3; count++) {
    event++;
    events.emit("peer.added", { n: event });
    // Only now has the host's call returned.
    appendFileSync(acknowledged, `${event}\n`);
  }
  setTimeout(turn, 2);
};
if (mode === "load") turn();
// Told to drain: it ends by itself when nothing waits any more.
else {
  const look = (): void => {
    const waiting = engine.list({ offset: 0, limit: 100 }).rows.flatMap(({ id }) =>
      (["pending", "retrying"] as const).map((state) => engine.deliveries(id, state, { offset: 0, limit: 1 }).total),
    );
    if (waiting.every((total) => total === 0)) void engine.stop().then(() => root.close());
    else setTimeout(look, 20);
  };
  void engine.settled().then(look);
}
