import { expect } from "chai";
import { blockRows, busiest, delegateRows, fullest, meta, mostVoted, network, ownedBy, sentBy, staticFees, tip, transactionRows, votersOf, walletRows } from "./knowledge.js";
import { axios, describeProgram, type Program } from "./program.js";

/** It was made for nodes that treat every request without a version as first generation. */
const explorer: Program = {
  name: "explorer of 2018, on a node of its time",
  prefix: "/api",
  get: { ...axios, Origin: "https://explorer.example", "Accept-Encoding": "gzip, deflate" },
  post: {},
  generation: 1,
  options: { defaultVersion: 1 },
};
/** The same program on a node with the second generation as default: its configured host names the generation. */
const atPath: Program = { ...explorer, name: "explorer of 2018, by path", prefix: "/api/v1", options: {} };

interface Delegate {
  username: string;
  publicKey: string;
  rate?: number;
  vote: string | null;
}
interface Block {
  id: string;
  height: number;
  generatorPublicKey: string;
}

for (const program of [explorer, atPath]) {
  describeProgram(program, (session) => {
    const ask = async <Members>(path: string): Promise<Members> => {
      const body = (await session().get(path)) as Members & { success: boolean };
      expect(body.success, path).to.equal(true);
      return body;
    };

    it("starts with what the node knows about its network", async () => {
      const { network: told } = await ask<{ network: object }>("loader/autoconfigure");
      expect(told).to.deep.include({ nethash: network.network.nethash, token: network.network.client.token, symbol: network.network.client.symbol });
      expect(await ask("blocks/getHeight")).to.deep.include({ height: tip.height, id: tip.id });
      expect((await ask<{ supply: number }>("blocks/getSupply")).supply).to.equal(Number(meta.supply));
      expect((await ask<{ fees: object }>("blocks/getFees")).fees).to.include({ send: staticFees.transfer, vote: staticFees.vote });
    });

    it("reads delegates by offset in pages of the active ones, then those on standby", async () => {
      const { delegates: first, totalCount } = await ask<{ delegates: Delegate[]; totalCount: number }>("delegates?limit=51");
      expect(totalCount).to.equal(delegateRows.length);
      const { delegates: rest } = await ask<{ delegates: Delegate[] }>("delegates?limit=51&offset=51");
      const seen = [...first, ...rest];
      expect(new Set(seen.map(({ username }) => username)).size).to.equal(delegateRows.length);
      for (const { username, rate, vote } of seen) {
        const row = delegateRows.find((each) => each.username === username);
        expect([rate ?? null, vote], username).to.deep.equal([row?.rank, row?.wallet.vote]);
      }
      const { delegates: standby } = await ask<{ delegates: Delegate[] }>("delegates?offset=51");
      expect(standby).to.deep.equal(rest);
      const { delegates: byRate } = await ask<{ delegates: Delegate[] }>("delegates?orderBy=rate:asc&limit=51");
      expect(byRate).to.deep.equal(first);
    });

    it("reads who forges next, and the chain's current slot", async () => {
      const { delegates, currentBlock, currentSlot } = await ask<{ delegates: string[]; currentBlock: number; currentSlot: number }>("delegates/getNextForgers?limit=51");
      expect(currentBlock).to.equal(tip.height);
      expect(currentSlot).to.equal(meta.lastSlot);
      // Their order is checked elsewhere: the real node ranked this chain's delegates by a sum that it later corrected.
      expect(delegates).to.have.members(meta.nextForgers.map(({ publicKey }) => publicKey));
      expect(delegates).to.have.lengthOf(51);
    });

    it("reads a delegate by name and by key, what it forged, its blocks and its voters, richest first", async () => {
      const { username, publicKey, forgedTotal } = mostVoted;
      const { delegate } = await ask<{ delegate: Delegate }>(`delegates/get?username=${username}`);
      expect(delegate.publicKey).to.equal(publicKey);
      expect((await ask<{ delegate: Delegate }>(`delegates/get?publicKey=${publicKey}`)).delegate).to.deep.equal(delegate);
      expect((await ask<{ forged: number }>(`delegates/forging/getForgedByAccount?generatorPublicKey=${publicKey}`)).forged).to.equal(Number(forgedTotal));
      const { blocks, count } = await ask<{ blocks: Block[]; count: number }>(`blocks?generatorPublicKey=${publicKey}&limit=1&orderBy=height:desc`);
      expect([blocks[0]?.height, count]).to.deep.equal([mostVoted.lastBlock?.height, mostVoted.producedBlocks]);
      const { accounts } = await ask<{ accounts: { address: string; balance: number }[] }>(`delegates/voters?publicKey=${publicKey}`);
      expect(accounts.map(({ address }) => address)).to.have.members(votersOf(mostVoted).map(({ address }) => address));
      expect(accounts).to.deep.equal([...accounts].sort((a, b) => b.balance - a.balance));
    });

    it("steps through the blocks, and from one to its neighbours", async () => {
      const { blocks } = await ask<{ blocks: Block[] }>("blocks?orderBy=height:desc&limit=25&offset=25");
      expect(blocks.map(({ height }) => height)).to.deep.equal(Array.from({ length: 25 }, (_, index) => tip.height - 25 - index));
      expect((await ask<{ block: Block }>(`blocks/get?id=${fullest.id}`)).block.height).to.equal(fullest.height);
      for (const height of [fullest.height - 1, fullest.height + 1]) {
        const { blocks: found } = await ask<{ blocks: Block[] }>(`blocks?height=${height}`);
        expect(found.map(({ id }) => id)).to.deep.equal(blockRows.filter((row) => row.height === height).map(({ id }) => id));
      }
      expect((await ask<{ blocks: Block[] }>(`blocks?height=${tip.height + 1}`)).blocks).to.deep.equal([]);
    });

    it("reads an account and its transactions: all, sent and received", async () => {
      const { address, balance } = busiest;
      expect((await ask<{ account: { balance: string } }>(`accounts?address=${address}`)).account.balance).to.equal(balance);
      const owned = transactionRows.filter(ownedBy(address));
      const all = await ask<{ transactions: { id: string }[]; count: number }>(
        `transactions?recipientId=${address}&senderId=${address}&orderBy=timestamp:desc&limit=50&offset=0`,
      );
      expect([all.count, all.transactions.map(({ id }) => id)]).to.deep.equal([owned.length, owned.slice(-50).reverse().map(({ id }) => id)]);
      const sent = await ask<{ count: number }>(`transactions?senderId=${address}&orderBy=timestamp:desc&limit=1`);
      expect(sent.count).to.equal(transactionRows.filter(sentBy(address)).length);
      expect(await ask<{ balance: string }>(`accounts/getBalance?address=${address}`)).to.have.property("balance", balance);
      const { accounts } = await ask<{ accounts: { address: string }[] }>("accounts/top?limit=25&offset=25");
      const richest = [...walletRows].sort((a, b) => (BigInt(b.balance) > BigInt(a.balance) ? 1 : BigInt(b.balance) < BigInt(a.balance) ? -1 : a.address < b.address ? -1 : 1));
      expect(accounts.map(({ address: each }) => each)).to.deep.equal(richest.slice(25, 50).map(({ address: each }) => each));
    });

    it("tries a search term as every kind of id, judging by `success`", async () => {
      for (const path of ["accounts?address=x", "delegates/get?username=x", `delegates/get?publicKey=${"02".padEnd(66, "c")}`, "blocks/get?id=x", `transactions/get?id=${"e".repeat(64)}`]) {
        const body = await session().get(path);
        expect(body, path).to.have.property("success", false);
        expect(body, path).to.have.property("error").that.is.a("string");
      }
    });
  });
}
