import { expect } from "chai";
import { pageOf, within } from "../../../src/api/resources/lists.js";

interface Filter {
  vote?: string;
  username?: string;
}

describe("a filter within the limits of a path", () => {
  it("combines both", () => {
    expect(within<Filter>({ username: "a" }, { vote: "b" })).to.deep.equal({ username: "a", vote: "b" });
  });
  it("is unchanged when it repeats what the path fixes", () => {
    expect(within<Filter>({ vote: "b" }, { vote: "b" })).to.deep.equal({ vote: "b" });
  });
  it("matches nothing when it contradicts the path", () => {
    expect(within<Filter>({ vote: "a" }, { vote: "b" })).to.equal(undefined);
  });
});

describe("a page", () => {
  const request = { orderBy: { field: "height" as const, direction: "desc" as const }, page: { offset: 4, limit: 2 } };

  it("requests its rows and presents them", async () => {
    const asked: unknown[] = [];
    const answer = await pageOf(
      { ...request, filter: { version: 0 } },
      (query) => {
        asked.push(query);
        return { rows: [1, 2], total: 9 };
      },
      (row: number) => `row ${row}`,
    );
    expect(asked).to.deep.equal([{ filter: { version: 0 }, order: request.orderBy, offset: 4, limit: 2 }]);
    expect(answer).to.deep.equal({ rows: ["row 1", "row 2"], total: 9 });
  });

  it("requests nothing when no row can match", async () => {
    const ask = (): never => {
      throw new Error("asked");
    };
    expect(await pageOf({ ...request, filter: undefined }, ask, (row: number) => row)).to.deep.equal({ rows: [], total: 0 });
  });
});
