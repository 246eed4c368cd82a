import type { Delegate, Lock, RoundDelegate, Wallet } from "../../../types/chain.js";
import type { BlockData } from "../../../types/events.js";
import { fakeHash, labelled } from "../chain/chain-maker.js";
import { type Actor, actors, secondKeys } from "../chain/actors.js";

/** The expected state of the suite's chain at one height, worked out from the rules without this project's code. */
export interface Figures {
  height: number;
  supply: bigint;
  wallets: WalletFigures[];
  delegates: DelegateFigures[];
  locks: Lock[];
  /** For each round from 1: the active delegates by rank, with the vote balances by which they were ranked. */
  rounds: (readonly [Actor, bigint])[][];
}

type WalletFigures = Pick<
  Wallet,
  "address" | "publicKey" | "secondPublicKey" | "balance" | "lockedBalance" | "nonce" | "vote" | "multiSignature"
>;

type DelegateFigures = Omit<Delegate, "lastBlock" | "vote" | "balance"> & {
  /** Height of the last block it forged. */
  last: number | null;
};

export const wallet = (
  { address, publicKey }: Actor,
  given: Partial<WalletFigures> & Pick<Wallet, "balance">,
): WalletFigures => ({
  address,
  publicKey,
  secondPublicKey: null,
  lockedBalance: 0n,
  nonce: 0n,
  vote: null,
  multiSignature: null,
  ...given,
});

export const delegate = (
  { address, publicKey }: Actor,
  given: Partial<Omit<DelegateFigures, "forgedTotal">> & Pick<DelegateFigures, "username" | "rank" | "voteBalance" | "approval">,
): DelegateFigures => ({
  address,
  publicKey,
  voters: 0,
  producedBlocks: 0,
  missedBlocks: 0,
  productivity: null,
  missedRounds: 0,
  forgedFees: 0n,
  forgedRewards: 0n,
  last: null,
  resigned: false,
  ...given,
  forgedTotal: (given.forgedFees ?? 0n) + (given.forgedRewards ?? 0n),
});

export const lock = (
  label: string,
  {
    sender,
    recipient,
    secret,
    ...rest
  }: Pick<Lock, "amount" | "timestamp" | "expiration" | "vendorField"> & { sender: Actor; recipient: Actor; secret: string },
): Lock => ({
  lockId: labelled(label),
  senderPublicKey: sender.publicKey,
  senderId: sender.address,
  recipientId: recipient.address,
  secretHash: fakeHash(secret, 64),
  ...rest,
});

/** The wallets, by address. */
export const walletsOf = ({ wallets, delegates }: Figures): Map<string, Wallet> => {
  const byAddress = new Map(delegates.map((row) => [row.address, row]));
  return new Map(
    wallets.map((row) => {
      const own = byAddress.get(row.address);
      return [
        row.address,
        {
          ...row,
          username: own?.username ?? null,
          isDelegate: own !== undefined,
          resigned: own?.resigned ?? false,
          voteBalance: own?.voteBalance ?? 0n,
          producedBlocks: own?.producedBlocks ?? 0,
          forgedFees: own?.forgedFees ?? 0n,
          forgedRewards: own?.forgedRewards ?? 0n,
          rank: own?.rank ?? null,
        },
      ];
    }),
  );
};

const member = <T>(value: T | undefined, what: string): T => {
  if (value === undefined) throw new Error(`the suite's figures lack ${what}`);
  return value;
};

/** The delegates, by username. `blocks`: the blocks of the chain that the figures describe. */
export const delegatesOf = (figures: Figures, blocks: readonly BlockData[]): Map<string, Delegate> => {
  const wallets = new Map(figures.wallets.map((row) => [row.address, row]));
  return new Map(
    figures.delegates.map(({ last, ...row }) => {
      const { vote, balance } = member(wallets.get(row.address), row.username);
      const block = last === null ? undefined : member(blocks[last - 1], `block ${last}`);
      return [
        row.username,
        {
          ...row,
          vote,
          balance,
          lastBlock: block === undefined ? null : { id: block.id, height: block.height, timestamp: block.timestamp },
        },
      ];
    }),
  );
};

