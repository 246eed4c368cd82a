import { messageOf, HostError } from "./host-error.js";
import type { Host } from "./host.js";
import { createLogger, writeToTerminal } from "./logger.js";
import { helpText, type HostOptions, readHostOptions } from "./options.js";
import { createProgressReport } from "./progress-report.js";

const run = async (options: HostOptions): Promise<number> => {
  // Only now: whoever asks for help, or mistypes, need not wait for a node's worth of modules.
  const [{ startHost }, { welcome }] = await Promise.all([import("./host.js"), import("./welcome.js")]);
  const logger = createLogger(options.logLevel, writeToTerminal);
  const report = createProgressReport(logger);
  const stopSignal = new Promise<"stop">((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve("stop"));
  });
  const starting = startHost(options, { logger, clock: { now: () => Date.now() }, onProgress: report });
  const started = await Promise.race([starting, stopSignal]);
  if (started === "stop") return await stop(await starting);
  logger.info(welcome(started, options));
  const ended = await Promise.race([started.failed, stopSignal]);
  if (ended !== "stop") logger.error(ended.message);
  const code = await stop(started);
  return ended === "stop" ? code : ended.exitCode;
};

const stop = async (host: Host): Promise<number> => {
  await host.stop();
  return 0;
};

const main = async (): Promise<number> => {
  try {
    const options = readHostOptions(process.argv.slice(2));
    if (options !== undefined) return await run(options);
    writeToTerminal(helpText(), false);
    return 0;
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    writeToTerminal(messageOf(error), true);
    return error.exitCode;
  }
};

process.exitCode = await main();
