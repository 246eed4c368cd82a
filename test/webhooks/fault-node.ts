/**
 * A node to be killed: `node --import tsx fault-node.ts DIR TARGET`. It commits blocks and emits events as fast as it can, and prints
 * nothing. What it acknowledged is left in its folder: blocks in its store, events in `acknowledged`.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { EventEmitter } from "eventemitter3";
import { systemClock } from "../../src/clock.js";
import { createChainRules } from "../../src/chain/rules.js";
import { networkOf } from "../../src/conformance/network.js";
import { createStore } from "../../src/store/state/store.js";
import { openEventJournal } from "../../src/store/webhooks/event-journal.js";
import { createWebhookStore } from "../../src/store/webhooks/webhook-store.js";
import { createWebhookEngine } from "../../src/webhooks/engine.js";
import { addFaultBlock, createFaultChain } from "./fault-block.js";
import type { BlockData } from "../../types/events.js";
import { createLogger, localTargets } from "./stage.js";

const [, , dataDir = "", mode = ""] = process.argv;
const acknowledged = join(dataDir, "acknowledged");
const lastEvent = (): number => Number(readFileSync(acknowledged, { encoding: "utf8", flag: "a+" }).trimEnd().split("\n").at(-1));

const chain = createFaultChain();
const blockAt = (height: number): BlockData => {
  while (chain.blocks.length < height) addFaultBlock(chain);
  return chain.blocks[height - 1] as BlockData;
};
const rules = createChainRules(networkOf(blockAt(1)));
const store = createStore(
  { dataDir, undoBlocks: 10 },
  { rules, listener: { witness: (change) => engine.witness(change), witnessed: () => engine.witnessed() } },
);
const events = new EventEmitter();
const engine = createWebhookEngine(
  { allowTargets: localTargets, schedule: [20, 50, 100, 200, 400, 800, 1_600, 3_200], timeout: 5_000 },
  {
    store: createWebhookStore(store.environment),
    openJournal: () => openEventJournal(dataDir),
    events,
    clock: systemClock,
    logger: createLogger([]),
    keepsChain: true,
  },
);
engine.start();

const commitNext = (): Promise<void> => store.apply([rules.parseBlock(blockAt((store.tip()?.height ?? 0) + 1))]);

let event = lastEvent();
const turn = async (): Promise<void> => {
  await commitNext();
  for (let count = 0; count < 3; count++) {
    event++;
    events.emit("peer.added", { n: event });
    // Only now has the host's call returned.
    appendFileSync(acknowledged, `${event}\n`);
  }
  setTimeout(() => void turn(), 2);
};

if (store.tip() === undefined) {
  await commitNext();
  store.markComplete();
}
await store.tell();
if (mode === "load") await turn();
// In drain mode it ends by itself when nothing is pending.
else {
  const look = (): void => {
    const waiting = engine.list({ offset: 0, limit: 100 }).rows.flatMap(({ id }) =>
      (["pending", "retrying"] as const).map((state) => engine.deliveries(id, state, { offset: 0, limit: 1 }).total),
    );
    if (waiting.every((total) => total === 0)) void engine.stop().then(() => store.stop());
    else setTimeout(look, 20);
  };
  void engine.settled().then(look);
}
