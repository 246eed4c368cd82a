import { expect } from "chai";
import { pageOf, within } from "../../../src/api/questions/page.js";

interface Filter {
  vote?: string;
  username?: string;
}

describe("a filter within what the path fixes", () => {
  it("is both", () => {
    expect(within<Filter>({ username: "a" }, { vote: "b" })).to.deep.equal({ username: "a", vote: "b" });
  });
  it("is the same when it asks for what is fixed", () => {
    expect(within<Filter>({ vote: "b" }, { vote: "b" })).to.deep.equal({ vote: "b" });
  });
  it("lets nothing pass when it asks for something else", () => {
    expect(within<Filter>({ vote: "a" }, { vote: "b" })).to.equal(undefined);
  });
});

describe("a page", () => {
  const request = { orderBy: { field: "height" as const, direction: "desc" as const }, page: { offset: 4, limit: 2 } };

  it("asks for its rows and presents them", async () => {
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

  it("asks nothing when nothing can pass", async () => {
    const ask = (): never => {
      throw new Error("asked");
    };
    expect(await pageOf({ ...request, filter: undefined }, ask, (row: number) => row)).to.deep.equal({ rows: [], total: 0 });
  });
});
