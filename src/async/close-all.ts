import { setMaxListeners } from "node:events";

/** Ends parts one after another, each even if one before it fails. Rejects with the first failure when all have ended. */
export const closeAll = async (...ends: readonly (() => unknown)[]): Promise<void> => {
  const failures: unknown[] = [];
  for (const end of ends) {
    try {
      await end();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
};

/** An AbortController whose signal any number of callers may wait for. Node.js takes more than ten for a leak, and warns of it. */
export const createSharedAbort = (): AbortController => {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
};
