import { expect } from "chai";
import { atOnce } from "../../src/async/time-slicing.js";
import { comparisonOf, countBefore, sortSliced } from "../../src/store/records/sorting.js";

interface Row {
  name: string;
  amount: number | null;
}

describe("the order of a list", () => {
  const rows: Row[] = ["b2", "a1", "d-", "c2", "a-", "e1", "b-", "f3"].map((text) => ({ name: text, amount: text.endsWith("-") ? null : Number(text.at(-1)) }));

  for (const [direction, ties, expected] of [
    ["asc", "asc", "e1 a1 c2 b2 f3 a- b- d-"],
    ["asc", "desc", "a1 e1 b2 c2 f3 a- b- d-"],
    ["desc", "asc", "f3 b2 c2 a1 e1 a- b- d-"],
    ["desc", "desc", "f3 c2 b2 e1 a1 a- b- d-"],
  ] as const) {
    it(`is by value, ${direction}, then by key, ${ties} where values descend; rows without a value come last, by ascending key`, () => {
      const order = comparisonOf<Row>({ direction, ties, value: ({ amount }) => amount, key: ({ name }) => name });
      expect([...rows].sort(order).map(({ name }) => name).join(" ")).to.equal(expected);
      expect([...rows].reverse().sort(order).map(({ name }) => name).join(" ")).to.equal(expected);
      for (const row of rows) expect(order(row, row) === 0).to.equal(true);
    });
  }

  it("has so many rows before a place", () => {
    const sorted = [1, 1, 2, 5, 9];
    for (const [wanted, before] of [[0, 0], [1, 0], [2, 2], [3, 3], [9, 4], [10, 5]] as const) expect(countBefore(sorted, (row) => row < wanted)).to.equal(before);
  });
});

describe("sorting in steps", () => {
  it("gives the same result as sorting at once, and yields after each run of 4,096 rows, and while runs are merged", () => {
    const order = comparisonOf<number>({ direction: "desc", value: (row) => row % 100, key: (row) => row, ties: "asc" });
    for (const [length, expectedYields] of [[0, 0], [1, 1], [4_096, 1], [4_097, 3], [8_192, 4], [30_000, 29]] as const) {
      const rows = Array.from({ length }, (_, i) => (i * 7_919) % 30_011);
      let sorted: number[] = [];
      let yields = 0;
      for (const sorting = sortSliced(rows, order); ; yields++) {
        const { done, value } = sorting.next();
        if (done === true) {
          sorted = value;
          break;
        }
      }
      expect(sorted).to.deep.equal([...rows].sort(order));
      expect([length, yields]).to.deep.equal([length, expectedYields]);
    }
  });

  it("keeps the order of rows that are equal", () => {
    const rows = Array.from({ length: 9_000 }, (_, place) => ({ value: place % 3, place }));
    const order = (one: { value: number }, other: { value: number }): number => one.value - other.value;
    expect(atOnce(sortSliced(rows, order))).to.deep.equal([...rows].sort(order));
  });
});
