import { expect } from "chai";
import { EventEmitter } from "eventemitter3";
import { type BlockData, createApiPlugin } from "portico";
import { type Proof, verifyProof } from "portico/verify";
import { createForkNetwork, forkAddressOf, treasury } from "../../examples/custom-fork/network.js";
import { createForkNode, crewAddress } from "../../examples/custom-fork/node.js";
import { split } from "../../examples/custom-fork/split.js";
import { createSqliteChain } from "../../examples/custom-fork/store/sqlite-chain.js";
import { atEndOfTest } from "../at-end.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { listenTo } from "../fixtures/node.js";
import { runExample, urlIn } from "../fixtures/process.js";
import { until } from "../fixtures/until.js";
import { silentLogger } from "../silent.js";

describe("the custom fork", () => {
  describe("served from SQLite and from the built-in store", () => {
    const blocks: BlockData[] = [];
    const urls: string[] = [];

    before(async () => {
      const folder = temporaryFolder();
      const network = createForkNetwork();
      const transactionTypes = [split];
      const chain = createSqliteChain({ path: `${folder}/chain.sqlite`, network, transactionTypes });
      await chain.start();
      chain.apply(network.genesisBlock);
      const events = new EventEmitter();
      const node = createForkNode({ network, chain, events });
      blocks.push(network.genesisBlock);
      for (let count = 0; count < 24; count++) blocks.push(await node.forge());

      const source = { read: (from: number, limit: number) => blocks.slice(from - 1, from - 1 + limit) };
      // Replies that tell the time are compared too.
      const now = Date.now();
      const shared = { network, transactionTypes, logger: silentLogger, clock: { now: () => now } };
      for (const context of [{ events, chain }, { events: new EventEmitter(), dataDir: `${folder}/lmdb`, blocks: source }]) {
        const plugin = createApiPlugin({ ...shared, ...context });
        atEndOfTest(() => plugin.stop());
        urls.push((await listenTo(plugin)).url);
      }
    });

    const treasuryAddress = forkAddressOf(treasury);
    const paths = [
      "/blockchain",
      "/node/configuration",
      "/node/configuration/crypto",
      "/node/status",
      "/node/fees?days=30",
      "/transactions/types",
      "/transactions/fees",
      "/wallets?limit=5&page=2",
      "/wallets?balance.from=9223372036854775808",
      "/wallets/top",
      `/wallets/${treasuryAddress}`,
      `/wallets/${crewAddress(3)}/transactions/received?limit=3&page=3`,
      "/delegates?orderBy=approval:desc",
      "/delegates?orderBy=forgedTotal:asc",
      "/delegates/pilot_2/blocks?limit=2",
      "/delegates/pilot_1/voters",
      "/blocks?limit=7&offset=3",
      "/blocks/12/transactions",
      "/blocks/12/proof?confirmations=5",
      "/transactions?typeGroup=4100&limit=4&page=2",
      "/transactions?orderBy=amount:asc&limit=9",
      "/votes",
      "/rounds/3/delegates",
      "/locks",
      "/v1/delegates/getNextForgers",
      "/v1/accounts/top?limit=3",
    ];
    for (const path of paths) {
      it(`gives the same answer for ${path}`, async () => {
        const [own, builtIn] = await Promise.all(urls.map((url) => fetch(`${url}${path}`)));
        expect(own?.status).to.equal(200);
        // An adapter may leave out the digest of the state, as the fork's does.
        expect(await own?.text()).to.equal((await builtIn?.text())?.replace(/,"digest":"[0-9a-f]{64}"/, ""));
      });
    }

    it("tells those who follow it the same blocks and events, from genesis on", async () => {
      const lines = async (url: string): Promise<unknown[]> => {
        const text = await (await fetch(`${url}/changes?after=genesis`)).text();
        return text.trimEnd().split("\n").map((line) => ({ ...(JSON.parse(line) as object), digest: undefined }));
      };
      const [own, builtIn] = await Promise.all(urls.map(lines));
      expect(own).to.have.length(25);
      expect(own).to.deep.equal(builtIn);
      // The host's own store noted when it applied each block; the other read them while catching up.
      const events = async (url: string): Promise<{ event: string }[]> => {
        const { data } = (await (await fetch(`${url}/events/feed?after=genesis&limit=1000&event=block.*,transaction.*,round.*`)).json()) as { data: { event: string; cursor: string }[] };
        return data.map((event) => ({ ...event, timestamp: undefined }));
      };
      const [ownEvents, builtInEvents] = await Promise.all(urls.map(events));
      expect(ownEvents?.filter(({ event }) => event === "round.created").length).to.be.greaterThan(1);
      expect(ownEvents).to.deep.equal(builtInEvents);
    });

    it("shows amounts above 2^63 with all their digits", async () => {
      const wallet = await (await fetch(`${urls[0]}/wallets/${treasuryAddress}`)).text();
      expect(/"balance":(\d+)/.exec(wallet)?.[1]).to.match(/^1799849\d{13}$/);
    });

    it("proves a transaction of its own type", async () => {
      const { id = "", recipientId } = blocks[4]?.transactions?.find(({ typeGroup }) => typeGroup === split.typeGroup) ?? {};
      expect(recipientId).to.equal(undefined);
      const { data } = (await (await fetch(`${urls[0]}/transactions/${id}/proof`)).json()) as { data: Proof };
      const { network, milestones } = createForkNetwork();
      const { confirmedBy, transaction } = verifyProof(data, { network, milestones, delegates: data.round.delegates, threshold: 5 });
      expect({ confirmedBy, id: transaction?.id }).to.deep.equal({ confirmedBy: 5, id });
    });

    it("names its own transaction type, and lists a transaction under each of its recipients", async () => {
      const types = (await (await fetch(`${urls[0]}/transactions/types`)).json()) as { data: Record<string, number> };
      expect(types.data.Split).to.equal(0);
      const given = blocks[1]?.transactions?.[1];
      for (const number of [2, 3, 4]) {
        const received = await (await fetch(`${urls[0]}/wallets/${crewAddress(number)}/transactions/received`)).text();
        expect(received).to.include(given?.id);
      }
    });
  });

  describe("as run by an operator", () => {
    const dataDir = temporaryFolder();
    const started = async () => {
      const process = runExample("examples/custom-fork/main.ts", { FORGE_INTERVAL: "20" }, [], dataDir);
      return { process, url: urlIn(await process.line(/is served at/)) };
    };
    const height = async (url: string): Promise<number> =>
      ((await (await fetch(`${url}/blockchain`)).json()) as { data: { block: { height: number } } }).data.block.height;

    it("forges, is killed, resumes from the same chain, and stops when it is told to", async () => {
      const first = await started();
      const reached = await until(async () => {
        const at = await height(first.url);
        return at >= 3 ? at : undefined;
      });
      first.process.kill("SIGKILL");
      await first.process.ended;

      const second = await started();
      expect(await height(second.url)).to.be.at.least(reached);
      second.process.kill("SIGINT");
      expect(await second.process.ended).to.equal(0);
    });
  });
});
