import { Ajv } from "ajv";
import { expect } from "chai";
import type { TransactionType } from "../../types/transaction-type.js";
import { chainNames } from "./chains.js";
import { coreTypes } from "./core-types.js";
import { dataOf } from "./data-of.js";
import { figuresOf, type TransactionRow } from "./figures.js";
import { type Interface, serveChain } from "./interface.js";

const entity: TransactionType = { typeGroup: 2, type: 6, key: "entity", name: "Entity" };

type Schemas = Record<string, Record<string, Record<string, object>>>;

const wireOf = ({ block: _b, sequence: _s, sender: _from, recipient: _to, recipients: _all, time: _t, ...data }: TransactionRow): object =>
  JSON.parse(JSON.stringify(data)) as object;

for (const name of chainNames) {
  describe(`transaction types on ${name}, second generation`, () => {
    const { meta, transactionRows } = figuresOf(name);
    let served: Interface;
    before(async () => (served = await serveChain(name, { transactionTypes: [entity] })));

    it("are listed by name with their numbers, a fork's after the core's", async () => {
      const data = dataOf(await served.get("/transactions/types"));
      expect(Object.entries(data as object)).to.deep.equal(Object.entries({ ...coreTypes, Entity: 6 }));
    });

    it("have the fees of the current milestone", async () => {
      const { constants } = meta.nodeConfiguration.data as { constants: { fees: { staticFees: unknown } } };
      expect(dataOf(await served.get("/transactions/fees"))).to.deep.equal(constants.fees.staticFees);
    });

    describe("have schemas", () => {
      let schemas: Schemas;
      const ajv = new Ajv({ strict: true, strictTypes: false });
      const validatorOf = (typeGroup: number, type: number) => {
        const properties = schemas[typeGroup]?.[type];
        if (properties === undefined) throw new Error(`no schema of ${typeGroup}/${type}`);
        return ajv.compile({ type: "object", properties, additionalProperties: false });
      };
      before(async () => {
        schemas = dataOf(await served.get("/transactions/schemas")) as Schemas;
      });

      it("for every type of version 2", () => {
        expect(Object.keys(schemas)).to.deep.equal(["1", "2"]);
        expect(Object.keys(schemas["1"] ?? {})).to.deep.equal(Array.from({ length: 11 }, (_, type) => String(type)));
        expect(Object.keys(schemas["2"] ?? {})).to.deep.equal(["6"]);
      });

      it("that accept every transaction of the chain", () => {
        const validators = new Map<string, ReturnType<typeof validatorOf>>();
        for (const row of transactionRows) {
          const { typeGroup, type, version } = row;
          if (version !== 2 || (typeGroup === 2 && type !== 6)) continue;
          const kind = `${typeGroup}/${type}`;
          const validate = validators.get(kind) ?? validatorOf(typeGroup, type);
          validators.set(kind, validate);
          expect(validate(wireOf(row)), `${kind} ${row.id}: ${ajv.errorsText(validate.errors)}`).to.equal(true);
        }
      });

      const bent: [type: number, what: string, bend: (data: Record<string, unknown>) => void][] = [
        [0, "an amount of 0", (data) => (data.amount = "0")],
        [0, "a vendor field that is too long", (data) => (data.vendorField = "a".repeat(65))],
        [0, "a recipient that is not an address", (data) => (data.recipientId = "0".repeat(34))],
        [0, "another network", (data) => (data.network = 30)],
        [1, "a malformed public key", (data) => (data.asset = { signature: { publicKey: "04".padEnd(66, "0") } })],
        [2, "a username in capitals", (data) => (data.asset = { delegate: { username: "Genesis" } })],
        [2, "a username of 21 characters", (data) => (data.asset = { delegate: { username: "a".repeat(21) } })],
        [3, "a vote without a sign", (data) => (data.asset = { votes: ["02".padEnd(66, "0")] })],
        [3, "an empty list of votes", (data) => (data.asset = { votes: [] })],
        [4, "17 signers", (data) => (data.asset = { multiSignature: { min: 1, publicKeys: Array.from({ length: 17 }, (_, i) => `02${String(i).padStart(64, "0")}`) } })],
        [5, "a hash that is not base58", (data) => (data.asset = { ipfs: "0l" })],
        [6, "a single payment", (data) => (data.asset = { payments: [{ amount: "1", recipientId: data.recipientId }] })],
        [6, "an amount beside the payments", (data) => (data.amount = "1")],
        [8, "an unknown type of expiration", (data) => (data.asset = { lock: { secretHash: "a".repeat(64), expiration: { type: 3, value: 1 } } })],
        [8, "a short secret hash", (data) => (data.asset = { lock: { secretHash: "a", expiration: { type: 1, value: 1 } } })],
      ];
      for (const [type, what, bend] of bent) {
        it(`that refuse ${what}`, function () {
          const row = transactionRows.find((each) => each.type === type && each.typeGroup === 1 && each.version === 2);
          if (row === undefined) return this.skip();
          const data = wireOf(row) as Record<string, unknown>;
          const validate = validatorOf(1, type);
          expect(validate(data)).to.equal(true);
          bend(data);
          expect(validate(data)).to.equal(false);
        });
      }
    });
  });
}
