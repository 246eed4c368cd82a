import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { messageOf } from "../../errors.js";
import type { Logger } from "../../../types/node-context.js";
import type { StreamBody } from "../reply/reply.js";
import type { Chunk } from "../route.js";
import { onceClosed } from "./in-flight.js";

/** Bytes that are held for a client that does not read, besides what the socket holds. */
const highWaterMark = 65_536;

/** Milliseconds that a client gets for what an endless stream has left when the node stops. */
const lastMoments = 1000;

interface BodyStreamNeeds {
  body: StreamBody;
  response: ServerResponse;
  /** Called once, after the last use of what the body is made from. */
  closed(): void;
  failed(error: unknown): void;
}

/** The body of one reply on its way. It fails nobody: where something is missing, the connection is cut. */
class BodyStream extends Readable {
  private readonly needs: BodyStreamNeeds;
  private readonly controller = new AbortController();
  private chunks: AsyncIterator<Chunk> | undefined;
  private pumping: Promise<void> | undefined;
  private slow: NodeJS.Timeout | undefined;
  private leaving: NodeJS.Timeout | undefined;
  private over = false;
  /** Bytes of the body so far. */
  produced = 0;

  constructor(needs: BodyStreamNeeds) {
    super({ highWaterMark });
    this.needs = needs;
    const { response, body } = needs;
    onceClosed(response, () => {
      clearTimeout(this.leaving);
      this.destroy();
    });
    // Servers here also wait for clients that have ended their side. Such a client is not known to listen to what has no end.
    if (body.endless && response.socket?.readableEnded === false) {
      const { socket } = response;
      const cut = (): void => void response.destroy();
      socket.once("end", cut);
      response.once("close", () => socket.off("end", cut));
    }
  }

  /** A method, since it changes while something is awaited. */
  private isOver(): boolean {
    return this.over;
  }

  override _read(): void {
    clearTimeout(this.slow);
    const { response } = this.needs;
    // Clients wait for the head before there is anything to tell them.
    if (!response.headersSent) response.flushHeaders();
    this.pumping ??= this.pump().finally(() => (this.pumping = undefined));
  }

  override _destroy(_error: Error | null, callback: (error?: Error | null) => void): void {
    clearTimeout(this.slow);
    this.over = true;
    this.controller.abort();
    void this.finishReading().then(() => this.needs.closed());
    callback(null);
  }

  /** Ends it at once, with what has been produced so far. */
  end(): void {
    if (this.isOver()) return;
    this.over = true;
    this.controller.abort();
    this.push(null);
    const { response } = this.needs;
    this.leaving = setTimeout(() => response.destroy(), lastMoments).unref();
  }

  /** Cuts the connection. */
  cut(): void {
    this.needs.response.destroy();
    this.destroy();
  }

  /** Waits for the producer to notice, however long that takes. */
  private async finishReading(): Promise<void> {
    await this.pumping;
    try {
      await this.chunks?.return?.();
    } catch {
      // It was told to stop: what it has to say of that is of no interest.
    }
  }

  private async pump(): Promise<void> {
    const { body, failed } = this.needs;
    try {
      this.chunks ??= body.open(this.controller.signal)[Symbol.asyncIterator]();
      while (!this.isOver()) {
        const next: IteratorResult<Chunk, unknown> = await this.chunks.next();
        if (this.isOver()) return;
        if (next.done === true) {
          // A file that has been cut off meanwhile: its client would wait for the rest.
          if (this.produced < (body.length ?? 0)) throw new Error(`${this.produced} of ${body.length} bytes are there`);
          this.over = true;
          this.push(null);
          continue;
        }
        this.produced += Buffer.byteLength(next.value);
        if (next.value.length > 0 && !this.push(next.value)) {
          this.slow = setTimeout(() => this.cut(), body.patience).unref();
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

/** The streams that are being sent. */
export interface Streams {
  readonly count: number;
  /** Those among them that only end when the client leaves. */
  readonly endless: number;
  /** Begins a body. `closed` is called once, after the last use of what it is made from. */
  open(body: StreamBody, response: ServerResponse, closed: () => void): Readable & { readonly produced: number };
  /** Ends those that have no end, at once. */
  end(): void;
  /** Cuts all of them. */
  cut(): void;
}

export const createStreams = ({ logger, isStopping }: { logger: Logger; isStopping(): boolean }): Streams => {
  const open = new Set<BodyStream>();
  const endless = new Set<BodyStream>();
  return {
    get count() {
      return open.size;
    },
    get endless() {
      return endless.size;
    },
    open: (body, response, closed) => {
      const failed = (error: unknown): void => logger.warn(`A reply was cut off, because what it is made from failed: ${messageOf(error)}`);
      const stream = new BodyStream({ body, response, closed, failed });
      const all = body.endless ? [open, endless] : [open];
      for (const set of all) set.add(stream);
      stream.once("close", () => all.forEach((set) => set.delete(stream)));
      if (body.endless && isStopping()) stream.end();
      return stream;
    },
    end: () => [...endless].forEach((stream) => stream.end()),
    cut: () => [...open].forEach((stream) => stream.cut()),
  };
};
