import type { AddressInfo } from "node:net";
import { createApiPlugin, followNode, PorticoError } from "portico";
import { closeAll } from "../../src/async/close-all.js";
import type { ApiPlugin } from "../../types/plugin.js";
import { lockFolder } from "./files/folder-lock.js";
import { explain, type HostNeeds, prepareFolder, type Served, urlOf, writeUrl } from "./host.js";
import { HostError, messageOf } from "./program/host-error.js";
import type { HostOptions } from "./options.js";
import { measureNats, startTip } from "./nats.js";
import { createFrontPage } from "./program/front-page.js";
import { importFrom } from "./program/webhooks-file.js";
import { openWaitingDoor, type WaitingDoor } from "./program/waiting-door.js";
import { porticoOptions } from "./serving.js";

/** A process without a node: it serves what the node of `--follow` does, from a store of its own. */

const explained = (error: unknown, options: HostOptions): Error =>
  error instanceof PorticoError && error.code === "HOST_SILENT" ? new HostError(`${error.message}.`, { cause: error }) : explain(error, options, undefined);

const heightOf = (plugin: ApiPlugin): number => plugin.health().height;

/**
 * Starts a replica; undefined if the signal ended the start.
 * @throws HostError with one sentence for a person, after closing what was opened
 */
export const startReplica = async (options: HostOptions, { logger, clock, access, onProgress, signal }: HostNeeds): Promise<Served | undefined> => {
  const { follow = "", dataDir, lakeKey, host } = options;
  let plugin: ApiPlugin | undefined;
  let lock: { release(): Promise<void> } | undefined;
  let door: WaitingDoor | undefined;
  const stop = (): Promise<void> => closeAll(() => plugin?.stop(), () => door?.close(), () => lock?.release());
  try {
    prepareFolder(dataDir);
    lock = await lockFolder(dataDir, { signal, now: clock.monotonic, onWait: (error) => logger.info(`Waiting: ${messageOf(error)}`) });
    const tip = await startTip(options, logger);
    door = await openWaitingDoor(options, `the node at ${follow} has not answered yet`);
    writeUrl(options, door.port);
    const context = await followNode({
      ...(tip === undefined ? {} : { tip, otherMetrics: async () => [await measureNats({ tip })] }),
      ...{ url: follow, dataDir, logger, clock, options: porticoOptions(options) },
      ...(signal === undefined ? {} : { signal }),
      ...(lakeKey === undefined ? {} : { lakeKey }),
      ...(onProgress === undefined ? {} : { onProgress }),
      ...(access === undefined ? {} : { accessLog: access }),
    });
    signal?.throwIfAborted();
    const serving = (plugin = createApiPlugin(context));
    // Whoever closes is told of a failure.
    signal?.addEventListener("abort", () => void serving.stop().catch(() => undefined), { once: true });
    if (options.importWebhooks !== undefined) {
      await serving.start();
      logger.info(`Webhooks of ${options.importWebhooks} were added: ${importFrom(options.importWebhooks, serving)}.`);
    }
    await door.close();
    const server = await serving.listen(door.port, host, createFrontPage(context.network.network.name, options.basePath));
    signal?.throwIfAborted();
    const url = urlOf({ ...options, port: (server.address() as AddressInfo).port });
    return { network: context.network, plugin: serving, url, height: heightOf(serving), isForging: false, failed: new Promise(() => undefined), stop };
  } catch (error) {
    await stop();
    if (signal?.aborted === true) return undefined;
    throw explained(error, options);
  }
};
