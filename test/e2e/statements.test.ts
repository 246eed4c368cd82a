import { expect } from "chai";
import { csvLine } from "../../src/api/statement/row.js";
import { actors } from "../../src/conformance/chain/actors.js";
import { createChainMaker, htlcClaim, htlcLock, htlcRefund, networkOf, transfer } from "../../src/conformance/chain/chain-maker.js";
import type { BlockData } from "../../types/events.js";
import type { WalletChange } from "../../types/chain-queries.js";
import { type ChainName, loadChain } from "../data/read.js";
import { firstMilestone } from "../first-milestone.js";
import { spread } from "../fixtures/long.js";
import { startStoredNode } from "../fixtures/stored-chain.js";
import type { Answer, Question } from "../http/ask.js";
import { type MovingNode, startMovingNode } from "./moving-node.js";

interface Row {
  time: string;
  height: number;
  kind: string;
  id: string;
  counterparty: string;
  memo: string;
  in: string;
  out: string;
  fee: string;
  balance: string;
}

const rowsOf = ({ text }: Answer): Row[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Row);

const amount = (text: string): bigint => (text === "" ? 0n : BigInt(text));

/** A parser of its own, by RFC 4180 alone. */
const parseCsv = (text: string): string[][] => {
  const rows: string[][] = [[]];
  for (let at = 0; at < text.length; ) {
    const row = rows.at(-1) as string[];
    let field = "";
    if (text[at] === '"') {
      for (at++; text[at] !== '"' || text[at + 1] === '"'; at++) {
        if (text[at] === '"') at++;
        field += text[at] ?? "";
      }
      at++;
    } else {
      while (at < text.length && text[at] !== "," && text[at] !== "\r") field += text[at++] ?? "";
    }
    row.push(field);
    if (text[at] === ",") at++;
    else if (text.startsWith("\r\n", at)) {
      at += 2;
      if (at < text.length) rows.push([]);
    } else if (at < text.length) throw new Error(`neither a comma nor an end of line at ${at}`);
  }
  return rows;
};

