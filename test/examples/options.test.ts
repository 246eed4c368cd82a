import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { UsageError } from "../../examples/standalone/program/host-error.js";
import { askedFor, helpText, optionRows, optionsTable, readHostOptions } from "../../examples/standalone/options.js";
import { temporaryFolder } from "../fixtures/folder.js";

const read = (line: string) => readHostOptions(line.split(" ").filter((word) => word !== ""));

const defaults = { network: "local", host: "127.0.0.1", port: 4003, basePath: "/api", dataDir: "data/local", forge: true, workers: 1, allowTargets: ["127.0.0.0/8", "::1/128"], logLevel: "info", logFormat: "json", accessLog: false };

describe("the standalone host's command line", () => {
  it("has defaults for everything", () => {
    expect(read("")).to.deep.equal(defaults);
  });

  it("accepts every option", () => {
    expect(read("--network testnet --host 0.0.0.0 --port 80 --base-path /node/api --data-dir /x --import f.ndjson --forge-interval 200 --workers 4 --secrets s.json --webhook-token letmein123 --allow-target 10.1.0.0/16,::2 --trusted-proxy 127.0.0.1,10.2.0.0/16 --log-level debug --log-format pretty --access-log --log-clients")).to.deep.equal({
      network: "testnet",
      host: "0.0.0.0",
      port: 80,
      basePath: "/node/api",
      dataDir: "/x",
      import: "f.ndjson",
      forge: true,
      forgeInterval: 200,
      workers: 4,
      secrets: "s.json",
      webhookToken: "letmein123",
      allowTargets: ["10.1.0.0/16", "::2"],
      trustedProxies: ["127.0.0.1", "10.2.0.0/16"],
      logLevel: "debug",
      logFormat: "pretty",
      accessLog: true,
      logClients: true,
    });
    expect(read("--port=0 --no-forge")).to.deep.equal({ ...defaults, port: 0, forge: false });
  });

  it("has a log for people in a terminal, and otherwise one for programs", () => {
    expect(readHostOptions([], { isTerminal: true }).logFormat).to.equal("pretty");
    expect(readHostOptions(["--log-format", "json"], { isTerminal: true }).logFormat).to.equal("json");
    expect(readHostOptions([]).logFormat).to.equal("json");
  });

  for (const [network, folder] of [
    ["mainnet", "data/mainnet"],
    ["../forks/rose/", "data/rose"],
    ["/srv/rose", "data/rose"],
    ["..", "data/network"],
  ] as const) {
    it(`keeps the data of ${network} in ${folder}`, () => {
      expect(read(`--network ${network}`).dataDir).to.equal(folder);
    });
  }

  it("ignores the other options when it asks for help or the version", () => {
    expect(askedFor(["--port", "1", "--help"])).to.equal("help");
    expect(askedFor(["-h"])).to.equal("help");
    expect(askedFor(["--version"])).to.equal("version");
    expect(askedFor(["--port", "1"])).to.equal(undefined);
  });

  for (const [line, message] of [
    ["--prot 1", `There is no option --prot; did you mean "--port"? The options are ${optionRows.map(({ name }) => `--${name}`).join(", ")}.`],
    ["--frobnicate", "There is no option --frobnicate; the options are --network,"],
    ["-p 1", "There is no option -p; the options are"],
    ["testnet", '"testnet" does not belong to an option'],
    ["--port", "--port needs a value: --port PORT."],
    ["--port --no-forge", "--port needs a value: --port PORT."],
    ["--port=", "--port needs a value: --port PORT."],
    ["--port 65536", '--port must be a whole number from 0 to 65535, not "65536".'],
    ["--port 40x", '--port must be a whole number from 0 to 65535, not "40x".'],
    ["--port -1", '--port must be a whole number from 0 to 65535, not "-1".'],
    ["--port 1 --port 2", "--port is given twice."],
    ["--forge-interval 0", '--forge-interval must be a whole number from 1 to 86400000, not "0".'],
    ["--workers 0", '--workers must be a whole number from 1 to 64, not "0".'],
    ["--no-forge=yes", "--no-forge takes no value."],
    ["--no-forge --forge-interval 5", "--no-forge and --forge-interval cannot be combined: no blocks are forged."],
    ["--network testnet --no-forge --secrets s", "--no-forge and --secrets cannot be combined: no blocks are signed."],
    ["--secrets s", "--secrets is for networks other than local"],
    ["--allow-target 10.1", '--allow-target must be addresses or networks such as 10.1.0.0/16, not "10.1".'],
    ["--trusted-proxy nginx", '--trusted-proxy must be addresses or networks such as 10.1.0.0/16, not "nginx".'],
    ["--webhook-token letmein", "--webhook-token must have at least 8 characters, and no space at either end."],
    ["--log-clients", "--log-clients does nothing without --access-log."],
    ["--lake-snapshots 0", "--lake-snapshots does nothing without --lake."],
    ["--nats-ca=ca.pem", "--nats-ca does nothing without --nats."],
    ["--nats-prefix p", "--nats-prefix does nothing without --nats."],
    ["--nats nats://127.0.0.1:4222 --nats-prefix a.b", '--nats-prefix must be 1 to 64 letters, digits, - or _, not "a.b".'],
    ["--follow 10.0.0.5:4003", "--follow must be a URL such as http://10.0.0.5:4003."],
    ["--follow http://10.0.0.5:4003\n", "--follow must be a URL such as http://10.0.0.5:4003."],
    ["--import https://me:s3cret@10.0.0.5:4003/la\nke", "--import is not a URL."],
    ["--follow http://me:s3cret@10.0.0.5:4003", "--follow takes a URL without a user and a password."],
    ["--base-path api/", `--base-path must be a path such as /node/api, without a slash at its end, not "api/".`],
    ["--follow http://10.0.0.5:4003/api/v2", "--follow takes the node's origin or the URL of its interface, without a version or a query: http://10.0.0.5:4003/api."],
    ["--import https://me:s3cret@10.0.0.5:4003/api/lake", "--import takes a URL without a user and a password."],
    ["--verify --follow http://10.0.0.5:4003", "--verify and --follow cannot be combined: a store is only read."],
    ["--import f.ndjson --verify", "--verify and --import cannot be combined: a store is only read."],
    ["--verify --lake d", "--verify and --lake cannot be combined: a store is only read."],
    ["--backup d --verify", "--verify and --backup cannot be combined: a store is only read."],
    ["--backup d --import f.ndjson", "--backup and --import cannot be combined: a data folder is only copied."],
    ["--log-level loud", '--log-level must be one of debug, info, warn, error, not "loud".'],
  ] as const) {
    it(`refuses "${line}"`, () => {
      expect(() => read(line)).to.throw(UsageError, message);
    });
  }

  for (const url of ["http://node:s3cret@10.0.0.7:4222", "nats://node:s3/cret@10.0.0.7:4222", "nats:/node:s3cret@10.0.0.7:4222", "node:s3cret@10.0.0.7:4222", "nats://node:s3cret#10.0.0.7", "tls://node:s3cret@10.0.0.7:99999"]) {
    it(`shows no password when it refuses ${url} for --nats`, () => {
      expect(() => read(`--nats ${url}`)).to.throw(UsageError, "--nats must be a URL such as nats://10.0.0.7:4222;").with.property("message").that.does.not.match(/s3|cret/);
    });
  }

  it("shows no password of a URL that stands in the wrong place", () => {
    expect(() => read("--no-forge tls://node:s3cret@10.0.0.7:4222")).to.throw(UsageError, '"…@10.0.0.7:4222" does not belong to an option');
  });

  it("is complete in its help and in the README's table", () => {
    for (const row of optionRows) {
      expect(helpText()).to.match(new RegExp(`^ {2}(?:-h, )?--${row.name}\\b.*${row.text.slice(0, 20).replace(/[[\]{}()"*+?.\\^$|]/g, "\\$&")}`, "m"));
      expect(optionsTable()).to.match(new RegExp(`^\\| \`(?:-h, )?--${row.name}`, "m"));
    }
    expect(optionsTable().split("\n")).to.have.length(optionRows.length + 2);
  });
});

