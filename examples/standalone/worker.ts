import { createApiPlugin } from "portico";
import { codeOf, messageOf } from "./program/host-error.js";
import { connectToNode } from "./node-channel.js";
import { createFrontPage } from "./program/front-page.js";
import { collectWhenIdle } from "./program/idle-memory.js";
import { outliveReaders } from "./program/logger.js";
import { createLogging } from "./program/logging.js";
import { nodeInfo, porticoOptions } from "./serving.js";

/** A process that serves what the node's own process writes. It is started by that process, and ends with it. */
const node = connectToNode();
// Ctrl-C and a closed terminal reach every process; a worker ignores both, because the node's own process tells it when to stop.
for (const signal of ["SIGINT", "SIGHUP"] as const) process.on(signal, () => undefined);
outliveReaders();

const serve = async (): Promise<void> => {
  const [options, network] = await Promise.all([node.services.options(), node.services.network()]);
  const { logLevel, host, port, dataDir } = options;
  const info = nodeInfo(port);
  // Normal events are logged by the node's own process; requests are answered here.
  const { access } = createLogging(options);
  const { list, get, submit } = node.services;
  const plugin = createApiPlugin({
    reader: true,
    network,
    dataDir,
    pool: { list, get, submit },
    node: info,
    otherMetrics: node.services.otherMetrics,
    problem: node.problem,
    options: porticoOptions(options),
    logger: createLogging({ ...options, logLevel: logLevel === "info" ? "warn" : logLevel }).logger,
    ...(access === undefined ? {} : { accessLog: access }),
  });
  node.answerMetrics(plugin.metrics);
  const end = async (): Promise<void> => {
    await plugin.stop();
    // What the last requests have added goes on being told.
    await node.tellMetrics().catch(() => undefined);
    process.disconnect();
  };
  process.once("SIGTERM", () => void end());
  const server = await plugin.listen(port, host, createFrontPage(options.network, options.basePath));
  const address = server.address();
  if (address !== null && typeof address === "object") info.ports = nodeInfo(address.port).ports;
};

try {
  await serve();
  collectWhenIdle();
} catch (error) {
  process.exitCode = 1;
  await node.fail({ message: messageOf(error), code: codeOf(error) });
  process.disconnect();
}
