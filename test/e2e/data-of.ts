import { expect } from "chai";
import type { Answer } from "./interface.js";
import { exactJson } from "./interface.js";

/** `data` of a reply that succeeded. */
export const dataOf = ({ status, body }: Answer): unknown => {
  expect(status, exactJson(body)).to.equal(200);
  return (body as { data: unknown }).data;
};
