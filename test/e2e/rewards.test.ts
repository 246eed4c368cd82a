import { expect } from "chai";
import { type ChainName, loadChain } from "../data/read.js";
import { isLong } from "../fixtures/long.js";
import { startStoredNode } from "../fixtures/stored-chain.js";
import type { Answer, Question } from "../http/ask.js";

interface Voter {
  address: string;
  blocks: number;
  amount: string;
}

interface Rewards {
  delegate: { username: string; address: string; publicKey: string };
  from: { height: number; id: string };
  to: { height: number; id: string };
  blocks: number;
  forged: Record<"rewards" | "fees" | "total", string>;
  share: number;
  shared: string;
  rest: string;
  voters: Voter[];
}

interface Terms {
  share?: string;
  of?: "total" | "rewards" | "fees";
  minimum?: bigint;
  cap?: bigint;
  exclude?: string[];
  spread?: boolean;
}

type Balances = ReadonlyMap<string, bigint>;

const queryOf = (terms: Terms, more: Record<string, string | number> = {}): string =>
  new URLSearchParams(Object.entries({ ...more, ...terms }).map(([name, value]): [string, string] => [name, String(value)])).toString();

for (const name of ["core3-testnet-a", "core3-custom-c"] satisfies ChainName[]) {
  describe(`rewards of ${name}`, () => {
    const { blocks } = loadChain(name);
    const top = blocks.length;
    let get: (path: string, question?: Question) => Promise<Answer>;
    before(async () => {
      ({ get } = await startStoredNode(name, { options: { webhooks: false, amounts: "string", rateLimit: false } }));
    });

    const kept = new Map<string, Balances>();
    /** What `voters/balances` says of the state after a block. */
    const balancesAt = async (publicKey: string, height: number): Promise<Balances> => {
      const key = `${publicKey} ${height}`;
      const found = kept.get(key) ?? new Map(Object.entries(((await get(`/delegates/${publicKey}/voters/balances?at=${height}`)).json as { data: Record<string, string> }).data).map(([address, balance]) => [address, BigInt(balance)]));
      kept.set(key, found);
      return found;
    };

    const forgersBy = (): string[] => {
      const counts = new Map<string, number>();
      for (const { generatorPublicKey } of blocks.slice(1)) counts.set(generatorPublicKey, (counts.get(generatorPublicKey) ?? 0) + 1);
      return [...counts].sort(([, one], [, other]) => other - one).map(([key]) => key);
    };

    /** Block by block, with nothing kept from one to the next. */
    const naive = async (publicKey: string, [from, to]: readonly [number, number], terms: Terms) => {
      const { share = "100", of = "total", minimum = 0n, cap, exclude = [], spread = false } = terms;
      const [whole = "", part = ""] = share.split(".");
      const hundredths = BigInt(whole + part.padEnd(2, "0"));
      const forged = { rewards: 0n, fees: 0n, total: 0n };
      const due = new Map<string, { blocks: number; amount: bigint }>();
      let [count, shared] = [0, 0n];
      for (const block of blocks.slice(from - 1, to)) {
        if (block.generatorPublicKey !== publicKey) continue;
        const [reward, fee] = [BigInt(String(block.reward)), BigInt(String(block.totalFee))];
        count++;
        forged.rewards += reward;
        forged.fees += fee;
        forged.total += reward + fee;
        const pot = ({ rewards: reward, fees: fee, total: reward + fee }[of] * hundredths) / 10_000n;
        shared += pot;
        const weights = [...(await balancesAt(publicKey, block.height))]
          .filter(([address]) => !spread || !exclude.includes(address))
          .map(([address, balance]): [string, bigint] => [address, balance < 0n ? 0n : cap !== undefined && balance > cap ? cap : balance]);
        const sum = weights.reduce((total, [, weight]) => total + weight, 0n);
        for (const [address, weight] of weights) {
          const amount = sum === 0n ? 0n : (pot * weight) / sum;
          if (amount === 0n || exclude.includes(address)) continue;
          const before = due.get(address) ?? { blocks: 0, amount: 0n };
          due.set(address, { blocks: before.blocks + 1, amount: before.amount + amount });
        }
      }
      const voters = [...due].filter(([, { amount }]) => amount >= minimum).sort(([one, a], [other, b]) => (a.amount === b.amount ? (one < other ? -1 : 1) : a.amount > b.amount ? -1 : 1));
      const paid = voters.reduce((sum, [, { amount }]) => sum + amount, 0n);
      return {
        ...{ blocks: count, forged: { rewards: `${forged.rewards}`, fees: `${forged.fees}`, total: `${forged.total}` }, share: Number(share), shared: `${shared}`, rest: `${forged[of] - paid}` },
        voters: voters.map(([address, { blocks: paidBlocks, amount }]) => ({ address, blocks: paidBlocks, amount: `${amount}` })),
      };
    };

    const rewards = async (id: string, query = ""): Promise<Rewards> => {
      const answer = await get(`/delegates/${id}/rewards?${query}`);
      expect(answer.status, answer.text).to.equal(200);
      return (answer.json as { data: Rewards }).data;
    };

    const middle = Math.floor(top / 2);
    const ranges = [[1, top], [middle - 60, middle + 45], [52, 102], [103, 103], [top - 30, top]] as const;
    const everyTerm: Terms[] = [{}, { share: "90.25" }, { share: "0" }, { share: "85", of: "rewards" }, { share: "33.3", of: "fees" }, { cap: 10n ** 12n }, { minimum: 5_000n }];

    it("are those of a naive computation by the voters' balances at each block, to the digit, for every option", async () => {
      for (const publicKey of forgersBy().slice(0, isLong ? 51 : 3)) {
        const some = [...(await balancesAt(publicKey, top)).keys()].slice(0, 2);
        for (const range of ranges) {
          for (const terms of [...everyTerm, { exclude: some }, { exclude: some, spread: true, share: "50", cap: 10n ** 13n, minimum: 7n }]) {
            const { delegate, from, to, ...found } = await rewards(publicKey, queryOf(terms, { from: range[0], to: range[1] }));
            expect({ publicKey, range, terms, ...found }).to.deep.equal({ publicKey, range, terms, ...(await naive(publicKey, range, terms)) });
            expect([delegate.publicKey, from, to]).to.deep.equal([publicKey, ...range.map((height) => ({ height, id: blocks[height - 1]?.id }))]);
          }
        }
      }
    });

    it("are as of an earlier block with `at`, of one voter alone by its address, and CSV where that is asked for", async () => {
      let [publicKey, voters]: [string, Voter[]] = ["", []];
      for (const forger of forgersBy()) if (voters.length === 0) [publicKey, voters] = [forger, (await rewards(forger, `to=${middle}`)).voters];
      expect(voters.length).to.be.above(0);
      expect((await rewards(publicKey, `at=${middle}`)).voters).to.deep.equal(voters);
      expect((await rewards(publicKey, `at=${middle}&to=${top}`)).voters).to.deep.equal(voters);
      const one = await get(`/delegates/${publicKey}/rewards/${voters.at(-1)?.address}?to=${middle}`);
      expect(one.json).to.deep.equal({ data: voters.at(-1) });
      const heightOf = async (query: string) => (await get(`/delegates/${publicKey}/rewards?${query}`)).headers["x-block-height"];
      expect([await heightOf(`at=${middle}`), await heightOf("")]).to.deep.equal([String(middle), String(top)]);
      const csv = await get(`/delegates/${publicKey}/rewards?to=${middle}`, { headers: { accept: "text/csv" } });
      expect(csv.headers["content-type"]).to.match(/^text\/csv/);
      expect(csv.text).to.equal(`address,blocks,amount\r\n${voters.map(({ address, blocks: count, amount }) => `${address},${count},${amount}\r\n`).join("")}`);
      expect((await get(`/delegates/${publicKey}/rewards?to=${middle}&format=csv`)).text).to.equal(csv.text);
    });

    it("are immutable where their end is named, not beyond the tip, and final", async () => {
      const [publicKey = ""] = forgersBy();
      const isImmutable = async (query: string): Promise<boolean> => /immutable/.test(String((await get(`/delegates/${publicKey}/rewards?${query}`)).headers["cache-control"]));
      expect(await isImmutable(`to=${middle}`)).to.equal(true);
      for (const query of ["", `to=${top}`, `to=${top + 1}`, "to=2999-01-01"]) expect({ query, is: await isImmutable(query) }).to.deep.equal({ query, is: false });
    });

    it("are refused for what is no delegate, no voter, no percentage, or ends before it begins", async () => {
      const [publicKey = ""] = forgersBy();
      const statusOf = async (path: string): Promise<number> => (await get(path)).status;
      expect(await statusOf("/delegates/nobody/rewards")).to.equal(404);
      expect(await statusOf(`/delegates/${publicKey}/rewards/AnAddressThatNobodyHasEverSeen12345`)).to.equal(404);
      for (const query of ["share=101", "share=1.234", "share=-1", "of=all", "from=9&to=8", "minimum=-1", "cap=x", "spread=perhaps"])
        expect({ query, status: await statusOf(`/delegates/${publicKey}/rewards?${query}`) }).to.deep.equal({ query, status: 400 });
    });
  });
}
