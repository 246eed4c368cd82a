import { messageOf, HostError } from "./host-error.js";
import { createLogger, writeToTerminal } from "./logger.js";
import { askedFor, helpText, type HostOptions, readHostOptions } from "./options.js";
import { createProgressReport } from "./progress-report.js";
import { version } from "../../src/version.js";

const run = async (options: HostOptions): Promise<number> => {
  if (options.verify !== undefined) return (await import("./verify.js")).verify(options, (line) => writeToTerminal(line, false));
  // Imported only now, so that `--help` and usage errors do not wait for all modules of a node.
  const [{ startHost }, { welcome }] = await Promise.all([import("./host.js"), import("./welcome.js")]);
  const logger = createLogger(options.logLevel, writeToTerminal);
  const report = createProgressReport(logger);
  const ending = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => ending.abort());
  const ended = new Promise<undefined>((resolve) => ending.signal.addEventListener("abort", () => resolve(undefined)));

  const host = await startHost(options, { logger, clock: { now: () => Date.now(), monotonic: () => Number(process.hrtime.bigint()) / 1e6 }, onProgress: report, signal: ending.signal });
  if (host === undefined) return 0;
  logger.info(welcome(host, options));
  const failure = await Promise.race([host.failed, ended]);
  if (failure !== undefined) logger.error(failure.message);
  await host.stop();
  logger.info("The node has stopped.");
  return failure?.exitCode ?? 0;
};

const main = async (): Promise<number> => {
  try {
    const args = process.argv.slice(2);
    const asked = askedFor(args);
    if (asked === undefined) return await run(readHostOptions(args, process.env));
    writeToTerminal(asked === "help" ? helpText() : version, false);
    return 0;
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    writeToTerminal(messageOf(error), true);
    return error.exitCode;
  }
};

process.exitCode = await main();
