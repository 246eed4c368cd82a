import type { Delegate, Wallet } from "../../../types/chain.js";
import type { ChainSnapshot } from "../../../types/chain-adapter.js";
import type { BlockData } from "../../../types/events.js";
import { rowOf, rowsOf, same } from "../comparing.js";
import { atTip } from "../figures/at-tip.js";
import { atHeight12, delegatesOf, type Figures, roundOf, walletsOf } from "../figures/figures.js";
import { ofFork } from "../figures/of-fork.js";
import { blockSpec, delegateFigures, delegateSpec, everyRow, lockSpec, transactionSpec, walk, walletSpec } from "../lists.js";
import type { SampleChain } from "../chain/sample-chain.js";
import { type CaseDefinition, readingOf } from "../target.js";

const expectWallets = async (snapshot: ChainSnapshot, figures: Figures): Promise<void> => {
  const found = new Map((await everyRow(snapshot, walletSpec)).map((row): [string, Wallet] => [row.address, row]));
  const expected = walletsOf(figures);
  same([...found.keys()].sort(), [...expected.keys()].sort(), `wallets at height ${figures.height}: addresses`);
  for (const [address, row] of expected) {
    same(rowOf("wallet", found.get(address)), rowOf("wallet", row), `wallet ${address} at height ${figures.height}`);
  }
};

const expectDelegates = async (
  snapshot: ChainSnapshot,
  { figures, blocks, offersFigures }: { figures: Figures; blocks: readonly BlockData[]; offersFigures: boolean },
): Promise<void> => {
  const found = new Map((await everyRow(snapshot, delegateSpec)).map((row): [string, Delegate] => [row.username, row]));
  const expected = delegatesOf(figures, blocks);
  same([...found.keys()].sort(), [...expected.keys()].sort(), `delegates at height ${figures.height}: usernames`);
  for (const [username, row] of expected) {
    // An adapter need not count missed rounds, but if it does, the count must be right.
    const uncounted = [
      ...(found.get(username)?.missedRounds === undefined ? ["missedRounds"] : []),
      ...(offersFigures ? [] : delegateFigures),
    ];
    const counted = (delegate: Delegate | undefined) =>
      Object.entries(rowOf("delegate", delegate) ?? {}).filter(([name]) => !uncounted.includes(name));
    same(
      Object.fromEntries(counted(found.get(username))),
      Object.fromEntries(counted(row)),
      `delegate ${username} at height ${figures.height}`,
    );
  }
};

const expectLocks = async (snapshot: ChainSnapshot, { locks, height }: Figures): Promise<void> => {
  const byId = [...locks].sort((a, b) => (a.lockId < b.lockId ? -1 : 1));
  const found = await walk(snapshot, lockSpec, { filter: {}, order: { field: "lockId", direction: "asc" } });
  same(rowsOf("lock", found), rowsOf("lock", byId), `open locks at height ${height}`);
};

const expectRounds = async (snapshot: ChainSnapshot, figures: Figures): Promise<void> => {
  for (let round = 1; round <= figures.rounds.length; round += 1) {
    const found = await snapshot.round(round);
    const what = `round ${round}, asked at height ${figures.height}`;
    same(rowsOf("roundDelegate", found), roundOf(figures, round), what);
  }
  for (const round of [figures.rounds.length + 1, 1_000_000, 2 ** 32 + 1, 0, -1, 1.5]) {
    same(await snapshot.round(round), undefined, `round ${round}, asked at height ${figures.height}`);
  }
};

const tipOf = (blocks: readonly BlockData[]) => {
  const last = blocks.at(-1);
  return last === undefined ? undefined : { id: last.id, height: last.height, timestamp: last.timestamp };
};

const heightCase = (name: string, figures: Figures, branch: (chain: SampleChain) => readonly BlockData[]): CaseDefinition => ({
  name: `figures: ${name}`,
  run: async (fixture) => {
    const blocks = branch(fixture.chain);
    await readingOf(await fixture.open(blocks), async (snapshot) => {
      const { id, height, timestamp } = snapshot.tip;
      same({ id, height, timestamp }, tipOf(blocks), "tip");
      same(snapshot.supply, figures.supply, `supply at height ${figures.height}`);
      await expectWallets(snapshot, figures);
      await expectDelegates(snapshot, { figures, blocks, offersFigures: await fixture.offers("delegateFigures") });
      if (await fixture.offers("locks")) await expectLocks(snapshot, figures);
      if (await fixture.offers("rounds")) await expectRounds(snapshot, figures);
    });
  },
});

const blockCase: CaseDefinition = {
  name: "figures: every block is as it was given",
  run: async (fixture) =>
    fixture.reading(async (snapshot) => {
      const expected = fixture.chain.blocks.map(({ transactions: _transactions, totalAmount, totalFee, reward, ...rest }) => ({
        ...rest,
        totalAmount: BigInt(String(totalAmount)),
        totalFee: BigInt(String(totalFee)),
        reward: BigInt(String(reward)),
      }));
      const found = await walk(snapshot, blockSpec, { filter: {}, order: { field: "height", direction: "asc" } });
      same(rowsOf("block", found), rowsOf("block", expected), "blocks");
    }),
};

const placeCase: CaseDefinition = {
  name: "figures: every transaction is in its place",
  run: async (fixture) =>
    fixture.reading(async (snapshot) => {
      const expected = fixture.chain.blocks.flatMap((block) =>
        (block.transactions ?? []).map(({ id }, sequence) => ({ id, blockId: block.id, blockHeight: block.height, sequence })),
      );
      const rows = await walk(snapshot, transactionSpec, { filter: {}, order: { field: "timestamp", direction: "asc" } });
      const found = rows.map(({ id, blockId, blockHeight, sequence }) => ({ id, blockId, blockHeight, sequence }));
      same(found, expected, "transactions in the order of the chain");
    }),
};

export const figureCases: CaseDefinition[] = [
  heightCase("the whole chain", atTip, ({ blocks }) => blocks),
  heightCase("the chain up to height 12", atHeight12, ({ blocks }) => blocks.slice(0, 12)),
  heightCase("the other branch", ofFork, ({ blocks, forkHeight, otherBranch }) => [
    ...blocks.slice(0, forkHeight),
    ...otherBranch,
  ]),
  blockCase,
  placeCase,
];
