import { existsSync } from "node:fs";
import { expect } from "chai";
import { expanded, rooms } from "./rooms.mjs";

describe("rooms for mutation testing", () => {
  it("name files that are there: Stryker would leave others out without a word", () => {
    const paths = Object.values(rooms).flatMap(({ mutate, tests }) => [...mutate, ...tests].flatMap(expanded));
    expect(paths.filter((path) => !existsSync(new URL(`../../${path}`, import.meta.url)))).to.deep.equal([]);
    expect(paths).to.have.length.above(20);
  });
});
