import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { busiest, listBlocks, listLocks, listTransactions, listWallets } from "../knowledge.js";
import { type RunningNode, runningNode } from "../running-node.js";
import { calls01, laterCalls } from "./calls.js";
import { compileGoClient, type GoCall, type GoClient, type GoOutcome, goVersion, strictClient } from "./program.js";
import { type Structs, structs01, structs11, structs20 } from "./structs.js";
import { type GoType, list, map, members } from "./types.js";

/** What the clients cannot read in either form: their structs want something else there. */
const ownLimits: Record<string, RegExp> = {
  "blocks.transactions, an ipfs among them": /asset\.ipfs/,
  "delegates.all": /\.votes|\.forged|,string/,
  "delegates.get": /\.votes|\.forged|,string/,
  "peers.all": /\.ports|\.latency/,
  "transactions.types": /data/,
};

const clients = {
  v01: { name: "Go client 0.1", form: "numbers", structs: structs01, calls: calls01, limits: {} },
  v11: { name: "Go client 1.1", form: "strings", structs: structs11, calls: laterCalls, limits: { ...ownLimits, "node.fees": /uint32/ } },
  v20: { name: "Go client 2.0", form: "strings", structs: structs20, calls: laterCalls, limits: ownLimits },
} as const;

/** The type of a member, what it is in JSON, and whether Go's `encoding/json` takes it. */
const readings: [type: GoType, json: string, isTaken: boolean][] = [
  ["uint64,string", '"18446744073709551615"', true],
  ["uint64,string", '"18446744073709551616"', false],
  ["uint64,string", "1", false],
  ["uint64,string", '"-1"', false],
  ["uint64,string", '""', false],
  ["uint64,string", '"1.0"', false],
  ["uint64,string", '" 1"', false],
  ["uint64,string", "null", true],
  ["int64", "-9223372036854775808", true],
  ["int64", "9223372036854775808", false],
  ["int64", '"1"', false],
  ["int64", "1.0", false],
  ["int64", "1e3", false],
  ["int64", "null", true],
  ["byte", "255", true],
  ["byte", "256", false],
  ["byte", "-1", false],
  ["int16", "32768", false],
  ["float64", "1.5e3", true],
  ["float64", '"1"', false],
  ["string", '"a\\u00e9<"', true],
  ["string", "1", false],
  ["string", "null", true],
  ["bool", "true", true],
  ["bool", '"true"', false],
  [list("byte"), "[1, 2]", true],
  [list("byte"), "[1, 256]", false],
  [list("byte"), "{}", false],
  [list("byte"), "null", true],
  [map("int16"), '{"b": 1, "c": null}', true],
  [map("int16"), '{"b": "1"}', false],
  [map("int16"), "[]", false],
  [members({ b: "string" }), '{"B": "any case", "other": 1}', true],
  [members({ b: "string" }), '"text"', false],
];

/** All in one program, which takes Go long enough to compile. */
const structs: Structs = Object.fromEntries([
  ...Object.entries(clients).flatMap(([of, client]) => Object.entries(client.structs).map(([name, type]): [string, GoType] => [`${of}_${name}`, type])),
  ...readings.map(([type], index): [string, GoType] => [`reading${index}`, members({ a: type })]),
]);

const version = goVersion();
/** Where there is no Go, the strict reader alone stands for it. */
const readers: [name: string, reader: () => Promise<GoClient>][] = [
  ["a reader as strict as Go's", () => Promise.resolve(strictClient(structs))],
  ...(version === undefined ? [] : [[version, () => compileGoClient(structs)] as [string, () => Promise<GoClient>]]),
];

interface Read {
  data: Record<string, unknown>;
}
interface ReadPage {
  data: Record<string, unknown>[];
}

