import { expect } from "chai";
import { answerList, sortRows } from "../../src/store/question.js";
import { mapSequence, numberSequence, reverseSequence } from "../../src/store/sequence.js";

const total = 50_000;
/** Scattered over 0..total - 1, each once. */
const valueOf = (number: number): number => (number * 7_919) % total;

/** Asks for the multiples of 3; tells how many rows were put in order at once, at the most. */
const ask = (ordered: boolean, offset: number, limit: number) => {
  let sorted = 0;
  const numbers = numberSequence(total);
  const page = answerList<number, number, { third?: true }, "value">({
    query: { filter: { third: true }, order: { field: "value", direction: "desc" }, offset, limit },
    accesses: [{ answers: [], ordered, refs: ordered ? reverseSequence(numbers) : mapSequence(numbers, valueOf) }],
    load: (ref) => ref,
    test: () => (row) => row % 3 === 0,
    sort: (rows) => {
      sorted = Math.max(sorted, rows.length);
      return sortRows(rows, "desc", (row) => row, (row) => row, "asc");
    },
  });
  return { page, sorted };
};

describe("a list question", () => {
  const expected = numberSequence(total).slice(0, total).reverse().filter((row) => row % 3 === 0);

  it("has the same answer from an access in order and from one in none, for any page", () => {
    for (const [offset, limit] of [[0, 0], [0, 1], [0, 100], [900, 100], [expected.length - 5, 100], [expected.length, 1], [0, 1e9]] as const) {
      const answer = { rows: expected.slice(offset, offset + limit), total: expected.length };
      expect(ask(true, offset, limit).page).to.deep.equal(answer);
      expect(ask(false, offset, limit).page).to.deep.equal(answer);
    }
  });

  it("holds no more rows than a page may need", () => {
    expect(ask(false, 0, 100).sorted).to.be.below(2_000);
  });
});
