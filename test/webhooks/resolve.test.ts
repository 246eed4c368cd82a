import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { createHttpSender } from "../../src/webhooks/send/http-sender.js";
import { createResolver, createTargetGuard, type Resolve } from "../../src/webhooks/send/target-guard.js";
import { closeTemporaryStores, temporaryFolder } from "../store/temporary-store.js";

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
  let hostsFile: string;
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
    hostsFile = join(temporaryFolder(), "hosts");
    resolve = createResolver({ servers: [`127.0.0.1:${server.address().port}`], hostsFile, timeout: 50 });
  });
  afterEach(async () => {
    server.close();
    await once(server, "close");
    await closeTemporaryStores();
  });

  const codeOf = (work: Promise<unknown>): Promise<unknown> => work.then(() => "found", (error: unknown) => (error as { code: string }).code);

  it("returns every address of a name", async () => {
    expect(await resolve("hook.example")).to.deep.equal(["192.0.2.1", "192.0.2.2"]);
  });

  it("asks nobody about a name in the hosts file, which is read again when it changes", async () => {
    writeFileSync(hostsFile, "192.0.2.7\thook.example Silent.Example # here\n\n#192.0.2.8 hook.example\r\n::1 silent.example\r\nnonsense other.example\n");
    expect(await resolve("hook.example.")).to.deep.equal(["192.0.2.7"]);
    expect(await resolve("silent.example")).to.deep.equal(["192.0.2.7", "::1"]);
    writeFileSync(hostsFile, "192.0.2.9 silent.example\n");
    expect(await resolve("silent.example")).to.deep.equal(["192.0.2.9"]);
    expect(asked).to.deep.equal([]);
    expect(await resolve("hook.example")).to.deep.equal(["192.0.2.1", "192.0.2.2"]);
  });

  it("is guarded also where a name is in the hosts file", async () => {
    writeFileSync(hostsFile, "127.0.0.1 hook.example\n");
    const sender = createHttpSender({ timeout: 5_000, responseLimit: 0 }, { guard: createTargetGuard([]), resolve });
    const { failure } = await sender.send({ target: "http://hook.example:9/", headers: {}, body: "" });
    await sender.close();
    expect(failure?.stage).to.equal("address");
  });

  it("asks the system about names that neither the hosts file nor the name servers have", async () => {
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
