import { expect } from "chai";
import { v1Routes } from "../../src/api/v1/index.js";
import { v2Routes } from "../../src/api/index.js";
import { PorticoError } from "../../src/errors.js";
import { createInputReaders } from "../../src/http/input/input-reader.js";
import { querySchema } from "../../src/http/route-properties.js";

describe("the schemas of routes", () => {
  const readers = createInputReaders({ epoch: "2017-03-21T13:00:00.000Z" });

  /** A reader is compiled by its first input, whether it takes that or refuses it. */
  const compile = (schema: unknown): void => {
    try {
      readers(schema, "query")({});
    } catch (error) {
      if (!(error instanceof PorticoError) || error.code !== "BAD_REQUEST") throw error;
    }
  };

  for (const route of [...v2Routes, ...v1Routes]) {
    it(`compile for ${route.method} ${route.path}, generation ${route.versions.join(" and ")}`, () => {
      for (const schema of [querySchema(route), route.params, route.body]) if (schema !== undefined) expect(() => compile(schema)).not.to.throw();
    });
  }
});
