import type { BlockData } from "../../../types/events.js";
import { rowsOf, same } from "../comparing.js";
import { type CaseDefinition, type ConformanceSubject, type Fixture, readingOf, Skipped, snapshotOf } from "../target.js";
import type { ChainSnapshot } from "../../../types/chain-adapter.js";
import type { Surroundings } from "../filters.js";
import { blockSpec, delegateSpec, everyRow, type ListSpec, lockSpec, transactionSpec, walk, walletSpec } from "../lists.js";

/** Everything that one snapshot answers, for comparison with another. */
type StateDump = Record<string, unknown>;

/** Takes dumps. The filter values that it asks for are derived from the whole chain, so that all dumps use the same ones. */
interface StateDumper {
  of(snapshot: ChainSnapshot): Promise<StateDump>;
}

type Question = (snapshot: ChainSnapshot) => Promise<[string, unknown][]>;

const questionsOf = async <Row extends object, Filter, Field extends string>(
  spec: ListSpec<Row, Filter, Field>,
  whole: ChainSnapshot,
  around: Surroundings,
): Promise<Question> => {
  const all = await everyRow(whole, spec);
  // Values that no row has are asked for by the list cases, of one state.
  const samples = spec.filters.map(
    (filter) => [filter.name, filter.samples(all, around).filter((value) => all.some((row) => filter.passes(row, value, around)))] as const,
  );
  return async (snapshot) => {
    const answers: [string, unknown][] = [[spec.name, rowsOf(spec.kind, await everyRow(snapshot, spec))]];
    for (const field of spec.fields) {
      const rows = await walk(snapshot, spec, { filter: {} as Filter, order: { field, direction: "asc" } });
      answers.push([`${spec.name} by ${field}`, rows.map(spec.keyOf)]);
    }
    for (const [name, values] of samples) {
      for (const [index, value] of values.entries()) {
        const rows = await walk(snapshot, spec, { filter: { [name]: value } as Filter, order: spec.usual });
        answers.push([`${spec.name} by ${name}, sample ${index}`, rows.map(spec.keyOf)]);
      }
    }
    return answers;
  };
};

const roundsOf: Question = async (snapshot) => {
  const answers: [string, unknown][] = [];
  for (let round = 1; round <= 12; round += 1) {
    const found = await snapshot.round(round);
    answers.push([`round ${round}`, rowsOf("roundDelegate", found)]);
  }
  return answers;
};

const feesOf: Question = async (snapshot) => [
  ["fee statistics", rowsOf("feeStatistics", await snapshot.feeStatistics({ from: 0, to: Number.MAX_SAFE_INTEGER }))],
];

const createStateDumper = (fixture: Fixture): Promise<StateDumper> =>
  fixture.reading(async (whole) => {
    const wallets = await everyRow(whole, walletSpec);
    const around: Surroundings = {
      height: whole.tip.height,
      timestamp: whole.tip.timestamp,
      secondPublicKeys: new Map(wallets.map(({ address, secondPublicKey }) => [address, secondPublicKey])),
    };
    const questions: Question[] = [
      await questionsOf(walletSpec, whole, around),
      await questionsOf(delegateSpec, whole, around),
      await questionsOf(blockSpec, whole, around),
      await questionsOf(transactionSpec, whole, around),
      ...((await fixture.offers("locks")) ? [await questionsOf(lockSpec, whole, around)] : []),
      ...((await fixture.offers("rounds")) ? [roundsOf] : []),
      ...((await fixture.offers("feeStatistics")) ? [feesOf] : []),
    ];
    return {
      of: async (snapshot) => {
        const { id, height, timestamp } = snapshot.tip;
        const dump: StateDump = { tip: { id, height, timestamp }, supply: snapshot.supply };
        for (const ask of questions) Object.assign(dump, Object.fromEntries(await ask(snapshot)));
        return dump;
      },
    };
  });

/** A subject whose moves are checked. A move for which the subject has no hook skips the case. */
interface Moving {
  subject: ConformanceSubject;
  apply(block: BlockData): Promise<void>;
  revert(block: BlockData): Promise<void>;
  dump(): Promise<StateDump>;
}

const unable = (what: string) => async (): Promise<never> => Promise.reject(new Skipped(`the target has no \`${what}\``));

const move = async (fixture: Fixture, blocks: readonly BlockData[], dumper: StateDumper): Promise<Moving> => {
  const subject = await fixture.open(blocks);
  const { apply, revert } = subject;
  const expectTip = (id: string | null | undefined, when: string): Promise<void> =>
    readingOf(subject, async ({ tip }) => Promise.resolve(same(tip.id, id, `id of the tip ${when}`)));
  return {
    subject,
    apply:
      apply === undefined
        ? unable("apply")
        : async (block) => {
            await apply(block);
            await expectTip(block.id, `after block ${block.height} was applied`);
          },
    revert:
      revert === undefined
        ? unable("revert")
        : async (block) => {
            await revert(block);
            await expectTip(block.previousBlock, `after block ${block.height} was reverted`);
          },
    dump: () => readingOf(subject, dumper.of),
  };
};

const expectSame = (found: StateDump, expected: StateDump, when: string): void => {
  for (const [what, answer] of Object.entries(expected)) same(found[what], answer, `${when}: ${what}`);
};

/** Blocks from one height to another, inclusive. */
const between = (blocks: readonly BlockData[], from: number, to: number): readonly BlockData[] => blocks.slice(from - 1, to);

