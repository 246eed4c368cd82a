import { expect } from "chai";
import type { RoundDelegate } from "../../types/chain.js";
import type { ChainSnapshot } from "../../types/chain-adapter.js";
import { endsRound, forgingOrder, roundOf, slotsAt } from "../../src/chain/rounds.js";
import { type ChainRules, createChainRules } from "../../src/chain/rules.js";
import { type Chain, type ChainName, type DelegateFigures, loadChain, loadCore2Chain, type WalletFigures } from "../data/read.js";
import { storedChain } from "../fixtures/stored-chain.js";
import { appliedOnce } from "../memory-adapter/applied.js";
import { roundsOfCore } from "./core-drift.js";

/** The round from which the ranks of core3-custom-c's node had drifted: the first third-party claim is in the round before. */
const firstDriftedRound = 4;

const everything = { offset: 0, limit: Number.MAX_SAFE_INTEGER };

const snapshotOf = async (chain: Pick<Chain, "network" | "blocks">): Promise<ChainSnapshot> => {
  const snapshot = await appliedOnce(chain).snapshot();
  if (snapshot === undefined) throw new Error("no state");
  return snapshot;
};

const walletFigures = async (snapshot: ChainSnapshot): Promise<Omit<WalletFigures, "locks">[]> => {
  const { rows } = await snapshot.wallets({ filter: {}, order: { field: "address", direction: "asc" }, ...everything });
  return rows.map(({ lockedBalance, balance, nonce, voteBalance: _, producedBlocks: __, forgedFees: ___, forgedRewards: ____, rank: _____, ...rest }) => ({
    ...rest,
    balance: String(balance),
    nonce: String(nonce),
    lockedBalance: lockedBalance === 0n ? null : String(lockedBalance),
  }));
};

const delegateFigures = async (snapshot: ChainSnapshot): Promise<DelegateFigures[]> => {
  const { rows } = await snapshot.delegates({ filter: {}, order: { field: "username", direction: "asc" }, ...everything });
  return rows.map(({ voteBalance, forgedFees, forgedRewards, forgedTotal, vote: _, balance: __, voters: ___, missedBlocks: ____, productivity: _____, missedRounds: ______, ...rest }) => ({
    ...rest,
    voteBalance: String(voteBalance),
    forgedFees: String(forgedFees),
    forgedRewards: String(forgedRewards),
    forgedTotal: String(forgedTotal),
  }));
};

const byText = (a: string, b: string): number => (a < b ? -1 : 1);

const pick = <T extends object, Member extends keyof T>(rows: readonly T[], members: readonly Member[]): Pick<T, Member>[] =>
  rows.map((row) => Object.fromEntries(members.map((member) => [member, row[member]])) as Pick<T, Member>);

/** What the real node reports of wallets and delegates, except what has no counterpart here. */
const walletMembers = ["address", "publicKey", "username", "secondPublicKey", "vote", "balance", "nonce", "multiSignature", "lockedBalance", "isDelegate", "resigned"] as const;
const reportedWallets = ({ wallets }: Chain) => pick([...wallets].sort((a, b) => byText(a.address, b.address)), walletMembers);

const delegateMembers = ["username", "address", "publicKey", "voteBalance", "rank", "producedBlocks", "forgedFees", "forgedRewards", "forgedTotal", "approval", "lastBlock", "resigned"] as const;
const reportedDelegates = ({ delegates }: Chain) =>
  pick([...delegates].sort((a, b) => byText(a.username, b.username)), delegateMembers).map(({ rank, ...rest }) => (rank === undefined ? rest : { ...rest, rank }));

/** What computes the state: the tests' own adapter, and the LMDB store. */
const keepers = {
  "in memory": snapshotOf,
  "in the LMDB store": async (_: Chain, name: ChainName): Promise<ChainSnapshot> => {
    const snapshot = await (await storedChain(name)).snapshot();
    if (snapshot === undefined) throw new Error("no state");
    return snapshot;
  },
};

