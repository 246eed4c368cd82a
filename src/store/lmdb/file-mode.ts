import { chmodSync, statSync } from "node:fs";

/**
 * Restricts a file to its owner, or to owner and group if the group may write it. Where the file system knows no owners, it stays as it
 * is.
 */
export const keepFromOthers = (file: string): void => {
  try {
    const { mode } = statSync(file);
    const isShared = (mode & 0o020) !== 0;
    chmodSync(file, isShared ? mode & 0o660 : 0o600);
  } catch {
    // The store works all the same.
  }
};