for (const name of ["core3-testnet-a", "core3-custom-c"] satisfies ChainName[]) {
  describe(`history and statements of ${name}`, () => {
    const { blocks, wallets: all } = loadChain(name);
    const wallets = spread(all, 80);
    let get: (path: string, question?: Question) => Promise<Answer>;
    const kept = new Map<string, Row[]>();
    const statementOf = async (address: string): Promise<Row[]> => {
      const rows = kept.get(address) ?? rowsOf(await get(`/wallets/${address}/statement`));
      kept.set(address, rows);
      return rows;
    };

    before(async () => {
      ({ get } = await startStoredNode(name, { options: { webhooks: false } }));
    });

    it("add up for every wallet, to the digit, in the chain's order, without an unexplained row", async () => {
      const times = new Map(blocks.map(({ height }) => [height, true]));
      for (const { address, balance } of wallets) {
        const rows = await statementOf(address);
        let [running, height] = [0n, 0];
        for (const row of rows) {
          running += amount(row.in) - amount(row.out) - amount(row.fee);
          expect({ address, id: row.id, balance: row.balance }).to.deep.equal({ address, id: row.id, balance: String(running) });
          expect(row.kind, `${address} ${row.id}`).to.not.equal("other");
          expect(row.height).to.be.at.least(height);
          expect(times.get(row.height)).to.equal(true);
          height = row.height;
        }
        expect({ address, balance: String(running) }).to.deep.equal({ address, balance });
      }
    });

    it("have one row for each transaction that a wallet sent or received, and for each block that it forged with earnings", async () => {
      const payees = (asset: unknown): string[] => ((asset as { payments?: { recipientId: string }[] } | undefined)?.payments ?? []).map(({ recipientId }) => recipientId);
      const addressOf = new Map(wallets.map(({ publicKey, address }) => [publicKey, address]));
      const expected = new Map<string, string[]>(wallets.map(({ address }) => [address, []]));
      for (const block of blocks) {
        for (const one of block.transactions ?? []) {
          const parties = [addressOf.get(one.senderPublicKey) ?? "", ...(one.recipientId === undefined ? [] : [one.recipientId]), ...payees(one.asset)];
          for (const address of new Set(parties)) expected.get(address)?.push(one.id);
        }
        const earned = BigInt(String(block.reward)) + BigInt(String(block.totalFee));
        if (earned > 0n) expected.get(addressOf.get(block.generatorPublicKey) ?? "")?.push(block.id);
      }
      for (const { address } of wallets) {
        const ids = (await statementOf(address)).map(({ id }) => id);
        expect(new Set(ids).size, address).to.equal(ids.length);
        const unnamed = new Set(ids.filter((id) => expected.get(address)?.includes(id) !== true));
        expect(ids.filter((id) => !unnamed.has(id))).to.deep.equal(expected.get(address));
        // What is not named there are claims and refunds that others sent.
        const types = new Set(blocks.flatMap(({ transactions = [] }) => transactions.filter(({ id }) => unnamed.has(id)).map(({ type }) => type)));
        for (const type of types) expect(type).to.be.oneOf([9, 10]);
      }
    });

    it("agree with the history, whose changes add up too", async () => {
      for (const { address, balance, nonce } of spread(wallets, 30)) {
        const history: { height: number; balance: bigint; change: bigint; nonce: string }[] = [];
        for (let page = 1, more = true; more; page++) {
          const { meta, data } = (await get(`/strings/wallets/${address}/history?limit=50&page=${page}`)).json as { meta: { next: string | null }; data: { height: number; balance: string; change: string; nonce: string }[] };
          history.push(...data.map((row) => ({ ...row, balance: BigInt(row.balance), change: BigInt(row.change) })));
          more = meta.next !== null;
        }
        let running = 0n;
        for (const row of history.toReversed()) expect(row.balance).to.equal((running += row.change));
        expect({ address, balance: String(running), nonce: history[0]?.nonce ?? "0" }).to.deep.equal({ address, balance, nonce });
        const last = new Map((await statementOf(address)).map((row) => [row.height, row.balance]));
        for (const [height, after] of last) {
          const found: Pick<WalletChange, "balance"> | undefined = history.find((row) => row.height <= height);
          expect({ address, height, balance: String(found?.balance ?? 0n) }).to.deep.equal({ address, height, balance: after });
        }
      }
    });

    it("of a period begin with the balance before it and end with that at its end", async () => {
      const middle = Math.floor(blocks.length / 2);
      for (const { address } of spread(wallets, 15)) {
        const whole = await statementOf(address);
        const part = rowsOf(await get(`/wallets/${address}/statement?from=${middle}&to=${middle + 60}`));
        expect(part).to.deep.equal(whole.filter(({ height }) => height >= middle && height <= middle + 60));
        const then = await get(`/wallets/${address}/statement?at=${middle}`);
        expect(then.status === 200 ? rowsOf(then) : []).to.deep.equal(whole.filter(({ height }) => height <= middle));
      }
    });

    it("may be newest first, begin with the balance before the period, and have amounts of the token", async () => {
      const middle = Math.floor(blocks.length / 2);
      const token = (text: string): string => (text === "" ? "" : `${text.startsWith("-") ? "-" : ""}${text.replace("-", "").padStart(9, "0").replace(/(\d{8})$/, ".$1")}`);
      for (const { address } of spread(wallets, 12)) {
        const whole = await statementOf(address);
        const rows = whole.filter(({ height }) => height >= middle && height <= middle + 60);
        const opening = { time: "", height: middle, kind: "opening", id: "", counterparty: "", memo: "", in: "", out: "", fee: "", balance: whole.findLast(({ height }) => height < middle)?.balance ?? "0" };
        const ask = async (query: string) => rowsOf(await get(`/wallets/${address}/statement?from=${middle}&to=${middle + 60}&${query}`));
        expect(await ask("order=desc")).to.deep.equal(rows.toReversed());
        expect(await ask("opening=true")).to.deep.equal([opening, ...rows]);
        expect(await ask("order=desc&opening=true")).to.deep.equal([...rows.toReversed(), opening]);
        const inTokens = [opening, ...rows].map((row) => ({ ...row, in: token(row.in), out: token(row.out), fee: token(row.fee), balance: token(row.balance) }));
        expect(await ask("opening=true&unit=token")).to.deep.equal(inTokens);
        expect(rowsOf(await get(`/wallets/${address}/statement?order=desc`))).to.deep.equal(whole.toReversed());
        const beyond = await get(`/wallets/${address}/statement?from=${blocks.length + 9}&opening=true`);
        expect(rowsOf(beyond)).to.deep.equal([{ ...opening, height: blocks.length + 9, balance: whole.at(-1)?.balance ?? "0" }]);
      }
    });

    it("name the file of their CSV by address and heights, whatever the wallet was asked for by", async () => {
      const { address, publicKey } = wallets.find(({ publicKey: key }) => key !== null) ?? { address: "", publicKey: "" };
      const { headers } = await get(`/wallets/${publicKey}/statement?from=5&to=9&format=csv`);
      expect(headers["content-disposition"]).to.equal(`attachment; filename="${address}-5-9.csv"`);
    });

    it("take times and days, both ends included, and refuse a period that ends before it begins", async () => {
      const { address } = wallets.find(({ nonce }) => BigInt(nonce) > 5n) ?? { address: "" };
      const whole = await statementOf(address);
      const [first, last] = [whole[3]?.time ?? "", whole.at(-2)?.time ?? ""];
      const part = rowsOf(await get(`/wallets/${address}/statement?from=${first}&to=${last}`));
      expect(part).to.deep.equal(whole.filter(({ time }) => time >= first && time <= last));
      const day = first.slice(0, 10);
      expect(rowsOf(await get(`/wallets/${address}/statement?from=${day}&to=${day}`))).to.deep.equal(whole.filter(({ time }) => time.startsWith(day)));
      for (const query of ["from=9&to=8", "from=2030-01-01&to=2029-01-01", "from=yesterday", "to=2020-13-45"]) {
        expect({ query, status: (await get(`/wallets/${address}/statement?${query}`)).status }).to.deep.equal({ query, status: 400 });
      }
      expect((await get(`/wallets/${address}/statement?to=999999999`)).status).to.equal(200);
      expect((await get("/wallets/nobody/statement")).status).to.equal(404);
    });

    it("are CSV by RFC 4180 where that is asked for, with the same values", async () => {
      for (const { address } of spread(wallets, 10)) {
        const rows = await statementOf(address);
        const csv = await get(`/wallets/${address}/statement`, { headers: { accept: "text/csv" } });
        expect(csv.headers["content-type"]).to.match(/^text\/csv/);
        expect((await get(`/wallets/${address}/statement?format=csv`)).text).to.equal(csv.text);
        const [header, ...lines] = parseCsv(csv.text);
        expect(header).to.deep.equal(["time", "height", "kind", "id", "counterparty", "memo", "in", "out", "fee", "balance"]);
        const guarded = (text: string): string => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);
        expect(lines).to.deep.equal(rows.map((row) => Object.entries(row).map(([column, value]) => (column === "memo" ? guarded(String(value)) : String(value)))));
      }
    });
  });
}

