import { expect } from "chai";
import { PorticoError } from "../../src/errors.js";

/** The reason for which a block is refused. */
export const refusalOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    expect(error).to.be.instanceOf(PorticoError).with.property("code", "BLOCK_INVALID");
    return (error as Error).message;
  }
  throw new Error("was taken");
};
