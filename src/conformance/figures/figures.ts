import type { Delegate, Lock, RoundDelegate, Wallet } from "../../../types/chain.js";
import type { BlockData } from "../../../types/events.js";
import { labelled } from "../chain/drafts.js";
import type { Actor } from "../chain/actors.js";
import { fakeHash } from "../chain/fake-hash.js";

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
  given: Partial<DelegateFigures> & Pick<DelegateFigures, "username" | "rank" | "voteBalance" | "approval">,
): DelegateFigures => ({
  address,
  publicKey,
  producedBlocks: 0,
  missedBlocks: 0,
  forgedFees: 0n,
  forgedRewards: 0n,
  forgedTotal: 0n,
  last: null,
  resigned: false,
  ...given,
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
