import { expect } from "chai";
import type { TransactionData } from "../../types/events.js";
import { type ClientAnswer, type ClientPackage, secondGenerationClients } from "./clients.js";
import { transactionRows } from "./knowledge.js";
import { type RunningNode, runningNode, unconfirmed } from "./running-node.js";

const [first, last] = [unconfirmed[0], transactionRows.at(-1)];
if (first === undefined || last === undefined) throw new Error("nothing is forged, or nothing waits");

const fresh = (number: number, rest: Partial<TransactionData> = {}): TransactionData => ({ ...first, id: number.toString(16).padStart(64, "0"), ...rest });
const freshOnes = (count: number): TransactionData[] => Array.from({ length: count }, (_, index) => fresh(index + 1));
const idsOf = (transactions: TransactionData[]): string[] => transactions.map(({ id }) => id);
const { block: _block, sequence: _sequence, sender: _sender, recipient: _recipient, recipients: _recipients, time: _time, ...forged } = last;

const describeSubmitting = (of: ClientPackage): void => {
  describe(`${of.name} submits transactions`, () => {
    let node: RunningNode;
    let create: (payload: unknown) => Promise<ClientAnswer>;
    before(async () => {
      node = await runningNode();
      const client = of.connect(node.origin);
      create = (payload) => client.call("transactions", "create", [payload]);
    });
    beforeEach(() => node.pool.clear());
    after(() => node.pool.clear());

    it("and learns which were accepted, and why others were not, each by its id", async () => {
      const answer = await create({ transactions: [fresh(1), fresh(2, { fee: "0" }), first, forged] });
      expect(answer.body).to.deep.equal({
        data: { accept: [fresh(1).id], broadcast: [fresh(1).id], excess: [], invalid: [forged.id, fresh(2).id, first.id] },
        errors: {
          [fresh(2).id]: [{ type: "ERR_LOW_FEE", message: "The fee is too low to be accepted." }],
          [first.id]: [{ type: "ERR_DUPLICATE", message: "Already in cache." }],
          [forged.id]: [{ type: "ERR_FORGED", message: "Already forged." }],
        },
      });
      expect(answer.status).to.equal(200);
    });

    it("and finds them unconfirmed at once", async () => {
      await create({ transactions: [fresh(7)] });
      const client = of.connect(node.origin);
      const { body } = await client.call("transactions", "getUnconfirmed", [fresh(7).id]);
      expect(body).to.have.nested.property("data.id", fresh(7).id);
      const all = await client.call("transactions", "allUnconfirmed", []);
      expect(all.body).to.have.nested.property("meta.totalCount", unconfirmed.length + 1);
    });

    it("forty at a time, and learns which exceed the pool's size", async () => {
      const forty = freshOnes(40);
      expect((await create({ transactions: forty })).body).to.deep.equal({ data: { accept: idsOf(forty), broadcast: idsOf(forty), excess: [], invalid: [] } });
      const more = freshOnes(50).slice(40);
      const { body } = await create({ transactions: more });
      expect(body).to.deep.equal({ data: { accept: idsOf(more.slice(0, 5)), broadcast: idsOf(more.slice(0, 5)), excess: idsOf(more.slice(5)), invalid: [] } });
    });

    const unprocessable: [title: string, payload: unknown, message: string][] = [
      ["forty-one", { transactions: freshOnes(41) }, '"transactions" must not have more than 40 items'],
      ["none", { transactions: [] }, '"transactions" must not have fewer than 1 items'],
      ["one outside a list", { transactions: fresh(1) }, '"transactions" must be a list'],
      ["an empty object", {}, '"transactions" must be a list'],
      ["one without an id", { transactions: [{ type: 0 }] }, '"transactions.0" must be a transaction with its id'],
    ];
    for (const [title, payload, message] of unprocessable) {
      it(`and gets a 422 for ${title}`, async () => {
        const answer = await create(payload);
        expect(answer.body).to.deep.equal({ statusCode: 422, error: "Unprocessable Entity", message, code: "UNPROCESSABLE", validation: { source: "payload", keys: ["transactions"] } });
        expect(answer.status).to.equal(422);
        expect(node.pool.submissions).to.deep.equal([]);
      });
    }
  });
};

for (const of of secondGenerationClients) describeSubmitting(of);

describe("deployed clients, when the host", () => {
  const transactions = [fresh(1)];
  const everyClient = async (options: Parameters<typeof runningNode>[1], status: number, body: unknown): Promise<void> => {
    const { origin } = await runningNode({}, options);
    for (const of of secondGenerationClients) {
      const answer = await of.connect(origin).call("transactions", "create", [{ transactions }]);
      expect(answer, of.name).to.deep.equal({ status, body });
    }
  };
  const notOffered = { statusCode: 501, error: "Not Implemented", message: "This node does not accept transactions.", code: "NOT_SUPPORTED" };
  const failed = { statusCode: 500, error: "Internal Server Error", message: "An internal server error occurred", code: "INTERNAL" };

  it("has no pool, learn that no transactions are accepted", () => everyClient("none", 501, notOffered));
  it("has a pool that accepts none, learn the same", () => everyClient("read-only", 501, notOffered));
  it("has a pool that throws, get an error without internal details, and can go on", async () => {
    await everyClient("throwing", 500, failed);
    const { origin, logged } = await runningNode({}, "throwing");
    expect(logged.filter((line) => line.includes("the pool is on fire"))).to.have.lengthOf(secondGenerationClients.length);
    for (const of of secondGenerationClients) {
      expect(await of.connect(origin).call("transactions", "get", [forged.id]), of.name).to.have.property("status", 200);
    }
  });
});
