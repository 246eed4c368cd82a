import { once } from "node:events";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { nkeys } from "@nats-io/transport-node";
import { expect } from "chai";
import { type NatsOptions, natsTip, startTipPublisher } from "../../src/nats/index.js";
import { PorticoError } from "../../src/index.js";
import { createCertificate } from "../fixtures/certificate.js";
import { onlyWhere } from "../fixtures/installed.js";
import { freePort } from "../free-port.js";
import { silentLogger } from "../silent.js";
import { atEndOfTest } from "../at-end.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { until } from "../fixtures/until.js";
import { folderWith, level, network, TestNode, TestReplica } from "../replica/machines.js";
import { hasNats, NatsServer } from "./nats-server.js";

const { nethash } = network.network;

/**
 * Seconds that the server waits for a client's handshake and login, and clients for its word. The defaults of two and five are over sooner, on a
 * machine with much else to do, than a process that runs a node, a replica and a worker has come to it, and the log would say that instead.
 */
const patience = 60;

/** A certificate authority, and how a server is told of a certificate that it has signed, for an address. */
const createAuthority = (address = "127.0.0.1") => {
  const { ca, certificate, key } = createCertificate([address]);
  return { ca, tls: `tls { cert_file: "${certificate}", key_file: "${key}", timeout: ${patience} }\n` };
};

const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

type Keys = ReturnType<typeof nkeys.createUser>;

/** As `nsc` makes them. */
const tokenOf = (subject: Keys, issuer: Keys, name: string, nats: object): string => {
  const claims = { jti: name, iat: Math.floor(Date.now() / 1000), iss: issuer.getPublicKey(), name, sub: subject.getPublicKey(), nats: { version: 2, ...nats } };
  const signed = `${base64({ typ: "JWT", alg: "ed25519-nkey" })}.${base64(claims)}`;
  return `${signed}.${Buffer.from(issuer.sign(Buffer.from(signed))).toString("base64url")}`;
};

/** An operator with one account: what the server is told, and files of credentials of its users. */
const createOperator = () => {
  const [operator, account, system] = [nkeys.createOperator(), nkeys.createAccount(), nkeys.createAccount()];
  const limits = { subs: -1, data: -1, payload: -1, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1, mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };
  const accounts = [account, system].map((each) => [each.getPublicKey(), tokenOf(each, operator, "account", { type: "account", limits: each === account ? limits : {} })]);
  return {
    configuration: `operator: ${tokenOf(operator, operator, "operator", { type: "operator" })}\nsystem_account: ${system.getPublicKey()}\nresolver: MEMORY\nresolver_preload: ${JSON.stringify(Object.fromEntries(accounts))}\n`,
    credentials: (): string => {
      const user = nkeys.createUser();
      const token = tokenOf(user, account, "user", { type: "user", subs: -1, data: -1, payload: -1 });
      const file = join(temporaryFolder(), "user.creds");
      const part = (name: string, content: string): string => `-----BEGIN ${name}-----\n${content}\n------END ${name}------\n\n`;
      writeFileSync(file, part("NATS USER JWT", token) + part("USER NKEY SEED", Buffer.from(user.getSeed()).toString("utf8")), { mode: 0o600 });
      return file;
    },
  };
};