export const roundOf = ({ rounds, delegates }: Figures, round: number): RoundDelegate[] | undefined =>
  rounds[round - 1]?.map(([{ publicKey }, voteBalance]) => ({
    publicKey,
    username: member(
      delegates.find((row) => row.publicKey === publicKey),
      publicKey,
    ).username,
    voteBalance,
  }));

const { origin, ada, bob, cyd, dan, eve, fay, gus, hal, ivy, joe, kim, mia, ned, pia, rae, sam, council, pair } = actors;

/** Those that both branches have at their ends. */
export const locksBeforeFork: Lock[] = [
  lock("sixth", {
    sender: joe,
    recipient: mia,
    amount: 777n,
    secret: "six",
    timestamp: 8192,
    expiration: { type: 1, value: 8240 },
  }),
  lock("seventh", {
    sender: dan,
    recipient: mia,
    amount: 777n,
    secret: "seven",
    timestamp: 8192,
    expiration: { type: 2, value: 30 },
  }),
  lock("eighth", {
    sender: ivy,
    recipient: ned,
    amount: 777n,
    secret: "seven",
    timestamp: 8192,
    expiration: { type: 1, value: 8249 },
    vendorField: "swap",
  }),
];

/** Of the first six rounds, which both branches have. */
export const roundsBeforeFork: Figures["rounds"] = [
  [
    [bob, 3_000_000_000_000_000_001n],
    [ada, 1_000_000_000_000_000_003n],
    [cyd, 900_000_000_000_000_000n],
    [dan, 800_000_000_000_000_000n],
    [eve, 700_000_000_000_000_000n],
  ],
  [
    [cyd, 3_881_985_513_350_518_008n],
    [bob, 2_999_999_980_009_997_001n],
    [eve, 1_300_000_003_000_000_000n],
    [ada, 1_000_000_000_000_000_003n],
    [dan, 800_000_000_130_000_000n],
  ],
  [
    [cyd, 3_881_985_513_527_061_226n],
    [dan, 3_300_000_000_453_456_786n],
    [ada, 2_999_999_980_189_997_002n],
    [bob, 999_999_990_220_001_002n],
    [eve, 599_999_997_400_000_000n],
  ],
  [
    [cyd, 3_881_985_113_716_061_223n],
    [dan, 3_300_000_000_673_456_786n],
    [ada, 2_999_999_673_879_997_002n],
    [bob, 999_999_990_521_001_005n],
  ],
  [
    [cyd, 3_881_985_113_580_604_488n],
    [dan, 3_300_000_001_096_913_576n],
    [ada, 2_999_999_684_269_996_883n],
    [bob, 999_999_981_143_001_007n],
  ],
  [
    [dan, 3_300_000_000_906_913_577n],
    [ada, 2_999_999_684_549_996_885n],
    [hal, 2_981_985_110_440_604_433n],
    [bob, 999_999_981_473_001_010n],
  ],
];

