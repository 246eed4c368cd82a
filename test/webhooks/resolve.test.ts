import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { expect } from "chai";
import { createResolver, type Resolve } from "../../src/webhooks/send/target-guard.js";

const typeA = 1;
const noSuchName = 3;

/** The name and type in a DNS question. */
const readQuestion = (query: Buffer): { name: string; type: number; end: number } => {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join("."), type: query.readUInt16BE(at + 1), end: at + 5 };
};

const answerTo = (query: Buffer, addresses: readonly string[] | undefined): Buffer => {
  const { type, end } = readQuestion(query);
  const found = type === typeA ? (addresses ?? []) : [];
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(0x8180 | (addresses === undefined ? noSuchName : 0), 2);
  header.writeUInt16BE(found.length, 6);
  header.writeUInt16BE(0, 10);
  const records = found.map((address) => Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, ...address.split(".").map(Number)]));
  return Buffer.concat([header, query.subarray(12, end), ...records]);
};

describe("the target resolver", () => {
  let server: Socket;
  let asked: string[];
  let resolve: Resolve;
  const names: Record<string, string[]> = { "hook.example": ["192.0.2.1", "192.0.2.2"] };

  beforeEach(async () => {
    asked = [];
    server = createSocket("udp4");
    server.on("message", (query, { port, address }) => {
      const { name } = readQuestion(query);
      asked.push(name);
      if (name !== "silent.example") server.send(answerTo(query, names[name]), port, address);
    });
    server.bind(0, "127.0.0.1");
    await once(server, "listening");
    resolve = createResolver({ servers: [`127.0.0.1:${server.address().port}`], timeout: 50 });
  });
  afterEach(async () => {
    server.close();
    await once(server, "close");
  });

  const codeOf = (work: Promise<unknown>): Promise<unknown> => work.then(() => "found", (error: unknown) => (error as { code: string }).code);

  it("returns every address of a name", async () => {
    expect(await resolve("hook.example")).to.deep.equal(["192.0.2.1", "192.0.2.2"]);
  });

  it("asks the system about names that the name servers do not know, such as those of a hosts file", async () => {
    expect(await resolve("localhost")).to.include("127.0.0.1");
    expect(asked).to.include("localhost");
  });

  it("gives up on a name server that does not answer, without asking the system", async () => {
    expect(await codeOf(resolve("silent.example"))).to.equal("ETIMEOUT");
  });

  it("is not held up by slow names", async () => {
    const silent = Array.from({ length: 20 }, () => codeOf(resolve("silent.example")));
    expect(await resolve("hook.example")).to.have.length(2);
    expect(new Set(await Promise.all(silent))).to.deep.equal(new Set(["ETIMEOUT"]));
  });
});
