/**
 * Releases the version that package.json names. `npm run release` checks everything, packs, and changes nothing; with `-- --publish` it then tags the commit,
 * publishes the tarball with its provenance, and pushes the tag. Provenance needs a workflow that says who has built it: .github/workflows/release.yml.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { addressOf, pack } from "./pack.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const publishes = process.argv.includes("--publish");
const unknown = process.argv.slice(2).filter((argument) => argument !== "--publish");

const read = (name) => readFileSync(join(root, name), "utf8");
const git = (...args) => execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }).trim();
const show = (command, ...args) => execFileSync(command, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });

const manifest = JSON.parse(read("package.json"));
const { name, version } = manifest;
const tag = `v${version}`;

const isClean = () => git("status", "--porcelain") === "";
const [, newest, date] = /^## (\S+) — (.*)$/m.exec(read("CHANGELOG.md")) ?? [];
const canProve = process.env.ACTIONS_ID_TOKEN_REQUEST_URL !== undefined || process.env.SIGSTORE_ID_TOKEN !== undefined;

/** What a release needs, by what to say where it is missing. */
const conditions = () => ({
  [`release.mjs takes --publish alone, not ${unknown.join(" ")}`]: unknown.length === 0,
  "There are changes that are not committed": isClean(),
  [`CHANGELOG.md does not begin with "## ${version} — YYYY-MM-DD"`]: newest === version && /^\d{4}-\d{2}-\d{2}$/.test(date),
  [`package-lock.json is not of ${version}: run npm install`]: JSON.parse(read("package-lock.json")).version === version,
  'package.json names no repository: "repository": "github:OWNER/…"': addressOf(manifest) !== undefined,
  [`The tag ${tag} exists`]: git("tag", "--list", tag) === "" && git("ls-remote", "--tags", "origin", tag) === "",
  "There is nobody to say who has built it: publish from .github/workflows/release.yml": !publishes || canProve,
});

const check = () => {
  const failed = Object.entries(conditions()).flatMap(([what, holds]) => (holds ? [] : [what]));
  if (failed.length > 0) throw new Error(failed.join("\n"));
  show(".ci/run");
  for (const script of ["check:openapi", "check:versions"]) show("npm", "run", script);
  // What is compared with this version from now on is what this version serves.
  show("npm", "run", "docs:openapi");
  if (!isClean()) throw new Error("The checks have changed files: commit what `npm run docs:openapi` writes");
};

const publish = (tarball) => {
  git("tag", "--annotate", tag, "--message", `${name} ${version}`);
  try {
    show("npm", "publish", tarball, "--provenance", "--access", "public", "--tag", version.includes("-") ? "next" : "latest");
  } catch (error) {
    git("tag", "--delete", tag);
    throw error;
  }
  process.stdout.write(`${tag} is published. If the tag cannot be pushed now: git push origin ${tag}\n`);
  git("push", "origin", tag);
};

const folder = mkdtempSync(join(tmpdir(), "portico-release-"));
try {
  check();
  const tarball = pack(folder);
  process.stdout.write(`${name} ${version}: ${statSync(tarball).size} bytes, all checks have passed.\n`);
  if (publishes) publish(tarball);
  else process.stdout.write("Nothing is tagged or published without --publish.\n");
} catch ({ message }) {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true });
}
