import { expect } from "chai";
import { createChainRules } from "../../src/chain/rules.js";
import { hostPayload, payloadJson, transactionPayload } from "../../src/follow/payload.js";
import { loadChain } from "../data/read.js";

const chain = loadChain("core3-custom-c");
const rules = createChainRules(chain.network);
const blocks = chain.blocks.slice(1, 300);
const payloadOf = (event: string, payload: unknown): unknown => JSON.parse(hostPayload(event, payload, rules));
const [transfer] = blocks.flatMap(({ transactions = [] }) => transactions.filter(({ type }) => type === 0));

describe("events of the host about transactions", () => {
  it("have the addresses that those of the chain have, whatever the kind", () => {
    const kinds = new Set<string>();
    for (const block of blocks) {
      const parsed = rules.parseBlock(block).transactions;
      for (const [place, data] of (block.transactions ?? []).entries()) {
        const transaction = parsed[place] ?? expect.fail();
        kinds.add(rules.types.of(transaction).key);
        const { addresses } = transactionPayload(transaction, rules);
        expect(payloadOf("transaction.forged", data)).to.deep.equal({ ...(JSON.parse(payloadJson(data)) as object), addresses });
      }
    }
    expect([...kinds]).to.include.members(["transfer", "vote", "delegateRegistration", "multiPayment", "htlcClaim"]);
  });

  it("have them one by one in a list", () => {
    const senders = (payloadOf("transaction.pool.added", [transfer, { ...transfer, recipientId: undefined }]) as { addresses: string[] }[]).map(({ addresses }) => addresses);
    const sender = rules.addressOf(transfer?.senderPublicKey ?? "");
    expect(senders).to.deep.equal([[sender, transfer?.recipientId], [sender]]);
  });

  it("have them, too, where they tell of what followed from one: a delegate, a vote", () => {
    const sender = rules.addressOf(transfer?.senderPublicKey ?? "");
    for (const event of ["delegate.registered", "delegate.resigned"]) expect(payloadOf(event, transfer)).to.deep.include({ addresses: [sender, transfer?.recipientId] });
    for (const event of ["wallet.vote", "wallet.unvote"]) {
      expect(payloadOf(event, { delegate: "ab", transaction: transfer })).to.have.deep.nested.property("transaction.addresses", [sender, transfer?.recipientId]);
      for (const payload of [null, "an-id", {}, { transaction: null }]) expect(hostPayload(event, payload, rules)).to.equal(payloadJson(payload));
    }
  });

  it("are not changed in the host, nor where they have addresses, or none can be worked out", () => {
    const frozen = Object.freeze({ ...transfer, amount: 5n });
    expect(payloadOf("transaction.expired", frozen)).to.have.property("addresses");
    expect(frozen).not.to.have.property("addresses");
    const multiPayment = { ...transfer, type: 6, asset: { payments: [{ amount: "1" }] } };
    for (const payload of ["an-id", null, 5, {}, { ...transfer, senderPublicKey: undefined }, { ...transfer, addresses: ["own"] }, multiPayment, [["nested"], null]]) {
      expect(hostPayload("transaction.pool.removed", payload, rules)).to.equal(payloadJson(payload));
    }
  });

  it("alone have them: another event is as its host emits it", () => {
    expect(hostPayload("block.forged", transfer, rules)).to.equal(payloadJson(transfer));
  });

  it("are as their host emits them where a fork's own type cannot say who receives", () => {
    const own = { typeGroup: 7, type: 1, key: "own", name: "Own", recipients: () => [5] as never };
    const forked = createChainRules(chain.network, [own]);
    const payload = { ...transfer, typeGroup: 7, type: 1 };
    expect(hostPayload("transaction.forged", payload, forked)).to.equal(payloadJson(payload));
    const [transaction] = blocks.flatMap((block) => rules.parseBlock(block).transactions);
    expect(transactionPayload({ ...(transaction ?? expect.fail()), typeGroup: 7, type: 1 }, forked), "nor of the chain").not.to.have.property("addresses");
  });
});
