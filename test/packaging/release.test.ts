import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { temporaryFolder } from "../fixtures/folder.js";
import { run } from "../fixtures/process.js";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Notes what it is called with, and packs a file if it is npm. `FAILS` names the call that fails. */
const script = (name: string): string => `#!/usr/bin/env bash
echo "${name} $*" >> "$CALLS"
case "$*" in *"$FAILS"*) [ -n "$FAILS" ] && exit 1 ;; esac
case "$*" in
  "pack --dry-run"*) echo '[{"files":[{"path":"README.md"}]}]' ;;
  "pack "*) cat package.json > "$PACKED"; touch "\${@: -1}/own-1.2.0.tgz"; echo '[{"filename":"own-1.2.0.tgz"}]' ;;
esac
exit 0
`;

const manifest = { name: "own", version: "1.2.0", private: true, repository: "github:us/own", scripts: { prepare: "false" }, devDependencies: {} };

describe("npm run release", () => {
  let folder: string;
  let clone: string;

  const git = (...args: string[]): string => execFileSync("git", args, { cwd: clone, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const commit = (files: Record<string, string>): void => {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(clone, name), text);
    git("add", "--all");
    git("commit", "--message", "change");
  };
  const program = (path: string, name: string): void => {
    writeFileSync(path, script(name));
    chmodSync(path, 0o755);
  };
  const calls = (): string[] => (existsSync(join(folder, "calls")) ? readFileSync(join(folder, "calls"), "utf8").trim().split("\n") : []);

  beforeEach(() => {
    folder = join(temporaryFolder(), "release");
    clone = join(folder, "clone");
    for (const path of [join(clone, ".ci"), join(folder, "bin")]) mkdirSync(path, { recursive: true });
    for (const file of ["release.mjs", "pack.mjs"]) cpSync(join(root, ".ci", file), join(clone, ".ci", file));
    program(join(folder, "bin/npm"), "npm");
    program(join(clone, ".ci/run"), ".ci/run");
    execFileSync("git", ["init", "--quiet", "--bare", join(folder, "origin")]);
    execFileSync("git", ["init", "--quiet", clone]);
    git("remote", "add", "origin", join(folder, "origin"));
    git("config", "user.name", "test");
    git("config", "user.email", "test@localhost");
    commit({
      "package.json": JSON.stringify(manifest),
      "package-lock.json": JSON.stringify({ version: "1.2.0" }),
      "CHANGELOG.md": "# Changelog\n\n## 1.2.0 — 2026-01-31\n\n## 1.1.0 — 2025-12-31\n",
      "README.md": "",
    });
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const release = async (args: string[], environment: NodeJS.ProcessEnv = {}): Promise<{ code: number | null; said: string }> => {
    const PATH = `${join(folder, "bin")}${delimiter}${process.env["PATH"]}`;
    const own = { PATH, CALLS: join(folder, "calls"), PACKED: join(folder, "packed.json"), FAILS: "", ACTIONS_ID_TOKEN_REQUEST_URL: "http://127.0.0.1" };
    const { ended, lines } = run(process.execPath, [".ci/release.mjs", ...args], { cwd: clone, environment: { ...own, ...environment } });
    return { code: await ended, said: lines.join("\n") };
  };
  const tags = (): string => git("tag", "--list") + git("ls-remote", "--tags", "origin");

  it("runs every check and packs, and changes nothing unless it is told to publish", async () => {
    const { code, said } = await release([]);
    expect(code, said).to.equal(0);
    expect(said).to.include("Nothing is tagged or published");
    expect(calls().slice(0, 5)).to.deep.equal([".ci/run ", ...["check:openapi", "check:versions", "docs:openapi", "--silent build"].map((what) => `npm run ${what}`)]);
    expect(calls().join("\n")).to.not.include("publish");
    expect(tags()).to.equal("");
    expect(git("status", "--porcelain")).to.equal("");
  });

  it("tags the commit, publishes with provenance and pushes the tag", async () => {
    const { code, said } = await release(["--publish"]);
    expect(code, said).to.equal(0);
    expect(calls().at(-1)).to.match(/^npm publish .*own-1\.2\.0\.tgz --provenance --access public --tag latest$/);
    expect(tags()).to.match(/^v1\.2\.0\n.*refs\/tags\/v1\.2\.0\n/);
    const packed = JSON.parse(readFileSync(join(folder, "packed.json"), "utf8")) as object;
    expect(packed).to.deep.equal({
      name: "own",
      version: "1.2.0",
      repository: { type: "git", url: "git+https://github.com/us/own.git" },
      homepage: "https://github.com/us/own#readme",
      bugs: { url: "https://github.com/us/own/issues" },
    });
  });

  it("takes the tag back if the registry refuses the package", async () => {
    expect((await release(["--publish"], { FAILS: "publish" })).code).to.equal(1);
    expect(calls().at(-1)).to.include("npm publish");
    expect(tags()).to.equal("");
  });

  it("neither tags nor publishes if a check fails", async () => {
    commit({ ".ci/run": "#!/usr/bin/env bash\nexit 1\n" });
    expect((await release(["--publish"])).code).to.equal(1);
    expect(calls()).to.deep.equal([]);
    commit({ ".ci/run": "#!/usr/bin/env bash\n" });
    expect((await release(["--publish"], { FAILS: "check:versions" })).code).to.equal(1);
    expect(calls().join()).to.match(/run check:versions$/);
    expect(tags()).to.equal("");
  });

  it("names everything that keeps it from beginning, and begins nothing", async () => {
    git("tag", "v1.2.0");
    commit({
      "package.json": JSON.stringify({ ...manifest, repository: "github:OWNER/own" }),
      "CHANGELOG.md": "## 1.2.0 — unreleased\n",
      "package-lock.json": JSON.stringify({ version: "1.1.0" }),
    });
    writeFileSync(join(clone, "new.txt"), "");
    const { code, said } = await release(["--publish", "--force"], { ACTIONS_ID_TOKEN_REQUEST_URL: undefined, SIGSTORE_ID_TOKEN: undefined });
    expect(code).to.equal(1);
    const reasons = ["--force", "not committed", "CHANGELOG.md", "package-lock.json", "repository", "tag v1.2.0 exists", "who has built it"];
    for (const reason of reasons) expect(said).to.include(reason);
    expect(said.split("\n").length).to.equal(7);
    expect(calls()).to.deep.equal([]);
  });
});
