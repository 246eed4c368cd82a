import { expect } from "chai";
import type { TransactionData } from "../../../types/events.js";
import { chainNames } from "../../e2e/chains.js";
import { figuresOf, type TransactionRow } from "../../e2e/figures.js";
import { flatTransaction } from "../../e2e/flat-shapes.js";
import { type Served, serveFirst } from "../../e2e/first-generation.js";
import { exactJson, parsed } from "../../e2e/interface.js";
import { transactionKindOf } from "../../e2e/kinds.js";
import { sorted } from "../../e2e/naive-list.js";
import { spread } from "../../fixtures/long.js";

type Passes = (row: TransactionRow) => boolean;

const amount = (value: unknown): bigint => BigInt(String(value));
const mostBy = <T>(rows: T[], weight: (row: T) => number): T => rows.reduce((best, row) => (weight(row) > weight(best) ? row : best));
/** An address valid on these networks that no wallet has. */
const nobody = "AKdr5d9AMEnsKYxpDcoHdyyjSCKVx3r9Nj";

for (const name of chainNames) {
  describe(`transactions of ${name}, first generation`, () => {
    const figures = figuresOf(name);
    const { transactionRows, walletRows, tip } = figures;
    const kind = transactionKindOf(figures);
    let served: Served;

    before(async () => {
      served = await serveFirst(name);
    });
    after(() => served.stop());

    const transaction = (row: TransactionRow) => parsed(flatTransaction(row, tip.height));

    const lists = async (query: string, passes: Passes, order = "timestamp:desc", [from, to] = [0, 100]): Promise<void> => {
      const rows = sorted(transactionRows.filter(passes), order, kind);
      const expected = { transactions: rows.slice(from, to).map(transaction), count: rows.length, success: true };
      expect(await served.get(`/transactions?${query}`), query).to.deep.equal(expected);
    };

    const sent: (address: string) => Passes = (address) => ({ sender }) => sender === address;
    const received: (address: string) => Passes = (address) => ({ recipients }) => recipients.includes(address);
    const owned: (address: string) => Passes = (address) => (row) => sent(address)(row) || received(address)(row);
    const count = (passes: Passes): number => transactionRows.filter(passes).length;
    const busiest = mostBy(walletRows, ({ address }) => count(sent(address)) * count(received(address)));
    const receiver = mostBy(
      walletRows.filter(({ address }) => address !== busiest.address),
      ({ address }) => count(received(address)),
    );
    const many = mostBy(transactionRows, ({ recipients }) => recipients.length);
    const fullest = mostBy(transactionRows, ({ block }) => (block.height > 1 ? block.numberOfTransactions : 0)).block;
    const noted = transactionRows.filter(({ vendorField }) => vendorField !== undefined && vendorField !== "");
    const note = noted[Math.floor(noted.length / 2)] as TransactionRow;

    describe("GET /transactions", () => {
      it("returns each transaction once across its offsets, latest first", async () => {
        const seen: unknown[] = [];
        for (let offset = 0; offset < transactionRows.length + 100; offset += 100) {
          const page = await served.get(`/transactions?offset=${offset}`);
          expect(page.count).to.equal(transactionRows.length);
          seen.push(...(page.transactions as unknown[]));
        }
        expect(seen).to.deep.equal(sorted(transactionRows, "timestamp:desc", kind).map(transaction));
      });

      const single: [query: string, passes: Passes][] = [
        [`id=${note.id.toUpperCase()}`, ({ id }) => id === note.id],
        [`blockId=${fullest.id}`, ({ block }) => block === fullest],
        [`blockId=${fullest.height}`, ({ block }) => block === fullest],
        ["type=3", ({ type }) => type === 3],
        ["type=0", ({ type }) => type === 0],
        ["version=2", ({ version }) => version === 2],
        [`senderPublicKey=${busiest.publicKey ?? ""}`, sent(busiest.address)],
        [`senderId=${busiest.address}`, sent(busiest.address)],
        [`recipientId=${receiver.address}`, received(receiver.address)],
        [`recipientId=${many.recipients.at(-1) ?? ""}`, received(many.recipients.at(-1) ?? "")],
        [`ownerAddress=${busiest.address}`, owned(busiest.address)],
        [`ownerPublicKey=${busiest.publicKey ?? ""}`, owned(busiest.address)],
        [`vendorField=${encodeURIComponent(String(note.vendorField))}`, ({ vendorField }) => vendorField === note.vendorField],
        [`timestamp=${note.time}`, ({ time }) => time === note.time],
        [`amount=${String(note.amount)}`, (row) => amount(row.amount) === amount(note.amount)],
        [`fee=${String(many.fee)}`, ({ fee }) => amount(fee) === amount(many.fee)],
      ];
      for (const [query, passes] of single) {
        it(`applies ${query.slice(0, 40)}`, async () => {
          expect(count(passes)).to.be.greaterThan(0);
          await lists(query, passes);
        });
      }

      it("lists what matches either of any two filters", async () => {
        const pairs = single.flatMap((one, index) => single.slice(index + 1).map((other) => [one, other] as const));
        const distinct = pairs.filter(([[a], [b]]) => a.split("=")[0] !== b.split("=")[0]);
        for (const [[a, passesA], [b, passesB]] of spread(distinct, 20)) {
          await lists(`${a}&${b}&limit=20`, (row) => passesA(row) || passesB(row), "timestamp:desc", [0, 20]);
        }
      });

      it("lists what wallets ask for: all that an address sent or received", async () => {
        const { address } = busiest;
        const query = `orderBy=timestamp:desc&limit=50&recipientId=${address}&senderId=${address}`;
        await lists(`${query}&offset=0`, owned(address), "timestamp:desc", [0, 50]);
        await lists(`${query}&offset=10`, owned(address), "timestamp:desc", [10, 60]);
        const more = `&ownerAddress=${receiver.address}&ownerPublicKey=${busiest.publicKey ?? ""}`;
        await lists(query + more, (row) => owned(address)(row) || owned(receiver.address)(row), "timestamp:desc", [0, 50]);
      });

      it("returns each transaction once across its offsets with several filters, in each order", async () => {
        const passes: Passes = (row) => sent(busiest.address)(row) || row.type === 3 || row.block === fullest;
        const filters = `senderId=${busiest.address}&type=3&blockId=${fullest.id}`;
        const orders = Object.keys(kind.orders).flatMap((field) => ["asc", "desc"].map((direction) => [field, direction] as const));
        for (const [field, direction] of spread(orders, 3)) {
          const expected = sorted(transactionRows.filter(passes), `${field}:${direction}`, kind);
          const step = 97;
          const seen: unknown[] = [];
          for (let offset = 0; offset < expected.length + step; offset += step) {
            const page = await served.get(`/transactions?${filters}&orderBy=${field}:${direction}&limit=${step}&offset=${offset}`);
            expect(page.count).to.equal(expected.length);
            seen.push(...(page.transactions as unknown[]));
          }
          expect(seen, `${field}:${direction}`).to.deep.equal(expected.map(transaction));
        }
      });

      it("orders the whole list", async () => {
        for (const field of Object.keys(kind.orders)) {
          await lists(`orderBy=${field}:asc`, () => true, `${field}:asc`);
          await lists(`orderBy=${field}:desc`, () => true, `${field}:desc`);
        }
      });

      it("matches nothing for an unknown address, and still applies the other filters", async () => {
        const empty = { transactions: [], count: 0, success: true };
        for (const query of [`senderId=${nobody}`, `recipientId=${nobody}`, `senderId=${nobody}&recipientId=${nobody}`, `ownerAddress=${nobody}`]) {
          expect(await served.get(`/transactions?${query}`), query).to.deep.equal(empty);
        }
        expect(await served.get(`/transactions?senderPublicKey=${"02".padEnd(66, "a")}&blockId=17184958558311101499`)).to.deep.equal(empty);
        await lists(`senderId=${nobody}&recipientId=${receiver.address}`, received(receiver.address));
      });

      it("accepts five filters at once, but no more", async () => {
        const five = "type=3&version=1&fee=0&amount=1&vendorField=x";
        await lists(five, ({ type, version, fee, amount: value, vendorField }) => type === 3 || version === 1 || amount(fee) === 0n || amount(value) === 1n || vendorField === "x");
        expect(await served.refusal(`/transactions?${five}&senderId=${nobody}`)).to.match(/must not have more than 5/);
      });

      for (const [query, error] of [
        ["limit=101", '"limit" must be <= 100'],
        ["limit=invalid", '"limit" must be integer'],
        ["offset=one", '"offset" must be integer'],
        ["id=invalid", '"id" must be 64 hexadecimal digits'],
        ["blockId=invalid", '"blockId" must be up to 20 decimal or 64 hexadecimal digits'],
        ["type=-1", '"type" must be >= 0'],
        ["senderPublicKey=02", '"senderPublicKey" must be 66 hexadecimal digits'],
        ["ownerPublicKey=02", '"ownerPublicKey" must be 66 hexadecimal digits'],
        ["senderId=invalid", '"senderId" must be an address of this network'],
        ["recipientId=invalid", '"recipientId" must be an address of this network'],
        ["ownerAddress=invalid", '"ownerAddress" must be an address of this network'],
        ["amount=1.5", '"amount" must be a whole number'],
        ["fee=free", '"fee" must be a whole number'],
      ] as const) {
        it(`refuses ${query}`, async () => {
          expect(await served.refusal(`/transactions?${query}`)).to.equal(error);
        });
      }

      it("refuses an unknown order", async () => {
        for (const order of ["invalid", "timestamp:up", "recipientId"]) {
          expect(await served.refusal(`/transactions?orderBy=${order}`)).to.match(/^"orderBy" must be one of timestamp, type, amount, /);
        }
      });
    });

    describe("GET /transactions/get", () => {
      it("shows every transaction", async () => {
        for (const row of spread(transactionRows, 60)) {
          expect(await served.get(`/transactions/get?id=${row.id}`)).to.deep.equal({ transaction: transaction(row), success: true });
        }
      });

      it("answers that an unknown transaction is not found, and requires an id", async () => {
        for (const id of ["a".repeat(64), "invalid", "1"]) expect(await served.refusal(`/transactions/get?id=${id}`)).to.equal("No transactions found");
        expect(await served.refusal("/transactions/get")).to.equal('"id" is required');
      });
    });
  });
}

