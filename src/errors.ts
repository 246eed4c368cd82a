/**
 * Every error that a host or a client is meant to tell apart: code -> HTTP status and default message. `exposed` messages reach clients
 * unchanged; for the others a client gets the message of INTERNAL.
 */
export const errorTable = {
  BAD_REQUEST: { status: 400, exposed: true, message: "Bad Request" },
  UNSUPPORTED_VERSION: { status: 400, exposed: true, message: "The specified API version is not supported." },
  MALFORMED_JSON: { status: 400, exposed: true, message: "The request body is not valid JSON." },
  SEARCH_TOO_WIDE: { status: 400, exposed: true, message: "The search would scan too many rows. Narrow it." },
  NOT_AT_HEIGHT: { status: 400, exposed: true, message: "This data is not kept for earlier heights." },
  UNAUTHORIZED: { status: 401, exposed: true, message: "Missing or invalid webhook token. Send it in the Authorization header." },
  NOT_FOUND: { status: 404, exposed: true, message: "Not Found" },
  BLOCK_NOT_FOUND: { status: 404, exposed: true, message: "Block not found" },
  DELEGATE_NOT_FOUND: { status: 404, exposed: true, message: "Delegate not found" },
  DELIVERY_NOT_FOUND: { status: 404, exposed: true, message: "Delivery not found" },
  LOCK_NOT_FOUND: { status: 404, exposed: true, message: "Lock not found" },
  PEER_NOT_FOUND: { status: 404, exposed: true, message: "Peer not found" },
  ROUND_NOT_FOUND: { status: 404, exposed: true, message: "Round not found" },
  TRANSACTION_NOT_FOUND: { status: 404, exposed: true, message: "Transaction not found" },
  VOTE_NOT_FOUND: { status: 404, exposed: true, message: "Vote not found" },
  WALLET_NOT_FOUND: { status: 404, exposed: true, message: "Wallet not found" },
  WEBHOOK_NOT_FOUND: { status: 404, exposed: true, message: "Webhook not found" },
  BODY_TOO_SLOW: { status: 408, exposed: true, message: "The request body arrives too slowly." },
  METHOD_NOT_ALLOWED: { status: 405, exposed: true, message: "Method Not Allowed" },
  REQUEST_TIMEOUT: { status: 408, exposed: true, message: "Request Timeout" },
  WEBHOOKS_FULL: { status: 409, exposed: true, message: "This node allows no more webhooks. Remove one first." },
  IDEMPOTENCY_CONFLICT: { status: 409, exposed: true, message: "The Idempotency-Key was used for another request." },
  CURSOR_UNKNOWN: { status: 410, exposed: true, message: "This node does not know the cursor's block, or no longer keeps it. Start again from \"oldest\" or \"tip\"." },
  HISTORY_MISSING: { status: 410, exposed: true, message: "The state at that height is not kept." },
  BODY_TOO_LARGE: { status: 413, exposed: true, message: "The request body is too large." },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, exposed: true, message: "The request must carry Content-Type: application/json." },
  RANGE_NOT_SATISFIABLE: { status: 416, exposed: true, message: "The range lies beyond the end." },
  EXPECTATION_FAILED: { status: 417, exposed: true, message: "Expectation Failed" },
  UNPROCESSABLE: { status: 422, exposed: true, message: "Unprocessable Entity" },
  RATE_LIMITED: { status: 429, exposed: true, message: "Rate limit exceeded" },
  HEADERS_TOO_LARGE: { status: 431, exposed: true, message: "Request Header Fields Too Large" },
  INTERNAL: { status: 500, exposed: false, message: "An internal server error occurred" },
  RECORD_DAMAGED: { status: 500, exposed: true, message: "The store is damaged: a record cannot be read." },
  NOT_SUPPORTED: { status: 501, exposed: true, message: "This node does not support that." },
  BODIES_FULL: { status: 503, exposed: true, message: "Too many request bodies are being read." },
  HOST_SILENT: { status: 503, exposed: true, message: "The node did not answer in time." },
  SEARCHES_FULL: { status: 503, exposed: true, message: "Too many large searches are running." },
  STREAMS_FULL: { status: 503, exposed: true, message: "This node allows no more open streams." },
  NOT_READY: { status: 503, exposed: true, message: "The node's state is not ready yet." },
  STORE_UNWRITABLE: { status: 503, exposed: true, message: "The store cannot be written." },

  OPTION_INVALID: { status: 500, exposed: false, message: "An option is not valid." },
  BLOCK_INVALID: { status: 500, exposed: false, message: "A block is not well formed." },
  BLOCK_DOES_NOT_CHAIN: { status: 500, exposed: false, message: "A block does not follow the tip." },
  LAKE_DAMAGED: { status: 500, exposed: false, message: "A file of the lake is damaged." },
  LAKE_FOREIGN: { status: 500, exposed: false, message: "The lake belongs to another network or node." },
  STORE_DAMAGED: { status: 500, exposed: false, message: "The store cannot be read." },
  STORE_IN_USE: { status: 500, exposed: false, message: "The store is being written by another process." },
  STORE_FOREIGN: { status: 500, exposed: false, message: "The store belongs to another network or version." },
  STORE_UNDO_EXHAUSTED: { status: 500, exposed: false, message: "The chain forked below the oldest block that can be reverted." },
} as const satisfies Record<string, { status: number; exposed: boolean; message: string }>;

export type ErrorCode = keyof typeof errorTable;

/** Which input was wrong, for `validation` in a 400. */
export interface Validation {
  source: "query" | "params" | "payload" | "headers";
  keys: string[];
}

export class PorticoError extends Error {
  readonly code: ErrorCode;
  readonly validation: Validation | undefined;
  /** What the reply's body has besides the members that every error has. */
  readonly members: Readonly<Record<string, unknown>> | undefined;

  constructor(code: ErrorCode, message?: string, options: { validation?: Validation; members?: Readonly<Record<string, unknown>>; cause?: unknown } = {}) {
    super(message ?? errorTable[code].message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = "PorticoError";
    this.code = code;
    this.validation = options.validation;
    this.members = options.members;
  }

  get status(): number {
    return errorTable[this.code].status;
  }

  get exposed(): boolean {
    return errorTable[this.code].exposed;
  }
}

/** The node stops, and its host does not answer: the log is told of that once, by whoever gives it up. */
export class HostGivenUp extends PorticoError {
  constructor() {
    super("NOT_READY", "The node is stopping.");
  }
}

/** The message of a thrown value, whatever its type. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A value as a message shows it: text in quotes, so that "5" is not taken for 5. */
export const shown = (value: unknown): string => (typeof value === "string" ? JSON.stringify(value) : String(value));

/** A 400 that names the field and the rule it breaks. */
export const inputError = (source: Validation["source"], key: string, rule: string): PorticoError =>
  new PorticoError("BAD_REQUEST", `"${key}" ${rule}`, { validation: { source, keys: [key] } });
