import type { DeliveryAnswer, OutgoingDelivery } from "../../types/webhooks.js";

/** What a node and its workers tell each other. Either may be of another version: whatever is not understood is as if it had not come. */

/** What holds for all requests of a bundle. */
export interface BundleTerms {
  /** Subject for what comes of them. */
  results: string;
  /** Milliseconds since 1970 from which on they are not to be begun any more. */
  deadline: number;
  /** Milliseconds for each request. */
  timeout: number;
  /** Bytes of each answer that are read. */
  responseLimit: number;
}

/** A message of the queue: requests for one worker to send. A message for each would cost the node more than sending it itself. */
export interface Bundle extends BundleTerms {
  /** Among those of its `results`. */
  id: string;
  requests: readonly OutgoingDelivery[];
}

/** Requests in one bundle, at the most. */
export const mostRequests = 16;

/** That a worker has begun a bundle or, with `at`, what came of one of its requests. */
export interface Result {
  bundle: string;
  /** The request's place in the bundle. */
  at?: number;
  answer?: DeliveryAnswer;
}

/** What workers say every `heartbeat` milliseconds. */
export interface WorkerSign {
  worker: string;
  leaves: boolean;
}

export const heartbeat = 500;
/** Milliseconds without a sign after which a worker is taken to be gone. */
export const goneAfter = 2_000;

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === "string";
const isNumber = (value: unknown): value is number => typeof value === "number";
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

const objectIn = (text: string): Record<string, unknown> | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

/** A request without its body, which is this many characters long. */
type Head = Omit<OutgoingDelivery, "body"> & { length: number };

/** A line of JSON, then the bodies, one after the other: they are JSON themselves, and to write them as texts within another takes longer than all else. */
export const bundleText = ({ requests, ...about }: Bundle): string => {
  const heads: Head[] = requests.map(({ target, headers, body }) => ({ target, headers, length: body.length }));
  return `${JSON.stringify({ ...about, requests: heads })}\n${requests.map(({ body }) => body).join("")}`;
};

const isHead = (value: unknown): value is Head => isObject(value) && isText(value["target"]) && isCount(value["length"]) && isObject(value["headers"]) && Object.values(value["headers"]).every(isText);

/** Undefined where anything in it is not as it is to be. */
export const bundleIn = (text: string): Bundle | undefined => {
  const end = text.indexOf("\n");
  const { id, results, deadline, timeout, responseLimit, requests: heads } = objectIn(text.slice(0, Math.max(0, end))) ?? {};
  if (!isText(id) || !isText(results) || results === "" || !isNumber(deadline) || !isNumber(timeout) || !isNumber(responseLimit)) return undefined;
  if (!Array.isArray(heads) || !heads.every(isHead)) return undefined;
  let at = end + 1;
  const requests = heads.map(({ target, headers, length }) => ({ target, headers, body: text.slice(at, (at += length)) }));
  return at === text.length ? { id, results, deadline, timeout, responseLimit, requests } : undefined;
};

/** Nearly all answers are a status and nothing else: that is all that is said of them. */
export const resultText = ({ bundle, at, answer }: Result): string => {
  if (answer === undefined) return JSON.stringify({ bundle });
  const { status, retryAfter, date, body, failure } = answer;
  return JSON.stringify({ bundle, at, answer: { status, retryAfter, date, ...(body !== "" && { body }), ...(failure !== null && { failure }) } });
};

/** A message of results. */
export const resultsText = (texts: readonly string[]): string => `{"results":[${texts.join(",")}]}`;

const isFailure = (value: unknown): value is DeliveryAnswer["failure"] => value === null || (isObject(value) && isText(value["stage"]) && isText(value["error"]));
const isOptionalText = (value: unknown): value is string | undefined => value === undefined || isText(value);

const answerIn = (value: unknown): DeliveryAnswer | undefined => {
  if (!isObject(value)) return undefined;
  const { status, retryAfter, date, body = "", failure = null } = value;
  if ((status !== null && !isNumber(status)) || !isOptionalText(retryAfter) || !isOptionalText(date) || !isText(body) || !isFailure(failure)) return undefined;
  return { status, retryAfter, date, body, failure };
};

const resultIn = (value: unknown): Result | undefined => {
  if (!isObject(value) || !isText(value["bundle"])) return undefined;
  const { bundle, at } = value;
  if (at === undefined) return { bundle };
  const answer = answerIn(value["answer"]);
  return isCount(at) && answer !== undefined ? { bundle, at, answer } : undefined;
};

/** What is understood of a message of results. */
export const resultsIn = (text: string): Result[] => {
  const { results } = objectIn(text) ?? {};
  return Array.isArray(results) ? results.map(resultIn).filter((result) => result !== undefined) : [];
};

export const signIn = (text: string): WorkerSign | undefined => {
  const { worker, leaves } = objectIn(text) ?? {};
  return isText(worker) && typeof leaves === "boolean" ? { worker, leaves } : undefined;
};