const stepByStep: CaseDefinition = {
  name: "moving: block by block comes to the same as all at once",
  run: async (fixture) => {
    const dumper = await createStateDumper(fixture);
    const { blocks } = fixture.chain;
    const moving = await move(fixture, between(blocks, 1, 1), dumper);
    for (const block of between(blocks, 2, blocks.length)) await moving.apply(block);
    expectSame(await moving.dump(), await fixture.reading(dumper.of), "applied block by block");
  },
};

/**
 * Heights at which states are compared: around ends of rounds and changes of milestones, where most errors show. What a reversal leaves
 * behind shows below, too.
 */
const taken = [1, 5, 6, 11, 16, 20, 24, 28];

const backToTheStart: CaseDefinition = {
  name: "moving: reverting gives back the state before, down to genesis",
  run: async (fixture) => {
    const dumper = await createStateDumper(fixture);
    const { blocks } = fixture.chain;
    const before = new Map<number, StateDump>();
    const moving = await move(fixture, between(blocks, 1, 1), dumper);
    before.set(1, await moving.dump());
    for (const block of between(blocks, 2, blocks.length)) {
      await moving.apply(block);
      if (taken.includes(block.height)) before.set(block.height, await moving.dump());
    }
    for (const block of [...between(blocks, 2, blocks.length)].reverse()) {
      await moving.revert(block);
      const expected = before.get(block.height - 1);
      if (expected !== undefined) expectSame(await moving.dump(), expected, `reverted to height ${block.height - 1}`);
    }
  },
};

const forthAgain: CaseDefinition = {
  name: "moving: blocks reverted and applied again change nothing",
  run: async (fixture) => {
    const dumper = await createStateDumper(fixture);
    const { blocks } = fixture.chain;
    const moving = await move(fixture, blocks, dumper);
    const last = between(blocks, 14, blocks.length);
    for (const block of [...last].reverse()) await moving.revert(block);
    for (const block of last) await moving.apply(block);
    expectSame(await moving.dump(), await fixture.reading(dumper.of), "reverted and applied again");
  },
};

const otherBranch: CaseDefinition = {
  name: "moving: another branch after a fork leaves nothing of the first",
  run: async (fixture) => {
    const dumper = await createStateDumper(fixture);
    const { blocks, forkHeight, otherBranch: other } = fixture.chain;
    const moving = await move(fixture, blocks, dumper);
    for (const block of [...between(blocks, forkHeight + 1, blocks.length)].reverse()) await moving.revert(block);
    for (const block of other) await moving.apply(block);
    const fresh = await move(fixture, [...between(blocks, 1, forkHeight), ...other], dumper);
    expectSame(await moving.dump(), await fresh.dump(), "on the other branch");
  },
};

const stillAhead: CaseDefinition = {
  name: "snapshots: one keeps still while the chain moves on",
  run: async (fixture) => {
    const dumper = await createStateDumper(fixture);
    const { blocks } = fixture.chain;
    const moving = await move(fixture, between(blocks, 1, 14), dumper);
    const expected = await moving.dump();
    const held = await snapshotOf(moving.subject);
    for (const block of between(blocks, 15, 17)) await moving.apply(block);
    expectSame(await dumper.of(held), expected, "a snapshot of height 14, asked at height 17");
    held.release?.();
    await readingOf(moving.subject, async ({ tip }) => Promise.resolve(same(tip.height, 17, "height of the next snapshot")));
  },
};

const stillBehind: CaseDefinition = {
  name: "snapshots: one keeps still while the chain is taken back",
  run: async (fixture) => {
    const dumper = await createStateDumper(fixture);
    const { blocks } = fixture.chain;
    const moving = await move(fixture, between(blocks, 1, 17), dumper);
    const expected = await moving.dump();
    const held = await snapshotOf(moving.subject);
    for (const block of [...between(blocks, 14, 17)].reverse()) await moving.revert(block);
    expectSame(await dumper.of(held), expected, "a snapshot of height 17, asked at height 13");
    held.release?.();
    await readingOf(moving.subject, async ({ tip }) => Promise.resolve(same(tip.height, 13, "height of the next snapshot")));
  },
};

const severalAtOnce: CaseDefinition = {
  name: "snapshots: several of different heights live side by side, released in any order",
  run: async (fixture) => {
    const dumper = await createStateDumper(fixture);
    const { blocks } = fixture.chain;
    const moving = await move(fixture, between(blocks, 1, 5), dumper);
    const atFive = await snapshotOf(moving.subject);
    for (const block of between(blocks, 6, 6)) await moving.apply(block);
    const atSix = await snapshotOf(moving.subject);
    const alsoAtSix = await snapshotOf(moving.subject);
    const expected = await dumper.of(atSix);
    atSix.release?.();
    same(atFive.tip.height, 5, "height of the older snapshot");
    same((await everyHeight(atFive)).length, 5, "blocks of the older snapshot");
    atFive.release?.();
    expectSame(await dumper.of(alsoAtSix), expected, "one snapshot after another of its height was released");
    alsoAtSix.release?.();
    expectSame(await moving.dump(), expected, "a new snapshot after all others were released");
  },
};

const everyHeight = async (snapshot: Awaited<ReturnType<typeof snapshotOf>>): Promise<number[]> => {
  const { rows } = await snapshot.blocks({ filter: {}, order: { field: "height", direction: "asc" }, offset: 0, limit: 100 });
  return rows.map(({ height }) => height);
};

export const movingCases: CaseDefinition[] = [
  stepByStep,
  backToTheStart,
  forthAgain,
  otherBranch,
  stillAhead,
  stillBehind,
  severalAtOnce,
];
