import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

const version = "3.9.1";
/** Their install scripts build what the node needs. Those of other packages are left out: one of them reaches outside. */
const native = ["better-sqlite3", "bcrypto"];

/** Kept from run to run; `PORTICO_HOSTS_DIR` names another place. */
const cacheFolder = (): string =>
  process.env.PORTICO_HOSTS_DIR ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "portico", "hosts");

/** Compiled here, against the headers that came with this Node where there are some: nothing is fetched but from the package registry. */
const compilation = (): Record<string, string> => {
  const nodeFolder = dirname(dirname(process.execPath));
  const headers = existsSync(join(nodeFolder, "include/node/node.h")) ? { npm_config_nodedir: nodeFolder } : {};
  return { ...headers, npm_config_build_from_source: "true", npm_config_jobs: "max" };
};

/** Folder in which the real node is installed from the package registry, once for each version and kind of machine. */
export const installNode = (): string => {
  const folder = join(cacheFolder(), `ark-core-${version}-${process.platform}-${process.arch}-${process.versions.modules}`);
  if (existsSync(folder)) return folder;
  // Renamed when it is whole, so that no run finds half of it.
  const partial = `${folder}.${process.pid}`;
  const env = { ...process.env, ...compilation() };
  const npm = (...args: string[]) => execFileSync("npm", args, { cwd: partial, env, stdio: ["ignore", "ignore", "inherit"] });
  process.stderr.write(`installing ARK Core ${version} in ${folder}; this takes some minutes, once\n`);
  try {
    mkdirSync(partial, { recursive: true });
    writeFileSync(join(partial, "package.json"), JSON.stringify({ name: "node", private: true }));
    npm("install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", partial, `@arkecosystem/core@${version}`);
    npm("rebuild", "--ignore-scripts=false", "--prefix", partial, ...native);
    if (!existsSync(folder)) renameSync(partial, folder);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  return folder;
};