for (const [name, where] of (["core3-testnet-a", "core3-custom-c"] satisfies ChainName[]).flatMap((chain) =>
  (Object.keys(keepers) as (keyof typeof keepers)[]).map((keeper) => [chain, keeper] as const),
)) {
  describe(`the chain ${name} ${where}, against a real node's report`, () => {
    let chain: Chain;
    let rules: ChainRules;
    let snapshot: ChainSnapshot;
    let coreRounds: ReadonlyMap<number, RoundDelegate[]>;

    before(async () => {
      chain = loadChain(name);
      rules = createChainRules(chain.network);
      snapshot = await keepers[where](chain, name);
      coreRounds = await roundsOfCore(chain);
    });

    after(() => snapshot.release?.());

    it("has its tip and supply", () => {
      const { id, height, timestamp } = chain.meta.tip;
      expect(snapshot.tip).to.deep.equal({ id, height, timestamp });
      expect(String(snapshot.supply)).to.equal(chain.meta.supply);
    });

    it("has every wallet: balance, keys, vote, username, nonce, locked balance, resignation", async () => {
      expect(await walletFigures(snapshot)).to.deep.equal(reportedWallets(chain));
    });

    it("has every delegate: vote balance, rank, blocks, fees, rewards, total, approval", async () => {
      const figures = await delegateFigures(snapshot);
      const reported = reportedDelegates(chain);
      const ranked = reported.some((delegate) => "rank" in delegate);
      expect(ranked ? figures : figures.map(({ rank: _, ...rest }) => rest)).to.deep.equal(reported);
    });

    it("has every open lock", async () => {
      const { rows } = await snapshot.locks({ filter: {}, order: { field: "lockId", direction: "asc" }, ...everything });
      const reported = chain.wallets
        .flatMap(({ address, publicKey, locks }) =>
          Object.entries(locks ?? {}).map(([lockId, { amount, ...rest }]) => ({
            ...rest,
            amount: BigInt(amount),
            lockId,
            senderId: address,
            senderPublicKey: publicKey,
          })),
        )
        .sort((a, b) => byText(a.lockId, b.lockId));
      expect(rows).to.deep.equal(reported);
    });

    it("has every block and transaction", async () => {
      const { counts } = chain.meta;
      const blocks = await snapshot.blocks({ filter: {}, order: { field: "height", direction: "asc" }, ...everything });
      const transactions = await snapshot.transactions({
        filter: {},
        order: { field: "timestamp", direction: "asc" },
        ...everything,
      });
      const kinds: Record<string, number> = {};
      for (const { typeGroup, type } of transactions.rows) {
        const kind = `${typeGroup}/${type}`;
        kinds[kind] = (kinds[kind] ?? 0) + 1;
      }
      expect(blocks.total).to.equal(counts.blocks);
      expect(transactions.total).to.equal(counts.transactions);
      expect(kinds).to.deep.equal(counts.transactionsByTypeGroupAndType);
    });

    it("has the round's delegates by rank and in forging order, and the next forgers", () => {
      const { round } = roundOf(chain.meta.height + 1, rules.milestones);
      expect(round).to.equal(chain.meta.roundOfTip.nextRound);
      const active = coreRounds.get(round) ?? [];
      expect(active.map(({ username }) => username)).to.deep.equal(chain.meta.roundDelegatesByRank);
      const order = forgingOrder(active, round);
      expect(order.map(({ username, publicKey }) => ({ username, publicKey }))).to.deep.equal(
        chain.meta.activeDelegatesInForgingOrder,
      );
      expect(
        order.map(({ username, publicKey, voteBalance }) => ({
          username,
          publicKey,
          voteBalanceAtRoundStart: String(voteBalance),
        })),
      ).to.deep.equal(chain.meta.roundStateForgingDelegates);

      const { slotOf, forgerOf } = slotsAt(chain.meta.height + 1, rules.milestones, (height) => chain.blocks[height - 1]?.timestamp ?? 0);
      expect(slotOf(snapshot.tip.timestamp)).to.equal(chain.meta.lastSlot);
      expect(chain.meta.nextForgers.map(({ slot }) => forgerOf(slot, order)?.username)).to.deep.equal(
        chain.meta.nextForgers.map(({ username }) => username),
      );
    });

    it(
      name === "core3-custom-c" ? "ranks by the sum, where the node had drifted from it" : "ranks as the node did in every round",
      async () => {
        for (const [round, active] of coreRounds) {
          const ranked = await snapshot.round(round);
          const drifted = name === "core3-custom-c" && round >= firstDriftedRound;
          if (drifted) expect(ranked, `round ${round}`).to.not.deep.equal(active);
          else expect(ranked, `round ${round}`).to.deep.equal(active);
        }
        expect(await snapshot.round(Math.max(...coreRounds.keys()) + 1)).to.equal(undefined);
      },
    );

    it("has the fee statistics of the windows that end when the report was made", async () => {
      const keys = new Map(
        rules.types.all
          .filter(({ versions }) => versions === undefined || versions.includes(2))
          .map((row) => [`${row.typeGroup}/${row.type}`, row.key]),
      );
      const to = Math.floor(rules.epoch.fromMilliseconds(Date.parse(chain.meta.dumpedAt)));
      for (const [days, { body }] of Object.entries(chain.meta.feeStatistics)) {
        const from = to - Number(days) * 86_400;
        const found = (await snapshot.feeStatistics({ from, to })).filter(({ typeGroup }) => typeGroup === 1);
        const figures = found.map(({ typeGroup, type, avg, min, max, sum }) => [
          keys.get(`${typeGroup}/${type}`) ?? "",
          { avg: String(avg), max: String(max), min: String(min), sum: String(sum) },
        ]);
        expect(Object.fromEntries(figures), `${days} days`).to.deep.equal(body.data["1"]);
      }
    });
  });
}

