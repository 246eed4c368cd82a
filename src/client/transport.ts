import type { ErrorCode } from "./schemas.js";
import { jsonOf, parseJson } from "./values.js";

/** A request to a node, with what all calls have in common: several nodes, time limits, retries, errors, hooks. */

/** What every method takes last. */
export interface CallOptions {
  /** Aborts the call: it rejects with the signal's reason. @default none */
  signal?: AbortSignal | undefined;
  /** Milliseconds for the whole call, retries included. A `statement` has no limit unless one is given. @default the client's */
  timeout?: number | undefined;
  /** Allows retries of a call that is not a GET. The node answers the same key with the same reply where it keeps keys: `webhooks.create`. @default none */
  idempotencyKey?: string | undefined;
}

export interface ClientRequest {
  readonly method: string;
  readonly url: string;
  /** May be changed by `onRequest`. */
  readonly headers: Headers;
  readonly body: string | undefined;
}

export interface ClientOptions {
  /** The node's token for webhooks. It is sent only to the routes of webhooks. @default none */
  token?: string | undefined;
  /** Milliseconds for a call, retries included; of a walk, for each page. @default 30000 */
  timeout?: number | undefined;
  /**
   * Retries of a GET, after network errors, 408, 429, 502, 503, 504 and replies that are not a node's; of other methods only under an `idempotencyKey`.
   * @default 3, or the number of other URLs if that is more
   */
  retries?: number | undefined;
  /** Milliseconds without a byte after which a stream counts as lost. Nodes send something every 15 s. @default 30000 */
  silence?: number | undefined;
  /** Sends the requests. @default the global `fetch` */
  fetch?: typeof fetch | undefined;
  /** Called before each attempt. @default none */
  onRequest?: ((request: ClientRequest) => void) | undefined;
  /** Called after each attempt with its status or error, and its duration. @default none */
  onResponse?: ((outcome: { request: ClientRequest; status?: number; error?: unknown; milliseconds: number }) => void) | undefined;
}

/** An error that a node has answered with. */
export class PorticoClientError extends Error {
  override readonly name = "PorticoClientError";
  readonly code: ErrorCode;
  readonly status: number;
  /** Finds the request in the node's log. */
  readonly requestId: string | undefined;
  /** Which input was wrong. */
  readonly validation: { source: string; keys: string[] } | undefined;
  /** Seconds after which the node asks to try again. */
  readonly retryAfter: number | undefined;
  /** Of a 410: the oldest block with data, and the newest block. */
  readonly oldest: { height: number; id: string } | undefined;
  readonly tip: { height: number; id: string } | undefined;

  constructor(body: FailureBody, { requestId, retryAfter }: { requestId: string | undefined; retryAfter: number | undefined }) {
    super(body.message);
    this.code = body.code as ErrorCode;
    this.status = body.statusCode;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
    this.validation = body.validation;
    this.oldest = body.oldest;
    this.tip = body.tip;
  }
}

type FailureBody = Partial<Pick<PorticoClientError, "validation" | "oldest" | "tip">> & { statusCode: number; message: string; code: string };

/** There was no reply of a node: no connection, a lost one, a time limit, or a reply of something in between. */
export class TransportError extends Error {
  override readonly name = "TransportError";
  /** Of the reply, where there was one. */
  readonly status: number | undefined;
  readonly retryAfter: number | undefined;

