import { withoutTrailing } from "../text/digits.js";
import { Agent, type Dispatcher } from "undici";
import type { Logger } from "../../types/node-context.js";
import { linesIn } from "../async/lines.js";
import { messageOf } from "../errors.js";

/** What a path may have between a node's interface and a route: the version, and the form of amounts. */
const belowInterface = new Set(["v1", "v2", "strings", "numbers"]);

const pathOf = (names: readonly string[]): string => names.map((name) => `/${name}`).join("");

/**
 * The URL of the interface that was meant, where one names a single request or a part of the interface; undefined where nothing has to be
 * left out.
 */
export const interfaceMeant = (given: string): string | undefined => {
  const { origin, pathname, search, hash } = new URL(given);
  const names = pathname.split("/").filter((name) => name !== "");
  const last = names.findLastIndex((name) => !belowInterface.has(name.toLowerCase()));
  if (last === names.length - 1 && search === "" && hash === "") return undefined;
  return `${origin}${pathOf(names.slice(0, last + 1))}`;
};

/** The origin of a node has its interface at `/api`; any other path is that of the interface itself. */
const interfaceUrl = (given: string): string => {
  const url = new URL(given);
  const path = withoutTrailing(url.pathname, "/");
  return `${url.origin}${path === "" ? "/api" : path}`;
};

export const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** An answer of the node other than 2xx. */
export class NodeRefusal extends Error {
  readonly status: number;
  /** What the node says, in its own words; undefined if it says nothing. */
  readonly said: string | undefined;

  constructor(status: number, body: unknown, url: string) {
    const said = isObject(body) && "message" in body ? String(body["message"]) : undefined;
    super(`${url} was answered with ${status}${said === undefined ? "" : `: ${said}`}`);
    this.name = "NodeRefusal";
    this.status = status;
    this.said = said;
  }
}

interface FailureLogNeeds {
  logger: Logger;
  /** The line of the log. */
  say(message: string): string;
  /** Whether it is a warning. Default: where the node refuses something, which is said nowhere else; that it is away is. */
  isWarning?(error: unknown): boolean;
}

/** Logs failures, each once until it is another. */
export const createFailureLog = ({ logger, say, isWarning = (error) => error instanceof NodeRefusal }: FailureLogNeeds) => {
  let last: string | undefined;
  return {
    note: (error: unknown): void => {
      const message = messageOf(error);
      if (message !== last) logger[isWarning(error) ? "warn" : "debug"](say(message));
      last = message;
    },
    over: (): void => {
      last = undefined;
    },
  };
};

interface Asking {
  /** Aborting gives up. */
  signal?: AbortSignal | undefined;
  /** Milliseconds for the whole answer. */
  timeout?: number;
  /** Sent as JSON, by POST. */
  body?: unknown;
}

/** A Portico node, asked over HTTP. What cannot be asked rejects with an error that names the URL. */
export interface NodeClient {
  /** Its interface, without a slash at the end. */
  readonly url: string;
  /** @throws NodeRefusal for any status but 2xx */
  json(path: string, asking?: Asking): Promise<unknown>;
  /** The body of a health report, whatever its status. */
  report(path: string, asking?: Asking): Promise<unknown>;
  /** The lines of a reply, as they arrive. One without an end has to be given up by `signal`. @throws NodeRefusal */
  lines(path: string, asking: Pick<Asking, "signal">): AsyncGenerator<string>;
  /** Ends every connection; the next question opens others. */
  close(): Promise<void>;
}

const usualTimeout = 10_000;

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text.slice(0, 200);
  }
};

export const createNodeClient = (given: string): NodeClient => {
  const url = interfaceUrl(given);
  const { origin, pathname } = new URL(url);
  let agent: Agent | undefined;
  const connections = (): Agent => (agent ??= new Agent({ connect: { timeout: 5_000 }, headersTimeout: 0, bodyTimeout: 0 }));

  const ask = async (path: string, { signal, timeout, body }: Asking): Promise<Dispatcher.ResponseData> => {
    const signals = [...(signal === undefined ? [] : [signal]), ...(timeout === undefined ? [] : [AbortSignal.timeout(timeout)])];
    try {
      return await connections().request({
        origin,
        path: `${pathname}${path}`,
        method: body === undefined ? "GET" : "POST",
        headers: { accept: "application/json", ...(body === undefined ? {} : { "content-type": "application/json" }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.any(signals),
      });
    } catch (error) {
      throw new Error(`${url}${path} cannot be read: ${messageOf(error)}`, { cause: error });
    }
  };

  const isGood = (status: number): boolean => status >= 200 && status < 300;

  const answer = async (path: string, asking: Asking): Promise<{ status: number; body: unknown }> => {
    const { statusCode, body } = await ask(path, { timeout: usualTimeout, ...asking });
    return { status: statusCode, body: parsed(await body.text()) };
  };

  async function* lines(path: string, { signal }: Pick<Asking, "signal">): AsyncGenerator<string> {
    const { statusCode, body } = await ask(path, { signal });
    if (!isGood(statusCode)) throw new NodeRefusal(statusCode, parsed(await body.text()), `${url}${path}`);
    // What is left at the end was cut off.
    // A node with nothing to tell sends an empty line now and then.
    for await (const line of linesIn(body)) if (line !== "") yield line;
  }

  return {
    url,
    json: async (path, asking = {}) => {
      const { status, body } = await answer(path, asking);
      if (!isGood(status)) throw new NodeRefusal(status, body, `${url}${path}`);
      return body;
    },
    report: async (path, asking = {}) => (await answer(path, asking)).body,
    lines,
    close: async () => {
      const closing = agent;
      agent = undefined;
      await closing?.destroy();
    },
  };
};
