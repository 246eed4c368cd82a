import { pino } from "pino";
import type { AccessLogEntry, Logger } from "../../../types/node-context.js";
import { createLogger, writeToTerminal } from "./logger.js";
import type { HostOptions } from "../options.js";

/** The log of this host: lines for people in a terminal, JSON lines for programs. */
export interface Logging {
  logger: Logger;
  /** What the access log is written by; undefined unless it was asked for. */
  access: ((entry: AccessLogEntry) => void) | undefined;
  /** Says that the node serves: a text for people, members for programs. */
  started(text: string, members: Record<string, unknown>): void;
}

type LoggingOptions = Pick<HostOptions, "logLevel" | "logFormat" | "accessLog">;

const lineOf = ({ method, route, status, ms, bytes, requestId, client }: AccessLogEntry): string =>
  `${method} ${route} ${status}  ${ms} ms  ${bytes} bytes  ${requestId}${client === undefined ? "" : `  ${client}`}`;

const forPeople = ({ logLevel, accessLog }: LoggingOptions): Logging => {
  const logger = createLogger(logLevel, writeToTerminal);
  return { logger, access: accessLog ? (entry) => logger.info(lineOf(entry)) : undefined, started: (text) => logger.info(text) };
};

/** All lines go to stdout, at once: none is lost where the process ends. */
const forPrograms = ({ logLevel, accessLog }: LoggingOptions): Logging => {
  const destination = pino.destination({ fd: 1, sync: true });
  // pino goes on without a pipe's reader, but not without a terminal (EIO).
  destination.on("error", () => undefined);
  const log = pino(
    { level: logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: (level) => ({ level }) } },
    destination,
  );
  const logger: Logger = {
    debug: (message) => log.debug(message),
    info: (message) => log.info(message),
    warn: (message) => log.warn(message),
    error: (message) => log.error(message),
  };
  return {
    logger,
    // pino writes the time itself.
    access: accessLog ? ({ time: _, ...entry }) => log.info(entry, "request") : undefined,
    started: (_, members) => log.info(members, "the node serves"),
  };
};

export const createLogging = (options: LoggingOptions): Logging => (options.logFormat === "json" ? forPrograms(options) : forPeople(options));
