import { chmodSync, statSync } from "node:fs";

/**
 * Lets nobody else read a file: its owner alone, or with the group that may write it. Where the file system knows no owners, it stays as
 * it is.
 */
export const keepFromOthers = (file: string): void => {
  try {
    const { mode } = statSync(file);
    const isShared = (mode & 0o020) !== 0;
    chmodSync(file, isShared ? mode & 0o660 : 0o600);
  } catch {
    // The store is no less whole for it.
  }
};
