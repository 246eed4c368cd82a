import type { IncomingMessage, ServerResponse } from "node:http";
import { withEventAmounts } from "../client/follow.js";
import type { AnyEventName, AnyEvents } from "../client/schemas.js";
import { baseOf } from "../client/transport.js";
import { parseJson } from "../client/values.js";
import { type Inbox, memoryInbox } from "./inbox.js";
import { isSignedBy, type Signed, verifierOfKey, verifierOfSecret } from "./signature.js";

interface EventOf<Name extends string, Data> {
  event: Name;
  /** When it happened, in milliseconds since 1970. */
  timestamp: number;
  /** Amounts are bigints. */
  data: Data;
  /** The event's id, which is the same in the stream and the feed. */
  id?: string;
  cursor?: string;
  block?: { height: number; id: string } | null;
}

/** An event of a webhook. `event` determines the type of `data`. */
export type ReceivedEvent<Name extends AnyEventName = AnyEventName> = { [Each in Name]: EventOf<Each, AnyEvents[Each]> }[Name];

type Reversal = Extract<AnyEventName, `${string}.reverted`>;

export interface Context<Tx> {
  /** The delivery's `webhook-id`. */
  id: string;
  /** The inbox's transaction: what is written in it is written once. */
  tx: Tx;
}

export interface ReversalContext<Tx> extends Context<Tx> {
  /** The `webhook-id` of the delivery that is undone; undefined if that was never attempted. */
  reverts: string | undefined;
}

export interface ReceiverOptions<Tx> {
  /** The webhooks' secrets (`whsec_…`) or tokens (64 hexadecimal digits). Several while one is replaced. @default [] */
  secrets?: readonly string[];
  /** For webhooks with `signature: "v1a"`: the node's keys (`whpk_…`), or the node's URL to get them from. @default [] */
  keys?: readonly string[] | string;
  /**
   * Remembers handled deliveries: `sqliteInbox(db)` (`node:sqlite`, `better-sqlite3`), `postgresInbox(pool)` (`pg`), or your own.
   * @default `memoryInbox()`
   */
  inbox?: Inbox<Tx>;
  /**
   * Handlers by event: `data` is typed by the event, its amounts are bigints (null where a booking has none). Other events are answered and
   * ignored.
   * @default {}
   */
  on?: { readonly [Name in Exclude<AnyEventName, Reversal>]?: (event: ReceivedEvent<Name>, context: Context<Tx>) => unknown };
  /**
   * Handles all `….reverted` events; `reverts` is the `webhook-id` of the delivery that is undone.
   * @default none: they are answered, and nothing is done
   */
  reverted?: (event: ReceivedEvent<Reversal>, context: ReversalContext<Tx>) => unknown;
  /** Handles all other events, such as a fork's own; not pings. @default none */
  other?: (event: EventOf<string, unknown>, context: Context<Tx>) => unknown;
  /** Seconds by which a request's time may differ from this machine's clock. @default 300 */
  tolerance?: number;
  /** Gets errors of handlers, the inbox and requests for keys, but not `Gone` and `Later`. @default `console.error` */
  onError?: (error: unknown, webhookId: string) => void;
}

export interface Receiver {
  /** For servers that hand on a `Request`: Hono, Deno, Bun, service workers. */
  fetch(request: Request): Promise<Response>;
  /** For `node:http`, Express, Koa (`ctx.req`, `ctx.res`) and Fastify (`request.raw`, `reply.raw`). Put it before any body parser. */
  listener(request: IncomingMessage, response: ServerResponse): void;
}

/** Throw it to have the webhook disabled: the reply to the node is 410. */
export class Gone extends Error {}

/** Throw it to get the delivery again later: the reply to the node is 503, and the node pauses the target for so many seconds. */
export class Later extends Error {
  readonly seconds: number;

  constructor(seconds: number) {
    super(`try again in ${seconds} s`);
    this.seconds = seconds;
  }
}

