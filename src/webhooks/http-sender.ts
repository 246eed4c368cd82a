import { isIPv6, type LookupFunction } from "node:net";
import { Agent, buildConnector } from "undici";
import type { AttemptStage } from "../../types/webhooks.js";
import type { Resolve } from "./resolve.js";
import { literalAddresses, type TargetGuard } from "./target-guard.js";

export interface SenderOptions {
  /** Milliseconds, from the name's resolution to the end of the answer. */
  timeout: number;
  /** Bytes of an answer that are read. */
  responseLimit: number;
  /** Connections at once to one host and port. */
  concurrencyPerTarget: number;
}

export interface Outgoing {
  target: string;
  headers: Record<string, string>;
  body: string;
}

/** How a request ended. Nothing is thrown: what goes wrong is an answer too. */
export interface Answer {
  status: number | null;
  retryAfter: string | undefined;
  /** First bytes of the body, as text. */
  body: string;
  /** Null when the answer is 2xx. */
  failure: { stage: AttemptStage; error: string } | null;
}

export interface Sender {
  send(outgoing: Outgoing, signal: AbortSignal): Promise<Answer>;
  /** Ends every connection. */
  close(): Promise<void>;
}

/** Bytes of a body that are kept with the attempt. */
const keptBytes = 1_024;

/** A failure that knows its stage. */
class StageError extends Error {
  constructor(
    readonly stage: AttemptStage,
    message: string,
  ) {
    super(message);
  }
}

const refused = (hostname: string): StageError => new StageError("address", `${hostname} is a special address`);

/** Resolves a name and keeps what may be connected to: whatever a name pointed to before, it is judged by where it points now. */
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
      callback(new StageError("dns", `${hostname} is not found: ${messageOf(error)}`), "", 0),
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

const messageOf = (error: unknown): string => {
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
};

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

/** Reads the beginning of a body. What breaks after the status line changes nothing: the status has said what became of it. */
const readBeginning = async (body: AsyncIterable<Buffer>, limit: number): Promise<string> => {
  const kept: Buffer[] = [];
  let [size, keptSize] = [0, 0];
  try {
    for await (const chunk of body) {
      size += chunk.length;
      if (keptSize < keptBytes) {
        kept.push(chunk.subarray(0, keptBytes - keptSize));
        keptSize += chunk.length;
      }
      if (size >= limit) break;
    }
  } catch {
    // Cut off, or out of time.
  }
  return Buffer.concat(kept).toString("utf8");
};

const headerText = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value);

export const createHttpSender = (
  { timeout, responseLimit, concurrencyPerTarget }: SenderOptions,
  { guard, resolve }: { guard: TargetGuard; resolve: Resolve },
): Sender => {
  const agent = new Agent({
    connect: guardedConnector(guard, resolve, timeout),
    connections: concurrencyPerTarget,
    headersTimeout: timeout,
    bodyTimeout: timeout,
  });

  const exchange = async ({ target, headers, body }: Outgoing, signal: AbortSignal): Promise<Answer> => {
    const url = new URL(target);
    // A bare request: redirects come back as the answers they are.
    const answer = await agent.request({ origin: url.origin, path: url.pathname + url.search, method: "POST", headers, body, signal });
    const status = answer.statusCode;
    const failure = isSuccess(status) ? null : { stage: "status" as const, error: `The target answered ${status}.` };
    return { status, retryAfter: headerText(answer.headers["retry-after"]), body: await readBeginning(answer.body, responseLimit), failure };
  };

  return {
    send: async (outgoing, signal) => {
      const limit = new AbortController();
      const stop = (): void => limit.abort();
      const timer = setTimeout(stop, timeout);
      signal.addEventListener("abort", stop, { once: true });
      try {
        return await exchange(outgoing, limit.signal);
      } catch (error) {
        const failure = limit.signal.aborted
          ? { stage: "timeout" as const, error: `The target did not answer within ${timeout / 1000} s.` }
          : { stage: stageOf(error), error: messageOf(error) };
        return { status: null, retryAfter: undefined, body: "", failure };
      } finally {
        clearTimeout(timer);
        signal.removeEventListener("abort", stop);
      }
    },
    close: () => agent.destroy(),
  };
};
