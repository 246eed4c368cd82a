import { expect } from "chai";
import { asSent } from "./as-sent.js";
import {
  blockchainBody, blockRows, busiest, configurationBody, delegateRows, fullest, listBlocks, listDelegates, listLocks, listTransactions,
  listWallets, locker, meta, mostVoted, notFound, ownedBy, receivedBy, roundBody, sentBy, showBlock, showDelegate, showWallet, tip,
  transactionRows, walletRows,
} from "./knowledge.js";
import { axios, describeProgram, type Program } from "./program.js";

const browser = {
  ...axios,
  "User-Agent": "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:67.0) Gecko/20100101 Firefox/67.0",
  "Accept-Language": "en-US,en;q=0.5",
  "Accept-Encoding": "gzip, deflate",
  Origin: "https://explorer.example",
  Referer: "https://explorer.example/",
};
const explorer: Program = { name: "explorer of 2019", prefix: "/api/v2", get: browser, post: { ...browser, "Content-Type": "application/json;charset=utf-8" } };

const numbers = (body: unknown): unknown => asSent("number", body);

interface Page<Item> {
  meta: { count: number; pageCount: number; totalCount: number };
  data: Item[];
}
interface Delegate {
  username: string;
  publicKey: string;
  blocks: { produced: number; last?: { height: number } };
  forged: { total: number };
}