  constructor(message: string, { status, retryAfter, cause }: { status?: number; retryAfter?: number | undefined; cause?: unknown } = {}) {
    super(message, cause === undefined ? {} : { cause });
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** A node, with what was learned of it. */
export interface Node {
  readonly url: string;
  /** Until then others are asked first. */
  failingUntil: number;
  latency: number;
  askedAt: number;
}

/** Asks the same node as long as it can, for what has to come from one state. */
export interface Walk {
  node?: Node;
  /** Whether a node may lack the block that is asked about: then another is asked. */
  isPinned: boolean;
}

export interface Asked extends CallOptions {
  method: string;
  /** Below the base path, with its query. */
  path: string;
  body?: unknown;
  headers?: Record<string, string> | undefined;
  walk?: Walk | undefined;
  /** Milliseconds for which the node itself may wait. */
  waits?: number;
}

export interface Transport {
  /** How many nodes there are. */
  size: number;
  /** Milliseconds for a call that has none of its own. */
  timeout: number;
  /** Asks until there is a reply, as often as may be, and reads it. `read` belongs to the attempt. */
  ask<T>(asked: Asked, read: (response: Response) => Promise<T>): Promise<T>;
  /** The text of a reply, bit by bit. Retried until it begins. @throws TransportError also where nothing comes for `silence` ms */
  open(asked: Asked): AsyncGenerator<string, void>;
}

const transient = new Set([408, 429, 502, 503, 504]);

/** Whether the same request may succeed later. A reply without an error's status, which could not be read, was cut off or is another's. */
export const isTransient = (error: unknown): error is PorticoClientError | TransportError => {
  if (error instanceof PorticoClientError) return transient.has(error.status);
  return error instanceof TransportError && (error.status === undefined || error.status < 400 || transient.has(error.status));
};

const secondsOf = (header: string | null): number | undefined => {
  if (header === null) return undefined;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
};

const isFailure = (body: unknown, status: number): body is FailureBody => {
  const { code, message, statusCode } = (body ?? {}) as Partial<FailureBody>;
  return typeof code === "string" && typeof message === "string" && statusCode === status;
};

const noReply = (text: string, status: number): string =>
  `Status ${status}, and the reply is not from a node: ${text.slice(0, 500).replaceAll(/\s+/g, " ").slice(0, 100)}`;

/** The JSON of a reply. @throws PorticoClientError for a node's error, TransportError for what is no JSON */
export const readJson = async (response: Response): Promise<unknown> => {
  const { status, ok, headers } = response;
  const retryAfter = secondsOf(headers.get("retry-after"));
  const text = await response.text();
  let body: unknown;
  try {
    body = parseJson(text);
  } catch (cause) {
    throw new TransportError(noReply(text, status), { status, retryAfter, cause });
  }
  if (ok) return body;
  if (isFailure(body, status)) throw new PorticoClientError(body, { requestId: headers.get("x-request-id") ?? undefined, retryAfter });
  throw new TransportError(noReply(text, status), { status, retryAfter });
};

export const pause = (milliseconds: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal?.addEventListener("abort", end);
    if (signal?.aborted === true) end();
  });

/** A signal that aborts with another, and when the time is up. `again` begins the time anew, `end` lets go of both. */
const limited = (signal: AbortSignal | undefined, milliseconds: number) => {
  const controller = new AbortController();
  const late = (): void => controller.abort(new TransportError(`Nothing arrived for ${Math.round(milliseconds)} ms.`));
  const aborted = (): void => controller.abort(signal?.reason);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = (): void => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", aborted);
  };
  const again = (limit = milliseconds): void => {
    clearTimeout(timer);
    if (Number.isFinite(limit)) timer = setTimeout(late, limit);
  };
  again();
  signal?.addEventListener("abort", aborted);
  if (signal?.aborted === true) aborted();
  return { signal: controller.signal, again, end };
};

/** A node's base path: that of the URL, or `/api` for an origin. */
export const baseOf = (given: string): string => {
  const url = new URL(given);
  return url.origin + (url.pathname === "/" ? "/api" : url.pathname.replace(/\/+$/, ""));
};

/** Milliseconds for which a node that failed is asked last. */
const failing = 30_000;
/** Milliseconds after which a node's latency counts for half. */
const forgetting = 60_000;

/** Has others asked before the node that a stream was lost of. */
export const lose = ({ node }: Walk): void => {
  if (node !== undefined) node.failingUntil = Date.now() + failing;
};

/** The body of a reply that is no error. */
const bodyOf = async (response: Response): Promise<ReadableStream<Uint8Array>> => {
  const { ok, status, body, headers } = response;
  if (!ok) await readJson(response);
  const isPage = headers.get("content-type")?.startsWith("text/html") === true;
  if (body === null || isPage) throw new TransportError(noReply("", status), { status });
  return body as ReadableStream<Uint8Array>;
};

/** Milliseconds before the next attempt: doubled each time, half of it random, and not before the node has asked for. */
export const delayOf = (attempt: number, error: { retryAfter?: number | undefined }): number =>
  Math.max(Math.min(5_000, 200 * 2 ** attempt) * (0.5 + Math.random() / 2), (error.retryAfter ?? 0) * 1000);

/** The nodes, of which each call asks the best first. */
const createNodes = (urls: readonly string[]) => {
  if (urls.length === 0) throw new TypeError("A client needs the URL of a node.");
  const nodes: Node[] = urls.map((url) => ({ url: baseOf(url), failingUntil: 0, latency: 0, askedAt: 0 }));

  /** The best that was not tried yet: one that works, then the quickest. One that was not asked for long gets another chance. */
  const choose = (tried: ReadonlySet<Node>, walk: Walk | undefined): Node => {
    const now = Date.now();
    const cost = (node: Node): number =>
      (node.failingUntil > now ? 1e9 : 0) + (node === walk?.node ? 0 : 1 + node.latency / (1 + (now - node.askedAt) / forgetting));
    const left = nodes.filter((node) => !tried.has(node));
    return (left.length === 0 ? nodes : left).reduce((best, node) => (cost(node) < cost(best) ? node : best));
  };

  return { size: nodes.length, choose };
};

type Send = (node: Node, asked: Asked, signal: AbortSignal) => Promise<Response>;

