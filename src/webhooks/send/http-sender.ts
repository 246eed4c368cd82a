import type { IncomingHttpHeaders } from "node:http";
import { isIPv6, type LookupFunction } from "node:net";
import { Agent, buildConnector, type Dispatcher } from "undici";
import type { AttemptStage, DeliveryAnswer, OutgoingDelivery } from "../../../types/webhooks.js";
import { messageOf } from "../../errors.js";
import { literalAddresses, type Resolve, type TargetGuard } from "./target-guard.js";

export interface SenderOptions {
  /** Milliseconds, from the name's resolution to the end of the answer. */
  timeout: number;
  /** Bytes of an answer that are read. */
  responseLimit: number;
}

export interface Sender {
  /** Never rejects. */
  send(outgoing: OutgoingDelivery): Promise<DeliveryAnswer>;
  /** Ends every connection, and with it what is under way. */
  close(): Promise<void>;
}

/** Bytes of a body that are kept with the attempt. */
const keptBytes = 1_024;

/** A failure that knows its stage. */
class StageError extends Error {
  readonly stage: AttemptStage;

  constructor(stage: AttemptStage, message: string) {
    super(message);
    this.stage = stage;
  }
}

const refused = (hostname: string): StageError =>
  new StageError("address", `${hostname} is a special address, which the option webhooks.allowTargets does not list`);

/** Resolves a name and keeps the addresses that may be connected to. A name is judged by where it points now, not where it did before. */
const guardedLookup =
  (guard: TargetGuard, resolve: Resolve): LookupFunction =>
  (hostname, options, callback) => {
    const finish = (addresses: string[]): void => {
      const allowed = addresses.filter((address) => guard.allows(address));
      const records = allowed.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
      const first = records[0];
      if (first === undefined) callback(refused(hostname), "", 0);
      else if (options.all) callback(null, records);
      else callback(null, first.address, first.family);
    };
    const literal = literalAddresses(hostname);
    if (literal !== undefined) {
      finish(literal);
      return;
    }
    resolve(hostname).then(finish, (error: unknown) =>
      callback(new StageError("dns", `${hostname} cannot be resolved: ${reasonOf(error)}`), "", 0),
    );
  };

/** No connection is made to a special address: names are judged when they are resolved, addresses in URLs before they are used. */
const guardedConnector = (guard: TargetGuard, resolve: Resolve, timeout: number): buildConnector.connector => {
  const connect = buildConnector({ timeout, lookup: guardedLookup(guard, resolve), autoSelectFamily: true });
  return (options, callback) => {
    const literal = literalAddresses(options.hostname);
    if (literal !== undefined && !literal.some((address) => guard.allows(address))) callback(refused(options.hostname), null);
    else connect(options, callback);
  };
};

/** If several addresses were tried, what the first failure says. */
const reasonOf = (error: unknown): string =>
  error instanceof AggregateError && error.errors.length > 0 ? reasonOf(error.errors[0]) : messageOf(error);

const codeOf = (error: unknown): string => {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
};

const timeoutCodes = ["UND_ERR_CONNECT_TIMEOUT", "UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT", "ETIMEDOUT"];
const connectCodes = ["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL", "EACCES", "EMFILE"];

const stageOf = (error: unknown): AttemptStage => {
  if (error instanceof StageError) return error.stage;
  const code = codeOf(error);
  if (timeoutCodes.includes(code)) return "timeout";
  if (connectCodes.includes(code)) return "connect";
  if (/^(?:ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|EPROTO)/.test(code)) return "tls";
  return "response";
};

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

const headerText = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value);

/** Characters of a failure's text, at the most. */
const longestError = 200;

/** What libraries say may have several lines, some with what the target sent. The text of an attempt, and of the log, has one. */
const oneLine = (text: string): string => {
  const line = text.slice(0, 2 * longestError).replace(/[\p{Cc}\s]+/gu, " ").trim();
  return line.length <= longestError ? line : `${line.slice(0, longestError)}…`;
};

