import { expect } from "chai";
import { chainNames, storedChain } from "./chains.js";
import { dataOf } from "./data-of.js";
import { figuresOf, type TransactionRow } from "./figures.js";
import { type Interface, parsed, serveChain } from "./interface.js";
import { lockKindOf, transactionKindOf } from "./kinds.js";
import { describeList, sorted } from "./naive-list.js";
import { expectNotFound } from "./refusals.js";

const endedBy = ({ asset }: TransactionRow): string | undefined => {
  const { claim, refund } = (asset ?? {}) as Record<string, { lockTransactionId?: string } | undefined>;
  return (claim ?? refund)?.lockTransactionId;
};

for (const name of chainNames) {
  describe(`locks of ${name}`, () => {
    const figures = figuresOf(name);
    const { lockRows, transactionRows } = figures;
    const kind = lockKindOf(figures);
    const transactionKind = transactionKindOf(figures);
    const endings = transactionRows.filter((row) => endedBy(row) !== undefined);
    let served: Interface;
    before(async () => (served = await serveChain(name)));

    describeList("GET /locks, POST /locks/search", () => ({ path: "/locks", search: "/locks/search", rows: lockRows }), kind, () => served);

    it("are each shown by id while open", async () => {
      for (const row of lockRows) expect(dataOf(await served.get(`/locks/${row.lockId}`))).to.deep.equal(parsed(kind.present(row)));
    });

    it("are not found once they have ended, nor if they never existed", async () => {
      const ended = endings.slice(0, 3).map((row) => String(endedBy(row)));
      for (const id of [...ended, "f".repeat(64), "lock"]) expectNotFound(await served.get(`/locks/${id}`), "Lock not found");
    });

    it("are listed with the transactions that ended them, in every order and on every page", async () => {
      const open = lockRows.slice(0, 3).map(({ lockId }) => lockId);
      const some = endings.filter((_, index) => index % 17 === 0).slice(0, 20);
      const ids = [...some.map((row) => String(endedBy(row))), ...open, "e".repeat(64)];
      for (const order of ["timestamp:desc", "timestamp:asc", "type:desc", "id:asc"]) {
        const expected = sorted(some, order, transactionKind).map(transactionKind.present);
        const { body } = await served.post(`/locks/unlocked?orderBy=${order}&limit=7&page=2`, { ids });
        expect(body).to.have.nested.property("meta.totalCount", some.length);
        expect((body as { data: unknown }).data).to.deep.equal(parsed(expected.slice(7, 14)));
      }
    });

    it("are each found with the transaction that ended them", async () => {
      for (const row of endings.slice(-5)) {
        const data = dataOf(await served.post("/locks/unlocked", { ids: [String(endedBy(row)).toUpperCase()] }));
        expect(data).to.deep.equal(parsed([transactionKind.present(row)]));
      }
    });
  });
}

describe("locks of an adapter without locks", () => {
  let served: Interface;
  before(async () => (served = await serveChain("core3-testnet-a", { chain: { ...(await storedChain("core3-testnet-a")), supports: { locks: false } } })));

  it("answer 501", async () => {
    const refusal = { statusCode: 501, error: "Not Implemented", message: "This node does not support that.", code: "NOT_SUPPORTED" };
    const answers = [
      await served.get("/locks"),
      await served.get(`/locks/${"a".repeat(64)}`),
      await served.get("/wallets/genesis_1/locks"),
      await served.post("/locks/search"),
      await served.post("/locks/unlocked", { ids: ["a".repeat(64)] }),
    ];
    for (const { status, body } of answers) {
      expect(status).to.equal(501);
      expect(body).to.deep.equal(refusal);
    }
  });
});
