import { expect } from "chai";
import { applyBlock, type BlockChanges, emptyWallet } from "../../src/chain/blocks/apply.js";
import { createChainRules } from "../../src/chain/rules.js";
import {
  createChainMaker, type Draft, foreign, htlcClaim, htlcLock, htlcRefund, ipfs, labelled, milestones, multiPayment, multiSignature,
  networkOf, registration, resignation, secondSignature, timelock, transfer, vote,
} from "../../src/conformance/chain/chain-maker.js";
import { type Actor, actors, secondKeys } from "../../src/conformance/chain/actors.js";
import type { Lock } from "../../types/chain.js";
import type { TransactionType, WalletDraft } from "../../types/transaction-type.js";
import { refusalOf } from "./refusal.js";

const { ada, bob, cyd, dan, ivy, joe, kim, mia, council } = actors;

/** The state before the block: wallets by actor, and open locks. */
interface Before {
  wallets?: [Actor, Partial<WalletDraft>][];
  locks?: Lock[];
  types?: TransactionType[];
}

const before = ({ wallets = [], locks = [] }: Before) => {
  const drafts = new Map(
    wallets.map(([{ address, publicKey }, given]): [string, WalletDraft] => [
      address,
      { ...emptyWallet(address), publicKey, ...given },
    ]),
  );
  const open = new Map(locks.map((lock) => [lock.lockId, lock]));
  return { wallet: (address: string) => drafts.get(address), lock: (id: string) => open.get(id), drafts };
};

/** Applies one block with these transactions; dan generates it, with a reward of 0. */
const apply = (transactions: Draft[], given: Before = {}): BlockChanges & { after(actor: Actor): WalletDraft | undefined } => {
  const maker = createChainMaker(milestones);
  const genesis = maker.add({ generator: dan });
  const rules = createChainRules(networkOf(genesis), given.types);
  const changes = applyBlock(rules.parseBlock(maker.add({ generator: dan, transactions })), before(given), rules);
  return { ...changes, after: ({ address }) => changes.wallets.get(address)?.after };
};

/** The actors' wallets after a block, as far as they differ from an empty wallet. */
const outcome = (transactions: Draft[], given: Before = {}): Record<string, Partial<WalletDraft>> => {
  const { wallets } = apply(transactions, given);
  const nameOf = new Map<string, string>(Object.values(actors).map(({ name, address }) => [address, name]));
  return Object.fromEntries(
    [...wallets].map(([address, { after }]) => {
      const empty: Partial<WalletDraft> = emptyWallet(address);
      const told = Object.entries(after).filter(([key, value]) => value !== empty[key as keyof WalletDraft]);
      return [nameOf.get(address) ?? address, Object.fromEntries(told)];
    }),
  );
};

const rich: Before = { wallets: [[ada, { balance: 1_000n, nonce: 4n }]] };

/** The sender and the generator after a transaction that only costs a fee of 10. */
const feeOnly = (nonce: bigint) => ({
  ada: { publicKey: ada.publicKey, balance: 990n, nonce },
  dan: { publicKey: dan.publicKey, balance: 10n },
});

const both = [{ version: 1 }, { version: 2 }] as const;

const fee = { fee: 10n };