const failed = (stage: AttemptStage, error: string): DeliveryAnswer => ({ status: null, retryAfter: undefined, date: undefined, body: "", failure: { stage, error: oneLine(error) } });

/** Bytes of an answer's headers, at the most. */
const headerLimit = 16_384;

/** Interim responses (1xx) to one request, at the most: each costs time, and some targets never send anything else. */
const mostInterim = 16;

/**
 * One request: gathers the answer until it is complete, reaches the limit of time or size, or fails. A class, as each of its functions
 * would be made anew for every request.
 */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #options: SenderOptions;
  readonly #done: (answer: DeliveryAnswer) => void;
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #ended = false;
  #interim = 0;
  /** Once there is a status, it decides the outcome, whatever breaks after it. */
  #status: number | undefined;
  #retryAfter: string | undefined;
  #date: string | undefined;
  /** First bytes of the body. */
  #kept: Buffer | undefined;
  #size = 0;

  constructor(options: SenderOptions, done: (answer: DeliveryAnswer) => void) {
    this.#options = options;
    this.#done = done;
    this.#timer = setTimeout(giveUp, options.timeout, this);
  }

  #end(answer: DeliveryAnswer): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#done(answer);
  }

  /** What has arrived, if there is a status; otherwise what went wrong. */
  #endWith(failure: () => DeliveryAnswer): void {
    if (this.#status === undefined) return this.#end(failure());
    const error = isSuccess(this.#status) ? null : { stage: "status" as const, error: `The target answered ${this.#status}.` };
    this.#end({ status: this.#status, retryAfter: this.#retryAfter, date: this.#date, body: this.#kept?.toString("utf8") ?? "", failure: error });
  }

  #abort(): void {
    this.#controller?.abort(new Error("Enough."));
  }

  giveUp(): void {
    this.#endWith(() => failed("timeout", `The target did not answer within ${this.#options.timeout / 1000} s.`));
    this.#abort();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // It was given up while it still waited for a connection.
    if (this.#ended) this.#abort();
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) {
      if (++this.#interim <= mostInterim) return;
      this.#end(failed("response", "The target sends interim responses without an end."));
      this.#abort();
      return;
    }
    this.#status = status;
    this.#retryAfter = headerText(headers["retry-after"]);
    // A date in Retry-After goes by the target's clock; nothing else asks for it.
    this.#date = this.#retryAfter === undefined ? undefined : headerText(headers.date);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#status === undefined) return;
    this.#size += chunk.length;
    const room = keptBytes - (this.#kept?.length ?? 0);
    // A copy: the chunk is a view into a buffer that is reused.
    if (room > 0) this.#kept = Buffer.concat([this.#kept ?? Buffer.alloc(0), chunk.subarray(0, room)]);
    if (this.#size >= this.#options.responseLimit) this.giveUp();
  }

  onResponseEnd(): void {
    this.#endWith(() => failed("response", "The answer has no status."));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#endWith(() => failed(stageOf(error), reasonOf(error)));
  }
}

const giveUp = (exchange: Exchange): void => exchange.giveUp();

export const createHttpSender = (options: SenderOptions, { guard, resolve }: { guard: TargetGuard; resolve: Resolve }): Sender => {
  const { timeout } = options;
  // As many connections as there are requests: whoever sends them has places for each origin, and knows which of them hang.
  const agent = new Agent({
    connect: guardedConnector(guard, resolve, timeout),
    // Of the headers of one response, in all.
    maxHeaderSize: headerLimit,
    // Each exchange ends by its own timer.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    send: ({ target, headers, body }) => {
      const { origin, pathname, search } = new URL(target);
      // A bare request: redirects are not followed, but come back as answers.
      const request = { origin, path: pathname + search, method: "POST", headers, body } as const;
      return new Promise((done) => agent.dispatch(request, new Exchange(options, done)));
    },
    close: () => agent.destroy(),
  };
};
