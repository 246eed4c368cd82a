import { createPublicKey, verify } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { EventEmitter } from "eventemitter3";
import { expect } from "chai";
import { Webhook as Verifier } from "standardwebhooks";
import type { ApiPlugin } from "../../types/plugin.js";
import type { BlockData } from "../../types/events.js";
import type { Webhook, WebhookSecret } from "../../types/webhooks.js";
import { loadChain } from "../data/read.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { startNode } from "../fixtures/node.js";
import { copyOfStored } from "../fixtures/stored-chain.js";
import { createReceiver, type Received, type Receiver } from "./receiver.js";
import { before } from "./rich-block.js";
import { createScriptedChain } from "./scripted-chain.js";
import { createStage, eventually, localTargets } from "./stage.js";

const chain = loadChain("core3-testnet-a");
const token = "the-operator's-token";
const first = 12;
const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_unused, index) => from + index);
const heightsOf = (received: readonly Received[]): number[] => received.map(({ json }) => (json.data as BlockData).height);
const idsOf = (received: readonly Received[]): string[] => received.map(({ headers }) => String(headers["webhook-id"]));

describe("a webhook whose client moves it before a host has said where it begins", () => {
  it("begins where the client said last", async () => {
    const receiver = await createReceiver();
    const scripted = createScriptedChain(before, Date.now);
    let answer = (): void => undefined;
    const answers = new Promise<void>((resolve) => (answer = resolve));
    const view = async () => {
      await answers;
      return scripted.changes.view();
    };
    const stage = await createStage({}, { changes: { ...scripted.changes, view } });
    const { id } = stage.engine.create({ event: "block.applied", target: receiver.url });
    await nextTurn();
    stage.engine.patch(id, { from: "genesis" });
    answer();
    await stage.count(id, "delivered", before.length);
  });
});

