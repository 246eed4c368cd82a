import { createHash } from "node:crypto";
import { expect } from "chai";
import type { TransactionData } from "../../types/events.js";
import type { PoolResult } from "../../types/node-context.js";
import type { Actor } from "../../examples/standalone/chain/cast.js";
import { blockData, idOf, type Order, type SignedTransaction, transactionData } from "../../examples/standalone/chain/crypto.js";
import { token } from "../../examples/standalone/chain/genesis.js";
import { createHostEvents } from "../../examples/standalone/chain/host-events.js";
import { createLedger } from "../../examples/standalone/chain/ledger.js";
import { createPool, type Pool } from "../../examples/standalone/chain/pool.js";
import { createLocalChain, type LocalChain } from "./local-chain.js";

describe("the standalone host's pool", () => {
  let chain: LocalChain;
  let pool: Pool;
  let told: [event: string, payload: unknown][];
  let ann: Actor;
  let bob: Actor;
  let stranger: Actor;

  beforeEach(async () => {
    chain = createLocalChain();
    // Empty blocks, so that the persons' wallets are as genesis left them.
    const maker = chain.createMaker();
    for (let count = 0; count < 2; count++) {
      const state = await chain.snapshot();
      const turn = await maker.turn(state, 300_000_000, true);
      if (turn === undefined) throw new Error("no turn");
      chain.adapter.apply(blockData(chain.crypto.forge({ tip: state.tip, timestamp: turn.timestamp, transactions: [], keys: turn.keys })));
    }
    told = [];
    const events = createHostEvents();
    for (const name of ["added", "rejected", "removed"]) events.on(`transaction.pool.${name}`, (payload) => void told.push([name, payload]));
    events.on("transaction.expired", (payload) => void told.push(["expired", payload]));
    pool = createPool({ crypto: chain.crypto, chain: chain.adapter, events }, { size: 12, perSender: 4 });
    ann = chain.cast.person(0);
    bob = chain.cast.person(1);
    stranger = chain.cast.person(500);
  });

  const order = (sender: Actor, wanted: Partial<Order> & { seconds?: Actor }): SignedTransaction => {
    const { seconds, ...rest } = wanted;
    return chain.crypto.sign(
      { type: 0, nonce: 1n, fee: 10_000_000n, ...(rest.type === undefined || rest.type === 0 ? { amount: token, recipientId: bob.address } : {}), ...rest },
      { senderPublicKey: sender.keys.publicKey, keys: sender.keys, ...(seconds === undefined ? {} : { secondKeys: chain.cast.secondKeys(seconds) }) },
      3,
    );
  };
  const submit = (...transactions: SignedTransaction[]): Promise<PoolResult> => Promise.resolve(pool.submit(transactions.map(transactionData)));

  /** Forges a block of whatever the pool offers, without other transactions. */
  const forge = async (): Promise<string[]> => {
    const state = await chain.snapshot();
    const maker = chain.createMaker();
    const turn = await maker.turn(state, 300_000_000, true);
    if (turn === undefined) throw new Error("no turn");
    const transactions = await pool.offer(createLedger(chain.crypto, state), 150);
    const block = chain.crypto.forge({ tip: state.tip, timestamp: turn.timestamp, transactions, keys: turn.keys });
    chain.adapter.apply(blockData(block));
    await pool.settle(block);
    return transactions.map(idOf);
  };

  const expectRefused = async (data: TransactionData, type: string, message: string | RegExp): Promise<void> => {
    const before = pool.list();
    const result = await pool.submit([data]);
    const id = typeof data.id === "string" ? data.id : "0";
    expect(result.accept).to.deep.equal([]);
    expect(result.broadcast).to.deep.equal([]);
    expect(result.invalid).to.deep.equal([id]);
    const [error, ...more] = result.errors?.[id] ?? [];
    expect(more).to.deep.equal([]);
    expect(error?.type).to.equal(type);
    if (typeof message === "string") expect(error?.message).to.equal(message);
    else expect(error?.message).to.match(message);
    expect(pool.list()).to.deep.equal(before);
  };

  it("accepts valid transactions, lists them in order, and offers them for forging", async () => {
    const first = order(ann, {});
    const second = order(ann, { nonce: 2n, vendorField: "again" });
    expect(await submit(first, second)).to.deep.equal({ accept: [idOf(first), idOf(second)], broadcast: [idOf(first), idOf(second)], excess: [], invalid: [] });
    expect(pool.list()).to.deep.equal([transactionData(first), transactionData(second)]);
    expect(pool.get(idOf(second))).to.deep.equal(transactionData(second));
    expect(told).to.deep.equal([["added", [transactionData(first), transactionData(second)]]]);

    expect(await forge()).to.deep.equal([idOf(first), idOf(second)]);
    expect(pool.list()).to.deep.equal([]);
    expect(pool.get(idOf(second))).to.equal(undefined);
    expect(told.slice(1)).to.deep.equal([
      ["removed", idOf(first)],
      ["removed", idOf(second)],
    ]);
    const stored = await (await chain.snapshot()).transaction(idOf(second));
    expect(stored?.vendorField).to.equal("again");
  });

  it("accepts the valid transactions of a request, and reports each invalid one under its id", async () => {
    const good = order(ann, {});
    const bad = { ...transactionData(order(bob, {})), amount: "5" };
    const result = await pool.submit([bad, transactionData(good)]);
    expect(result.accept).to.deep.equal([idOf(good)]);
    expect(result.invalid).to.deep.equal([bad.id]);
    expect(Object.keys(result.errors ?? {})).to.deep.equal([bad.id]);
    expect(told).to.deep.equal([
      ["added", [transactionData(good)]],
      ["rejected", [bad]],
    ]);
  });

  it("accepts amounts as numbers too, as older clients send them", async () => {
    const data = transactionData(order(ann, {}));
    const result = await pool.submit([{ ...data, amount: Number(data.amount), fee: Number(data.fee) }]);
    expect(result.accept).to.deep.equal([data.id]);
  });

  it("handles two requests one after the other", async () => {
    const first = order(ann, {});
    const rival = order(ann, { amount: 2n * token });
    const [one, other] = await Promise.all([submit(first), submit(rival)]);
    expect(one.accept).to.deep.equal([idOf(first)]);
    expect(other.errors?.[idOf(rival)]?.[0]?.type).to.equal("ERR_APPLY");
  });

  describe("refuses, under the predecessor's error types,", () => {
    it("ERR_BAD_DATA: malformed data", async () => {
      await expectRefused({ id: "x" } as TransactionData, "ERR_BAD_DATA", /./);
      await expectRefused("x" as unknown as TransactionData, "ERR_BAD_DATA", "A transaction must be an object.");
      await expectRefused({ ...transactionData(order(ann, {})), type: 99 }, "ERR_BAD_DATA", /99/);
      await expectRefused({ ...transactionData(order(ann, {})), amount: "1.5" }, "ERR_BAD_DATA", "Its amount must be a whole number.");
      await expectRefused({ ...transactionData(order(ann, {})), nonce: undefined }, "ERR_BAD_DATA", "Its nonce is missing.");
      const { payments, ...rest } = { ...transactionData(order(ann, {})), payments: [{ amount: "x", recipientId: 5 }] };
      await expectRefused({ ...rest, type: 6, asset: { payments } }, "ERR_BAD_DATA", /^(?!.*BigInt)./);
    });

    it("ERR_BAD_DATA: an altered transaction", async () => {
      const data = transactionData(order(ann, {}));
      const changed = { ...data, amount: "5" };
      await expectRefused({ ...changed, id: idOf(chain.crypto.parse(changed, 3)) }, "ERR_BAD_DATA", "Its signature is not valid.");
      await expectRefused({ ...data, amount: "5" }, "ERR_BAD_DATA", /^Its id is [0-9a-f]{64}, not [0-9a-f]{64}\.$/);
    });

    it("ERR_BAD_DATA: version 1, which is no longer valid", async () => {
      const data = chain.crypto.signGenesis({ type: 0, fee: 10_000_000n, amount: token, recipientId: bob.address }, ann.keys);
      await expectRefused({ ...data, version: 1 }, "ERR_BAD_DATA", /./);
    });

    it("ERR_BAD_DATA: another network's recipient", async () => {
      const foreign = { ...transactionData(order(ann, {})), recipientId: "AJPicaX6vmokoK3x8abBMDpi8GMPc7rLiW" };
      await expectRefused(foreign, "ERR_BAD_DATA", /network byte 48, but got 23/);
    });

    it("ERR_WRONG_NETWORK", async () => {
      await expectRefused({ ...transactionData(order(ann, {})), network: 23 }, "ERR_WRONG_NETWORK", "Its network is 23; this node's is 48.");
    });

    it("ERR_DUPLICATE: a transaction already in the pool or in the same request", async () => {
      const transaction = order(ann, {});
      const result = await submit(transaction, transaction);
      expect(result.accept).to.deep.equal([idOf(transaction)]);
      expect(result.errors?.[idOf(transaction)]?.[0]?.type).to.equal("ERR_DUPLICATE");
      await expectRefused(transactionData(transaction), "ERR_DUPLICATE", `Transaction ${idOf(transaction)} is already in the pool.`);
    });

    it("ERR_FORGED", async () => {
      const transaction = order(ann, {});
      await submit(transaction);
      await forge();
      await expectRefused(transactionData(transaction), "ERR_FORGED", "It has already been forged.");
    });

    it("ERR_LOW_FEE", async () => {
      const bytes = order(ann, { fee: 1n }).serialized.length;
      await expectRefused(transactionData(order(ann, { fee: BigInt((bytes + 100) * 3_000 - 1) })), "ERR_LOW_FEE", `Its fee is below this pool's minimum, ${(bytes + 100) * 3_000}.`);
      expect((await submit(order(ann, { fee: BigInt((bytes + 100) * 3_000) }))).invalid).to.deep.equal([]);
    });

    it("ERR_EXPIRED", async () => {
      await expectRefused(transactionData(order(ann, { expiration: 4 })), "ERR_EXPIRED", "It expired at height 4.");
      expect((await submit(order(ann, { expiration: 5 }))).invalid).to.deep.equal([]);
    });

    it("ERR_EXCEEDS_MAX_COUNT: more transactions than a sender may have, reported as excess too", async () => {
      const all = [1n, 2n, 3n, 4n, 5n].map((nonce) => order(ann, { nonce }));
      const last = String(all[4]?.id);
      const result = await submit(...all);
      expect(result.accept).to.have.length(4);
      expect(result.excess).to.deep.equal([last]);
      expect(result.invalid).to.deep.equal([last]);
      expect(result.errors?.[last]?.[0]).to.deep.equal({ type: "ERR_EXCEEDS_MAX_COUNT", message: "The sender has 4 transactions waiting, the most allowed." });
    });

    it("ERR_POOL_FULL", async () => {
      for (const number of [2, 3, 4]) await submit(...[1n, 2n, 3n, 4n].map((nonce) => order(chain.cast.person(number), { nonce })));
      await expectRefused(transactionData(order(ann, {})), "ERR_POOL_FULL", "The pool is full: it holds 12 transactions.");
    });

    it("ERR_PENDING: what may only be pending once", async () => {
      const { publicKey } = chain.cast.secondKeys(ann);
      await submit(order(ann, { type: 1, fee: 5n * token, asset: { signature: { publicKey } } }), order(bob, { type: 2, fee: 25n * token, asset: { delegate: { username: "bob" } } }));
      await expectRefused(transactionData(order(ann, { type: 1, nonce: 2n, fee: 5n * token, asset: { signature: { publicKey } } })), "ERR_PENDING", "The sender has a transaction of type 1 waiting.");
      await expectRefused(transactionData(order(ann, { type: 2, nonce: 2n, fee: 25n * token, asset: { delegate: { username: "bob" } } })), "ERR_PENDING", "A registration of bob is waiting.");
    });

    const apply = (name: string, make: () => SignedTransaction | Promise<SignedTransaction>, message: string | RegExp): void => {
      it(`ERR_APPLY: ${name}`, async () => {
        await expectRefused(transactionData(await make()), "ERR_APPLY", message);
      });
    };
    const genesisDelegate = () => chain.cast.delegate(7);
    const voteFor = (actor: Actor, sign = "+") => `${sign}${actor.keys.publicKey}`;
    const applied = async (...transactions: SignedTransaction[]): Promise<void> => {
      const { errors } = await submit(...transactions);
      expect(errors).to.equal(undefined);
      await forge();
    };

    apply("a used nonce", () => order(genesisDelegate(), { nonce: 1n }), "Nonce 1 is not the sender's next one, 3.");
    apply("a skipped nonce", () => order(ann, { nonce: 3n }), "Nonce 3 is not the sender's next one, 1.");
    apply("more than the balance", () => order(ann, { amount: 50_000n * token }), "The sender's balance of 5000000000000 does not cover 5000010000000.");
    apply("more than pending transactions leave of it", async () => {
      await submit(order(ann, { amount: 30_000n * token }));
      return order(ann, { nonce: 2n, amount: 30_000n * token });
    }, /^The sender's balance of 1999990000000 does not cover/);
    apply("payments beyond the balance", () => order(ann, { type: 6, asset: { payments: [1, 2].map(() => ({ amount: String(30_000n * token), recipientId: bob.address })) } }), /does not cover/);
    apply("an unknown sender", () => order(stranger, {}), "The sender's balance of 0 does not cover 110000000.");
    apply("a missing second signature", async () => {
      await applied(order(ann, { type: 1, fee: 5n * token, asset: { signature: { publicKey: chain.cast.secondKeys(ann).publicKey } } }));
      return order(ann, { nonce: 2n });
    }, "Its second signature is missing or not valid.");
    apply("a second signature by another key", async () => {
      await applied(order(ann, { type: 1, fee: 5n * token, asset: { signature: { publicKey: chain.cast.secondKeys(ann).publicKey } } }));
      return order(ann, { nonce: 2n, seconds: bob });
    }, "Its second signature is missing or not valid.");
    apply("a second signature for a wallet without one", () => order(ann, { seconds: ann }), "The sender's wallet has no second signature.");
    apply("a username that is taken", () => order(ann, { type: 2, fee: 25n * token, asset: { delegate: { username: "genesis_7" } } }), "The username genesis_7 is taken.");
    apply("a delegate that registers again", () => order(genesisDelegate(), { type: 2, nonce: 3n, fee: 25n * token, asset: { delegate: { username: "seven" } } }), "The sender is already delegate genesis_7.");
    apply("a vote for an unknown delegate", () => order(ann, { type: 3, fee: token, asset: { votes: [voteFor(bob)] } }), /^There is no delegate 0/);
    apply("an unvote without a vote", () => order(ann, { type: 3, fee: token, asset: { votes: [voteFor(genesisDelegate(), "-")] } }), /^The sender does not vote for 0/);
    apply("a second vote", () => order(genesisDelegate(), { type: 3, nonce: 3n, fee: token, asset: { votes: [voteFor(chain.cast.delegate(8))] } }), "The sender already votes for a delegate; it must unvote first.");
    apply("a vote for a resigned delegate", async () => {
      await applied(order(ann, { type: 2, fee: 25n * token, asset: { delegate: { username: "ann" } } }));
      // Up to the end of the round: only then are there more delegates than active ones.
      while ((await chain.snapshot()).tip.height < 51) await forge();
      await applied(order(ann, { type: 7, nonce: 2n, fee: 25n * token }));
      return order(bob, { type: 3, fee: token, asset: { votes: [voteFor(ann)] } });
    }, "Delegate ann has resigned.");
    apply("a resignation of a wallet that is not a delegate", () => order(ann, { type: 7, fee: 25n * token }), "The sender is not a delegate.");
    apply("a resignation that leaves too few", () => order(genesisDelegate(), { type: 7, nonce: 3n, fee: 25n * token }), "Too few delegates would be left.");

    const secret = "ab".repeat(32);
    const lock = (value: number) =>
      order(ann, { type: 8, amount: token, recipientId: bob.address, asset: { lock: { secretHash: createHash("sha256").update(Buffer.from(secret, "hex")).digest("hex"), expiration: { type: 2, value } } } });
    const claim = (id: string, unlockSecret = secret) => order(bob, { type: 9, fee: 0n, asset: { claim: { lockTransactionId: id, unlockSecret } } });
    const refund = (id: string) => order(bob, { type: 10, fee: 0n, asset: { refund: { lockTransactionId: id } } });

    apply("an expired lock", () => lock(3), "The lock would expire before it is forged.");
    apply("a claim of an unknown lock", () => claim("00".repeat(32)), "There is no such open lock.");
    apply("a claim with a wrong secret", async () => {
      await applied(lock(50));
      return claim(await lastId(), "cd".repeat(32));
    }, "The secret does not open the lock.");
    apply("a claim after expiry", async () => {
      await applied(lock(4));
      return claim(await lastId());
    }, "The lock has expired: it can only be refunded.");
    apply("a refund before expiry", async () => {
      await applied(lock(50));
      return refund(await lastId());
    }, "The lock has not expired yet.");
    apply("a claim of a claimed lock", async () => {
      await applied(lock(50));
      const id = await lastId();
      await applied(claim(id));
      return order(ann, { type: 9, nonce: 2n, fee: 0n, asset: { claim: { lockTransactionId: id, unlockSecret: secret } } });
    }, "There is no such open lock.");

    const lastId = async (): Promise<string> => {
      const { rows } = await (await chain.snapshot()).transactions({ filter: { type: 8 }, order: { field: "timestamp", direction: "desc" }, offset: 0, limit: 1 });
      return String(rows[0]?.id);
    };
  });

  it("supports multisignature wallets: all participants register one, enough of them spend from it", async () => {
    const group = chain.cast.group(0);
    const everyone = group.members.map(({ keys }, index) => ({ index, keys }));
    const found = { type: 4, nonce: 1n, fee: 20n * token, asset: { multiSignature: group.asset } };
    const byTwo = chain.crypto.sign(found, { senderPublicKey: ann.keys.publicKey, keys: ann.keys, participants: everyone.slice(0, 2) }, 3);
    await expectRefused(transactionData(byTwo), "ERR_APPLY", "Every participant must sign.");
    const founded = chain.crypto.sign(found, { senderPublicKey: ann.keys.publicKey, keys: ann.keys, participants: everyone }, 3);
    const paidIn = order(ann, { nonce: 2n, amount: 10n * token, recipientId: group.address });
    expect((await submit(founded, paidIn)).invalid).to.deep.equal([]);
    await forge();

    const spend = (participants: typeof everyone, nonce = 1n) =>
      chain.crypto.sign({ type: 0, nonce, fee: 10_000_000n, amount: token, recipientId: bob.address }, { senderPublicKey: group.publicKey, participants }, 4);
    await expectRefused(transactionData(spend(everyone.slice(0, 1))), "ERR_APPLY", "The sender's wallet needs 2 valid signatures of its participants.");
    const spent = spend(everyone.slice(1));
    expect((await submit(spent)).accept).to.deep.equal([idOf(spent)]);
    expect(await forge()).to.deep.equal([idOf(spent)]);
    expect((await (await chain.snapshot()).wallet(group.address))?.balance).to.equal(10n * token - token - 10_000_000n);
  });

  it("drops transactions that a block made impossible, and reports it", async () => {
    const waiting = order(ann, {});
    await submit(waiting);
    const state = await chain.snapshot();
    const turn = await chain.createMaker().turn(state, 300_000_000, true);
    if (turn === undefined) throw new Error("no turn");
    const rival = order(ann, { amount: 7n * token });
    const block = chain.crypto.forge({ tip: state.tip, timestamp: turn.timestamp, transactions: [rival], keys: turn.keys });
    chain.adapter.apply(blockData(block));
    await pool.settle(block);
    expect(pool.list()).to.deep.equal([]);
    expect(told.at(-1)).to.deep.equal(["removed", idOf(waiting)]);
  });

  it("reports a transaction that waited too long as expired", async () => {
    const waiting = order(ann, { expiration: 5 });
    await submit(waiting);
    const state = await chain.snapshot();
    const turn = await chain.createMaker().turn(state, 300_000_000, true);
    if (turn === undefined) throw new Error("no turn");
    const block = chain.crypto.forge({ tip: state.tip, timestamp: turn.timestamp, transactions: [], keys: turn.keys });
    chain.adapter.apply(blockData(block));
    await pool.settle(block);
    expect(told.slice(1)).to.deep.equal([
      ["expired", transactionData(waiting)],
      ["removed", idOf(waiting)],
    ]);
  });
});
