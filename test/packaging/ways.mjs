import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { compileHost, createHost, importAndServe, npmInstall, requireAndServe, root, run, step } from "./host.mjs";

/** What a host may have set for npm, and what must not make a difference. */
const settings = { "a host": "", "a host with omit=dev": "omit=dev\n", "a host with ignore-scripts": "ignore-scripts=true\n" };

/** The files of this folder that git knows or would add, as a repository of one commit: a fresh clone, with what is not committed yet. */
export const freshClone = (folder) => {
  mkdirSync(folder);
  const files = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root, encoding: "utf8" });
  for (const file of files.split("\0").filter((name) => name !== "" && existsSync(join(root, name)))) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), readFileSync(join(root, file)));
  }
  run("git", ["init", "--quiet"], folder);
  run("git", ["add", "--all"], folder);
  run("git", ["-c", "user.name=check", "-c", "user.email=check@localhost", "commit", "--quiet", "--message", "clone"], folder);
  return folder;
};

/** In a fresh clone, with this repository's own settings and packages, or those that it installs. @returns the tarball's path */
export const pack = (clone, installs) => {
  if (installs) {
    run("npm", ["ci", "--silent", "--prefer-offline", "--no-audit", "--no-fund"], clone);
    if (!existsSync(join(clone, "dist/src/index.js"))) throw new Error("npm ci did not build dist");
    rmSync(join(clone, "dist"), { recursive: true });
  } else symlinkSync(join(root, "node_modules"), join(clone, "node_modules"));
  return run("node", [".ci/pack.mjs"], clone).trim();
};

const works = (host, compiled) => {
  importAndServe(host);
  requireAndServe(host);
  if (!compiled) return;
  // Not other packages' types: beside a linked folder they are those of the packages for development.
  compileHost(host, { module: "NodeNext", moduleResolution: "NodeNext", skipLibCheck: true });
};

/** Where npm ran none of the package's scripts, nothing built `dist`. A package cannot stop that; an import must tell. */
const saysWhatIsMissing = (host) => {
  for (const script of ["esm.mjs", "cjs.cjs"]) {
    const { status, stderr } = spawnSync("node", [script], { cwd: host, encoding: "utf8" });
    if (status === 0 || !/Cannot find module .*portico.dist/.test(stderr)) throw new Error(`${script} ended with ${status}: ${stderr}`);
  }
};

/** Installs `spec` in a new host and uses it. `compiled`: from TypeScript, too; once for each `spec`, since npm's settings do not change the types. */
const install = (folder, spec, npmrc, { scripts = true, compiled = true } = {}) => {
  const host = createHost(folder, npmrc);
  npmInstall(host, spec, "@types/node@20");
  if (scripts || existsSync(join(host, "node_modules/portico/dist"))) works(host, compiled);
  else saysWhatIsMissing(host);
};

/** @param built a clone in which everything is installed */
const checkOtherWays = async ({ at, git, built }) => {
  for (const [host, npmrc] of Object.entries(settings)) {
    await step(`npm install FOLDER in ${host}`, () => install(at(`folder ${host}`), built, npmrc, { compiled: npmrc === "" }));
  }
  await step("npm install --install-links FOLDER, where nothing is installed yet", () =>
    install(at("copied folder host"), freshClone(at("copied clone")), "install-links=true\nomit=dev\n"));
  await step("npm install GIT in a host with ignore-scripts", () =>
    install(at("git host without scripts"), git, "ignore-scripts=true\nallow-git=all\n", { scripts: false }));
};

/** @param folder where clones and hosts are made @param tarball what was packed in a clone */
export const checkWays = async (folder, tarball, isAll) => {
  const at = (name) => join(folder, name.replaceAll(/\W+/g, "-"));
  // Without these settings, the tarball has been installed and used before this.
  for (const [host, npmrc] of Object.entries(settings)) {
    if (isAll || npmrc === settings["a host with ignore-scripts"]) await step(`npm install TARBALL in ${host}`, () => install(at(`tarball ${host}`), tarball, npmrc, { compiled: npmrc === "" }));
  }
  await step("npm install FOLDER, where nothing is installed yet", () => install(at("fresh folder host"), freshClone(at("fresh clone")), "omit=dev\n", { compiled: isAll }));
  // npm 12 installs from git only where it is allowed.
  const git = `git+file://${freshClone(at("repository"))}`;
  await step("npm install GIT in a host with omit=dev", () => install(at("git host"), git, "omit=dev\nallow-git=all\n", { compiled: isAll }));
  if (isAll) await checkOtherWays({ at, git, built: dirname(tarball) });
};