/** A request, whatever server has taken it. */
interface Delivery {
  method: string;
  headers: { get(name: string): string | null | undefined };
  body: Uint8Array;
}

interface Answer {
  status: number;
  text?: string;
  retryAfter?: number;
}

interface SentEvent extends EventOf<string, unknown> {
  reverts?: string;
  "webhook-id"?: string;
}

/** Bytes of a body, at the most: what is not signed yet must not fill the memory. */
const largestBody = 32 * 2 ** 20;

/** Milliseconds between two requests for the keys of a node. */
const keysAgainAfter = 60_000;

/** Those of secrets and of keys that were handed in, and those that the node is asked for. */
const createVerifiers = ({ secrets = [], keys = [] }: Pick<ReceiverOptions<never>, "secrets" | "keys">) => {
  if (secrets.length === 0 && keys.length === 0) throw new TypeError("createReceiver needs `secrets` or `keys`");
  const given = typeof keys === "string" ? [] : keys;
  const own = Promise.all([...secrets.map(verifierOfSecret), ...given.map(verifierOfKey)]);
  // Whoever verifies meets the error.
  own.catch(() => undefined);
  let asked: { at: number; verifiers: ReturnType<typeof verifierOfKey>[] } | undefined;

  const ask = async (node: string): Promise<void> => {
    const url = `${baseOf(node)}/webhooks/keys`;
    const reply = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    if (!reply.ok) throw new Error(`${url} answered ${reply.status}`);
    const { data } = (await reply.json()) as { data: { key: string }[] };
    asked = { at: Date.now(), verifiers: data.map(({ key }) => verifierOfKey(key)) };
  };

  return {
    own: () => own,
    /** Those of the node. `again`: asks it anew, where it was not asked a moment ago. */
    ofNode: async (again: boolean) => {
      if (typeof keys !== "string") return [];
      if (asked === undefined || (again && Date.now() - asked.at > keysAgainAfter)) await ask(keys);
      return Promise.all(asked?.verifiers ?? []);
    },
  };
};

const signedOf = ({ headers, body }: Delivery): Signed | undefined => {
  const [id, timestamp, signature] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => headers.get(name) ?? undefined);
  return id === undefined || timestamp === undefined || signature === undefined ? undefined : { id, timestamp, signature, body };
};

const answerTo = (error: unknown): Answer => {
  if (error instanceof Gone) return { status: 410, text: error.message };
  if (error instanceof Later) return { status: 503, retryAfter: error.seconds };
  return { status: 500, text: "The handler failed." };
};

/** One event, or those of a batch, each with its `webhook-id`. Undefined: they are none. */
const eventsOf = (body: unknown, id: string): (readonly [string, SentEvent])[] | undefined => {
  if (typeof body !== "object" || body === null) return undefined;
  const { events } = body as { events?: unknown };
  if (!Array.isArray(events)) return typeof (body as SentEvent).event === "string" ? [[id, body as SentEvent]] : undefined;
  return events.map(({ "webhook-id": own = id, ...event }: SentEvent) => [own, event] as const);
};