for (const { version } of both) {
  describe(`a transaction of version ${version}`, () => {
    const rest = { ...fee, version };
    /** The chain maker counts from 1; version 1 adds one to the previous nonce. */
    const nonce = version === 1 ? 5n : 1n;

    it("makes a transfer", () => {
      expect(outcome([transfer(ada, mia, 100n, rest)], rich)).to.deep.equal({
        ...feeOnly(nonce),
        ada: { publicKey: ada.publicKey, balance: 890n, nonce },
        mia: { balance: 100n },
      });
    });

    it("makes a transfer to its own sender, who only pays the fee", () => {
      expect(outcome([transfer(ada, ada, 100n, rest)], rich)).to.deep.equal(feeOnly(nonce));
    });

    it("creates the recipient of an amount of 0", () => {
      expect(outcome([transfer(ada, mia, 0n, rest)], rich)).to.deep.equal({ ...feeOnly(nonce), mia: {} });
    });

    it("sets a second public key", () => {
      expect(apply([secondSignature(ada, secondKeys.kim, rest)], rich).after(ada)).to.include({
        secondPublicKey: secondKeys.kim,
        balance: 990n,
      });
    });

    it("registers a delegate", () => {
      expect(apply([registration(ada, "ada", rest)], rich).after(ada)).to.include({
        username: "ada",
        balance: 990n,
        resigned: false,
      });
    });

    it("votes, unvotes, and switches in one transaction", () => {
      const votes = (items: Parameters<typeof vote>[1], from: string | null) =>
        apply([vote(ada, items, rest)], { wallets: [[ada, { balance: 1_000n, vote: from }]] }).after(ada)?.vote;
      expect(votes([["+", bob]], null)).to.equal(bob.publicKey);
      expect(votes([["-", bob]], bob.publicKey)).to.equal(null);
      expect(
        votes(
          [
            ["-", bob],
            ["+", cyd],
          ],
          bob.publicKey,
        ),
      ).to.equal(cyd.publicKey);
    });

    it("pays several recipients, including repeated ones and the sender", () => {
      const payments = [
        [mia, 100n],
        [ada, 50n],
        [mia, 7n],
        [joe, 1n],
      ] as const;
      expect(outcome([multiPayment(ada, payments, rest)], rich)).to.deep.equal({
        ...feeOnly(nonce),
        ada: { publicKey: ada.publicKey, balance: 1_000n - 10n - 108n, nonce },
        mia: { balance: 107n },
        joe: { balance: 1n },
      });
    });

    it("resigns a delegate", () => {
      const given: Before = { wallets: [[ada, { balance: 1_000n, username: "ada" }]] };
      expect(apply([resignation(ada, rest)], given).after(ada)).to.include({ resigned: true, username: "ada", balance: 990n });
    });

    it("only costs the fee if it is ipfs or of another group", () => {
      expect(outcome([ipfs(ada, "Qm", rest)], rich)).to.deep.equal(feeOnly(nonce));
      for (const type of [0, 3, 6, 7, 8, 99])
        expect(outcome([foreign(ada, type, rest)], rich), `type ${type}`).to.deep.equal(feeOnly(nonce));
    });
  });
}

describe("a transaction type that exists in one version", () => {
  it("locks nothing in version 1: timelock transfers are transfers", () => {
    expect(outcome([timelock(ada, mia, 100n, fee)], rich)).to.deep.include({ mia: { balance: 100n } });
  });

  it("creates no multisignature wallet in version 1", () => {
    expect(outcome([multiSignature(ada, 2, [ivy, joe, kim], { ...fee, version: 1 })], rich)).to.deep.equal(feeOnly(5n));
  });

  it("creates a multisignature wallet in version 2, whoever sends it", () => {
    const { after } = apply([multiSignature(ada, 2, [ivy, joe, kim], fee)], rich);
    expect(after(council)).to.deep.equal({
      ...emptyWallet(council.address),
      publicKey: council.publicKey,
      multiSignature: { min: 2, publicKeys: [ivy.publicKey, joe.publicKey, kim.publicKey] },
    });
    expect(after(ada)?.balance).to.equal(990n);
  });
});

describe("a nonce", () => {
  it("is set by version 2 and incremented by version 1", () => {
    const { after } = apply([transfer(ada, mia, 1n, fee), transfer(ada, mia, 1n, { ...fee, version: 1 })], rich);
    expect(after(ada)?.nonce).to.equal(2n);
    expect(apply([transfer(ada, mia, 1n, { ...fee, version: 1 })], rich).after(ada)?.nonce).to.equal(5n);
  });
});

