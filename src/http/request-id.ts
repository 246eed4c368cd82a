import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** What may go into a header and a log line as it is. */
const sane = /^[\w.:+/=-]{1,128}$/;

/** Gives each request its id: the one it brings in `X-Request-Id`, where that is sane, else the next of this process. */
export const createRequestIds = (): ((headers: IncomingHttpHeaders) => string) => {
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
