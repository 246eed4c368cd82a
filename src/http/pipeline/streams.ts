import type { ServerResponse } from "node:http";
import type { MaybePromise } from "../../../types/chain-adapter.js";
import type { Logger } from "../../../types/node-context.js";
import { loopShare } from "../../async/loop-share.js";
import { messageOf } from "../../errors.js";
import type { StreamBody } from "../reply/reply.js";
import type { Chunk } from "../route.js";

/** Whether the event `close` has been emitted and will not come any more. A response of HTTP/2 has no `closed`. */
export const isClosed = (response: ServerResponse & { stream?: { destroyed?: boolean } }): boolean =>
  response.closed || response.stream?.destroyed === true;

/** Calls `then` when the response has closed: at once if the client has left already. */
export const onceClosed = (response: ServerResponse, then: () => void): void => {
  if (isClosed(response)) then();
  else response.once("close", then);
};

/** Calls `then` when the client ends its side of the connection, which may stay open all the same. Returns what ends the watch. */
const onceEnded = ({ socket }: ServerResponse, then: () => void): (() => void) => {
  if (socket?.readableEnded !== false) return () => undefined;
  socket.once("end", then);
  return () => socket.off("end", then);
};

/** A signal that aborts when the client has left, or ends its side of the connection: most that do have left. `forget` ends the watch. */
export const watchLeaving = (response: ServerResponse): { signal: AbortSignal; forget(): void } => {
  const leaving = new AbortController();
  const left = (): void => leaving.abort();
  const forget = onceEnded(response, left);
  if (response.socket?.readableEnded === true) left();
  onceClosed(response, left);
  return {
    signal: leaving.signal,
    forget: () => {
      forget();
      response.off("close", left);
    },
  };
};

/** Milliseconds that a client gets for what an endless stream has left when the node stops. */
const lastMoments = 1000;

/** Bytes from which on handing a chunk to its connection takes long enough for thousands of streams to hold up others. */
const largeChunk = 16_384;

/** Where the bytes of a body go. */
interface Sink {
  /** Whether there is room for more. If not, `resume` is to be called once there is. */
  write(chunk: Chunk): boolean;
  end(): void;
}

interface BodyStreamNeeds {
  body: StreamBody;
  response: ServerResponse;
  /** Called once, after the last use of what the body is made from. */
  closed(): void;
  failed(error: unknown): void;
}

/** Closes the connection when the response has been sent; one of HTTP/2 when all that are under way on it have been. */
const closeAfter = (response: ServerResponse & { stream?: { session?: { close(): void } } }): void => {
  const { socket, stream } = response;
  response.once("finish", () => (stream === undefined ? socket?.destroySoon() : stream.session?.close()));
};

/** The body of one reply on its way. It fails nobody: where something is missing, the connection is cut. */
export class BodyStream {
  private readonly needs: BodyStreamNeeds;
  private readonly controller = new AbortController();
  private sink: Sink | undefined;
  private chunks: AsyncIterator<Chunk> | undefined;
  private pumping: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private over = false;
  /** Whether the sink takes more. It may say so while the pump waits for its share of the event loop. */
  private hasRoom = true;
  /** Bytes of the body so far. */
  produced = 0;

  constructor(needs: BodyStreamNeeds) {
    this.needs = needs;
  }

  /** Begins to send it. */
  to(sink: Sink): void {
    this.sink = sink;
    if (this.over) sink.end();
    else this.resume();
  }

  /** Goes on where the sink has room. */
  resume(): void {
    if (this.sink === undefined || this.over) return;
    clearTimeout(this.timer);
    this.hasRoom = true;
    this.pumping ??= this.pump(this.sink).finally(() => (this.pumping = undefined));
  }

  /**
   * Ends it at once, with what has been produced so far, and then its connection: a client that comes again on that would be refused by a
   * node that stops.
   */
  end(): void {
    if (this.over) return;
    this.finish();
    const { response } = this.needs;
    closeAfter(response);
    this.sink?.end();
    this.timer = setTimeout(() => response.destroy(), lastMoments).unref();
  }

