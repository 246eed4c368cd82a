import type { DeliveryAnswer, OutgoingDelivery } from "../../types/webhooks.js";

/** What a node and its workers tell each other. Either may be of another version: whatever is not understood is as if it had not come. */

/** A request for a worker to send. */
export interface DeliveryJob extends OutgoingDelivery {
  id: string;
}

/** A message of the queue: a message for each job would cost the node more than sending the request itself. */
export interface DeliveryJobs {
  jobs: DeliveryJob[];
  /** Subject for what comes of them. */
  results: string;
  /** Milliseconds since 1970 from which on they are not to be begun any more. */
  deadline: number;
  /** Milliseconds for each request. */
  timeout: number;
  /** Bytes of each answer that are read. */
  responseLimit: number;
}

/** Jobs in one message, at the most: those of a message go to one worker. */
export const mostJobs = 16;

/** What a worker tells: jobs that it has begun, and what came of others. */
export interface DeliveryResults {
  begun?: string[];
  answers?: { id: string; answer: DeliveryAnswer }[];
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

const isJob = (value: unknown): value is DeliveryJob => isObject(value) && isText(value["id"]) && isText(value["target"]) && isText(value["body"]) && isObject(value["headers"]) && Object.values(value["headers"]).every(isText);

const isFailure = (value: unknown): boolean => isObject(value) && isText(value["stage"]) && isText(value["error"]);
const isOptionalText = (value: unknown): boolean => value === undefined || isText(value);

const isAnswer = (value: unknown): boolean =>
  isObject(value) &&
  (value["status"] === null || isNumber(value["status"])) &&
  isOptionalText(value["retryAfter"]) &&
  isOptionalText(value["date"]) &&
  isText(value["body"]) &&
  (value["failure"] === null || isFailure(value["failure"]));

const listIn = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);

const objectIn = (text: string): Record<string, unknown> | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

export const jobsIn = (text: string): DeliveryJobs | undefined => {
  const value = objectIn(text);
  if (value === undefined || !Array.isArray(value["jobs"]) || !value["jobs"].every(isJob)) return undefined;
  const { results, deadline, timeout, responseLimit } = value;
  return isText(results) && results !== "" && [deadline, timeout, responseLimit].every(isNumber) ? (value as unknown as DeliveryJobs) : undefined;
};

export const resultsIn = (text: string): Required<DeliveryResults> => {
  const { begun, answers } = objectIn(text) ?? {};
  const isAnswered = (value: unknown): boolean => isObject(value) && isText(value["id"]) && isAnswer(value["answer"]);
  return { begun: listIn(begun).filter(isText), answers: listIn(answers).filter(isAnswered) as Required<DeliveryResults>["answers"] };
};

export const signIn = (text: string): WorkerSign | undefined => {
  const { worker, leaves } = objectIn(text) ?? {};
  return isText(worker) && typeof leaves === "boolean" ? { worker, leaves } : undefined;
};