/** After the block that eve forges, resigned but still active in her round. There is no lock yet, nor anyone who appears later. */
export const atHeight12: Figures = {
  height: 12,
  supply: 12_500_000_001_400_000_001n,
  wallets: [
    wallet(origin, { balance: -12_500_000_000_000_000_001n, nonce: 9n }),
    wallet(ada, { balance: 1_000_000_004_040_000_002n, nonce: 3n, vote: ada.publicKey }),
    wallet(bob, { balance: 999_999_990_220_001_002n, nonce: 4n, vote: bob.publicKey }),
    wallet(cyd, { balance: 900_000_002_320_000_000n, nonce: 2n, vote: cyd.publicKey }),
    wallet(dan, { balance: 800_000_003_053_456_789n, nonce: 2n, vote: dan.publicKey }),
    wallet(eve, { balance: 700_000_004_410_000_000n, nonce: 4n }),
    wallet(fay, { balance: 599_999_997_400_000_000n, nonce: 3n, vote: eve.publicKey }),
    wallet(gus, { balance: 47_500_000_000n, nonce: 1n }),
    wallet(hal, { balance: 57_500_000_000n, nonce: 1n }),
    wallet(ivy, { balance: 1_999_999_969_849_997_000n, nonce: 6n, vote: ada.publicKey }),
    wallet(joe, { balance: 2_981_984_811_197_061_226n, nonce: 8n, vote: cyd.publicKey }),
    wallet(kim, { balance: 2_499_999_997_399_999_997n, nonce: 4n, vote: dan.publicKey, secondPublicKey: secondKeys.kim }),
    wallet(mia, { balance: 9_007_199_254_740_993n, publicKey: null }),
    wallet(ned, { balance: 9_007_199_254_740_992n, publicKey: null }),
    wallet(pia, { balance: 8_000_002_000n, nonce: 1n }),
    wallet(rae, { balance: 5_000_000_000n, publicKey: null }),
    wallet(sam, { balance: 5_000_000_000n, publicKey: null }),
    wallet(council, {
      balance: 700_000_000_000n,
      multiSignature: { min: 2, publicKeys: [ivy.publicKey, joe.publicKey, kim.publicKey] },
    }),
    wallet(pair, { balance: 0n, multiSignature: { min: 1, publicKeys: [ada.publicKey, bob.publicKey] } }),
  ],
  delegates: [
    delegate(ada, {
      username: "ada",
      rank: 3,
      voteBalance: 2_999_999_973_889_997_002n,
      voters: 2,
      approval: 24,
      producedBlocks: 2,
      productivity: 100,
      missedRounds: 1,
      forgedFees: 5_139_999_999n,
      forgedRewards: 400_000_000n,
      last: 11,
    }),
    delegate(bob, {
      username: "bob",
      rank: 4,
      voteBalance: 999_999_990_220_001_002n,
      voters: 1,
      approval: 8,
      producedBlocks: 2,
      missedBlocks: 1,
      productivity: 66.67,
      forgedFees: 40_001_001n,
      forgedRewards: 200_000_000n,
      last: 10,
    }),
    delegate(cyd, {
      username: "cyd",
      rank: 1,
      voteBalance: 3_881_984_813_517_061_226n,
      voters: 2,
      // 31.05588 %, cut to 31.055, which is a double below itself.
      approval: 31.05,
      producedBlocks: 2,
      missedBlocks: 1,
      productivity: 66.67,
      forgedFees: 2_120_000_000n,
      forgedRewards: 200_000_000n,
      last: 9,
    }),
    delegate(dan, {
      username: "dan",
      rank: 2,
      voteBalance: 3_300_000_000_453_456_786n,
      voters: 2,
      approval: 26.4,
      producedBlocks: 2,
      productivity: 100,
      forgedFees: 2_730_000_000n,
      forgedRewards: 200_000_000n,
      last: 7,
    }),
    delegate(eve, {
      username: "eve",
      rank: 5,
      voteBalance: 599_999_997_400_000_000n,
      voters: 1,
      approval: 4.8,
      producedBlocks: 3,
      productivity: 100,
      forgedFees: 6_610_000_000n,
      forgedRewards: 400_000_000n,
      last: 12,
      resigned: true,
    }),
    delegate(fay, { username: "fay", rank: null, voteBalance: 0n, approval: 0, resigned: true }),
    delegate(gus, { username: "gus.1", rank: 6, voteBalance: 0n, approval: 0 }),
    delegate(hal, { username: "hal_2", rank: null, voteBalance: 0n, approval: 0 }),
  ],
  locks: [],
  rounds: roundsBeforeFork.slice(0, 3),
};
