import { expect } from "chai";
import { chainNames } from "../../e2e/chains.js";
import { figuresOf } from "../../e2e/figures.js";
import { serveFirst } from "../../e2e/first-generation.js";
import type { NodeContext } from "../../../types/node-context.js";

const nethash = "d9acd04bde4234a81addb8482333b4ac906bed7be5a9970ce8ada428bd083192";
const network = { nethash, token: "TARK", symbol: "TѦ", explorer: "http://texplorer.ark.io", version: 23 };

for (const name of chainNames) {
  describe(`the loader on ${name}, first generation`, () => {
    const { tip } = figuresOf(name);

    const told = async (context: Partial<NodeContext>, path: string): Promise<unknown> => {
      const served = await serveFirst(name, context);
      try {
        return await served.get(path);
      } finally {
        await served.stop();
      }
    };

    const standings: [what: string, sync: NodeContext["sync"], synced: boolean, behind: number][] = [
      ["a host without `sync`", undefined, true, 0],
      ["a node in sync", { networkHeight: () => tip.height }, true, 0],
      ["a node behind", { networkHeight: () => Promise.resolve(tip.height + 12) }, false, 12],
      ["a node ahead", { networkHeight: () => tip.height - 3 }, true, -3],
      ["a host that says it is synced", { networkHeight: () => tip.height + 1, synced: () => true }, true, 1],
    ];
    for (const [what, sync, synced, behind] of standings) {
      it(`reports ${what} at GET /loader/status and /loader/status/sync`, async () => {
        const context = sync === undefined ? {} : { sync };
        expect(await told(context, "/loader/status")).to.deep.equal({ loaded: synced, now: tip.height, blocksCount: behind, success: true });
        expect(await told(context, "/loader/status/sync")).to.deep.equal({
          syncing: !synced,
          blocks: behind,
          height: tip.height,
          id: tip.id,
          success: true,
        });
      });
    }

    it("reports the network and the ports that the host names at GET /loader/autoconfigure", async () => {
      expect(await told({}, "/loader/autoconfigure")).to.deep.equal({ network: { ...network, ports: {} }, success: true });
      const ports = { "@arkecosystem/core-p2p": 4002, "@arkecosystem/core-api": 4003, "@arkecosystem/core-webhooks": null };
      expect(await told({ node: { ports } }, "/loader/autoconfigure")).to.deep.equal({ network: { ...network, ports }, success: true });
    });

    it("asks the host for each request", async () => {
      let networkHeight = tip.height;
      const served = await serveFirst(name, { sync: { networkHeight: () => networkHeight } });
      expect((await served.get("/loader/status")).blocksCount).to.equal(0);
      networkHeight += 5;
      expect((await served.get("/loader/status")).blocksCount).to.equal(5);
      expect((await served.get("/loader/status/sync")).blocks).to.equal(5);
      await served.stop();
    });
  });
}
