import { expect } from "chai";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { createHttpSender, type Sender, type SenderOptions } from "../../src/webhooks/send/http-sender.js";
import { createTargetGuard, type Resolve } from "../../src/webhooks/send/target-guard.js";
import { closeServer, createReceiver, listenLocally, readBody, type Receiver } from "./receiver.js";

const options: SenderOptions = { timeout: 5_000, responseLimit: 16_384 };
const unknown: Resolve = () => Promise.reject(new Error("not asked for"));

describe("the HTTP sender", () => {
  let receiver: Receiver;
  let senders: Sender[];

  const create = (changed: Partial<SenderOptions> = {}, { allow = ["127.0.0.1"], resolve = unknown } = {}): Sender => {
    const sender = createHttpSender({ ...options, ...changed }, { guard: createTargetGuard(allow), resolve });
    senders.push(sender);
    return sender;
  };
  const post = (sender: Sender, target: string) => sender.send({ target, headers: { "content-type": "application/json" }, body: "{}" });

  beforeEach(async () => {
    senders = [];
    receiver = await createReceiver();
  });
  afterEach(async () => {
    await Promise.all(senders.map((sender) => sender.close()));
    await receiver.close();
  });

  it("posts, and returns the status, how long to wait, by which time, and the beginning of the response", async () => {
    const date = "Tue, 24 Nov 2026 08:00:00 GMT";
    receiver.answer = (_request, response) => response.writeHead(202, { date, "retry-after": "5" }).end("é".repeat(1_000));
    const answer = await post(create(), `${receiver.url}/path?query=1`);
    expect(answer).to.deep.equal({ status: 202, retryAfter: "5", date, body: "é".repeat(512), failure: null });
    expect(receiver.received[0]).to.include({ path: "/path?query=1", body: "{}" });
  });

  it("does not follow a redirect", async () => {
    receiver.answer = (_request, response) => response.writeHead(307, { location: `${receiver.url}/elsewhere`, "retry-after": "9" }).end();
    const answer = await post(create(), receiver.url);
    expect(answer).to.deep.include({ status: 307, retryAfter: "9", failure: { stage: "status", error: "The target answered 307." } });
    expect(receiver.received).to.have.length(1);
  });

  it("cuts off a target that sends interim responses without an end, or a flood of headers", async () => {
    let sent = 0;
    const server = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => {
        const more = (): void => {
          if (socket.destroyed) return;
          sent++;
          socket.write("HTTP/1.1 102 Processing\r\n\r\n", () => setImmediate(more));
        };
        more();
      });
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const answer = await post(create(), `http://127.0.0.1:${port}`);
    expect(answer.failure).to.deep.equal({ stage: "response", error: "The target sends interim responses without an end." });
    // What was on its way already.
    expect(sent).to.be.below(1_000);
    server.close();

    receiver.answer = (_request, response) => {
      for (let count = 0; count < 3_000; count++) response.setHeader(`x-${count}`, "y".repeat(20));
      response.end();
    };
    const flooded = await post(create(), receiver.url);
    expect(flooded.failure).to.have.property("stage", "response");
  });

  it("reads an endless response only up to its limit, then closes the connection", async () => {
    let [written, closed] = [0, false];
    receiver.answer = (_request, response) => {
      const more = (error?: Error | null): void => {
        if (closed || error) return;
        written += 1_024;
        response.write("x".repeat(1_024), more);
      };
      response.on("close", () => (closed = true));
      more();
    };
    const answer = await post(create(), receiver.url);
    expect(answer.failure).to.equal(null);
    expect(answer.body).to.equal("x".repeat(1_024));
    while (!closed) await new Promise((resolve) => setImmediate(resolve));
    // No more than the kernel's buffers took.
    expect(written).to.be.below(64 * 1_048_576);
  });

  it("gives up on a target that does not answer in time", async () => {
    receiver.answer = () => undefined;
    const answer = await post(create({ timeout: 50 }), receiver.url);
    expect(answer).to.deep.include({ status: null, failure: { stage: "timeout", error: "The target did not answer within 0.05 s." } });
  });

  it("trusts the status when the body trickles without end", async () => {
    receiver.answer = (_request, response) => void response.writeHead(200).write("a");
    const answer = await post(create({ timeout: 1_000 }), receiver.url);
    expect(answer).to.deep.include({ status: 200, body: "a", failure: null });
  });

  it("aborts open requests when it is closed", async () => {
    receiver.answer = () => void sender.close();
    const sender = create();
    expect((await post(sender, receiver.url)).status).to.equal(null);
  });

  it("ignores informational responses before the final status", async () => {
    receiver.answer = (_request, response) => {
      response.writeEarlyHints({ link: "</style.css>; rel=preload" });
      response.end("ok");
    };
    expect(await post(create(), receiver.url)).to.include({ status: 200, body: "ok" });
  });

  it("times out while the address is still being resolved", async () => {
    const sender = create({ timeout: 50 }, { allow: [], resolve: () => new Promise(() => undefined) });
    expect((await post(sender, "http://silent.example/")).failure).to.include({ stage: "timeout" });
  });

  it("names the stage at which a connection is refused, TLS fails or a response is malformed", async () => {
    const { server, url } = await listenLocally(() => undefined);
    await closeServer(server);
    expect((await post(create(), url)).failure).to.include({ stage: "connect" });

    const broken: Server = createServer((socket) => socket.end("nonsense\r\n\r\n"));
    broken.listen(0, "127.0.0.1");
    await once(broken, "listening");
    expect((await post(create(), `http://127.0.0.1:${(broken.address() as AddressInfo).port}`)).failure).to.include({ stage: "response" });
    broken.close();

    expect((await post(create(), receiver.url.replace("http:", "https:"))).failure).to.include({ stage: "tls" });
  });

  it("tells a failure in one short line, whatever the target or the resolver says", async () => {
    const broken: Server = createServer((socket) => socket.end("HTTP/1.1 000\r\n\r\n"));
    broken.listen(0, "127.0.0.1");
    await once(broken, "listening");
    const { failure } = await post(create(), `http://127.0.0.1:${(broken.address() as AddressInfo).port}`);
    broken.close();
    expect(failure?.stage).to.equal("response");
    expect(failure?.error).to.match(/^[^\p{Cc}]+$/u);

    const resolve: Resolve = () => Promise.reject(new Error(`no\r\n\u001b[31mwarn forged\u2028line ${"x".repeat(1_000)}`));
    const { error = "" } = (await post(create({}, { resolve }), "http://odd.example/")).failure ?? {};
    expect(error).to.match(/^odd\.example cannot be resolved: no \[31mwarn forged line x+…$/);
    expect(error).to.have.length(201);
  });

  it("reuses connections for later deliveries", async () => {
    const sockets = new Set<unknown>();
    const { server, url } = await listenLocally((request, response) => {
      sockets.add(request.socket);
      void readBody(request).then(() => response.end());
    });
    const sender = create();
    for (let count = 0; count < 20; count++) expect((await post(sender, url)).status).to.equal(200);
    await closeServer(server);
    expect(sockets.size).to.be.at.most(2);
  });

  describe("refuses connections", () => {
    const port = (): string => new URL(receiver.url).port;
    const refusedBy = (sender: Sender, host: string) => post(sender, `http://${host}:${port()}/`);

    for (const host of ["127.0.0.1", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]", "localhost", "hook.localhost", "169.254.169.254"]) {
      it(`to ${host}`, async () => {
        const answer = await refusedBy(create({}, { allow: [] }), host);
        expect(answer.failure).to.include({ stage: "address" });
        expect(receiver.received).to.have.length(0);
      });
    }

    for (const addresses of [["127.0.0.1"], ["::1"], ["::ffff:127.0.0.1"], ["10.0.0.1", "169.254.169.254"], ["::ffff:7f00:1", "127.0.0.1"]]) {
      it(`to a name that resolves to ${addresses.join(" and ")}`, async () => {
        const answer = await refusedBy(create({}, { allow: [], resolve: () => Promise.resolve(addresses) }), "harmless.example");
        expect(answer.failure).to.deep.equal({ stage: "address", error: "harmless.example is a special address, which the option webhooks.allowTargets does not list" });
        expect(receiver.received).to.have.length(0);
      });
    }

    it("to a name that resolves to another address than a moment ago", async () => {
      const answers = [["127.0.0.2"], ["127.0.0.1"]];
      const resolve: Resolve = () => Promise.resolve(answers.shift() ?? []);
      const sender = create({}, { allow: ["127.0.0.1"], resolve });
      expect((await refusedBy(sender, "rebound.example")).failure).to.include({ stage: "address" });
      expect((await refusedBy(sender, "rebound.example")).status).to.equal(200);
    });

    it("but uses the allowed addresses of a name that also has others", async () => {
      const sender = create({}, { allow: ["127.0.0.1"], resolve: () => Promise.resolve(["10.0.0.1", "127.0.0.1"]) });
      expect((await refusedBy(sender, "mixed.example")).status).to.equal(200);
      expect(receiver.received[0]?.headers.host).to.equal(`mixed.example:${port()}`);
    });

    it("and reports a name that is not found differently from a refused address", async () => {
      const sender = create({}, { allow: [], resolve: () => Promise.reject(new Error("queryA ENOTFOUND")) });
      expect((await refusedBy(sender, "nowhere.example")).failure).to.deep.equal({
        stage: "dns",
        error: "nowhere.example cannot be resolved: queryA ENOTFOUND",
      });
    });
  });
});