const parsed = (body: Uint8Array): unknown => {
  try {
    return parseJson(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
};

const refused = (text: string): Answer => ({ status: 401, text });

const tooLarge: Answer = { status: 413, text: "The body is too large." };

/** Undefined where there is more than `largestBody`. */
const readAll = async (chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Uint8Array | undefined> => {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of chunks) {
    length += part.length;
    if (length > largestBody) return undefined;
    parts.push(part);
  }
  const all = new Uint8Array(length);
  let end = 0;
  for (const part of parts) {
    all.set(part, end);
    end += part.length;
  }
  return all;
};

/** A server in front may have read the body; some keep its bytes as `rawBody`. */
const readRequest = (request: IncomingMessage & { rawBody?: unknown }): Promise<Uint8Array | undefined> => {
  if (request.rawBody instanceof Uint8Array) return readAll([request.rawBody]);
  if (request.readableEnded) return Promise.reject(new Error("The request's body has already been read; put the receiver's listener before any body parser"));
  return readAll(request);
};

const headersOf = ({ status, text, retryAfter }: Answer): Record<string, string> => ({
  ...(text === undefined ? {} : { "content-type": "text/plain; charset=utf-8" }),
  ...(status === 405 ? { allow: "POST" } : {}),
  ...(retryAfter === undefined ? {} : { "retry-after": String(Math.ceil(retryAfter)) }),
});

const responseOf = (answer: Answer): Response => new Response(answer.text ?? null, { status: answer.status, headers: headersOf(answer) });

const write = (response: ServerResponse, answer: Answer): void => {
  response.writeHead(answer.status, headersOf(answer)).end(answer.text);
};

export const createReceiver = <Tx = undefined>(options: ReceiverOptions<Tx>): Receiver => {
  const { on = {}, reverted, other, tolerance = 300, onError = (error, id) => console.error(`Webhook delivery ${id} failed:`, error) } = options;
  const inbox = options.inbox ?? (memoryInbox() as Inbox<Tx>);
  const verifiers = createVerifiers(options);

  const isSigned = async (signed: Signed): Promise<boolean> => {
    if (await isSignedBy(await verifiers.own(), signed)) return true;
    if (!signed.signature.includes("v1a,")) return false;
    return (await isSignedBy(await verifiers.ofNode(false), signed)) || isSignedBy(await verifiers.ofNode(true), signed);
  };

  type Handler = (event: EventOf<string, unknown>, context: ReversalContext<Tx>) => unknown;
  const handlerOf = (name: string): Handler | undefined => {
    if (name === "ping") return undefined;
    if (name.endsWith(".reverted")) return reverted as Handler | undefined;
    return Object.hasOwn(on, name) ? (on[name as keyof typeof on] as Handler | undefined) : other;
  };

  const handle = async (id: string, { reverts, ...event }: SentEvent): Promise<void> => {
    const handler = handlerOf(event.event);
    if (handler === undefined) return;
    await inbox.once(id, async (tx) => void (await handler(withEventAmounts(event), { id, tx, reverts })));
  };

  const answer = async (delivery: Delivery): Promise<Answer> => {
    if (delivery.method !== "POST") return { status: 405, text: "Webhooks are sent by POST." };
    const signed = signedOf(delivery);
    if (signed === undefined) return refused("The request is not signed.");
    const late = Math.abs(Date.now() / 1_000 - Number(signed.timestamp));
    if (!(late <= tolerance)) return refused("The request's timestamp is too far from this machine's time.");
    try {
      if (!(await isSigned(signed))) return refused("The signature is wrong.");
      const events = eventsOf(parsed(delivery.body), signed.id);
      if (events === undefined) return { status: 400, text: "The body is not an event." };
      for (const [id, event] of events) await handle(id, event);
      return { status: 204 };
    } catch (error) {
      if (!(error instanceof Gone || error instanceof Later)) onError(error, signed.id);
      return answerTo(error);
    }
  };

  return {
    fetch: async (request) => {
      const { method, headers } = request;
      const body = await readAll(request.body ?? []);
      return responseOf(body === undefined ? tooLarge : await answer({ method, headers, body }));
    },
    listener: (request, response) => {
      const { method = "", headers } = request;
      const get = (name: string): string | undefined => headers[name]?.toString();
      void readRequest(request)
        .then((body) => (body === undefined ? tooLarge : answer({ method, headers: { get }, body })))
        .then(
          (answered) => write(response, answered),
          // The client has hung up, or the body was read before.
          (error: unknown) => {
            onError(error, get("webhook-id") ?? "without webhook-id");
            write(response, { status: 500, text: "The body could not be read." });
          },
        );
    },
  };
};