describeProgram(explorer, (session) => {
  const totalOf = async (path: string): Promise<number> => ((await session().get(path)) as Page<unknown>).meta.totalCount;

  it("starts with the configuration and the chain's state", async () => {
    expect(await session().get("node/configuration")).to.deep.equal(configurationBody);
    for (let twice = 0; twice < 2; twice++) {
      const { data } = (await session().get("blockchain")) as { data: { digest: string } };
      const { digest, ...known } = data;
      expect({ data: known }).to.deep.equal(numbers(blockchainBody));
      expect(digest).to.match(/^[0-9a-f]{64}$/);
    }
  });

  it("reads all delegates page by page, each once, with the height of its last block", async () => {
    const first = (await session().get("delegates?page=1")) as Page<Delegate>;
    const pages = [first];
    for (let page = 2; page <= first.meta.pageCount; page++) pages.push((await session().get(`delegates?page=${page}`)) as Page<Delegate>);
    const seen = pages.flatMap(({ data }) => data);
    expect(seen).to.have.lengthOf(delegateRows.length);
    for (const { username, blocks } of seen) {
      const row = delegateRows.find((each) => each.username === username);
      expect([blocks.produced, blocks.last?.height], username).to.deep.equal([row?.producedBlocks, row?.lastBlock?.height]);
    }
  });

  it("reads the active delegates, and those on standby by an offset", async () => {
    expect(await session().get("delegates?limit=51")).to.deep.equal(numbers(listDelegates({ path: "delegates", query: { limit: 51 } })));
    const standby = (await session().get("delegates?limit=51&offset=51")) as Page<Delegate>;
    const { data } = numbers(listDelegates({ path: "delegates", query: { limit: 51, page: 2 } })) as Page<Delegate>;
    expect(standby.data).to.deep.equal(data);
    expect(standby.meta).to.deep.include({ count: delegateRows.length - 51, totalCount: delegateRows.length });
    expect(await totalOf("delegates?limit=1")).to.equal(delegateRows.length);
  });

  it("reads a round's delegates, which include those who forged in it", async () => {
    const { round } = meta.roundOfTip;
    expect(await session().get(`rounds/${round}/delegates`)).to.deep.equal(numbers(roundBody));
    const { data } = (await session().get(`rounds/${round - 1}/delegates`)) as Page<{ publicKey: string }>;
    const forgers = blockRows.filter(({ height }) => Math.floor((height - 1) / 51) + 1 === round - 1).map(({ generatorPublicKey }) => generatorPublicKey);
    expect(data.map(({ publicKey }) => publicKey)).to.include.members(forgers);
  });

  it("reads a delegate, its blocks and its voters by any of its names", async () => {
    for (const id of [mostVoted.username, mostVoted.address, mostVoted.publicKey]) {
      expect(await session().get(`delegates/${id}`)).to.deep.equal(numbers(showDelegate(mostVoted)));
      const query = { page: 1, limit: 25 };
      expect(await session().get(`delegates/${id}/blocks?page=1&limit=25`)).to.deep.equal(
        numbers(listBlocks({ path: `delegates/${id}/blocks`, query, passes: ({ generatorPublicKey }) => generatorPublicKey === mostVoted.publicKey })),
      );
      expect(await session().get(`delegates/${id}/voters?page=1&limit=25`)).to.deep.equal(
        numbers(listWallets({ path: `delegates/${id}/voters`, query, passes: ({ vote }) => vote === mostVoted.publicKey })),
      );
    }
  });

  it("counts every delegate's voters with a balance through a page of one row", async () => {
    for (const { publicKey } of delegateRows) {
      const { meta: counted } = (await session().post("wallets/search?limit=1", { vote: publicKey, balance: { from: 1e7 } })) as Page<unknown>;
      const expected = walletRows.filter(({ vote, balance }) => vote === publicKey && BigInt(balance) >= 10_000_000n).length;
      expect(counted.totalCount, publicKey).to.equal(expected);
      expect(counted.count).to.equal(Math.min(1, expected));
    }
  });

  it("steps through the blocks, one by one and page by page", async () => {
    expect(await session().get("blocks?limit=1")).to.deep.equal(numbers(listBlocks({ path: "blocks", query: { limit: 1 } })));
    expect(await session().get(`blocks/${fullest.id}`)).to.deep.equal(numbers(showBlock(fullest)));
    for (const height of [fullest.height - 1, fullest.height + 1]) {
      expect(await session().get(`blocks?height=${height}`)).to.deep.equal(numbers(listBlocks({ path: "blocks", query: { height }, passes: (row) => row.height === height })));
    }
    expect(await session().get(`blocks?height=${tip.height + 1}`)).to.have.deep.property("data", []);
    expect(await session().get("blocks?page=4&limit=25")).to.deep.equal(numbers(listBlocks({ path: "blocks", query: { page: 4, limit: 25 } })));
    const query = { orderBy: "timestamp:desc", page: 2, limit: 25 };
    const path = `blocks/${fullest.id}/transactions`;
    expect(await session().get(`${path}?orderBy=timestamp:desc&page=2&limit=25`)).to.deep.equal(numbers(listTransactions({ path, query, passes: ({ block }) => block.id === fullest.id })));
  });

  it("shows a wallet, and counts what it sent and received through pages of one row", async () => {
    const { address } = busiest;
    expect(await session().get(`wallets/${address}`)).to.deep.equal(numbers(showWallet(busiest)));
    expect(await totalOf(`transactions?senderId=${address}&limit=1`)).to.equal(transactionRows.filter(sentBy(address)).length);
    expect(await totalOf(`transactions?recipientId=${address}&limit=1`)).to.equal(transactionRows.filter(receivedBy(address)).length);
    expect(await totalOf(`wallets/${locker.address}/locks?limit=1`)).to.equal(Object.keys(locker.locks ?? {}).length);
    const query = { orderBy: "timestamp:desc", page: 1, limit: 25 };
    const lists: [suffix: string, passes: (row: (typeof transactionRows)[number]) => boolean][] = [
      ["", ownedBy(address)],
      ["/sent", sentBy(address)],
      ["/received", receivedBy(address)],
    ];
    for (const [suffix, passes] of lists) {
      const path = `wallets/${address}/transactions${suffix}`;
      expect(await session().get(`${path}?orderBy=timestamp:desc&page=1&limit=25`), suffix).to.deep.equal(numbers(listTransactions({ path, query, passes })));
    }
    const path = `wallets/${locker.address}/locks`;
    expect(await session().get(`${path}?orderBy=timestamp:desc&page=1&limit=25`)).to.deep.equal(
      numbers(listLocks({ path, query, passes: ({ sender }) => sender.address === locker.address })),
    );
  });

  it("shows the richest wallets and the newest transactions, also by type and group", async () => {
    expect(await session().get("wallets/top?page=2&limit=25")).to.deep.equal(numbers(listWallets({ path: "wallets/top", query: { page: 2, limit: 25 } })));
    expect(await session().get("transactions?orderBy=timestamp:desc&limit=25")).to.deep.equal(
      numbers(listTransactions({ path: "transactions", query: { orderBy: "timestamp:desc", limit: 25 } })),
    );
    const query = { orderBy: "timestamp:desc", page: 1, limit: 25, type: 6, typeGroup: 2 };
    expect(await session().get("transactions?orderBy=timestamp:desc&page=1&limit=25&type=6&typeGroup=2")).to.deep.equal(
      numbers(listTransactions({ path: "transactions", query, passes: ({ type, typeGroup }) => type === 6 && typeGroup === 2 })),
    );
  });

  it("tries a search term as every kind of id", async () => {
    expect(await session().get(`wallets/${mostVoted.username}`)).to.have.nested.property("data.address", mostVoted.address);
    for (const [path, what] of [["wallets/nothing", "Wallet"], ["delegates/nothing", "Delegate"], ["blocks/nothing", "Block"], ["transactions/nothing", "Transaction"]] as const) {
      expect(await session().get(path, 404)).to.deep.equal(notFound(what));
    }
  });
});
