import { expect } from "chai";
import { createReplyCheck } from "./reply-check.js";

const json = (schema: object): object => ({ content: { "application/json": { schema } } });

const check = createReplyCheck({
  openapi: "3.1.0",
  paths: {
    "/things/{id}": {
      get: {
        responses: {
          200: json({ type: "object", required: ["data"], properties: { data: { $ref: "#/components/schemas/Thing" } } }),
          404: { $ref: "#/components/responses/404" },
        },
      },
    },
    "/things/top": { get: { responses: { 200: json({ type: "array" }) } } },
  },
  components: {
    schemas: { Thing: { type: "object", required: ["size"], properties: { size: { type: "integer" } } } },
    responses: { 404: json({ type: "object", required: ["message"] }) },
  },
});

describe("the check of replies against the OpenAPI document", () => {
  const reply = (path: string, status: number, body: unknown, method = "GET") => () => check({ method, path, status, body });

  it("accepts what is documented", () => {
    expect(reply("/api/things/5?a=b", 200, { data: { size: 1 } })).to.not.throw();
    expect(reply("/api/v2/things/5", 404, { message: "Thing not found" })).to.not.throw();
    expect(reply("/api/things/top", 200, [])).to.not.throw();
  });

  it("refuses a body that does not match its schema, including through references", () => {
    expect(reply("/api/things/5", 200, { data: { size: "1" } })).to.throw("must be integer");
    expect(reply("/api/things/5", 200, { data: {} })).to.throw("size");
    expect(reply("/api/things/5", 404, {})).to.throw("message");
    expect(reply("/api/things/top", 200, { data: {} })).to.throw("must be array");
  });

  it("refuses a path, a method and a status that are not documented", () => {
    expect(reply("/api/others", 200, {})).to.throw("no path for /others");
    expect(reply("/api/things/5", 200, {}, "POST")).to.throw("knows no 200 of post");
    expect(reply("/api/things/5", 422, {})).to.throw("knows no 422 of get");
  });
});