describe("unconfirmed transactions, first generation", () => {
  const { transactionRows } = figuresOf("core3-testnet-a");
  const [one, other] = [transactionRows.at(-1), transactionRows.find(({ sender }) => sender !== transactionRows.at(-1)?.sender)] as [TransactionRow, TransactionRow];
  const unconfirmed = (digit: string, rest: Partial<TransactionData>): TransactionData => ({
    id: digit.repeat(64),
    version: 2,
    typeGroup: 1,
    type: 0,
    nonce: "3",
    senderPublicKey: one.senderPublicKey,
    recipientId: nobody,
    amount: "12500000000000000001",
    fee: 10_000_000n,
    expiration: 0,
    signature: "ab",
    ...rest,
  });
  const waiting = [
    unconfirmed("c", { vendorField: "hello" }),
    unconfirmed("a", { version: 1, nonce: undefined, timestamp: 100, signSignature: "cd", senderPublicKey: other.senderPublicKey }),
    unconfirmed("b", { type: 6, amount: "0", recipientId: undefined, asset: { payments: [{ recipientId: nobody, amount: "7" }] }, signature: undefined, signatures: ["00ab"] }),
    unconfirmed("d", { type: 3, amount: 0, recipientId: undefined, asset: { votes: [`+${one.senderPublicKey}`] } }),
  ];
  const common = { version: 2, typeGroup: 1, type: 0, amount: 12_500_000_000_000_000_001n, fee: 10_000_000, confirmations: 0, asset: {} };
  const shown = [
    { ...common, id: "c".repeat(64), recipientId: nobody, senderId: one.sender, senderPublicKey: one.senderPublicKey, vendorField: "hello", signature: "ab" },
    {
      ...common,
      id: "a".repeat(64),
      version: 1,
      timestamp: 100,
      recipientId: nobody,
      senderId: other.sender,
      senderPublicKey: other.senderPublicKey,
      signature: "ab",
      signSignature: "cd",
    },
    {
      ...common,
      id: "b".repeat(64),
      type: 6,
      amount: 0,
      recipientId: one.sender,
      senderId: one.sender,
      senderPublicKey: one.senderPublicKey,
      signatures: ["00ab"],
      asset: { payments: [{ recipientId: nobody, amount: 7 }] },
    },
    {
      ...common,
      id: "d".repeat(64),
      type: 3,
      amount: 0,
      recipientId: one.sender,
      senderId: one.sender,
      senderPublicKey: one.senderPublicKey,
      signature: "ab",
      asset: { votes: [`+${one.senderPublicKey}`] },
    },
  ];

  let served: Served;
  before(async () => {
    served = await serveFirst("core3-testnet-a", { pool: { list: () => waiting } });
  });
  after(() => served.stop());

  it("are listed in the pool's order, by limit and offset", async () => {
    const path = "/transactions/unconfirmed";
    expect(await served.get(path)).to.deep.equal({ transactions: shown, count: 4, success: true });
    expect(await served.get(`${path}?limit=2&offset=1`)).to.deep.equal({ transactions: shown.slice(1, 3), count: 4, success: true });
    expect(await served.get(`${path}?offset=4`)).to.deep.equal({ transactions: [], count: 4, success: true });
    expect(await served.refusal(`${path}?limit=101`)).to.equal('"limit" must be <= 100');
  });

  it("are filtered by sender, and by an address that sends or receives", async () => {
    const ids = async (query: string): Promise<string> =>
      ((await served.get(`/transactions/unconfirmed?${query}`)).transactions as { id: string }[]).map(({ id }) => id[0]).join("");
    expect(await ids(`senderPublicKey=${one.senderPublicKey}`)).to.equal("cbd");
    expect(await ids(`address=${nobody}`)).to.equal("cab");
    expect(await ids(`address=${one.sender}`)).to.equal("cbd");
    expect(await ids(`address=${nobody}&senderPublicKey=${one.senderPublicKey}&offset=1`)).to.equal("b");
    expect(await ids(`address=${nobody}&senderPublicKey=${other.senderPublicKey}&offset=1`)).to.equal("");
    expect(await served.refusal("/transactions/unconfirmed?senderPublicKey=1")).to.equal('"senderPublicKey" must be 66 hexadecimal digits');
  });

  it("are shown by id", async () => {
    for (const transaction of shown) {
      expect(await served.get(`/transactions/unconfirmed/get?id=${transaction.id}`), exactJson(transaction)).to.deep.equal({ transaction, success: true });
    }
    expect(await served.refusal(`/transactions/unconfirmed/get?id=${one.id}`)).to.equal("Transaction not found");
    expect(await served.refusal("/transactions/unconfirmed/get")).to.equal('"id" is required');
  });

  it("are filtered in slices, between which others are answered, however many there are", async () => {
    const many = Array.from({ length: 20_000 }, (_, index) => ({ ...waiting[0], id: index.toString(16).padStart(64, "0") }) as TransactionData);
    let turns = 0;
    let isAsked = false;
    const count = (): void => {
      turns++;
      if (isAsked) setImmediate(count);
    };
    const crowded = await serveFirst("core3-testnet-a", {
      pool: {
        list: () => {
          isAsked = true;
          setImmediate(count);
          return many;
        },
      },
    });
    expect(await crowded.get(`/transactions/unconfirmed?address=${nobody}&limit=1`)).to.have.property("count", many.length);
    isAsked = false;
    expect(turns).to.be.above(20);
    await crowded.stop();
  });

  it("are an empty list if the host has no pool", async () => {
    const poolless = await serveFirst("core3-testnet-a");
    expect(await poolless.get("/transactions/unconfirmed")).to.deep.equal({ transactions: [], count: 0, success: true });
    expect(await poolless.refusal(`/transactions/unconfirmed/get?id=${"c".repeat(64)}`)).to.equal("Transaction not found");
    await poolless.stop();
  });
});