describe("an HTLC lock", () => {
  const lock = { label: "lock", secret: "s", expiration: { type: 2, value: 50 } } as const;
  const opened: Lock = {
    lockId: labelled("lock"),
    senderPublicKey: ada.publicKey,
    senderId: ada.address,
    recipientId: mia.address,
    amount: 300n,
    secretHash: "5".repeat(64),
    timestamp: 8_000,
    expiration: { type: 2, value: 50 },
  };
  const open: Before = { wallets: [[ada, { balance: 1_000n, lockedBalance: 500n }]], locks: [opened] };

  it("moves the amount from the balance into the locked balance, and creates the recipient's wallet, still empty", () => {
    const { after, locks } = apply([htlcLock(ada, mia, 300n, lock, { ...fee, vendorField: "swap" })], rich);
    expect(after(ada)).to.include({ balance: 690n, lockedBalance: 300n });
    expect(after(mia)).to.deep.equal(emptyWallet(mia.address));
    const [change] = [...locks];
    expect(change?.[0]).to.equal(labelled("lock"));
    expect(change?.[1].before).to.equal(undefined);
    expect(change?.[1].after).to.deep.equal({ ...opened, secretHash: change?.[1].after?.secretHash, vendorField: "swap" });
  });

  it("pays the amount less the fee when its recipient claims it, which costs the claim's sender nothing", () => {
    const { after, locks } = apply([htlcClaim(mia, "lock", fee)], open);
    expect(after(mia)).to.include({ balance: 290n, nonce: 1n, publicKey: mia.publicKey });
    expect(after(ada)).to.include({ balance: 1_000n, lockedBalance: 200n });
    expect(after(dan)?.balance).to.equal(10n);
    expect(locks.get(labelled("lock"))).to.deep.equal({ before: opened, after: undefined });
  });

  it("pays its recipient even when a third party claims it", () => {
    const { after } = apply([htlcClaim(joe, "lock", fee)], open);
    expect(after(mia)).to.deep.equal({ ...emptyWallet(mia.address), balance: 290n });
    expect(after(joe)).to.include({ balance: 0n, nonce: 1n });
  });

  it("returns to its sender, less the fee, whoever refunds it", () => {
    for (const refunder of [ada, joe]) {
      const { after, locks } = apply([htlcRefund(refunder, "lock", fee)], open);
      expect(after(ada)).to.include({ balance: 1_290n, lockedBalance: 200n });
      expect(locks.get(labelled("lock"))?.after).to.equal(undefined);
    }
  });

  it("leaves nothing open when it is opened and claimed in one block", () => {
    const { after, locks } = apply([htlcLock(ada, mia, 300n, lock, fee), htlcClaim(mia, "lock", { fee: 0n })], rich);
    expect(after(ada)).to.include({ balance: 690n, lockedBalance: 0n });
    expect(after(mia)?.balance).to.equal(300n);
    expect(locks.get(labelled("lock"))).to.deep.equal({ before: undefined, after: undefined });
  });

  it("cannot be ended twice, nor if it never existed", () => {
    const twice = refusalOf(() => apply([htlcClaim(mia, "lock", fee), htlcRefund(ada, "lock", fee)], open));
    expect(twice).to.match(/^block 2: .*claims or refunds lock .*, which is not open$/);
    expect(refusalOf(() => apply([htlcClaim(mia, "no lock", fee)], open))).to.match(/which is not open$/);
  });
});