const core2 = loadCore2Chain();

for (const [name, load] of [
  ["core3-testnet-a", () => loadChain("core3-testnet-a")],
  ["core3-custom-c", () => loadChain("core3-custom-c")],
  ["core2-testnet", () => core2],
] as const) {
  describe(`the chain ${name}, against its own blocks`, () => {
    before(function () {
      if (load() === undefined) this.skip();
    });

    it("was forged by the delegates that the rules give, slot by slot", async function () {
      const chain = load();
      if (chain === undefined) return this.skip();
      const { milestones } = createChainRules(chain.network);
      const rounds = await roundsOfCore(chain);
      const orders = new Map([...rounds].map(([round, active]) => [round, forgingOrder(active, round)]));
      for (const { height, timestamp, generatorPublicKey } of chain.blocks.slice(1)) {
        const order = orders.get(roundOf(height, milestones).round) ?? [];
        const { slotOf, forgerOf } = slotsAt(height, milestones, (other) => chain.blocks[other - 1]?.timestamp ?? 0);
        expect(forgerOf(slotOf(timestamp), order)?.publicKey, `height ${height}`).to.equal(generatorPublicKey);
      }
    });

    it("creates tokens only by rewards: all balances and locked balances add up to them", async function () {
      const chain = load();
      if (chain === undefined) return this.skip();
      const snapshot = await snapshotOf(chain);
      const { rows } = await snapshot.wallets({ filter: {}, order: { field: "balance", direction: "desc" }, ...everything });
      const held = rows.reduce((sum, { balance, lockedBalance }) => sum + balance + lockedBalance, 0n);
      const rewards = chain.blocks.reduce((sum, { reward }) => sum + BigInt(String(reward)), 0n);
      expect(held).to.equal(rewards);
      const genesis = chain.blocks[0];
      expect(snapshot.supply).to.equal(BigInt(String(genesis?.totalAmount)) + rewards);
    });

    it("ranks delegates anew after genesis and after the last block of each round only", () => {
      const chain = load();
      if (chain === undefined) return;
      const { milestones } = createChainRules(chain.network);
      const ends = chain.blocks.map(({ height }) => height).filter((height) => endsRound(height, milestones));
      const size = milestones.at(1).activeDelegates;
      expect(ends).to.deep.equal([
        1,
        ...Array.from({ length: Math.floor(chain.blocks.length / size) }, (_, index) => (index + 1) * size),
      ]);
    });
  });
}