describe("the form of a statement", () => {
  const { network, blocks } = loadChain("core3-testnet-a");
  const forger = blocks[1]?.generatorPublicKey ?? "";
  let node: MovingNode;
  const typeOf = async (accept: string | undefined, query = ""): Promise<string> => {
    const { status, headers } = await node.get(`/wallets/${forger}/statement${query}`, accept === undefined ? {} : { headers: { accept } });
    expect(status).to.equal(200);
    return String(headers["content-type"]).replace(/;.*/, "");
  };
  const varyOf = async (path: string): Promise<unknown> => {
    const { status, headers } = await node.get(path);
    expect({ path, status }).to.deep.equal({ path, status: 200 });
    return headers.vary;
  };

  before(async () => {
    node = await startMovingNode(network, blocks[0] as BlockData, { finality: 5, cors: { origins: ["https://one.example"] } });
    await node.apply(...blocks.slice(1, 70));
  });

  it("is the one that `Accept` prefers, by its quality values and order, and JSON lines where it prefers none", async () => {
    const csv = [
      "text/csv",
      "text/*",
      "TEXT/CSV",
      "text/csv; charset=utf-8",
      "application/json, text/csv;q=0.1",
      "text/csv, application/x-ndjson",
      "text/csv, */*",
      "application/x-ndjson;q=0.5, text/csv;q=0.6",
      "application/x-ndjson;q=0, */*",
    ];
    const lines = [
      undefined,
      "",
      "*/*",
      "application/json",
      "application/vnd.core-api.v2+json",
      "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
      "text/csv;q=0, application/x-ndjson",
      "text/csv;q=0",
      "text/csv;q=0.5, application/x-ndjson",
      "application/x-ndjson, text/csv",
      "text/csv;q=0.2, */*;q=0.9",
      "text/csvx",
      'application/json; note="text/csv"',
    ];
    for (const accept of csv) expect({ accept, type: await typeOf(accept) }).to.deep.equal({ accept, type: "text/csv" });
    for (const accept of lines) expect({ accept, type: await typeOf(accept) }).to.deep.equal({ accept, type: "application/x-ndjson" });
    expect([await typeOf("text/csv", "?format=ndjson"), await typeOf("application/x-ndjson", "?format=csv")]).to.deep.equal(["application/x-ndjson", "text/csv"]);
  });

  it("names in `Vary` what it was chosen from, besides what every reply depends on", async () => {
    for (const at of ["", "?at=20", "?at=69"]) {
      const usual = await varyOf(`/wallets/${forger}${at}`);
      expect(usual).to.equal("API-Version, Accept, API-Amounts, Accept-Encoding, Origin");
      expect(await varyOf(`/wallets/${forger}/statement${at}`)).to.equal(usual);
      expect(await varyOf(`/v2/wallets/${forger}/statement${at}`)).to.equal("API-Amounts, Accept-Encoding, Origin, Accept");
      expect(await varyOf(`/strings/v2/wallets/${forger}/statement${at}`)).to.equal("Accept-Encoding, Origin, Accept");
      expect(await varyOf(`/v2/wallets/${forger}/statement?format=csv${at.replace("?", "&")}`)).to.equal("API-Amounts, Accept-Encoding, Origin");
    }
    expect((await node.get(`/wallets/${forger}/statement?at=20`)).headers["cache-control"]).to.match(/immutable/);
  });
});

