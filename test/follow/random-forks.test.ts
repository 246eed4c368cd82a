import { expect } from "chai";
import type { Batch } from "../../src/follow/follow.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { count, seedOr } from "../fixtures/long.js";
import { activeDelegates, type Ledger, Node, randomFrom, Reader } from "./schedule.js";

/** Schedules with one store: each goes on where the one before ended. */
const schedulesTogether = 25;
const steps = 5;

const sorted = (ledger: Ledger): [string, bigint][] => [...ledger].sort(([one], [other]) => (one < other ? -1 : 1));

interface Setting {
  node: Node;
  readers: Reader[];
  /** Each event by its id, as any reader was told of it. */
  known: Map<string, string>;
  random: () => number;
}

const readSome = async (reader: Reader, { node, known }: Pick<Setting, "node" | "known">, limit?: number): Promise<boolean> => {
  const batch: Batch = await node.follow.after(reader.cursor, { confirmations: reader.confirmations, ...(limit === undefined ? {} : { limit }) });
  reader.take(batch, known);
  return batch.atEnd;
};

const step = async ({ node, readers, known, random }: Setting): Promise<void> => {
  const choice = random();
  if (choice < 0.5) await node.apply(random);
  else if (choice < 0.66) await node.revert(1 + Math.floor(random() * 2 * activeDelegates));
  else if (choice < 0.74) await node.hostEvent();
  else if (choice < 0.748) await node.restart();
  else if (choice < 0.75) await node.startOver(1 + Math.floor(random() * node.chain.length));
  else {
    const reader = readers[Math.floor(random() * readers.length)]!;
    await readSome(reader, { node, known }, random() < 0.5 ? 1 + Math.floor(random() * 4) : undefined);
  }
};

const check = async ({ node, readers, known }: Setting): Promise<void> => {
  const ledgers = new Map<number, [string, bigint][]>();
  const ledgerAt = (blocks: number): [string, bigint][] => {
    const ledger = ledgers.get(blocks) ?? sorted(node.ledger(blocks));
    ledgers.set(blocks, ledger);
    return ledger;
  };
  for (const reader of readers) {
    while (!(await readSome(reader, { node, known })));
    expect(reader.faults).to.deep.equal([]);
    // A reader that waits for confirmations may have seen more than has them since a reorganisation.
    const seen = Math.max(reader.blocks.length, node.chain.length - reader.confirmations);
    expect(reader.blocks).to.deep.equal(node.chain.slice(0, seen).map(({ block }) => block.id));
    expect(sorted(reader.ledger)).to.deep.equal(ledgerAt(seen));
    // A wallet without money has no booking.
    const withMoney = (ledger: [string, bigint][]) => ledger.filter(([, balance]) => balance !== 0n);
    expect(withMoney(sorted(reader.booked))).to.deep.equal(withMoney(ledgerAt(seen)));
    expect(reader.hostEvents).to.equal(node.hostEvents);
  }
};

describe("Readers that follow a chain through random forks", () => {
  const seed = seedOr(27);
  const schedules = count(25, 10_000);

  it(`end with the node's state at any distance, across restarts and rebuilds (${schedules} schedules)`, async () => {
    for (let first = 0; first < schedules; first += schedulesTogether) {
      const random = randomFrom(seed + first);
      const node = new Node(temporaryFolder(), `${seed + first}`);
      await node.begin();
      const setting: Setting = { node, readers: [0, 0, 1, activeDelegates, 2 * activeDelegates].map((confirmations) => new Reader(confirmations)), known: new Map(), random };
      try {
        for (let schedule = 0; schedule < Math.min(schedulesTogether, schedules - first); schedule++) {
          for (let i = 0; i < steps; i++) await step(setting);
          await check(setting);
        }
      } catch (error) {
        throw new Error(`seed ${seed + first}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
      } finally {
        await node.store.stop();
      }
    }
  });
});
