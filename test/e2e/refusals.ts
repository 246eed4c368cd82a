import { expect } from "chai";
import { bare } from "../http/bare.js";
import type { Answer } from "./interface.js";

/** The whole body of a 400, in its predecessor's form. */
export const expectRefused = ({ status, body }: Answer, source: "query" | "payload", key: string, rule: string): void => {
  expect(bare(body)).to.deep.equal({
    statusCode: 400,
    error: "Bad Request",
    message: `"${key}" ${rule}`,
    code: "BAD_REQUEST",
    validation: { source, keys: [key] },
  });
  expect(status).to.equal(400);
};

export const expectNotFound = ({ status, body }: Answer, message: string): void => {
  expect(body).to.deep.equal({ statusCode: 404, error: "Not Found", message, code: message.toUpperCase().replaceAll(" ", "_") });
  expect(status).to.equal(404);
};