describe("a block", () => {
  it("pays its generator the reward and the fees after its transactions", () => {
    const maker = createChainMaker(milestones);
    const genesis = maker.add({ generator: dan });
    for (let height = 2; height < 6; height++) maker.add({ generator: dan });
    const rules = createChainRules(networkOf(genesis));
    const block = maker.add({ generator: dan, transactions: [transfer(dan, ada, 50n, fee), transfer(ada, dan, 20n, fee)] });
    const changes = applyBlock(rules.parseBlock(block), before({ wallets: [[dan, { balance: 100n }]] }), rules);
    expect(changes.wallets.get(dan.address)?.after.balance).to.equal(100n - 60n + 20n + 200_000_000n + 20n);
    expect(changes.wallets.get(ada.address)?.after.balance).to.equal(20n);
  });

  it("applies its transactions in order: a vote moves with the voter's final balance", () => {
    const given: Before = { wallets: [[ada, { balance: 1_000n, vote: bob.publicKey }]] };
    const { votes } = apply([transfer(ada, mia, 100n, fee), vote(ada, [["-", bob]], fee), vote(ada, [["+", cyd]], fee)], given);
    expect(votes).to.deep.equal(
      new Map([
        [bob.publicKey, -1_000n],
        [cyd.publicKey, 870n],
      ]),
    );
  });

  it("changes vote balances by what it did to each voter, including locked amounts, and lists only delegates that changed", () => {
    const lock = { label: "lock", secret: "s", expiration: { type: 2, value: 50 } } as const;
    const wallets: Before["wallets"] = [
      [ada, { balance: 1_000n, vote: bob.publicKey }],
      [joe, { balance: 0n, vote: bob.publicKey }],
      [kim, { balance: 500n, vote: cyd.publicKey }],
      [dan, { balance: 5n, vote: dan.publicKey }],
    ];
    const { votes } = apply([transfer(ada, joe, 100n, fee), htlcLock(kim, mia, 100n, lock, { fee: 0n })], { wallets });
    expect(votes).to.deep.equal(
      new Map([
        [bob.publicKey, -10n],
        [dan.publicKey, 10n],
      ]),
    );
  });

  it("leaves the previous state unchanged", () => {
    const given = before({ wallets: [[ada, { balance: 1_000n, multiSignature: { min: 1, publicKeys: ["x"] } }]] });
    const copy = structuredClone([...given.drafts]);
    const maker = createChainMaker(milestones);
    const rules = createChainRules(networkOf(maker.add({ generator: dan })));
    const changes = applyBlock(
      rules.parseBlock(maker.add({ generator: dan, transactions: [transfer(ada, mia, 1n)] })),
      given,
      rules,
    );
    expect([...given.drafts]).to.deep.equal(copy);
    expect(changes.wallets.get(ada.address)?.before).to.equal(given.drafts.get(ada.address));
    expect(changes.wallets.get(mia.address)?.before).to.equal(undefined);
  });

  it("is refused with the name of the part that a transaction's asset lacks", () => {
    const bare = (draft: Draft, asset?: object): Draft => ({ ...draft, ...(asset === undefined ? { asset: {} } : { asset }) });
    const lock = htlcLock(ada, mia, 1n, { label: "l", secret: "s", expiration: { type: 1, value: 1 } });
    for (const [draft, message] of [
      [bare(secondSignature(ada, secondKeys.kim)), /^block 2: transaction [0-9a-f]{64} has no asset.signature$/],
      [bare(registration(ada, "ada")), /has no asset.delegate$/],
      [bare(registration(ada, "ada"), { delegate: {} }), /asset.delegate of transaction [0-9a-f]{64} is incomplete or malformed$/],
      [bare(vote(ada, [])), /has no asset.votes$/],
      [bare(vote(ada, []), { votes: "+x" }), /has no asset.votes$/],
      [bare(vote(ada, []), { votes: [null] }), /asset.votes .* is incomplete or malformed$/],
      [bare(multiSignature(ada, 1, [bob])), /has no asset.multiSignature$/],
      [bare(multiSignature(ada, 1, [bob]), { multiSignature: { min: 1 } }), /asset.multiSignature .* is incomplete or malformed$/],
      [bare(multiSignature(ada, 1, [bob]), { multiSignature: { min: 1, publicKeys: ["02ff"] } }), /^block 2: /],
      [bare(multiPayment(ada, [])), /has no asset.payments$/],
      [bare(multiPayment(ada, []), { payments: [{ amount: "1" }] }), /asset.payments .* is incomplete or malformed$/],
      [bare(multiPayment(ada, []), { payments: [null] }), /asset.payments .* is incomplete or malformed$/],
      [bare(lock), /has no asset.lock$/],
      [bare(lock, { lock: { secretHash: "5" } }), /asset.lock .* is incomplete or malformed$/],
      [bare(htlcClaim(ada, "l")), /has no asset.claim$/],
      [bare(htlcRefund(ada, "l"), { refund: {} }), /asset.refund .* is incomplete or malformed$/],
    ] as const) {
      expect(refusalOf(() => apply([draft], rich))).to.match(message);
    }
  });
});