/** Sends a request, and waits until the headers of its reply are there. */
const createSend =
  ({ onRequest, onResponse, fetch: ask = fetch }: ClientOptions): Send =>
  async (node, { method, path, body, headers, idempotencyKey, waits = 0 }, signal) => {
    const request: ClientRequest = {
      method,
      url: node.url + path,
      headers: new Headers({
        accept: "application/json",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
        ...headers,
      }),
      body: body === undefined ? undefined : jsonOf(body),
    };
    onRequest?.(request);
    const began = Date.now();
    node.askedAt = began;
    try {
      const content = request.body === undefined ? {} : { body: request.body };
      const response = await ask(request.url, { method, headers: request.headers, signal, ...content });
      const milliseconds = Date.now() - began;
      if (waits === 0) node.latency = node.latency === 0 ? milliseconds : node.latency * 0.7 + milliseconds * 0.3;
      onResponse?.({ request, status: response.status, milliseconds });
      return response;
    } catch (error) {
      onResponse?.({ request, error, milliseconds: Date.now() - began });
      throw error;
    }
  };

/** What an attempt's error means to the caller: it has aborted, the node has answered, or there was no reply. */
const asError = (error: unknown, { signal }: CallOptions, limit: AbortSignal): unknown => {
  if (signal?.aborted === true) return signal.reason;
  if (error instanceof PorticoClientError || error instanceof TransportError) return error;
  if (limit.aborted && limit.reason instanceof TransportError) return limit.reason;
  if (!(error instanceof TypeError) && !(error instanceof DOMException)) return error;
  const { cause } = error as { cause?: unknown };
  return new TransportError(cause instanceof Error ? `${error.message}: ${cause.message}` : error.message, { cause: error });
};

interface Attempt<T> {
  asked: Asked;
  /** Until it counts as lost. */
  milliseconds: number;
  send: Send;
  read(response: Response): Promise<T>;
}

const attempt = async <T>(node: Node, { asked, milliseconds, send, read }: Attempt<T>): Promise<T> => {
  const limit = limited(asked.signal, milliseconds);
  try {
    limit.signal.throwIfAborted();
    const result = await read(await send(node, asked, limit.signal));
    node.failingUntil = 0;
    return result;
  } catch (thrown) {
    const error = asError(thrown, asked, limit.signal);
    if (isTransient(error)) node.failingUntil = Date.now() + failing;
    throw error;
  } finally {
    limit.end();
  }
};

/** The text of a body. Its connection is let go of when nobody reads on. */
async function* textOf(body: ReadableStream<Uint8Array>, asked: CallOptions, silence: number): AsyncGenerator<string, void> {
  const deadline = asked.timeout === undefined ? Infinity : Date.now() + asked.timeout;
  const [reader, decoder, limit] = [body.getReader(), new TextDecoder(), limited(asked.signal, Infinity)];
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  limit.signal.addEventListener("abort", cancel);
  if (limit.signal.aborted) cancel();
  try {
    for (;;) {
      limit.again(Math.min(silence, deadline - Date.now()));
      const { done, value } = await reader.read();
      // While the text is dealt with, nothing is waited for.
      limit.again(Infinity);
      limit.signal.throwIfAborted();
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } catch (thrown) {
    throw asError(thrown, asked, limit.signal);
  } finally {
    limit.end();
    cancel();
  }
}

export const createTransport = (urls: readonly string[], options: ClientOptions): Transport => {
  const { size, choose } = createNodes(urls);
  const { timeout: usual = 30_000, retries = Math.max(3, size - 1), silence = 30_000 } = options;
  const send = createSend(options);

  const ask: Transport["ask"] = async (asked, read) => {
    const { method, walk, signal, idempotencyKey, waits = 0, timeout = usual + waits } = asked;
    const deadline = Date.now() + timeout;
    const mayRepeat = method === "GET" || method === "HEAD" || idempotencyKey !== undefined;
    const tried = new Set<Node>();
    let lost: unknown;
    for (let count = 0; ; count++) {
      const node = choose(tried, walk);
      tried.add(node);
      const left = deadline - Date.now();
      const isLast = !mayRepeat || count >= retries || waits > 0;
      try {
        // An attempt that hangs leaves time for another.
        const result = await attempt(node, { asked, milliseconds: isLast ? left : left / 2, send, read });
        if (walk !== undefined) walk.node = node;
        return result;
      } catch (error) {
        const isElsewhere = tried.size < size;
        if (isTransient(error)) lost = error;
        const lacksBlock = walk?.isPinned === true && error instanceof PorticoClientError && error.code === "BLOCK_NOT_FOUND";
        if (isElsewhere && lacksBlock) continue;
        // The node that has the block may be one of those that gave no reply.
        const reason = lacksBlock && lost !== undefined ? lost : error;
        if (!mayRepeat || count >= retries || !isTransient(reason)) throw reason;
        const delay = isElsewhere ? 0 : delayOf(count, reason);
        if (Date.now() + delay >= deadline) throw reason;
        await pause(delay, signal);
        signal?.throwIfAborted();
        if (!isElsewhere) tried.clear();
      }
    }
  };

  return {
    size,
    timeout: usual,
    ask,
    open: async function* ({ walk = { isPinned: false }, ...asked }) {
      try {
        yield* textOf(await ask({ ...asked, walk }, bodyOf), asked, silence);
      } catch (error) {
        lose(walk);
        throw error;
      }
    },
  };
};
