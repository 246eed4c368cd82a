import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { PorticoError } from "../../errors.js";
import { makeFolder } from "../../files/make-folder.js";
import { openSound } from "../lmdb/open-file.js";

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

const refuse = (message: string): never => {
  throw new PorticoError("OPTION_INVALID", message);
};

const check = (dataDir: string, to: string): void => {
  if (!["chain.mdb", "webhooks.mdb"].some((name) => existsSync(join(dataDir, name))))
    throw new PorticoError("NOT_READY", `${dataDir} has neither chain.mdb nor webhooks.mdb: there is nothing to copy`);
  if (isWithin(to, dataDir)) refuse(`${to} lies within the data folder ${dataDir}: choose a folder outside of it`);
  if (existsSync(to) && !statSync(to).isDirectory()) refuse(`${to} is not a folder`);
  if (existsSync(to) && readdirSync(to).some((name) => name !== draftName)) refuse(`${to} is not empty: choose a folder that is empty or missing`);
};

/**
 * Copies a data folder into another one, which is made if it is missing, whether or not a node runs there. A node that is started with the
 * copy continues from its last block. Returns the names of the files.
 * @throws PorticoError OPTION_INVALID if `to` lies within `dataDir`, is a file or is not empty; NOT_READY if `dataDir` has no store; or
 * the system's error if a file cannot be copied
 */
export const backUp = async ({ dataDir, to }: { dataDir: string; to: string }): Promise<string[]> => {
  check(dataDir, to);
  const draft = join(to, draftName);
  try {
    makeFolder(to, 0o700);
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(draft, { mode: 0o700 });
    const files = filesIn(dataDir);
    // Stores first, what a host keeps beside them afterwards: a host's log of more blocks than the store has is caught up with.
    const copied = [...files.filter((name) => name.endsWith(".mdb")), ...files.filter((name) => !name.endsWith(".mdb"))];
    for (const name of copied) {
      const [source, target] = [join(dataDir, name), join(draft, name)];
      if (name.endsWith(".mdb")) await copyStore(source, target);
      else copyFileSync(source, target);
      chmodSync(target, statSync(source).mode);
    }
    // The store comes last: without it, nobody takes the folder for a whole copy.
    for (const name of copied.toReversed()) renameSync(join(draft, name), join(to, name));
    return copied;
  } finally {
    // Not by `force`, which does not pass over one below a file.
    if (existsSync(draft)) rmSync(draft, { recursive: true });
  }
};
