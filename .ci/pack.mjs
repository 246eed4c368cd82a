/**
 * Packs the library as it is published: as `npm pack` does, but package.json lacks what only this repository uses, and has its addresses, all made
 * of `repository`. `node .ci/pack.mjs [FOLDER]` prints the tarball's path.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

const npm = (args, cwd) => execFileSync("npm", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], maxBuffer: 1e8 });

/** Where the repository is. Undefined while `repository` in package.json names no owner yet. */
export const addressOf = ({ repository }) => {
  const [, path] = /^github:([\w.-]+\/[\w.-]+)$/.exec(repository) ?? [];
  return path === undefined || path.startsWith("OWNER/") ? undefined : `https://github.com/${path}`;
};

const addresses = (url) => (url === undefined ? {} : { repository: { type: "git", url: `git+${url}.git` }, homepage: `${url}#readme`, bugs: { url: `${url}/issues` } });

const published = (manifest) => {
  const { private: _private, scripts: _scripts, mocha: _mocha, devDependencies: _development, overrides: _overrides, allowScripts: _allowed, repository: _repository, ...kept } = manifest;
  return { ...kept, ...addresses(addressOf(manifest)) };
};

/** @returns the path of the tarball, in a folder that exists */
export const pack = (folder) => {
  const draft = mkdtempSync(join(tmpdir(), "portico-pack-"));
  try {
    npm(["run", "--silent", "build"], root);
    const [{ files }] = JSON.parse(npm(["pack", "--dry-run", "--json", "--ignore-scripts"], root));
    for (const { path } of files) cpSync(join(root, path), join(draft, path), { preserveTimestamps: true });
    writeFileSync(join(draft, "package.json"), `${JSON.stringify(published(JSON.parse(readFileSync(join(root, "package.json"), "utf8"))), null, 2)}\n`);
    const [{ filename }] = JSON.parse(npm(["pack", "--json", "--ignore-scripts", "--pack-destination", resolve(folder)], draft));
    return join(resolve(folder), filename);
  } finally {
    rmSync(draft, { recursive: true });
  }
};

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(`${pack(process.argv[2] ?? root)}\n`);