describe("NATS with TLS and credentials", () => {
  onlyWhere(hasNats, "nats-server is not installed: neither TLS nor credentials are tested");

  type User = "node" | "replica";

  /** A node and a replica, most often with the same options, and what their log warns of. */
  const begin = async (given: NatsOptions, optionsOf: (user: User) => Partial<NatsOptions> = () => ({})) => {
    const of = (user: User): NatsOptions => ({ connectTimeout: 1_000 * patience, ...given, ...optionsOf(user) });
    const warnings: string[] = [];
    const logger = { ...silentLogger, warn: (line: string) => void warnings.push(line) };
    const node = await new TestNode(20).start();
    const publisher = startTipPublisher(of("node"), { url: node.url, nethash, logger });
    atEndOfTest(() => publisher.stop());
    const replica = new TestReplica(node.url, await folderWith(20));
    let brought = 0;
    const tip = natsTip(of("replica"), logger);
    replica.tip = { start: (hash, take) => tip.start(hash, (line) => (brought++, take(line))) };
    await replica.start();
    await level(node, replica);
    return { node, replica, publisher, warnings, brought: () => brought };
  };

  const expectCarried = async (options: NatsOptions, optionsOf?: (user: User) => Partial<NatsOptions>): Promise<void> => {
    const { node, replica, brought, warnings } = await begin(options, optionsOf);
    await node.growUntil("a block over NATS", async () => {
      await level(node, replica);
      return brought() > 0;
    });
    // Until the node has made the stream, there is nothing for the replica to read.
    expect(warnings.filter((line) => !line.includes("stream not found"))).to.deep.equal([]);
  };

  /** Nothing goes over NATS, each says why once, and all goes on without it. */
  const expectRefused = async (options: NatsOptions, reason: RegExp): Promise<void> => {
    const { node, replica, warnings, brought } = await begin(options);
    const says = ["changes are not published to NATS, so replicas read them from the node: ", "no changes arrive over NATS, so they are read from the node: "];
    for (const what of says) await until(`a warning that ${what}`, () => warnings.some((line) => line.startsWith(what)));
    await node.grow(3);
    await level(node, replica);
    expect(brought()).to.equal(0);
    for (const line of warnings) expect(line).to.match(reason).and.match(/ \(NATS at 127\.0\.0\.1:\d+\)$/);
    expect(warnings).to.have.length(says.length);
  };

  const at = (server: NatsServer, login = ""): string => `tls://${login}127.0.0.1:${server.port}`;

  it("carries blocks for a user with a password, over TLS by an authority of one's own; another authority, and none, are refused", async () => {
    const { ca, tls } = createAuthority();
    const server = await new NatsServer(`${tls}authorization { timeout: ${patience}, users: [{ user: portico, password: "a p@ss" }] }\n`).start();
    const login = `portico:${encodeURIComponent("a p@ss")}@`;
    await expectCarried({ servers: at(server, login), tls: { caFile: ca } });
    await expectRefused({ servers: at(server, login), tls: { caFile: createAuthority().ca } }, /certificate/);
    await expectRefused({ servers: at(server, login) }, /certificate/);
  });

  it("is refused where the certificate is for another address, or the password is wrong", async () => {
    const [elsewhere, { ca, tls }] = [createAuthority("127.0.0.9"), createAuthority()];
    const other = await new NatsServer(elsewhere.tls).start();
    await expectRefused({ servers: at(other), tls: { caFile: elsewhere.ca } }, /altnames/);
    const server = await new NatsServer(`${tls}authorization { timeout: ${patience}, users: [{ user: portico, password: right }] }\n`).start();
    await expectRefused({ servers: at(server, "portico:wrong@"), tls: { caFile: ca } }, /Authorization Violation/i);
  });

  it("carries blocks for a token; without one it is refused", async () => {
    const server = await new NatsServer(`authorization { timeout: ${patience}, token: "a-token" }\n`).start();
    await expectCarried({ servers: `nats://a-token@127.0.0.1:${server.port}` });
    await expectRefused({ servers: server.url }, /Authorization Violation/i);
  });

  it("carries blocks for a file of credentials; those of another operator, and a file that is none, are refused", async () => {
    const { ca, tls } = createAuthority();
    const operator = createOperator();
    const server = await new NatsServer(`${tls}authorization { timeout: ${patience} }\n${operator.configuration}`).start();
    const given = { servers: at(server), tls: { caFile: ca } };
    const credentials = operator.credentials();
    await expectCarried({ ...given, credentials });
    await expectRefused({ ...given, credentials: createOperator().credentials() }, /Authorization Violation/i);
    const folder = join(temporaryFolder(), "wrong");
    mkdirSync(folder);
    writeFileSync(join(folder, "wrong.creds"), readFileSync(credentials).subarray(0, 50));
    await expectRefused({ ...given, credentials: join(folder, "wrong.creds") }, /unable to parse credentials/);
  });

  it("carries blocks for users who may do no more than the table of the README says, under a prefix of one's own", async () => {
    const prefix = "my_net-2";
    const readme = readFileSync(new URL("../../src/replica/README.md", import.meta.url), "utf8");
    const rows = [...readme.matchAll(/^\| (node|replica)\b[^|]*\| ([^|]+) \| ([^|]+) \|$/gm)];
    const subjectsOf = (text = ""): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name.replace("PREFIX", prefix).replace("NETWORK", nethash.slice(0, 16)));
    const userOf = (name: User): object => {
      const own = rows.filter(([, who = ""]) => who.endsWith(name));
      expect(own, name).to.have.length(1);
      return { user: name, password: "its own", permissions: { publish: own.flatMap(([, , to]) => subjectsOf(to)), subscribe: own.flatMap(([, , , to]) => subjectsOf(to)) } };
    };
    const users = (["node", "replica"] as const).map(userOf);
    const server = await new NatsServer(`authorization { timeout: ${patience}, users: ${JSON.stringify(users)} }\n`).start();
    await expectCarried({ servers: server.url, prefix }, (user) => ({ servers: `nats://${user}:its%20own@127.0.0.1:${server.port}` }));
  });

  it("is not begun with a file that cannot be read, and goes on without one that goes missing later, until it is there again", async () => {
    const { ca, tls } = createAuthority();
    const operator = createOperator();
    const server = new NatsServer(`${tls}authorization { timeout: ${patience} }\n${operator.configuration}`);
    server.port = await freePort();
    const given = { servers: at(server), tls: { caFile: ca }, credentials: operator.credentials() };
    const missing = join(temporaryFolder(), "none");
    const wrong: [Partial<NatsOptions>, RegExp][] = [
      [{ credentials: missing }, /the option `credentials` names .*none, which cannot be read: there is no such file$/],
      [{ credentials: temporaryFolder() }, /the option `credentials` names .*, which cannot be read: EISDIR/],
      ...(["caFile", "certFile", "keyFile"] as const).map((file): [Partial<NatsOptions>, RegExp] => [{ tls: { caFile: ca, [file]: missing } }, new RegExp(`the option \`tls.${file}\` names .*none, which cannot be read: there is no such file$`)]),
    ];
    const begins: ((options: NatsOptions) => unknown)[] = [natsTip, (options) => startTipPublisher(options, { url: "http://127.0.0.1:9/api", nethash, logger: silentLogger })];
    for (const beginOne of begins) {
      for (const [options, message] of wrong) expect(() => beginOne({ ...given, ...options })).to.throw(PorticoError, message).with.property("code", "OPTION_INVALID");
    }
    const warnings: string[] = [];
    const { stop } = natsTip(given, { ...silentLogger, warn: (line) => void warnings.push(line) }).start(nethash, () => Promise.resolve());
    atEndOfTest(stop);
    await until("word that no server is there", () => warnings.length > 0);
    /** A certificate is read once there is a server. */
    const files: [file: string, then: () => unknown][] = [[given.credentials, () => undefined], [ca, () => server.start()]];
    for (const [file, then] of files) {
      renameSync(file, `${file}.away`);
      await then();
      await until("word of the file", () => warnings.at(-1)?.includes(file));
      renameSync(`${file}.away`, file);
    }
    await until("a server that has no stream yet", () => warnings.at(-1)?.includes("stream not found"));
  });

  it("is named by host and port in the log, and nothing of a user, a password or a token", async () => {
    const [closed, warnings] = [await freePort(), [] as string[]];
    const log = { logger: { ...silentLogger, warn: (line: string) => void warnings.push(line) } };
    const tips = [[`nats://node:s3cret@127.0.0.1:${closed}`, `127.0.0.1:${closed}`], [`nats://s3cret@localhost:${closed}`], `s3cret@127.0.0.1:${closed}`].map((servers) => natsTip({ servers, connectTimeout: 500 }, log.logger));
    for (const tip of tips) {
      const { stop } = tip.start(nethash, () => Promise.resolve());
      atEndOfTest(stop);
    }
    await until("what each says", () => warnings.length === tips.length);
    const places = warnings.map((line) => / \(NATS at (.+)\)$/.exec(line)?.[1] ?? "").sort();
    expect(places).to.deep.equal(["", `127.0.0.1:${closed}, 127.0.0.1:${closed}`, `localhost:${closed}`]);
    expect(warnings.join("\n")).to.not.contain("s3cret");
  });

  it("is tried again, and the log says so once, where a server neither lets a client in nor refuses it in the time that it has", async () => {
    const sockets = new Set<Socket>();
    const silent = createServer((socket) => void sockets.add(socket.on("error", () => undefined))).listen(0, "127.0.0.1");
    await once(silent, "listening");
    atEndOfTest(() => {
      silent.close();
      for (const socket of sockets) socket.destroy();
    });
    const warnings: string[] = [];
    const servers = `nats://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const { stop } = natsTip({ servers, connectTimeout: 100 }, { ...silentLogger, warn: (line) => void warnings.push(line) }).start(nethash, () => Promise.resolve());
    atEndOfTest(stop);
    await until("a second try", () => sockets.size > 1);
    expect(warnings).to.deep.equal([`no changes arrive over NATS, so they are read from the node: timeout (NATS at ${servers.slice("nats://".length)})`]);
  });
});
