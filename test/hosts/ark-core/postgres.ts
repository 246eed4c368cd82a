import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { freePort } from "../../free-port.js";

export interface Postgres {
  readonly port: number;
  readonly user: string;
  stop(): Promise<void>;
}

const debianFolder = "/usr/lib/postgresql";
const user = "ark";

/** The folder of the newest version from Debian's packages, or else one on the PATH. */
const findPrograms = (): string | undefined => {
  const versions = existsSync(debianFolder) ? readdirSync(debianFolder) : [];
  const folders = versions.sort((a, b) => Number(b) - Number(a)).map((version) => join(debianFolder, version, "bin"));
  return [...folders, ...(process.env.PATH ?? "").split(delimiter)].find((folder) => existsSync(join(folder, "initdb")));
};

const missing = "this check needs PostgreSQL (its programs initdb and postgres), which is not installed";

/** Installs it from Debian's packages. */
const install = (): void => {
  if (process.getuid?.() !== 0) throw new Error(`${missing}; root would install it from Debian's packages, others have to: apt-get install postgresql`);
  process.stderr.write("installing PostgreSQL from Debian's packages\n");
  const apt = (...args: string[]) =>
    execFileSync("apt-get", ["-y", "-qq", ...args], {
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
      stdio: ["ignore", "ignore", "inherit"],
    });
  try {
    apt("update");
    apt("install", "--no-install-recommends", "postgresql");
  } catch (error) {
    throw new Error(`${missing} and cannot be from Debian's packages: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
};

/** The folder of PostgreSQL's programs. */
const programs = (): string => {
  if (findPrograms() === undefined) install();
  const present = findPrograms();
  if (present === undefined) throw new Error(`${missing} in ${debianFolder} nor in the PATH`);
  return present;
};

/** PostgreSQL refuses to run as root: in that case its package's own user runs it. */
const owner = (): { uid: number; gid: number } | undefined => {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
};

/** An empty database on a free port of 127.0.0.1, deleted when it stops. */
export const startPostgres = async (): Promise<Postgres> => {
  const folder = programs();
  const as = owner();
  const data = mkdtempSync(join(tmpdir(), "portico-postgres-"));
  if (as !== undefined) {
    chownSync(data, as.uid, as.gid);
    // The temporary folder of a run is its user's alone: another may pass, and see nothing.
    chmodSync(dirname(data), statSync(dirname(data)).mode | 0o011);
  }
  execFileSync(join(folder, "initdb"), ["-D", data, "-U", user, "-A", "trust", "-E", "UTF8", "--locale", "C", "--no-sync"], {
    ...as,
    cwd: data,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const port = await freePort();
  const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off", "synchronous_commit=off", "full_page_writes=off"];
  const server = spawn(join(folder, "postgres"), ["-D", data, "-p", String(port), ...settings.flatMap((setting) => ["-c", setting])], {
    ...as,
    cwd: data,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const lines: string[] = [];
  await new Promise<void>((ready, fail) => {
    createInterface(server.stderr).on("line", (line) => {
      lines.push(line);
      if (line.includes("ready to accept connections")) ready();
    });
    server.once("exit", () => fail(new Error(`PostgreSQL did not start:\n${lines.join("\n")}`)));
  });
  return {
    port,
    user,
    stop: async () => {
      const ended = once(server, "exit");
      server.kill("SIGINT");
      await ended;
      rmSync(data, { recursive: true, force: true });
    },
  };
};
