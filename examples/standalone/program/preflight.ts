import { once } from "node:events";
import { accessSync, constants, existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join, resolve } from "node:path";
import { networkNames } from "../command-line/option-table.js";
import { cannotRead, codeOf, HostError, messageOf } from "./host-error.js";
import { readJson } from "../files/json-file.js";
import type { HostOptions } from "../options.js";

/** The error for a port that cannot be opened; undefined for any other error. */
export const portProblem = (error: unknown, { host, port }: Pick<HostOptions, "host" | "port">): HostError | undefined => {
  const code = codeOf(error);
  if (code === "EADDRINUSE") return new HostError(`Port ${port} on ${host} is in use: stop what uses it, or choose another --port.`, { cause: error });
  if (code === "EACCES") return new HostError(`Port ${port} on ${host} may not be opened by this user: choose another --port.`, { cause: error });
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND") return new HostError(`--host ${host} is not an address of this machine.`, { cause: error });
  return undefined;
};

const checkPort = async (options: HostOptions): Promise<void> => {
  const server = createServer().listen(options.port, options.host);
  try {
    await once(server, "listening");
  } catch (error) {
    throw portProblem(error, options) ?? error;
  }
  server.close();
  await once(server, "close");
};

const checkReadable = (path: string): void => {
  if (/^https?:/.test(path)) return;
  try {
    accessSync(path, constants.R_OK);
  } catch (error) {
    throw cannotRead(path, error);
  }
};

/** NATS is not waited for: without this, a mistyped file would be tried again for ever, and the node run without. */
const checkNatsFiles = ({ natsCreds, natsCa }: HostOptions): void => {
  for (const [option, file] of [["--nats-creds", natsCreds], ["--nats-ca", natsCa]] as const) {
    try {
      if (file !== undefined) readFileSync(file);
    } catch (error) {
      throw cannotRead(`${option} ${file ?? ""}`, error);
    }
  }
};

const checkNetwork = (network: string): void => {
  if (networkNames.some((name) => name === network)) return;
  if (!statSync(network, { throwIfNoEntry: false })?.isDirectory()) {
    throw new HostError(`--network "${network}" is neither one of ${networkNames.join(", ")} nor a folder.`, { exitCode: 2 });
  }
  for (const file of ["network.json", "milestones.json", "exceptions.json", "genesisBlock.json"]) readJson(join(network, file));
};

/** The folder itself, or the nearest one above it that there is. */
const nearestFolder = (path: string): string => (existsSync(path) || dirname(path) === path ? path : nearestFolder(dirname(path)));

/** A folder that is not there yet can only be made where one above it can be written. */
const checkFolder = (dataDir: string): void => {
  const folder = nearestFolder(resolve(dataDir));
  try {
    accessSync(folder, constants.W_OK);
    readdirSync(folder);
  } catch (error) {
    throw new HostError(`The data folder ${dataDir} cannot be written: ${messageOf(error)}.`, { cause: error });
  }
};

/**
 * Checks all that can be checked before anything is created, or even loaded: a mistyped file is answered at once.
 * @throws HostError
 */
export const checkBeforehand = async (options: HostOptions): Promise<void> => {
  checkNetwork(options.network);
  for (const file of [options.import, options.secrets]) if (file !== undefined) checkReadable(file);
  checkNatsFiles(options);
  checkFolder(options.dataDir);
  await checkPort(options);
};