describe("a webhook that is a cursor, over HTTP", () => {
  let plugin: ApiPlugin;
  let events: EventEmitter;
  let receiver: Receiver;
  let origin: string;
  /** The host's own blocks. */
  let known: BlockData[];

  const send = async (method: string, path: string, body?: object, headers: Record<string, string> = { authorization: token }) => {
    const response = await fetch(`${origin}/api${path}`, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as { data: unknown } & Record<string, unknown> };
  };
  const create = async (more: object = {}): Promise<Webhook & WebhookSecret> => {
    const { status, body } = await send("POST", "/webhooks", { event: "block.applied", target: receiver.url, ...more });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body.data as Webhook & WebhookSecret;
  };
  const apply = (height: number): void => {
    known = chain.blocks.slice(0, height);
    const { transactions: _, ...header } = chain.blocks[height - 1]!;
    events.emit("block.applied", header);
  };
  /** What has arrived once every delivery is settled. */
  const quiet = async (count: number): Promise<Received[]> => {
    await plugin.settled();
    await receiver.until(count);
    const open = (id: number): number => (["pending", "retrying"] as const).reduce((sum, state) => sum + plugin.webhooks!.deliveries(id, state, { offset: 0, limit: 1 }).total, 0);
    await eventually(() => (plugin.webhooks!.list({ offset: 0, limit: 9 }).rows.every(({ id, behind }) => open(id) === 0 && behind === 0) ? true : undefined));
    expect(receiver.received).to.have.length(count);
    return receiver.received;
  };

  beforeEach(async () => {
    receiver = await createReceiver();
    const dataDir = temporaryFolder();
    known = chain.blocks.slice(0, first);
    await copyOfStored("core3-testnet-a", dataDir, first);
    ({ plugin, events, origin } = await startNode({
      dataDir,
      blocks: { read: (from, limit) => known.filter(({ height }) => height >= from).slice(0, limit) },
      options: { webhooks: { tokens: [token], allowTargets: localTargets, schedule: [20, 20, 20] } },
    }));
    await plugin.settled();
  });

  for (const { from, oldest } of [
    { from: "genesis", oldest: 1 },
    { from: 5, oldest: 6 },
  ]) {
    it(`is told of the past from ${from}, then of what happens, without gap or double where they meet`, async () => {
      // Blocks are applied while the past is delivered.
      let next = first;
      receiver.answer = (_request, response) => {
        response.end();
        if (next < first + 5) apply(++next);
      };
      await create({ from });
      const received = await quiet(first + 6 - oldest);
      expect(heightsOf(received)).to.deep.equal(range(oldest, first + 5));
      expect(new Set(idsOf(received)).size).to.equal(received.length);
    });
  }

  it("begins after a block that a cursor of another webhook names", async () => {
    const { id } = await create({ from: 4 });
    await quiet(first - 4);
    const { cursor } = JSON.parse(receiver.received[1]?.body ?? "{}") as { cursor: string };
    expect(cursor).to.equal(`6-${chain.blocks[5]!.id}`);
    await send("DELETE", `/webhooks/${id}`);
    await create({ from: cursor });
    expect(heightsOf(await quiet(first - 4 + first - 6)).slice(first - 4)).to.deep.equal(range(7, first));
  });

  it("lets nothing overtake where its order is strict", async () => {
    const failures = new Map<number, number>([[3, 2], [5, 1]]);
    receiver.answer = (request, response) => {
      const { height } = request.json.data as BlockData;
      const left = failures.get(height) ?? 0;
      failures.set(height, left - 1);
      response.writeHead(left > 0 ? 500 : 200).end();
    };
    await create({ from: "genesis", order: "strict" });
    expect(heightsOf(await quiet(first + 3))).to.deep.equal([1, 2, 3, 3, 3, 4, 5, 5, ...range(6, first)]);
  });

  it("sends batches: one signature, and the name of each event as a member", async () => {
    const { secret } = await create({ from: "genesis", batch: { size: 5, wait: 2_000 } });
    const received = await quiet(3);
    const batches = received.map(({ body }) => (JSON.parse(body) as { events: { "webhook-id": string; data: BlockData }[] }).events);
    expect(batches.map((batch) => batch.map(({ data }) => data.height))).to.deep.equal([range(1, 5), range(6, 10), range(11, first)]);
    const names = batches.flat().map((event) => event["webhook-id"]);
    expect(new Set([...names, ...idsOf(received)]).size).to.equal(first + 3);
    for (const { headers, body } of received) new Verifier(secret).verify(body, headers as Record<string, string>);
  });

  it("sends the headers that it was given, and is found by its tags", async () => {
    const { id } = await create({ headers: { "X-Route": "north" }, tags: ["exchange", "eu"] });
    await create({ tags: ["us"] });
    apply(first + 1);
    expect((await quiet(2)).map(({ headers }) => headers["x-route"])).to.have.members(["north", undefined]);
    const { body } = await send("GET", "/webhooks?tag=eu");
    expect((body.data as Webhook[]).map((webhook) => webhook.id)).to.deep.equal([id]);
    expect((await send("GET", "/webhooks?tag=none")).body.data).to.deep.equal([]);
  });

  it("keeps what a PATCH does not name, and goes on from where that says", async () => {
    const { id, token: _, secret: __, ...before } = await create({ tags: ["eu"], conditions: [{ key: "height", condition: "gt", value: 10 }] });
    const { status, body } = await send("PATCH", `/webhooks/${id}`, { description: "ledger", from: "genesis" });
    expect(status).to.equal(200);
    expect(body.data).to.deep.include({ ...before, id, description: "ledger", cursor: "genesis", behind: first });
    expect(heightsOf(await quiet(first - 10))).to.deep.equal(range(11, first));
    await send("PATCH", `/webhooks/${id}`, { enabled: false });
    for (const height of [first + 1, first + 2]) apply(height);
    await plugin.settled();
    await send("PATCH", `/webhooks/${id}`, { enabled: true, from: "tip" });
    apply(first + 3);
    expect(heightsOf(await quiet(first - 9)).at(-1), "what it missed is skipped").to.equal(first + 3);
  });

  it("refuses to replay for a webhook that only the host's own events are for: of these it would be sent none", async () => {
    const { id } = await create({ event: "block.forged" });
    const { status, body } = await send("POST", `/webhooks/${id}/replay`, { from: 3, to: 6 });
    expect([status, body.message]).to.deep.equal([400, '"id" must be a webhook with events of the chain; the host\'s own events cannot be replayed']);
  });

  it("sends the events of some heights again under the same names, beside the live ones", async () => {
    const { id } = await create({ from: "genesis" });
    const before = idsOf(await quiet(first));
    expect((await send("POST", `/webhooks/${id}/replay`, { from: 3, to: 6 })).status).to.equal(202);
    apply(first + 1);
    const again = (await quiet(first + 5)).slice(first);
    expect(heightsOf(again).sort((a, b) => a - b)).to.deep.equal([3, 4, 5, 6, first + 1]);
    expect(idsOf(again).filter((name) => before.includes(name))).to.deep.equal(before.slice(2, 6));
  });

  it("is signed with the node's key where it asks for that, which anyone may ask for", async () => {
    await create({ signature: "v1a" });
    const { body } = await send("GET", "/webhooks/keys", undefined, {});
    const [{ type, key }] = body.data as [{ type: string; key: string }];
    expect(type).to.equal("v1a");
    expect(key).to.match(/^whpk_/);
    const x = Buffer.from(key.slice(5), "base64");
    expect(x).to.have.length(32);
    const publicKey = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: x.toString("base64url") }, format: "jwk" });
    apply(first + 1);
    const [request] = (await quiet(1)) as [Received];
    const { "webhook-id": id, "webhook-timestamp": at, "webhook-signature": signature } = request.headers;
    const [version, signed = ""] = String(signature).split(",");
    expect(version).to.equal("v1a");
    const isSigned = (text: string): boolean => verify(null, Buffer.from(text), publicKey, Buffer.from(signed, "base64"));
    expect(isSigned(`${String(id)}.${String(at)}.${request.body}`)).to.equal(true);
    expect(isSigned(`${String(id)}.${String(at)}.${request.body} `)).to.equal(false);
  });

  it("is created once under an Idempotency-Key: the reply is the same, and another body is refused", async () => {
    const headers = { authorization: token, "idempotency-key": "order 66" };
    const conditions = [{ key: "addresses.*", condition: "in", value: ["a", "b"] }, { key: "amount", condition: "eq", value: 7.5 }, { key: "data.isFinal", condition: "truthy" }];
    const draft = { event: "block.applied", target: receiver.url, conditions };
    const one = await send("POST", "/webhooks", draft, headers);
    expect(one.status).to.equal(201);
    const same = await send("POST", "/webhooks", draft, headers);
    expect([same.status, same.body]).to.deep.equal([201, one.body]);
    const other = await send("POST", "/webhooks", { ...draft, event: "block.reverted" }, headers);
    expect([other.status, other.body.code]).to.deep.equal([409, "IDEMPOTENCY_CONFLICT"]);
    expect(plugin.webhooks!.list({ offset: 0, limit: 9 }).total).to.equal(1);
  });
});
