import { once } from "node:events";
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import { openAnswerStore } from "../../src/replica/answers.js";
import { createNodeClient } from "../../src/replica/node-client.js";
import { createNodeHost } from "../../src/replica/node-host.js";
import { createNodeWatch } from "../../src/replica/node-watch.js";
import { silentLogger } from "../silent.js";
import { temporaryFolder } from "../fixtures/folder.js";

const url = "http://127.0.0.1:4003/api";

describe("What a replica keeps of its node", () => {
  let dataDir: string;
  let path: string;
  beforeEach(() => {
    dataDir = temporaryFolder();
    path = join(dataDir, "followed-node.json");
  });
  const onDisk = (): unknown => JSON.parse(readFileSync(path, "utf8"));

  it("is on the disk soon, and when it has settled as it is then; it is not written with each change", async () => {
    const kept = openAnswerStore(dataDir, url, silentLogger);
    kept.put("status", { networkHeight: 0 });
    while (!existsSync(path)) await nextTurn();
    const files = new Set([statSync(path).ino]);
    for (let height = 1; height <= 200; height++) {
      kept.put("status", { networkHeight: height });
      await nextTurn();
      files.add(statSync(path).ino);
    }
    // One a second, however long that took.
    expect(files.size, "files that took each other's place").to.be.below(50);
    await kept.settled();
    expect(onDisk()).to.deep.equal({ url, status: { networkHeight: 200 } });
    expect(openAnswerStore(dataDir, url, silentLogger).get("status")).to.deep.equal({ networkHeight: 200 });
    kept.put("status", { networkHeight: 201 });
    await kept.settled();
    expect(onDisk()).to.deep.equal({ url, status: { networkHeight: 201 } });
  });

  it("is told again, but for its pool, after a restart", async () => {
    const kept = openAnswerStore(dataDir, url, silentLogger);
    kept.put("peers", [{ ip: "10.0.0.1" }]);
    kept.put("pool", [{ id: "a" }]);
    expect(kept.get("pool")).to.deep.equal([{ id: "a" }]);
    await kept.settled();
    const again = openAnswerStore(dataDir, url, silentLogger);
    expect([again.get("peers"), again.get("pool")]).to.deep.equal([[{ ip: "10.0.0.1" }], undefined]);
  });

  it("is asked for page by page, and no more than a thousand of them, whatever the node says", async () => {
    let pages = 0;
    const page = JSON.stringify({ data: Array.from({ length: 100 }, () => ({ ip: "10.0.0.1" })) });
    const server = createServer((_request, response) => {
      pages++;
      response.end(page);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const client = createNodeClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const now = () => 0;
    const host = createNodeHost({ client, watch: createNodeWatch({ client, now }), answers: openAnswerStore(undefined, url, silentLogger), now });
    expect(await host.peers?.list()).to.have.length(100_000);
    expect(pages).to.equal(1_000);
    await client.close();
    server.close();
  });
});
