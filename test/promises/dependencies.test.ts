import { existsSync, readFileSync } from "node:fs";
import { expect } from "chai";
import semver from "semver";

const root = new URL("../../", import.meta.url);
const read = (path: string): unknown => JSON.parse(readFileSync(new URL(path, root), "utf8"));

interface Package {
  license?: string;
  scripts?: Record<string, string>;
}
interface Locked {
  version: string;
  license?: string;
  dev?: boolean;
  optional?: boolean;
}
interface Advisory {
  id: string;
  package: string;
  vulnerable: string;
}

const { dependencies, allowScripts } = read("package.json") as { dependencies: Record<string, string>; allowScripts: Record<string, boolean> };
const { packages } = read("package-lock.json") as { packages: Record<string, Locked> };
/** What a host gets, by its path: everything but what only development needs. */
const shipped = Object.entries(packages).filter(([path, { dev }]) => path !== "" && dev !== true);
const nameOf = (path: string): string => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
/** Binaries for other platforms are not installed. */
const isInstalled = (path: string): boolean => existsSync(new URL(`${path}/package.json`, root));
const scriptsOf = ({ scripts = {} }: Package): string[] => ["preinstall", "install", "postinstall"].filter((name) => scripts[name] !== undefined);

describe("the packages that come along", () => {
  it("are in the table of src/README, with their licences", () => {
    const [, section = ""] = readFileSync(new URL("src/README.md", root), "utf8").split("\n## Dependencies\n");
    const listed = [...section.matchAll(/^\| `([^`]+)` \| ([^|]+) \| [^|]+ \|$/gm)].map(([, name = "", licence]) => [name, licence]);
    const installed = Object.keys(dependencies).map((name) => [name, (read(`node_modules/${name}/package.json`) as Package).license]);
    expect(Object.fromEntries(listed)).to.deep.equal(Object.fromEntries(installed));
  });

  it("are as the lock file has them", () => {
    for (const [name, range] of Object.entries(dependencies)) {
      const { version } = packages[`node_modules/${name}`] ?? { version: "0.0.0" };
      expect({ name, satisfies: semver.satisfies(version, range) }).to.deep.equal({ name, satisfies: true });
      expect((read(`node_modules/${name}/package.json`) as { version: string }).version).to.equal(version);
    }
  });

  it("have licences that ask for nothing but their own text", () => {
    const free = ["MIT", "ISC", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BlueOak-1.0.0", "0BSD"];
    expect(shipped.length).to.be.greaterThan(100);
    for (const [path, { license }] of shipped) expect({ path, isFree: free.includes(license ?? "") }, license).to.deep.equal({ path, isFree: true });
  });

  it("run no install scripts but those that look for a binary, and none here", () => {
    const running = shipped.filter(([path]) => isInstalled(path) && scriptsOf(read(`${path}/package.json`) as Package).length > 0).map(([path]) => nameOf(path));
    expect(running).to.deep.equal(["lmdb", "msgpackr-extract"]);
    for (const name of running) expect({ name, allowed: allowScripts[name] }).to.deep.equal({ name, allowed: false });
  });

  it("have no version that an advisory calls vulnerable", () => {
    const advisories = read("test/promises/advisories.json") as Advisory[];
    expect(semver.satisfies("3.0.0", advisories.find(({ id }) => id === "GHSA-jgmv-j7ww-jx2x")?.vulnerable ?? "")).to.equal(true);
    for (const { id, package: name, vulnerable } of advisories) {
      expect(semver.validRange(vulnerable), id).not.to.equal(null);
      for (const [path, { version }] of shipped) {
        if (nameOf(path) === name) expect({ id, path, version, isVulnerable: semver.satisfies(version, vulnerable, { includePrerelease: true }) }).to.deep.equal({ id, path, version, isVulnerable: false });
      }
    }
  });
});
