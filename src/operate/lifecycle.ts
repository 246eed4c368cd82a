import { once } from "node:events";
import type { RequestListener, Server } from "node:http";
import type { Socket } from "node:net";
import type { Logger } from "../../types/node-context.js";
import type { ApiPlugin } from "../../types/plugin.js";
import { createSharedAbort } from "../async/close-all.js";
import { deadline } from "../async/deadline.js";
import { messageOf } from "../errors.js";

interface LifecycleNeeds {
  /** The first step of a start, whose end `stop` waits for. */
  prepare(): Promise<void>;
  /** The second step, which `close` can interrupt. */
  open(): Promise<void>;
  /** Called when both have ended well. */
  opened(): Promise<void>;
  /** Closes whatever the steps have opened. */
  close(): Promise<void>;
  /** `outside` answers what lies outside the interface. */
  createServer(outside?: RequestListener): Server;
  /** Resolves when every request is answered. */
  drained(): Promise<void>;
  /** Replies that are sent while they are made: those without an end are ended when a stop begins, the others cut when its time is up. */
  streams: { end(): void; cut(): void };
  /** Milliseconds. */
  stopTimeout: number;
  logger: Logger;
}

export type Phase = "stopped" | "starting" | "started" | "stopping";

/** Where a node is between start and stop. Its parts read it; the lifecycle alone changes it. */
export const createNodePhase = () => {
  let phase: Phase = "stopped";
  let stopping = createSharedAbort();
  return {
    phase: (): Phase => phase,
    isStopping: (): boolean => phase === "stopping",
    /** Aborted while the node stops; another one after the next start. */
    stopping: (): AbortSignal => stopping.signal,
    enter: (next: Phase): void => {
      phase = next;
      if (next === "starting") stopping = createSharedAbort();
      if (next === "stopping") stopping.abort();
    },
  };
};

export type NodePhase = ReturnType<typeof createNodePhase>;

/** Starting and stopping, in any order. Idempotent; the last call wins. */
export type Lifecycle = Pick<ApiPlugin, "listen" | "start" | "stop">;

interface ClosingServer {
  server: Server;
  closed: Promise<unknown>;
}

/**
 * Closes connections without a request. Before nodejs/node#63470, Node.js leaves those open on which nothing has come yet, such as browsers
 * open beforehand.
 */
const createIdleClosing = () => {
  const open = new WeakMap<Server, Set<Socket>>();
  return {
    watch: (server: Server): void => {
      const sockets = new Set<Socket>();
      open.set(server, sockets);
      server.on("connection", (socket: Socket) => {
        sockets.add(socket);
        socket.once("close", () => sockets.delete(socket));
      });
    },
    close: (server: Server): void => {
      server.closeIdleConnections();
      for (const socket of open.get(server) ?? []) if (socket.bytesRead === 0) socket.destroy();
    },
  };
};

const silence = (): void => undefined;

/**
 * Closes a server to new connections. By itself, `close` also ends connections whose replies have been written but are still being sent.
 */
const stopListening = (server: Server): void => {
  Object.assign(server, { closeIdleConnections: silence });
  server.close();
  Reflect.deleteProperty(server, "closeIdleConnections");
};

/** The servers that `listen` opened. */
const createServers = ({ drained, streams, stopTimeout }: Pick<LifecycleNeeds, "drained" | "streams" | "stopTimeout">) => {
  const servers = new Set<Server>();
  const idle = createIdleClosing();

  /** Closes the servers to new connections and lets go of them. */
  const close = (): ClosingServer[] => {
    const left = [...servers].map((server) => ({ server, closed: once(server, "close") }));
    servers.clear();
    left.forEach(({ server }) => stopListening(server));
    return left;
  };

  /** Resolves when every request is answered and every response has been sent. */
  const finished = async (left: readonly ClosingServer[]): Promise<void> => {
    await drained();
    left.forEach(({ server }) => idle.close(server));
    await Promise.all(left.map(({ closed }) => closed));
  };

  return {
    /** Resolves when what it listens for is started. One that a stop came before, or whose start fails, is closed again. */
    listen: async (server: Server, isStopped: () => boolean, start: () => Promise<void>): Promise<Server> => {
      idle.watch(server);
      await once(server, "listening");
      if (isStopped()) return server.close();
      servers.add(server);
      try {
        await start();
      } catch (error) {
        servers.delete(server);
        server.close();
        throw error;
      }
      return server;
    },
    /** Where nothing is started: no request is under way. */
    closeIdle: (): void => close().forEach(({ server }) => idle.close(server)),
    /** Lets the requests under way be answered until the time is up; `meanwhile` has to end, too. */
    closeAll: async (meanwhile: Promise<unknown> | undefined): Promise<void> => {
      const left = close();
      streams.end();
      await meanwhile?.catch(silence);
      await deadline(finished(left), stopTimeout).catch(silence);
      streams.cut();
      left.forEach(({ server }) => server.closeAllConnections());
    },
  };
};

export const createLifecycle = (
  { prepare, open, opened, close, createServer, logger, ...needs }: LifecycleNeeds,
  { phase, enter }: NodePhase = createNodePhase(),
): Lifecycle => {
  let starting: Promise<void> | undefined;
  let preparing: Promise<void> | undefined;
  let stopping: Promise<void> | undefined;
  /** Number of calls of `stop`, by which a start that has not begun yet notices that it was called meanwhile, and gives up. */
  let stops = 0;
  const servers = createServers(needs);

  const closeAllInOrder = async (): Promise<void> => {
    enter("stopping");
    await servers.closeAll(preparing);
    await close().finally(() => enter("stopped"));
  };

  const start = (): Promise<void> => {
    starting ??= (async () => {
      const before = stops;
      const isOver = (): boolean => stops !== before;
      // A failure of the stop has been reported to whoever called `stop`.
      await stopping?.catch(silence);
      if (isOver()) return;
      stopping = undefined;
      enter("starting");
      try {
        preparing = prepare();
        await preparing;
        // If `stop` was called meanwhile, no further step follows, and `stop` closes what has been opened.
        if (!isOver()) await open();
        if (isOver()) return;
        enter("started");
        await opened();
      } catch (error) {
        // Where `stop` was called meanwhile, it closes what has been opened.
        if (!isOver()) {
          starting = undefined;
          // For the next start to wait for.
          stopping = closeAllInOrder();
          await stopping.catch((closing: unknown) =>
            logger.error(`after a failed start, open resources could not be closed: ${messageOf(closing)}`),
          );
        }
        throw error;
      }
    })();
    return starting;
  };

  return {
    start,
    listen: async (port, address = "127.0.0.1", outside) => {
      const server = createServer(outside).listen(port, address);
      const before = stops;
      return servers.listen(server, () => stops !== before, start);
    },
    stop: () => {
      stops++;
      // From here on, `start` means a new start.
      starting = undefined;
      if (phase() === "starting" || phase() === "started") stopping = closeAllInOrder();
      else servers.closeIdle();
      return phase() === "stopped" ? Promise.resolve() : (stopping ?? Promise.resolve());
    },
  };
};
