import { expect } from "chai";
import { parseExactJson } from "../../src/http/input/exact-json.js";
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
    // Attributes are text in every form of amounts.
    name === "multiSignature" || name === "attributes" ? [] : amountNames.has(name) && typeof member !== "object" ? [{ name, value: member }] : amountsIn(member),
  );
};

interface Row {
  asset?: { payments?: { amount: unknown }[] };
}

for (const name of chainNames) {
  describe(`amounts of ${name}, second generation`, () => {
    const { meta, blockRows, transactionRows } = figuresOf(name);
    let numbers: Interface;
    let strings: Interface;
    before(async () => {
      numbers = await serveChain(name, { options: { amounts: "number" } });
      strings = await serveChain(name, { options: { amounts: "string" } });
    });

    const generator = encodeURIComponent(String(blockRows.at(-1)?.generator.username));
    const paths = [
      ...["/wallets", "/wallets?orderBy=balance:asc", "/delegates", "/blocks?orderBy=totalAmount:desc", "/transactions?orderBy=amount:desc"],
      ...["/votes", "/locks", "/transactions?type=6", "/blockchain", "/blocks/first", "/rounds/1/delegates", `/delegates/${generator}`, `/delegates/${generator}/voters`],
    ];
    for (const path of paths) {
      it(`have the same digits as numbers and as strings in ${path}`, async () => {
        const [asNumbers, asStrings] = [amountsIn((await numbers.get(path)).body), amountsIn((await strings.get(path)).body)];
        expect(asNumbers.length).to.be.greaterThan(0);
        expect(asStrings).to.deep.equal(asNumbers.map(({ name: member, value }) => ({ name: member, value: String(value) })));
        for (const { value } of asNumbers) expect(typeof value).to.be.oneOf(["number", "bigint"]);
      });
    }

    it("of asset.payments[].amount have the form of all others: by the option, by what one request chooses, and numbers in the first generation", async () => {
      const asked: [served: Interface, prefix: string, headers: Record<string, string>, form: "number" | "string"][] = [
        [numbers, "", {}, "number"],
        [strings, "", {}, "string"],
        [numbers, "/strings", {}, "string"],
        [strings, "/numbers", {}, "number"],
        [numbers, "", { "API-Amounts": "string" }, "string"],
        [strings, "", { "API-Amounts": "number" }, "number"],
      ];
      const path = "/transactions?type=6&orderBy=timestamp:asc";
      const amountsOf = (rows: Row[]): unknown[] => rows.flatMap(({ asset }) => (asset?.payments ?? []).map(({ amount }) => amount));
      const paid = amountsOf(transactionRows.filter(({ type }) => type === 6).slice(0, 100) as Row[]).map(String);
      for (const [{ url }, prefix, headers, form] of asked) {
        const read = async (version: string): Promise<unknown> => parseExactJson(await (await fetch(url + prefix + version + path, { headers })).text());
        const { data } = (await read("/v2")) as { data: Row[] };
        const { transactions } = (await read("/v1")) as { transactions: Row[] };
        for (const [rows, written] of [[data, form], [transactions, "number"]] as const) {
          // Those that a double would round are read as bigints.
          const forms = new Set(amountsOf(rows).map((amount) => (typeof amount === "bigint" ? "number" : typeof amount)));
          expect([...forms], `${prefix} ${JSON.stringify(headers)}`).to.deep.equal([written]);
          expect(amountsOf(rows).map(String)).to.deep.equal(paid);
        }
      }
    });

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
