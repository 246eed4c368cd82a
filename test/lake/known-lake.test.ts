import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { openLake } from "../../src/lake/index.js";
import { type BlockFile, blockFileName, manifestBytes, manifestFile, olderManifest, sha256Of, signManifest } from "../../src/lake/manifest.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { startServer } from "../replica/machines.js";
import { silentLogger } from "../silent.js";

const nethash = "f".repeat(64);
const perFile = 10;

const fileOf = (index: number, content: string): BlockFile => {
  const [from, to] = [index * perFile + 1, (index + 1) * perFile];
  return { from, to, file: blockFileName(from, to), bytes: 1, sha256: createHash("sha256").update(content).digest("hex"), last: `block ${to}` };
};

/** A lake's manifests as a node publishes them, one for each file that it adds. */
class Manifests {
  readonly dir = temporaryFolder();
  private blocks: BlockFile[] = [];
  private newest: Buffer | undefined;
  private keys = generateKeyPairSync("ed25519");

  constructor() {
    mkdirSync(join(this.dir, "manifests"));
  }

  get publicKey(): string {
    return Buffer.from(this.keys.publicKey.export({ format: "jwk" }).x ?? "", "base64url").toString("base64");
  }

  /** From now on another node writes here. */
  changeKey(): void {
    this.keys = generateKeyPairSync("ed25519");
  }

  /** What was in a file is no longer: nobody who writes a lake may do that. */
  rewrite(index: number): void {
    this.blocks = this.blocks.map((file, i) => (i === index ? fileOf(i, "something else") : file));
  }

  grow(files: number): void {
    for (let added = 0; added < files; added++) {
      this.blocks = [...this.blocks, fileOf(this.blocks.length, String(this.blocks.length))];
      const previous = this.newest === undefined ? null : sha256Of(this.newest);
      if (this.newest !== undefined) writeFileSync(join(this.dir, olderManifest(previous ?? "")), this.newest);
      const final = { height: this.blocks.length * perFile, id: "1" };
      const manifest = { network: { nethash }, final, blocks: this.blocks, snapshots: [], previous, key: this.publicKey };
      this.newest = manifestBytes(signManifest(manifest, (bytes) => sign(null, bytes, this.keys.privateKey)));
      writeFileSync(join(this.dir, manifestFile), this.newest);
    }
  }
}

const failureOf = (work: Promise<unknown>): Promise<string> => work.then(() => "", String);

describe("A lake that a data folder knows", () => {
  let lake: Manifests;
  let url: string;
  let asked: string[];
  let dataDir: string;

  beforeEach(async () => {
    lake = new Manifests();
    dataDir = temporaryFolder();
    asked = [];
    ({ url } = await startServer((request, response) => {
      asked.push(request.url ?? "");
      try {
        response.end(readFileSync(join(lake.dir, request.url ?? "")));
      } catch {
        response.writeHead(404).end();
      }
    }));
  });

  const open = async (key?: string): Promise<number> => {
    const files = await openLake(url, { nethash, key, dataDir, logger: silentLogger });
    await files.remember();
    await files.close();
    return files.manifest.blocks.length;
  };

  it("has its earlier manifests read once, and later those alone that are new, down to the one that was known", async () => {
    lake.grow(30);
    expect([await open(), asked.length]).to.deep.equal([30, 30]);
    asked = [];
    expect([await open(), asked]).to.deep.equal([30, ["/manifest.json"]]);
    asked = [];
    lake.grow(3);
    expect([await open(), asked.length]).to.deep.equal([33, 4]);
    expect(new Set(asked).size).to.equal(4);
  });

  it("is refused when an earlier manifest is not what the next one says of it, whether that one is new or was known", async () => {
    lake.grow(3);
    await open();
    lake.rewrite(1);
    lake.grow(1);
    expect(await failureOf(open())).to.match(/has another blocks\/000000011/);
    rmSync(join(dataDir, "lake-checked"));
    expect(await failureOf(open())).to.match(/has another blocks\/000000011/);
  });

  it("is refused when another node goes on with it, or has written its earlier manifests", async () => {
    lake.grow(3);
    await open();
    lake.changeKey();
    lake.grow(1);
    expect(await failureOf(open())).to.match(/is signed with the key .*, not with/);
    rmSync(join(dataDir, "lake-key"));
    expect(await failureOf(open())).to.match(/is signed with another key than the manifest after it/);
  });

  it("is refused with the file that remembers the key and what accepts another, which is remembered once it was demanded", async () => {
    lake.grow(1);
    const first = lake.publicKey;
    await open();
    lake = new Manifests();
    lake.grow(1);
    const refusal = `${url} is signed with the key ${lake.publicKey}, not with ${first}, which is remembered in ${join(dataDir, "lake-key")}; if the lake is the right one, \`lakeKey\`, or --lake-key ${lake.publicKey} of the example host, accepts it`;
    expect(await failureOf(open())).to.contain(refusal);
    expect(await failureOf(open(first))).to.match(new RegExp(`not with ${first.replaceAll("+", "\\+")}$`));
    expect([await open(lake.publicKey), await open()]).to.deep.equal([1, 1]);
    dataDir = temporaryFolder();
    await open(lake.publicKey);
    expect(readFileSync(join(dataDir, "lake-key"), "utf8")).to.equal(`${lake.publicKey}\n`);
  });

  it("is looked for at a node's interface where it is not at the URL that was given", async () => {
    expect(await failureOf(open())).to.match(new RegExp(`${url} is not a lake: it has no manifest.json; a node has its lake at ${url}/api/lake$`));
    url += "/lake/";
    expect(await failureOf(open())).to.match(/\/lake is not a lake: it has no manifest\.json$/);
  });

  it("is refused when an earlier manifest is missing or changed, and is checked again as a whole where nothing is remembered", async () => {
    lake.grow(4);
    await open();
    const { previous } = JSON.parse(readFileSync(join(lake.dir, manifestFile), "utf8")) as { previous: string };
    const earlier = join(lake.dir, olderManifest(previous));
    const bytes = readFileSync(earlier);
    dataDir = temporaryFolder();
    writeFileSync(earlier, Buffer.concat([bytes, Buffer.from("\n")]));
    expect(await failureOf(open())).to.match(/is not what its name says/);
    rmSync(earlier);
    expect(await failureOf(open())).to.match(/is missing, although the manifest after it names it/);
    writeFileSync(earlier, bytes);
    expect(await open()).to.equal(4);
  });
});
