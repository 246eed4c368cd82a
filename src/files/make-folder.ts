import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { messageOf, PorticoError } from "../errors.js";

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/**
 * Makes a folder, and those above it, unless it is there already. Without the option `recursive` of Node, which tries forever where the
 * system refuses with ENOENT although the folder above exists: in /proc, or in a mount whose source is gone. `mode`: of each that is made.
 * @throws Error with the system's code
 */
export const makeFolder = (path: string, mode?: number): void => {
  if (isFolder(path)) return;
  const above = dirname(path);
  if (above !== path && !existsSync(above)) makeFolder(above, mode);
  try {
    mkdirSync(path, mode);
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!isFolder(path)) throw error;
  }
};

/** Makes the folder that a host gives for what is kept. @throws PorticoError OPTION_INVALID with the system's reason */
export const makeDataDir = (dataDir: string): void => {
  try {
    makeFolder(dataDir);
  } catch (cause) {
    throw new PorticoError("OPTION_INVALID", `\`dataDir\` is ${dataDir}, which cannot be made: ${messageOf(cause)}`, { cause });
  }
};
