import { execFile } from "node:child_process";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { expect } from "chai";
import { loadChain } from "../data/read.js";
import { programOf } from "../fixtures/programs.js";
import { startStoredNode } from "../fixtures/stored-chain.js";

const run = (...given: string[]): Promise<{ stdout: string; stderr: string; code?: number }> =>
  promisify(execFile)(process.execPath, [programOf("examples/payout/main.ts"), ...given]).catch((error: unknown) => error as { stdout: string; stderr: string; code: number });

describe("the payout example", () => {
  const { delegates } = loadChain("core3-custom-c");
  const forger = delegates.find(({ producedBlocks }) => producedBlocks > 5)?.username ?? "";

  it("prints what the node says is due, and the reason where it says nothing", async () => {
    const { url, get } = await startStoredNode("core3-custom-c", { options: { webhooks: false } });
    const { stdout } = await run("--node", url, "--delegate", forger, "--from", "60", "--to", "330", "--share", "80");
    expect(stdout.split("\r\n").length).to.be.above(2);
    expect(stdout).to.equal((await get(`/delegates/${forger}/rewards?from=60&to=330&share=80&format=csv`)).text);
    expect(await run("--node", url, "--delegate", "nobody")).to.include({ code: 1, stdout: "", stderr: "Delegate not found\n" });
    const refused = await run("--node", url, "--delegate", forger, "--share", "800");
    expect(refused).to.include({ code: 1, stdout: "" });
    expect(refused.stderr).to.match(/share" must be a number from 0 to 100/);
  });

  it("says so where the node cannot be asked, or no delegate is named", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const node = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`;
    server.close();
    await once(server, "close");
    const silent = await run("--node", node, "--delegate", forger);
    expect(silent).to.include({ code: 1, stdout: "" });
    expect(silent.stderr).to.match(/ECONNREFUSED/);
    expect(await run("--node", node)).to.include({ code: 2, stdout: "" });
  });
});
