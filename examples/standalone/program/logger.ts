import type { Logger } from "../../../types/node-context.js";
import { type LogLevel, logLevels } from "../options.js";

/** Writes lines for a person at a terminal. Lines of all levels but `info` begin with their level; `isTrouble`: warnings and errors. */
export const createLogger = (level: LogLevel, write: (line: string, isTrouble: boolean) => void): Logger => {
  const log = (name: LogLevel) => (message: string) => {
    if (logLevels.indexOf(name) < logLevels.indexOf(level)) return;
    const isTrouble = name === "warn" || name === "error";
    write(name === "info" ? message : `${name}: ${message}`, isTrouble);
  };
  return { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };
};

/** Keeps the process running when the reader of its output leaves, as `head` and a closed terminal do. What it writes after that is lost. */
export const outliveReaders = (): void => {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
};

export const writeToTerminal = (line: string, isTrouble: boolean): void => {
  (isTrouble ? process.stderr : process.stdout).write(`${line}\n`);
};