  /** Cuts the connection. */
  cut(): void {
    this.needs.response.destroy();
    this.finish();
  }

  /** Produces no more, as nobody reads it. */
  finish(): void {
    clearTimeout(this.timer);
    if (this.over) return;
    this.over = true;
    this.controller.abort();
    void this.finishReading().then(() => this.needs.closed());
  }

  /** Waits for the producer to notice, however long that takes. */
  private async finishReading(): Promise<void> {
    try {
      await Promise.all([this.chunks?.return?.(), this.pumping]);
    } catch {
      // It was told to stop: what it has to say of that is of no interest.
    }
  }

  /** A method, since it changes while something is awaited. */
  private isOver(): boolean {
    return this.over;
  }

  private hand(chunk: Chunk, sink: Sink): MaybePromise<void> {
    const write = (): void => {
      if (this.isOver()) return;
      this.produced += typeof chunk === "string" ? Buffer.byteLength(chunk) : chunk.length;
      this.hasRoom = sink.write(chunk);
    };
    return chunk.length < largeChunk ? write() : loopShare.run(write);
  }

  private async pump(sink: Sink): Promise<void> {
    const { body, failed } = this.needs;
    try {
      this.chunks ??= body.open(this.controller.signal)[Symbol.asyncIterator]();
      while (!this.isOver()) {
        const next: IteratorResult<Chunk, unknown> = await this.chunks.next();
        if (this.isOver()) return;
        if (next.done === true) {
          // A file that has been cut off meanwhile: its client would wait for the rest.
          if (this.produced < (body.length ?? 0)) throw new Error(`${this.produced} of ${body.length} bytes are there`);
          sink.end();
          this.finish();
          return;
        }
        const handed = next.value.length > 0 ? this.hand(next.value, sink) : undefined;
        if (handed !== undefined) await handed;
        if (this.isOver()) return;
        if (!this.hasRoom) {
          this.timer = setTimeout(() => this.cut(), body.patience).unref();
          return;
        }
      }
    } catch (error) {
      if (this.isOver()) return;
      failed(error);
      this.cut();
    }
  }
}

/**
 * Servers here also wait for clients that have ended their side. Such a client is not known to listen to what has no end. Returns what ends
 * the watch.
 */
const cutAtEnd = (response: ServerResponse): (() => void) => onceEnded(response, () => void response.destroy());

/** The streams that are being sent. */
export interface Streams {
  readonly count: number;
  /** Those among them that only end when the client leaves. */
  readonly endless: number;
  /** Makes a body, to be sent by `to`. `closed` is called once, after the last use of what it is made from. */
  open(body: StreamBody, response: ServerResponse, closed: () => void): BodyStream;
  /** Ends those that have no end, at once. */
  end(): void;
  /** Cuts all of them. */
  cut(): void;
}

export const createStreams = ({ logger, isStopping }: { logger: Logger; isStopping(): boolean }): Streams => {
  const open = new Set<BodyStream>();
  const endless = new Set<BodyStream>();
  const failed = (error: unknown): void => logger.warn(`A reply was cut off, because its source failed: ${messageOf(error)}`);
  return {
    get count() {
      return open.size;
    },
    get endless() {
      return endless.size;
    },
    open: (body, response, closed) => {
      const stream = new BodyStream({ body, response, closed, failed });
      const sets = body.endless ? [open, endless] : [open];
      sets.forEach((set) => set.add(stream));
      const unwatch = body.endless ? cutAtEnd(response) : undefined;
      onceClosed(response, () => {
        sets.forEach((set) => set.delete(stream));
        unwatch?.();
        stream.finish();
      });
      if (body.endless && isStopping()) stream.end();
      return stream;
    },
    end: () => [...endless].forEach((stream) => stream.end()),
    cut: () => [...open].forEach((stream) => stream.cut()),
  };
};
