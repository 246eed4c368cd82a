import { expect } from "chai";
import { EventEmitter } from "eventemitter3";
import { loadChain } from "../data/read.js";
import { startNode } from "../fixtures/node.js";
import { createReceiver, type Received, type Receiver } from "../webhooks/receiver.js";
import { firstClient } from "./clients.js";
import { createReplayer } from "./recorded.js";

const chain = loadChain("core3-testnet-a");
const nodeToken = "the token that this node's operator set";

interface Answer {
  status: number;
  body: { data: Record<string, unknown>; meta: { totalCount: number } };
}
type Method = "all" | "create" | "get" | "update" | "delete";
/** The resource `webhooks` of a client that sends these headers. */
const webhooksAt = (origin: string, headers: Record<string, string>) => {
  const client = firstClient(2).connect(origin, { "Content-Type": "application/json", ...headers });
  return (method: Method, ...args: unknown[]) => client.call("webhooks", method, args) as Promise<Answer>;
};

describe("webhooks through client 0.1.25", () => {
  let events: EventEmitter;
  let origin: string;
  let webhooks: ReturnType<typeof webhooksAt>;
  let receiver: Receiver;
  beforeEach(async () => {
    events = new EventEmitter();
    receiver = await createReceiver();
    ({ origin } = await startNode({ events, options: { webhooks: { tokens: [nodeToken], allowTargets: ["127.0.0.1"] } } }));
    webhooks = webhooksAt(origin, { Authorization: nodeToken });
  });
  afterEach(() => receiver.close());

  const draft = () => ({
    event: "block.applied",
    target: receiver.url,
    enabled: true,
    conditions: [{ key: "height", condition: "gte", value: 3 }],
  });

  it("are created, listed, shown, replaced and removed", async () => {
    const created = await webhooks("create", draft());
    expect(created.status).to.equal(201);
    const { id, token, ...shown } = created.body.data;
    expect(token).to.match(/^[0-9a-f]{64}$/);
    expect(shown).to.deep.include(draft());

    const one = await webhooks("get", id);
    expect(one.body.data).to.deep.include({ id, ...draft() });
    expect(one.body.data).to.not.have.any.keys("token", "secret");
    const all = await webhooks("all");
    expect(all.body.data).to.deep.equal([one.body.data]);
    expect(all.body.meta.totalCount).to.equal(1);

    const updated = await webhooks("update", id, { ...draft(), enabled: false, event: "transaction.applied" });
    expect([updated.status, updated.body]).to.deep.equal([200, {}]);
    expect((await webhooks("get", id)).body.data).to.deep.include({ id, enabled: false, event: "transaction.applied" });
    expect((await webhooks("all")).body.meta.totalCount).to.equal(1);

    const removed = await webhooks("delete", id);
    expect([removed.status, removed.body]).to.deep.equal([200, {}]);
    expect((await webhooks("get", id)).status).to.equal(404);
    expect((await webhooks("all")).body.meta.totalCount).to.equal(0);
  });

  it("reach a receiver that compares the token as deployed ones do, even after they were shown", async () => {
    const { id, token } = (await webhooks("create", draft())).body.data as { id: number; token: string };
    const stored = token.slice(32);
    await webhooks("get", id);
    await webhooks("all");
    for (const block of chain.blocks.slice(1, 3)) events.emit("block.applied", block);
    const [delivered] = await receiver.until(1);
    const { headers, json: body } = delivered as Received;
    expect(String(headers.authorization) + stored).to.equal(token);
    expect(headers["content-type"]).to.match(/^application\/json/);
    expect(body.event).to.equal("block.applied");
    expect(body.data).to.deep.include({ height: 3, id: chain.blocks[2]?.id });
    expect(body.timestamp).to.be.a("number");
    const { data } = (await (await fetch(`${origin}/api/blocks/3`)).json()) as { data: { id: string } };
    expect(data.id).to.equal(chain.blocks[2]?.id);
  });

  it("keep their token when they are replaced", async () => {
    const { id, token } = (await webhooks("create", { ...draft(), enabled: "false" })).body.data as { id: number; token: string };
    await webhooks("update", id, { ...draft(), enabled: "true", conditions: [] });
    events.emit("block.applied", chain.blocks[1]);
    expect((await receiver.until(1))[0]?.headers.authorization).to.equal(token.slice(0, 32));
  });

  it("are refused with 401 without the node's token", async () => {
    for (const authorization of [undefined, "", "wrong", nodeToken.slice(1)]) {
      const refused = webhooksAt(origin, authorization === undefined ? {} : { Authorization: authorization });
      expect((await refused("all")).status).to.equal(401);
      expect((await refused("create", draft())).status).to.equal(401);
      expect((await refused("delete", 1)).status).to.equal(401);
    }
    expect((await webhooks("all")).body.meta.totalCount).to.equal(0);
  });

  it("are refused with 400 if invalid, and with 404 if unknown", async () => {
    expect((await webhooks("create", { ...draft(), event: "block.eaten" })).status).to.equal(400);
    expect((await webhooks("create", { ...draft(), target: "ftp://127.0.0.1/x" })).status).to.equal(400);
    expect((await webhooks("create", { ...draft(), conditions: [{ key: "height", condition: "almost", value: 1 }] })).status).to.equal(400);
    expect((await webhooks("update", 99, draft())).status).to.equal(404);
    expect((await webhooks("delete", "x")).status).to.equal(404);
  });

  it("answer under any version and path, as old Python and PHP clients send them, in JSON", async () => {
    const { replay, close } = createReplayer(origin);
    try {
      const headers = { Authorization: `Bearer ${nodeToken}`, "Content-Type": "application/json" };
      const body = JSON.stringify(draft());
      for (const [version, path] of [["2", "/api/webhooks"], ["1", "/api/webhooks"], ["2", "/api/v2/webhooks"]] as const) {
        const all = { ...headers, "API-Version": version };
        const created = await replay({ method: "POST", path, headers: all, body });
        expect(created.status).to.equal(201);
        const { data } = created.body as { data: { id: number } };
        expect(await replay({ method: "PUT", path: `${path}/${data.id}`, headers: all, body })).to.deep.include({ status: 200, body: {} });
        expect(await replay({ method: "DELETE", path: `${path}/${data.id}`, headers: all })).to.deep.include({ status: 200, body: {} });
      }
    } finally {
      close();
    }
  });
});
