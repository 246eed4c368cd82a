import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { freePort } from "../../free-port.js";

export interface Postgres {
  readonly port: number;
  readonly user: string;
  stop(): Promise<void>;
}

const debianFolder = "/usr/lib/postgresql";
const user = "ark";

const findPrograms = (): string | undefined => {
  const versions = existsSync(debianFolder) ? readdirSync(debianFolder) : [];
  return versions
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(debianFolder, version, "bin"))
    .find((folder) => existsSync(join(folder, "initdb")));
};

/** Folder of PostgreSQL's programs, installed from Debian's packages where there are none. */
const programs = (): string => {
  const present = findPrograms();
  if (present !== undefined) return present;
  process.stderr.write("installing PostgreSQL from Debian's packages\n");
  const apt = (...args: string[]) =>
    execFileSync("apt-get", ["-y", "-qq", ...args], {
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
      stdio: ["ignore", "ignore", "inherit"],
    });
  apt("update");
  apt("install", "--no-install-recommends", "postgresql");
  const installed = findPrograms();
  if (installed === undefined) throw new Error(`PostgreSQL is not in ${debianFolder}`);
  return installed;
};

/** PostgreSQL does not run as root: there its packages' own user runs it. */
const owner = (): { uid: number; gid: number } | undefined => {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
};

/** An empty database on a free port of 127.0.0.1, gone when it stops. */
export const startPostgres = async (): Promise<Postgres> => {
  const folder = programs();
  const as = owner();
  const data = mkdtempSync(join(tmpdir(), "portico-postgres-"));
  if (as !== undefined) chownSync(data, as.uid, as.gid);
  execFileSync(join(folder, "initdb"), ["-D", data, "-U", user, "-A", "trust", "-E", "UTF8", "--locale", "C", "--no-sync"], {
    ...as,
    cwd: data,
    stdio: "ignore",
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
