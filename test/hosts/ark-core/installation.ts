import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

const version = "3.9.1";
/** Their install scripts build what the node needs. Those of other packages do not run: one of them accesses the network. */
const native = ["better-sqlite3", "bcrypto"];

/** Kept between runs; `PORTICO_HOSTS_DIR` names another folder. */
const cacheFolder = (): string =>
  process.env.PORTICO_HOSTS_DIR ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "portico", "hosts");

/** Compiles locally, against this Node's own headers if it has them, so that nothing is fetched except from the package registry. */
const compilation = (): Record<string, string> => {
  const nodeFolder = dirname(dirname(process.execPath));
  const headers = existsSync(join(nodeFolder, "include/node/node.h")) ? { npm_config_nodedir: nodeFolder } : {};
  return { ...headers, npm_config_build_from_source: "true", npm_config_jobs: "max" };
};

interface Packages {
  /** Of the folder. */
  name: string;
  packages: readonly string[];
  /** Those whose install scripts run. */
  native?: readonly string[];
}

/** The folder in which packages are installed from the package registry, once for each name and platform. */
export const installOutside = ({ name, packages, native = [] }: Packages): string => {
  const folder = join(cacheFolder(), `${name}-${process.platform}-${process.arch}-${process.versions.modules}`);
  if (existsSync(folder)) return folder;
  // Renamed once complete, so that no run finds a partial one.
  const partial = `${folder}.${process.pid}`;
  const env = { ...process.env, ...compilation() };
  const npm = (...args: string[]) => execFileSync("npm", args, { cwd: partial, env, stdio: ["ignore", "ignore", "inherit"] });
  process.stderr.write(`installing ${packages.join(" ")} in ${folder}; this takes some minutes, once\n`);
  try {
    mkdirSync(partial, { recursive: true });
    writeFileSync(join(partial, "package.json"), JSON.stringify({ name: "node", private: true }));
    npm("install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", partial, ...packages);
    if (native.length > 0) npm("rebuild", "--ignore-scripts=false", "--prefix", partial, ...native);
    if (!existsSync(folder)) renameSync(partial, folder);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  return folder;
};

export const installNode = (): string => installOutside({ name: `ark-core-${version}`, packages: [`@arkecosystem/core@${version}`], native });
