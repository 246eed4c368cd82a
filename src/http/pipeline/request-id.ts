import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** What is safe to put into a header and a log line unchanged. */
const sane = /^[\w.:+/=-]{1,128}$/;

/** Gives a request its id: the one in its `X-Request-Id` if that is safe, otherwise the next one of this process. */
export type RequestId = (headers: IncomingHttpHeaders) => string;

export const createRequestIds = (): RequestId => {
  const process = randomBytes(6).toString("hex");
  let count = 0;
  return (headers) => {
    const given = headers["x-request-id"];
    if (typeof given === "string" && sane.test(given)) {
      return given;
    }
    count += 1;
    return `${process}-${count.toString(36)}`;
  };
};