describe("a lock that somebody else ends for a fee of all that it has", () => {
  it("stands in the statement of whom it would be paid to, though no balance changes", async () => {
    const { origin, ada, bob, joe, kim } = actors;
    const maker = createChainMaker([firstMilestone(1)]);
    const lock = (label: string) => htlcLock(ada, bob, 500n, { label, secret: label, expiration: { type: 2, value: 3 } });
    maker.add({ generator: origin, transactions: [ada, joe, kim].map((each) => transfer(origin, each, 10n ** 12n, { version: 1, fee: 0n })) });
    maker.add({ generator: joe, transactions: [lock("claimed"), lock("refunded"), lock("open")] });
    maker.add({ generator: joe });
    const { transactions = [], height } = maker.add({ generator: joe, transactions: [htlcClaim(kim, "claimed", { fee: 500n }), htlcRefund(kim, "refunded", { fee: 500n })] });
    const node = await startMovingNode(networkOf(maker.blocks[0] as BlockData), maker.blocks[0] as BlockData);
    await node.apply(...maker.blocks.slice(1));
    for (const [place, actor, other, kind] of [[0, bob, ada, "htlcClaim"], [1, ada, bob, "htlcRefund"]] as const)
      for (const period of ["", `?from=${height}`]) {
        const row = rowsOf(await node.get(`/wallets/${actor.address}/statement${period}`)).at(-1);
        const expected = { height, kind, id: transactions[place]?.id, counterparty: other.address, in: "500", out: "", fee: "500" };
        expect(row).to.deep.include(expected);
      }
    expect(rowsOf(await node.get(`/wallets/${bob.address}/statement?to=${height - 1}`)).map(({ kind }) => kind)).to.deep.equal(["htlcLock", "htlcLock", "htlcLock"]);
    await node.stop();
  });
});

describe("a line of a statement as CSV", () => {
  it("keeps commas, quotes and line ends within a field, and lets no text begin a formula", () => {
    const base: Row = { time: "t", height: 1, kind: "transfer", id: "i", counterparty: "c", memo: "", in: "", out: "5", fee: "1", balance: "-7" };
    for (const memo of ['a,"b"\r\nc', "=1+1", "+1", "-1", "@x", "\tx", "\rx", "plain"]) {
      const [[...fields] = []] = parseCsv(csvLine({ ...base, memo }));
      expect(fields[5]).to.equal(/^[=+\-@\t\r]/.test(memo) ? `'${memo}` : memo);
      expect(fields[9]).to.equal("-7");
    }
  });
});