describe("a fork's transaction types", () => {
  const burn: TransactionType = {
    typeGroup: 2,
    type: 0,
    key: "burn",
    name: "Burn",
    senderPays: false,
    apply: ({ senderId, fee: burnt }, ledger) => {
      ledger.wallet(senderId).balance -= 2n * burnt;
    },
    recipients: () => [mia.address, mia.address, ada.address],
  };

  it("do what the fork defines", () => {
    expect(apply([foreign(ada, 0, fee)], { ...rich, types: [burn] }).after(ada)?.balance).to.equal(980n);
  });

  it("may replace the core's, for one version or for all", () => {
    const gift = (versions?: number[]): TransactionType => ({
      typeGroup: 1,
      type: 0,
      key: "transfer",
      name: "Transfer",
      ...(versions === undefined ? {} : { versions }),
      senderPays: false,
    });
    const balanceOf = (version: 1 | 2, types: TransactionType[]) =>
      apply([transfer(ada, mia, 100n, { ...fee, version })], { ...rich, types }).after(ada)?.balance;
    expect(both.map(({ version }) => balanceOf(version, [gift()]))).to.deep.equal([1_000n, 1_000n]);
    expect(both.map(({ version }) => balanceOf(version, [gift([2])]))).to.deep.equal([890n, 1_000n]);
  });

  it("make the block invalid when they fail, with their own reason", () => {
    const failing: TransactionType = {
      ...burn,
      apply: () => {
        throw new Error("no fuel");
      },
    };
    expect(refusalOf(() => apply([foreign(ada, 0, fee)], { ...rich, types: [failing] }))).to.match(/^block 2: transaction [0-9a-f]{64}: no fuel$/);
  });

  it("make the block invalid when they do not keep to the contract", () => {
    const refusalBy = (change: (wallet: WalletDraft) => unknown): string => {
      const wrong: TransactionType = { ...burn, apply: ({ senderId }, ledger) => change(ledger.wallet(senderId)) as undefined };
      return refusalOf(() => apply([foreign(ada, 0, fee)], { ...rich, types: [wrong] }));
    };
    const unsound: [string, unknown, string][] = [
      ["balance", 5, "number, not a bigint"],
      ["nonce", undefined, "undefined, not a bigint"],
      ["vote", undefined, "undefined, not a string or null"],
      ["multiSignature", "1/2", "string, not an object or null"],
      ["resigned", 1, "number, not true or false"],
    ];
    for (const [name, value, told] of unsound) {
      const refusal = refusalBy((wallet) => void Object.assign(wallet, { [name]: value }));
      expect(refusal).to.match(/^block 2: transaction [0-9a-f]{64}: /);
      expect(refusal).to.contain(`: after \`apply\` of burn, \`${name}\` of wallet ${ada.address} is ${told}`);
    }
    expect(refusalBy(() => Promise.resolve())).to.match(/`apply` of burn returned a promise, but its effects must be complete when it returns$/);
    const lost: TransactionType = { ...burn, apply: ({ recipientId }, ledger) => void ledger.wallet(recipientId ?? "") };
    expect(refusalOf(() => apply([foreign(ada, 0, fee)], { ...rich, types: [lost] }))).to.match(/a wallet is asked for without its address$/);
  });
});
