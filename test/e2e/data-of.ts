import { expect } from "chai";
import type { Answer } from "./interface.js";
import { exactJson } from "./interface.js";

/** The `data` of a successful reply. */
export const dataOf = ({ status, body }: Answer): unknown => {
  expect(status, exactJson(body)).to.equal(200);
  return (body as { data: unknown }).data;
};
