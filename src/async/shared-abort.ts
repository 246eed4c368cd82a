import { setMaxListeners } from "node:events";

/** An AbortController whose signal any number of callers may wait for. Node.js takes more than ten for a leak, and warns of it. */
export const createSharedAbort = (): AbortController => {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
};
