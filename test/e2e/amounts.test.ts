import { expect } from "chai";
import { chainNames } from "./chains.js";
import { dataOf } from "./data-of.js";
import { figuresOf } from "./figures.js";
import { type Interface, serveChain } from "./interface.js";

/** Member names of amounts, wherever they occur in the replies requested below. */
const amountNames = new Set(["balance", "lockedBalance", "votes", "fees", "rewards", "total", "reward", "fee", "amount", "supply"]);

interface Found {
  name: string;
  value: unknown;
}

const amountsIn = (value: unknown): Found[] => {
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(amountsIn);
  return Object.entries(value as Record<string, unknown>).flatMap(([name, member]) =>
    name === "asset" || name === "multiSignature" ? [] : amountNames.has(name) && typeof member !== "object" ? [{ name, value: member }] : amountsIn(member),
  );
};

for (const name of chainNames) {
  describe(`amounts of ${name}, second generation`, () => {
    const { meta, blockRows } = figuresOf(name);
    let numbers: Interface;
    let strings: Interface;
    before(async () => {
      numbers = await serveChain(name, { options: { amounts: "number" } });
      strings = await serveChain(name, { options: { amounts: "string" } });
    });
    after(async () => {
      await numbers.stop();
      await strings.stop();
    });

    const generator = encodeURIComponent(String(blockRows.at(-1)?.generator.username));
    const paths = [
      ...["/wallets", "/wallets?orderBy=balance:asc", "/delegates", "/blocks?orderBy=totalAmount:desc", "/transactions?orderBy=amount:desc"],
      ...["/votes", "/locks", "/blockchain", "/blocks/first", "/rounds/1/delegates", `/delegates/${generator}`, `/delegates/${generator}/voters`],
    ];
    for (const path of paths) {
      it(`have the same digits as numbers and as strings in ${path}`, async () => {
        const [asNumbers, asStrings] = [amountsIn((await numbers.get(path)).body), amountsIn((await strings.get(path)).body)];
        expect(asNumbers.length).to.be.greaterThan(0);
        expect(asStrings).to.deep.equal(asNumbers.map(({ name: member, value }) => ({ name: member, value: String(value) })));
        for (const { value } of asNumbers) expect(typeof value).to.be.oneOf(["number", "bigint"]);
      });
    }

    it("have the same digits in the balances of voters", async () => {
      const path = `/delegates/${generator}/voters/balances`;
      const [asNumbers, asStrings] = [dataOf(await numbers.get(path)), dataOf(await strings.get(path))] as [object, object];
      expect(Object.entries(asStrings)).to.deep.equal(Object.entries(asNumbers).map(([address, balance]) => [address, String(balance)]));
    });

    it("stay strings in fee statistics and numbers in the network's constants", async () => {
      for (const served of [numbers, strings]) {
        const fees = dataOf(await served.get("/node/fees?days=30")) as { avg: unknown }[];
        for (const { avg } of fees) expect(avg).to.be.a("string");
        expect(dataOf(await served.get("/node/configuration"))).to.have.nested.property("constants.reward").that.is.a("number");
      }
    });

    it("for the supply are exact beyond 2^53", async () => {
      expect(dataOf(await strings.get("/blockchain"))).to.have.property("supply", meta.supply);
      expect(dataOf(await numbers.get("/blockchain"))).to.have.property("supply", BigInt(meta.supply));
    });
  });
}
