import { version } from "../../src/version.js";
import { HostError, messageOf } from "./program/host-error.js";
import { outliveReaders, writeToTerminal } from "./program/logger.js";
import { askedFor, helpText, type HostOptions, readHostOptions } from "./options.js";
import { collectWhenIdle } from "./program/idle-memory.js";
import { createProgressReport } from "./program/progress-report.js";
import { createLogging, type Logging } from "./program/logging.js";
import { checkBeforehand } from "./program/preflight.js";

const clock = { now: () => Date.now(), monotonic: () => Number(process.hrtime.bigint()) / 1e6 };

/** A node, or a replica of one. */
const starterFor = async ({ follow }: HostOptions) => (follow === undefined ? (await import("./host.js")).startHost : (await import("./replica.js")).startReplica);

const runNode = async (options: HostOptions, { logger, access, started }: Logging): Promise<number> => {
  await checkBeforehand(options);
  // Imported only now, so that mistakes are answered without waiting for all modules of a node.
  const [start, { factsOf, welcome }] = await Promise.all([starterFor(options), import("./program/welcome.js")]);
  const ending = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => ending.abort());
  // A closed terminal may send it twice, by the shell and by the system.
  process.on("SIGHUP", () => ending.abort());
  const ended = new Promise<undefined>((resolve) => ending.signal.addEventListener("abort", () => resolve(undefined)));

  const host = await start(options, { logger, access, clock, onProgress: createProgressReport(logger), signal: ending.signal });
  if (host === undefined) {
    logger.info("The node has stopped.");
    return 0;
  }
  collectWhenIdle();
  started(welcome(host, options), factsOf(host, options));
  const failure = await Promise.race([host.failed, ended]);
  if (failure === undefined) logger.info("The node is stopping and finishes open work. Another signal ends the process at once.");
  else logger.error(failure.message);
  await host.stop();
  logger.info("The node has stopped.");
  return failure?.exitCode ?? 0;
};

const run = async (options: HostOptions, warnings: readonly string[]): Promise<number> => {
  const logging = createLogging(options);
  for (const warning of warnings) logging.logger.warn(warning);
  try {
    if (options.verify !== undefined) return await (await import("./verify.js")).verify(options, (line) => writeToTerminal(line, false));
    if (options.exportWebhooks !== undefined) {
      await (await import("./program/webhooks-file.js")).exportInto(options.dataDir, options.exportWebhooks);
      return 0;
    }
    if (options.backup === undefined) return await runNode(options, logging);
    await (await import("./program/backup.js")).copyInto(options.dataDir, options.backup, logging.logger);
    return 0;
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    // For people: the sentence alone.
    if (options.logFormat === "json") logging.logger.error(error.message);
    else writeToTerminal(error.message, true);
    return error.exitCode;
  }
};

const main = async (): Promise<number> => {
  outliveReaders();
  const warnings: string[] = [];
  try {
    const args = process.argv.slice(2);
    const asked = askedFor(args);
    if (asked === undefined) return await run(readHostOptions(args, { environment: process.env, isTerminal: process.stdout.isTTY, warn: (message) => warnings.push(message) }), warnings);
    writeToTerminal(asked === "help" ? helpText() : version, false);
    return 0;
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    writeToTerminal(messageOf(error), true);
    return error.exitCode;
  }
};

process.exitCode = await main();