for (const [readerName, reader] of readers) {
  describe(`deployed Go clients, with ${readerName}`, () => {
    let node: RunningNode;
    let client: GoClient;
    before(async () => {
      // Go compiles its own library the first time.
      client = await reader();
      node = await runningNode();
    });

    /** The outcomes of a client's calls, by name. */
    const callAll = async (of: keyof typeof clients, below: string, headers?: Record<string, string>): Promise<Record<string, GoOutcome>> => {
      const { calls } = clients[of];
      const asked: GoCall[] = Object.values(calls).map((call) => ({ ...call, into: `${of}_${call.into}` }));
      const outcomes = await client(`${node.origin}${below}`, asked, headers);
      return Object.fromEntries(Object.keys(calls).map((name, index) => [name, outcomes[index] ?? {}]));
    };
    const failedOf = (outcomes: Record<string, GoOutcome>): string[] => Object.keys(outcomes).filter((name) => outcomes[name]?.error !== undefined);

    it("JSON is taken exactly where Go takes it", async () => {
      const server = createServer(({ url = "" }, response) => response.end(`{"a": ${readings[Number(url.slice(1))]?.[1]}}`));
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      try {
        const calls = readings.map((_, index) => ({ path: String(index), into: `reading${index}` }));
        const outcomes = await client(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, calls);
        expect(outcomes.map(({ error }, index) => [readings[index]?.[1], error === undefined])).to.deep.equal(readings.map(([, json, isTaken]) => [json, isTaken]));
      } finally {
        server.closeAllConnections();
        server.close();
      }
    });

    for (const [of, { name, form, calls, limits }] of Object.entries(clients) as [keyof typeof clients, (typeof clients)[keyof typeof clients]][]) {
      const chosen = form === "strings" ? "string" : "number";
      it(`${name} reads every reply below /api/${form}, or with API-Amounts: ${chosen}, but for what it cannot read in either form`, async () => {
        for (const outcomes of [await callAll(of, `/api/${form}/`), await callAll(of, "/api/", { "API-Amounts": chosen }), await callAll(of, `/api/${form}/v2/`)]) {
          const failed = failedOf(outcomes);
          expect(failed).to.have.members(Object.keys(limits));
          for (const each of failed) expect(outcomes[each]?.error, each).to.match((limits as Record<string, RegExp>)[each] ?? /never/);
        }
      });

      it(`${name} fails in the other form wherever a reply has amounts`, async () => {
        const withAmounts = Object.entries(calls).filter(([, { into }]) => /^(?:block|delegate|lock|transaction|wallet)s?$|^round$/.test(into));
        const failed = failedOf(await callAll(of, form === "strings" ? "/api/numbers/" : "/api/strings/"));
        expect(failed).to.have.members([...new Set([...withAmounts.map(([each]) => each), ...Object.keys(limits)])]);
      });
    }

    for (const of of ["v11", "v20"] as const) {
      it(`${clients[of].name} reads amounts to the last digit`, async () => {
        const outcomes = await callAll(of, "/api/strings/");
        const read = (name: string): unknown => outcomes[name]?.value;
        expect((read("wallets.get") as Read).data).to.include({ address: busiest.address, balance: busiest.balance, nonce: busiest.nonce });
        const amounts = (value: unknown, ...names: string[]) => (value as ReadPage).data.map((row) => names.map((name) => String(row[name])));
        for (const [name, expected, ...members] of [
          ["wallets.top", listWallets({ path: "wallets/top", query: { limit: 100 } }), "address", "balance"],
          ["transactions.all", listTransactions({ path: "transactions", query: { limit: 20 } }), "id", "amount", "fee"],
          ["locks.all", listLocks({ path: "locks" }), "lockId", "amount"],
        ] as const) {
          expect(amounts(read(name), ...members), name).to.deep.equal(amounts(expected, ...members));
        }
        const forged = (value: unknown) => (value as ReadPage).data.map((row) => Object.values(row.forged as Record<string, unknown>).map(String));
        expect(forged(read("blocks.all"))).to.deep.equal(forged(listBlocks({ path: "blocks", query: { limit: 100 } })));
      });
    }

    it("Go client 0.1 and Go client 2.0 are served by one node at the same time", async () => {
      const [numbers, strings] = await Promise.all([callAll("v01", "/api/"), callAll("v20", "/api/strings/")]);
      expect(failedOf(numbers)).to.deep.equal([]);
      expect(failedOf(strings)).to.have.members(Object.keys(ownLimits));
    });
  });
}
