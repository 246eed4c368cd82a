import { once } from "node:events";
import { connect, type Socket } from "node:net";

/**
 * One kept-alive connection that asks one thing after another. It parses no more of a reply than its status and length, so that the load
 * costs the machine less than the server under it: an HTTP client in JavaScript spends more on 45 KB than the server that sends them.
 */
export interface Connection {
  /** Resolves with the status when the whole reply has come. */
  ask(request: Buffer): Promise<number>;
  close(): void;
}

const endOfHeaders = Buffer.from("\r\n\r\n");

/** Status of a reply, and how many bytes of it are still to come. */
const readHead = (bytes: Buffer): { status: number; left: number } | undefined => {
  const end = bytes.indexOf(endOfHeaders);
  if (end === -1) return undefined;
  const head = bytes.toString("latin1", 0, end);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length === undefined) throw new Error(`a reply says no length: ${head}`);
  return { status: Number(head.slice(9, 12)), left: Number(length) - (bytes.length - end - endOfHeaders.length) };
};

/** Resolves once it is connected: what is asked then waits for nothing but its reply. */
export const openConnection = async (port: number): Promise<Connection> => {
  let waiting: { resolve: (status: number) => void; reject: (error: Error) => void } | undefined;
  let head = Buffer.alloc(0);
  let reply: { status: number; left: number } | undefined;

  const take = (bytes: Buffer): void => {
    if (reply === undefined) {
      const whole = head.length === 0 ? bytes : Buffer.concat([head, bytes]);
      reply = readHead(whole);
      head = reply === undefined ? Buffer.from(whole) : head.subarray(0, 0);
    } else reply.left -= bytes.length;
    if (reply?.left !== 0) return;
    const { status } = reply;
    const asked = waiting;
    [reply, waiting] = [undefined, undefined];
    asked?.resolve(status);
  };

  const fail = (error: Error): void => {
    waiting?.reject(error);
    waiting = undefined;
  };

  const room = Buffer.allocUnsafe(262_144);
  const onread = {
    buffer: room,
    callback: (count: number): boolean => {
      try {
        take(room.subarray(0, count));
      } catch (error) {
        fail(error as Error);
      }
      return true;
    },
  };
  const socket: Socket = connect({ port, host: "127.0.0.1", noDelay: true, onread });
  socket.on("error", fail);
  socket.on("close", () => fail(new Error("the connection was closed")));
  await once(socket, "connect");

  return {
    ask: (request) =>
      new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        socket.write(request);
      }),
    close: () => socket.destroy(),
  };
};