describe("the standalone host's other sources of options", () => {
  let folder: string;
  beforeEach(() => (folder = temporaryFolder()));

  const config = (content: unknown): string => {
    const path = join(folder, "node.json");
    writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
    return path;
  };

  it("are the environment and a file, which the command line and the environment win over", () => {
    const path = config({ port: 1, workers: 2, forgeInterval: 1000, allowTarget: ["10.1.0.0/16", "10.2.0.0/16"] });
    const options = readHostOptions(["--port", "3", "--config", path], { environment: { PORTICO_PORT: "2", PORTICO_WORKERS: "3", PORTICO_DATA_DIR: "/x", PORTICO_SERVICE_HOST: "10.0.0.1" } });
    expect(options).to.deep.include({ port: 3, workers: 3, forgeInterval: 1000, dataDir: "/x" });
    expect(options.allowTargets).to.include.members(["10.1.0.0/16", "10.2.0.0/16"]);
  });

  it("name the file in the environment, too, unless the command line names another", () => {
    const path = config({ port: 1, workers: 2 });
    expect(readHostOptions([], { environment: { PORTICO_CONFIG: path, PORTICO_PORT: "2" } })).to.deep.include({ port: 2, workers: 2 });
    expect(readHostOptions(["--config", path], { environment: { PORTICO_CONFIG: join(folder, "none.json") } })).to.deep.include({ port: 1, workers: 2 });
    expect(() => readHostOptions([], { environment: { PORTICO_CONFIG: join(folder, "none.json") } })).to.throw(UsageError, `${join(folder, "none.json")} cannot be read: there is no such file.`);
    expect(readHostOptions([], { environment: { PORTICO_CONFIG: "" } })).to.deep.equal(defaults);
  });

  it("do not have what only the command line takes", () => {
    for (const [variable, text] of [["PORTICO_BACKUP", "/backups/monday"], ["PORTICO_VERIFY", "true"], ["PORTICO_VERSION", "1"], ["PORTICO_HELP", "yes"]] as const) {
      const name = variable.slice("PORTICO_".length).toLowerCase();
      const read = () => readHostOptions([], { environment: { [variable]: text } });
      // Images carry their version so.
      if (name === "version" || name === "help") expect(read()).to.deep.equal(defaults);
      else expect(read).to.throw(UsageError, `${variable} does nothing; --${name} is accepted only on the command line.`);
      expect(() => readHostOptions(["--config", config({ [name]: text })])).to.throw(UsageError, `${name} in ${join(folder, "node.json")} is not an option`);
      expect(readHostOptions([], { environment: { [variable]: "" } })).to.deep.equal(defaults);
    }
    expect(helpText()).to.include("Only the command line takes --export-webhooks, --import-webhooks, --backup, --verify, --version and --help.");
    // All others are taken: each is said to be wrong, or not to do anything, or is there.
    for (const { name } of optionRows.filter((row) => !("commandLineOnly" in row))) {
      const variable = `PORTICO_${name.toUpperCase().replaceAll("-", "_")}`;
      expect(() => {
        if (JSON.stringify(readHostOptions([], { environment: { [variable]: "\u0000" } })) !== JSON.stringify(defaults)) throw new Error(variable);
      }, name).to.throw(name === "config" ? "\u0000" : variable);
    }
  });

  it("lose an option that a stronger source excludes", () => {
    expect(readHostOptions(["--no-forge", "--config", config({ forgeInterval: 5 })])).to.deep.equal({ ...defaults, forge: false });
    expect(readHostOptions(["--forge-interval", "5"], { environment: { PORTICO_NO_FORGE: "true" } })).to.deep.equal({ ...defaults, forgeInterval: 5 });
    expect(() => readHostOptions([], { environment: { PORTICO_NO_FORGE: "1", PORTICO_FORGE_INTERVAL: "5" } })).to.throw(UsageError, "PORTICO_NO_FORGE and PORTICO_FORGE_INTERVAL cannot be combined");
  });

  it("may have what a node does where a store is only verified or copied, so that a node's file names its folder", () => {
    const path = config({ follow: "http://10.0.0.5:4003", lakeKey: `${"A".repeat(43)}=` });
    expect(readHostOptions(["--verify", "--network", "devnet", "--config", path])).to.deep.include({ verify: "network", dataDir: "data/replica" });
    expect(readHostOptions(["--backup", "d", "--config", config({ lake: "l", lakeBlocks: 5, dataDir: "x" })])).to.deep.include({ backup: "d", dataDir: "x" });
  });

  it("take a switch as true or false, and an empty variable as none", () => {
    expect(readHostOptions([], { environment: { PORTICO_NO_FORGE: "false", PORTICO_PORT: "" } })).to.deep.equal(defaults);
    expect(readHostOptions(["--config", config({ noForge: false })])).to.deep.equal(defaults);
    expect(readHostOptions(["--config", config({ noForge: true })]).forge).to.equal(false);
    expect(() => readHostOptions([], { environment: { PORTICO_NO_FORGE: "maybe" } })).to.throw(UsageError, 'PORTICO_NO_FORGE must be true or false, not "maybe".');
  });

  const warningsOf = (environment: Record<string, string>): string[] => {
    const warnings: string[] = [];
    expect(readHostOptions([], { environment, warn: (message) => warnings.push(message) })).to.deep.equal(defaults);
    return warnings;
  };

  it("ignore a variable that is no option, with a warning if it looks like one", () => {
    expect(warningsOf({ PORTICO_HOME: "/opt/portico" })).to.deep.equal(['PORTICO_HOME is not an option; did you mean "PORTICO_HOST"? It is ignored.']);
    expect(warningsOf({ PORTICO_FORGE_INTREVAL: "5" })).to.deep.equal(['PORTICO_FORGE_INTREVAL is not an option; did you mean "PORTICO_FORGE_INTERVAL"? It is ignored.']);
    expect(warningsOf({ PORTICO_COLOUR_OF_THE_SHED: "red" })).to.deep.equal([]);
  });

  it("ignore in silence what Kubernetes says of services called portico and portico-a", () => {
    for (const name of ["PORTICO", "PORTICO_A"]) {
      const port = { [`${name}_PORT`]: "tcp://10.0.0.1:4003", [`${name}_PORT_4003_TCP`]: "tcp://10.0.0.1:4003", [`${name}_PORT_4003_TCP_PROTO`]: "tcp", [`${name}_PORT_4003_TCP_PORT`]: "4003", [`${name}_PORT_4003_TCP_ADDR`]: "10.0.0.1" };
      expect(warningsOf({ [`${name}_SERVICE_HOST`]: "10.0.0.1", [`${name}_SERVICE_PORT`]: "4003", [`${name}_SERVICE_PORT_HTTP`]: "4003", ...port })).to.deep.equal([]);
    }
    expect(readHostOptions([], { environment: { PORTICO_HOST: "udp://10.0.0.1:53", PORTICO_PORT: "5" } })).to.deep.equal({ ...defaults, port: 5 });
  });

  it("say where a wrong value is", () => {
    expect(() => readHostOptions([], { environment: { PORTICO_PORT: "http://10.0.0.1:4003" } })).to.throw(UsageError, "PORTICO_PORT must be a whole number from 0 to 65535");
    for (const [content, message] of [
      [{ port: "x" }, "port in FILE must be a whole number from 0 to 65535"],
      [{ prot: 1 }, 'prot in FILE is not an option; did you mean "port"? The options are network, host, port, basePath, dataDir,'],
      [{ config: "x" }, "config in FILE is not an option"],
      [{ noForge: "yes" }, 'noForge in FILE must be true or false, not "yes".'],
      [{ port: null }, "port in FILE must be a string or a number."],
      [[], "FILE is not an object of options."],
      ["{", "FILE is not valid JSON"],
    ] as const) {
      const path = config(content);
      expect(() => readHostOptions(["--config", path])).to.throw(UsageError, message.replace("FILE", path));
    }
    for (const content of ['{"nats": "tls://node:s3cret@10.0.0.7:4222" "port": 1}', '{"webhookToken": s3cret}', { nats: { url: "tls://node:s3cret@10.0.0.7:4222" } }, { webhookToken: [{ token: "s3cret" }] }]) {
      expect(() => readHostOptions(["--config", config(content)])).to.throw(UsageError).with.property("message").that.does.not.contain("s3cret");
    }
    expect(() => readHostOptions(["--config", join(folder, "none.json")])).to.throw(UsageError, "there is no such file");
  });
});
