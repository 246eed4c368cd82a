import type { ChainCrypto } from "../../../examples/standalone/chain/crypto.js";
import type { TransactionData } from "../../../types/events.js";
import { createAccounts, sha256 } from "./accounts.js";

/** The transactions of one chapter are forged before the next is sent. */
export interface Chapter {
  title: string;
  /** The height that the chain must have reached. */
  notBefore?(): number;
  transactions(tipHeight: number): TransactionData[];
}

export interface Story {
  chapters: Chapter[];
  /** A delegate that registers, is voted into the round, and forges. */
  newDelegate: { passphrase: string; publicKey: string };
  /** A delegate with 0.0150005 % of the supply: half up, that would be an approval of 0.02. */
  quietDelegate: { username: string; approval: number };
  /** A transaction that every pool refuses. */
  refused: TransactionData;
}

const token = 100_000_000n;
const unlockSecret = "5".repeat(64);
const passphrase = "the delegate that comes later";
/** Of a supply of 125 million tokens; the rewards of the story's blocks change it by less than a millionth. */
const quietVotes = 18_750_60000000n;

/** What happens on the chain: every transaction type. The money comes from genesis delegates, whose passphrases are `secrets`. */
export const tellStory = (crypto: ChainCrypto, secrets: string[]): Story => {
  const accounts = createAccounts(crypto);
  // Each has registered and voted for itself in the genesis block.
  const delegate = (index: number) => accounts.account(secrets[index] ?? "", 2n);
  const [treasury, switching, locking, resigning, supporter] = [delegate(0), delegate(1), delegate(2), delegate(30), delegate(4)];
  const [alice, bob, carol, dave, erin] = [
    accounts.account("alice"),
    accounts.account("bob"),
    accounts.account("carol"),
    accounts.account("dave"),
    accounts.account("erin"),
  ];
  const late = accounts.account(passphrase);
  const quiet = accounts.account("the delegate that never forges");
  const group = accounts.group([dave, erin]);
  const careful = accounts.withSecond(alice, "alice, too");

  const pay = (from: typeof treasury, to: string, tokens: bigint, vendorField?: string): TransactionData =>
    from.sign("transfer", { type: 0, amount: tokens * token, recipientId: to, ...(vendorField === undefined ? {} : { vendorField }) });
  const { delegateRegistration = 0, vote: voteFee = 0 } = crypto.constantsAt(2).fees.staticFees;
  const vote = (from: typeof treasury, ...votes: string[]): TransactionData => from.sign("vote", { type: 3, asset: { votes } });
  const lock = (to: string, tokens: bigint, expiration: { type: number; value: number }): TransactionData =>
    locking.sign("htlcLock", {
      type: 8,
      amount: tokens * token,
      recipientId: to,
      asset: { lock: { secretHash: sha256(unlockSecret), expiration } },
    });

  let [claimed, refunded, lapse] = ["", "", 0];

  return {
    newDelegate: { passphrase, publicKey: late.publicKey },
    quietDelegate: { username: "quiet_bird", approval: 0.01 },
    refused: pay(accounts.account("nobody who has anything"), bob.address, 1n),
    chapters: [
      {
        title: "money",
        // Version 2 must already be valid.
        notBefore: () => 2,
        transactions: () => [
          pay(treasury, alice.address, 1000n, "für Alice ☕"),
          treasury.sign("multiPayment", {
            type: 6,
            asset: {
              payments: [
                { recipientId: bob.address, amount: String(100n * token) },
                { recipientId: carol.address, amount: String(50n * token) },
                { recipientId: carol.address, amount: String(60n * token + 1n) },
                { recipientId: treasury.address, amount: String(5n * token) },
              ],
            },
          }),
          pay(treasury, dave.address, 1000n),
          pay(treasury, erin.address, 1000n),
          pay(treasury, late.address, 5000n),
          treasury.sign("transfer", { type: 0, amount: quietVotes + BigInt(delegateRegistration) + BigInt(voteFee), recipientId: quiet.address }),
          // So that its vote weighs more than those of other genesis delegates for themselves.
          pay(treasury, supporter.address, 100n),
        ],
      },
      {
        title: "registrations, votes and locks",
        transactions: (tipHeight) => {
          lapse = tipHeight + 5;
          const kept = lock(alice.address, 10n, { type: 2, value: tipHeight + 1000 });
          const lapsing = lock(bob.address, 20n, { type: 2, value: lapse });
          [claimed, refunded] = [kept.id, lapsing.id];
          return [
            alice.sign("secondSignature", { type: 1, asset: { signature: { publicKey: accounts.secondKey("alice, too") } } }),
            quiet.sign("delegateRegistration", { type: 2, asset: { delegate: { username: "quiet_bird" } } }),
            late.sign("delegateRegistration", { type: 2, asset: { delegate: { username: "late_bird" } } }),
            dave.sign("multiSignature", { type: 4, asset: { multiSignature: group.asset } }),
            erin.sign("ipfs", { type: 5, asset: { ipfs: "QmR45FmbVVrixReBwJkhEKde2qwHYaQzGxu4ZoDeswuF9w" } }),
            vote(switching, `-${switching.publicKey}`, `+${treasury.publicKey}`),
            vote(carol, `+${treasury.publicKey}`),
            kept,
            lapsing,
            lock(carol.address, 30n, { type: 2, value: tipHeight + 2000 }),
          ];
        },
      },
      {
        title: "what follows from them",
        transactions: () => [
          pay(careful, crypto.addressOf(crypto.keysOf("a stranger").publicKey), 7n),
          careful.sign("htlcClaim", { type: 9, asset: { claim: { lockTransactionId: claimed, unlockSecret } } }),
          vote(supporter, `-${supporter.publicKey}`, `+${late.publicKey}`),
          vote(quiet, `+${quiet.publicKey}`),
          pay(dave, group.address, 50n),
          resigning.sign("delegateResignation", { type: 7 }),
          vote(carol, `-${treasury.publicKey}`),
        ],
      },
      {
        title: "the end of a lock",
        notBefore: () => lapse,
        transactions: () => [
          pay(group, bob.address, 3n, "from both of us"),
          locking.sign("htlcRefund", { type: 10, asset: { refund: { lockTransactionId: refunded } } }),
          pay(late, alice.address, 1n),
        ],
      },
    ],
  };
};
