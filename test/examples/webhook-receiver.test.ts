import { execFile } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { EventEmitter } from "eventemitter3";
import { expect } from "chai";
import { loadChain } from "../data/read.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { startNode } from "../fixtures/node.js";
import { freePort } from "../free-port.js";
import { runExample } from "../fixtures/process.js";
import { programOf } from "../fixtures/programs.js";

const chain = loadChain("core3-testnet-a");

describe("the examples' webhook receiver", () => {
  it("verifies and prints a block as the node sends it", async () => {
    const events = new EventEmitter();
    const options = { webhooks: { tokens: ["token of the test"], allowTargets: ["127.0.0.0/8"] } };
    const url = `${(await startNode({ events, options })).url}/webhooks`;
    const headers = { Authorization: "token of the test", "Content-Type": "application/json" };
    const port = await freePort();
    const body = JSON.stringify({ event: "block.applied", target: `http://127.0.0.1:${port}` });
    const created = (await (await fetch(url, { method: "POST", headers, body })).json()) as { data: { id: number; secret: string } };

    const receiver = runExample("examples/webhook-receiver/main.ts", { PORT: String(port), WEBHOOK_SECRET: created.data.secret, LEDGER: join(temporaryFolder(), "ledger.ndjson") });
    await receiver.line(/^Waiting for webhooks\.$/);
    events.emit("block.applied", chain.blocks[1]);
    const told = await receiver.line(/^msg_\w+ block \d/);
    expect(told).to.include(chain.blocks[1]!.id);

    // Whoever hangs up within a request must not end the receiver.
    const half = connect(port, "127.0.0.1", () => half.write("POST / HTTP/1.1\r\nHost: receiver\r\nContent-Length: 10\r\n\r\nhalf", () => half.destroy()));
    await once(half, "close");

    const forged = { "webhook-id": "msg_1", "webhook-timestamp": String(Math.floor(Date.now() / 1000)), "webhook-signature": "v1,bm9uZQ==" };
    const late = { ...forged, "webhook-timestamp": "1500000000" };
    for (const [signed, why] of [[forged, "The signature is wrong."], [late, "The request's timestamp is too far from this machine's time."], [{}, "The request is not signed."]] as const) {
      const reply = await fetch(`http://127.0.0.1:${port}`, { method: "POST", headers: signed as Record<string, string>, body: "{}" });
      expect([reply.status, await reply.text()]).to.deep.equal([401, why]);
    }
  });

  it("keeps what it is sent after a delivery for which the disk was full", async () => {
    const script = programOf(new URL("full-ledger-process.ts", import.meta.url));
    const { stdout } = await promisify(execFile)("sh", ["-c", `ulimit -f 128; exec "$0" "$1" "$2"`, process.execPath, script, join(temporaryFolder(), "ledger.ndjson")]);
    const [first, full, ...others] = JSON.parse(stdout) as (boolean | string)[];
    expect([first, ...others]).to.deep.equal([true, true, true, false]);
    expect(full).to.match(/EFBIG/);
  });
});
