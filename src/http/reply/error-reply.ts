import { STATUS_CODES } from "node:http";
import { type ErrorCode, errorTable, PorticoError, type Validation } from "../../errors.js";
import { createReply, type Reply } from "./reply.js";
import type { HeaderPairs } from "./default-headers.js";
import type { Generation } from "../routing/version.js";

/** Body of an error reply. */
interface FailureBody {
  /** First generation only. */
  success?: false;
  statusCode: number;
  error: string;
  message: string;
  /** Second generation only. */
  code?: ErrorCode;
  validation?: Validation;
  /** What else the error tells: `PorticoError.members`. */
  [member: string]: unknown;
}

/** The reason phrase of a status, "Not Found" for 404. */
export const reasonOf = (status: number): string => STATUS_CODES[status] ?? "Error";

interface Failure {
  status: number;
  body: FailureBody | { success: false; error: string };
}

/** `Retry-After` while the state is not ready. */
const secondsUntilReady = 5;

const headersOf: Partial<Record<ErrorCode, HeaderPairs>> = {
  UNAUTHORIZED: ["WWW-Authenticate", 'Bearer realm="node"'],
  SEARCHES_FULL: ["Retry-After", "1"],
  BODIES_FULL: ["Retry-After", "1", "Connection", "close"],
  HOST_SILENT: ["Retry-After", "5"],
  BODY_TOO_SLOW: ["Connection", "close"],
  STREAMS_FULL: ["Retry-After", "10"],
  NOT_READY: ["Retry-After", String(secondsUntilReady)],
  STORE_UNWRITABLE: ["Retry-After", String(secondsUntilReady)],
  // the rest of the body is not worth reading
  BODY_TOO_LARGE: ["Connection", "close"],
};

/** Client errors that keep their status in the first generation; all others are sent as HTTP 200 there. */
const firstGenerationStatuses = new Set([405, 429]);

/** The generation of a failed request, as far as it was known. */
interface Failing {
  /** Undefined if the version was not known yet. */
  generation: Generation | undefined;
  /** The generation whose error format the route uses; undefined if no route was found. */
  failsAs: Generation | undefined;
}

/** Status and body for an error. Routes of the first generation report client errors as HTTP 200 with `success: false`. */
export const failureOf = (error: PorticoError, { generation, failsAs }: Failing): Failure => {
  const { status } = error;
  const message = error.exposed ? error.message : errorTable.INTERNAL.message;
  if (failsAs === 1 && status < 500 && !firstGenerationStatuses.has(status)) {
    return { status: 200, body: { success: false, error: message } };
  }
  const isFirst = (failsAs ?? generation) === 1;
  const body: FailureBody = {
    ...(isFirst ? { success: false } : {}),
    statusCode: status,
    error: reasonOf(status),
    message,
    ...(isFirst ? {} : { code: error.exposed ? error.code : "INTERNAL" }),
    ...error.members,
  };
  return { status, body: error.validation === undefined ? body : { ...body, validation: error.validation } };
};

/** The reply for an error. `height` is that of the state used, if there was one. */
export const failureReply = (error: PorticoError, { height, ...failing }: Failing & { height: number | undefined }): Reply => {
  const { status, body } = failureOf(error, failing);
  const json = JSON.stringify(body);
  const reply = createReply({ status, json, height, validated: false, cacheControl: "no-cache", lasting: false }, Infinity);
  const headers = headersOf[error.code];
  const { bytes, headers: usual } = reply.plain;
  return headers === undefined ? reply : { ...reply, plain: { bytes, headers: [...usual, ...headers] } };
};

/** Turns any thrown value into an error of the table. */
export const porticoErrorOf = (error: unknown): PorticoError =>
  error instanceof PorticoError ? error : new PorticoError("INTERNAL", undefined, { cause: error });
