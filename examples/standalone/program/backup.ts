import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { makeFolder } from "../../../src/files/make-folder.js";
import { openSound } from "../../../src/store/lmdb/open-file.js";
import type { Logger } from "../../../types/node-context.js";
import { HostError, messageOf } from "./host-error.js";

/** What a data folder has that a copy of it must not have: marks of the running process, and what is being written at this moment. */
const leftOut = /^node\.(?:pid|url)$|\.mdb-|-lock$|-writer$|-trial|\.journal|\.partial$/;

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && !leftOut.test(entry.name))
    .map(({ name }) => name);

/**
 * Copies an LMDB file as of one moment while another process writes it. Free pages included: in a compact copy, the list of free pages is
 * damaged, and LMDB ends the process that writes it.
 */
const copyStore = async (from: string, to: string): Promise<void> => {
  const root = openSound(from, { noSubdir: true, readOnly: true, maxDbs: 1 });
  try {
    await root.backup(to, false);
  } finally {
    await root.close();
  }
};

/** Below the target: a folder that something is mounted on cannot be put in another's place. */
const draftName = ".partial";

/** Where a folder is, or would be made, without links. */
const realPath = (path: string): string => (existsSync(path) || dirname(path) === path ? realpathSync(path) : join(realPath(dirname(path)), basename(path)));

/** Whether a folder is another one, or lies below it, by whatever links. */
const isWithin = (path: string, folder: string): boolean => relative(realPath(resolve(folder)), realPath(resolve(path))).split(sep)[0] !== "..";

const prepare = (dataDir: string, target: string): void => {
  if (!existsSync(join(dataDir, "chain.mdb"))) throw new HostError(`${dataDir} has no chain.mdb: there is nothing to copy.`);
  if (isWithin(target, dataDir)) throw new HostError(`--backup ${target} lies within the data folder ${dataDir}: choose a folder outside of it.`);
  if (existsSync(target) && !statSync(target).isDirectory()) throw new HostError(`--backup ${target} is not a folder.`);
  if (existsSync(target) && readdirSync(target).some((name) => name !== draftName)) throw new HostError(`--backup ${target} is not empty: choose a folder that is empty or missing.`);
};

/**
 * Makes `target` a copy of a data folder that starts, also while a node writes there. Stores are copied first, the blocks that the node
 * forged afterwards: a log of more blocks than the store has is caught up with, one of fewer would not be continued.
 * @throws HostError
 */
export const backUp = async (dataDir: string, target: string, logger: Pick<Logger, "info">): Promise<void> => {
  prepare(dataDir, target);
  const draft = join(target, draftName);
  try {
    makeFolder(target, 0o700);
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(draft, { mode: 0o700 });
    const files = filesIn(dataDir);
    const copied = [...files.filter((name) => name.endsWith(".mdb")), ...files.filter((name) => !name.endsWith(".mdb"))];
    for (const name of copied) {
      const [from, to] = [join(dataDir, name), join(draft, name)];
      if (name.endsWith(".mdb")) await copyStore(from, to);
      else copyFileSync(from, to);
      chmodSync(to, statSync(from).mode);
    }
    // The store comes last: without it, nobody takes the folder for a whole copy.
    for (const name of copied.toReversed()) renameSync(join(draft, name), join(target, name));
    rmSync(draft, { recursive: true });
    logger.info(`${target} is a copy of ${dataDir}: ${copied.join(", ")}. Start from it by --data-dir ${target}.`);
  } catch (error) {
    // Not by `force`, which does not pass over one below a file.
    if (existsSync(draft)) rmSync(draft, { recursive: true });
    throw error instanceof HostError ? error : new HostError(`${dataDir} could not be copied to ${target}: ${messageOf(error)}.`, { cause: error });
  }
};
