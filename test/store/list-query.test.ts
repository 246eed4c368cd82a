import { expect } from "chai";
import { codeOf } from "../fixtures/refusal.js";
import { answerList } from "../../src/store/query/list-query.js";
import { createSearches } from "../../src/store/query/search.js";
import { arraySequence, mapSequence, numberSequence, reverseSequence, type Sequence } from "../../src/store/records/sequence.js";
import type { Page } from "../../types/chain-queries.js";

const total = 50_000;
/** Scattered over 0..total - 1, each value once. */
const valueOf = (number: number): number => (number * 7_919) % total;
const isThird = (row: number): boolean => row % 3 === 0;
const thirds = numberSequence(total).slice(0, total).filter(isThird);
const scattered = thirds.map(valueOf).sort((a, b) => a - b);

type Way = "ordered" | "unordered" | "counted";

interface Asked {
  page: Page<number>;
  loaded: number;
}

/**
 * Asks for the multiples of 3, highest first. `counted`: beside an access in that order there is one to the multiples of 3, in
 * another order, whose length gives the total.
 */
const ask = async (ways: readonly Way[], offset: number, limit: number, { rows = Infinity, refs }: { rows?: number; refs?: Sequence<number> } = {}): Promise<Asked> => {
  let loaded = 0;
  const numbers = refs ?? numberSequence(total);
  const paths = {
    ordered: { answers: [], ordered: true, refs: reverseSequence(numbers) },
    unordered: { answers: [], ordered: false, refs: mapSequence(numberSequence(total), valueOf) },
    counted: { answers: ["third" as const], ordered: false, refs: arraySequence(thirds.map((_, i) => thirds[(i * 7_919) % thirds.length] ?? 0)) },
  };
  const page = await answerList<number, number, { third?: true }, "value">(
    {
      query: { filter: { third: true }, order: { field: "value", direction: "desc" }, offset, limit },
      paths: ways.map((way) => paths[way]),
      load: (ref) => {
        loaded++;
        return ref;
      },
      test: (_, answered) => (answered.has("third") ? undefined : isThird),
      value: (row) => row,
      ties: "desc",
    },
    createSearches().begin(rows),
  );
  return { page, loaded };
};

describe("a list question", () => {
  const expected = [...thirds].reverse();

  it("has the same answer from an ordered access, an unordered one, and both with the total known, on any page", async () => {
    expect(scattered).to.have.length(thirds.length);
    for (const [offset, limit] of [
      [0, 0],
      [0, 1],
      [0, 100],
      [900, 100],
      [8_300, 300],
      [expected.length - 5, 100],
      [expected.length - 5_000, 1_000],
      [expected.length, 1],
      [0, 1e9],
    ] as const) {
      const answer = { rows: expected.slice(offset, offset + limit), total: expected.length };
      for (const ways of [["ordered"], ["unordered"], ["counted"], ["ordered", "counted"]] as const) {
        expect((await ask(ways, offset, limit)).page, `${ways.join(" and ")}, ${limit} from ${offset}`).to.deep.equal(answer);
      }
    }
  });

  it("loads no more rows than filling the page takes, from either end, when the total is known", async () => {
    expect((await ask(["ordered", "counted"], 0, 100)).loaded).to.be.below(301);
    expect((await ask(["ordered", "counted"], expected.length - 100, 100)).loaded).to.be.below(301);
    expect((await ask(["ordered", "counted"], 0, 1)).loaded).to.be.below(4);
    expect((await ask(["ordered", "counted"], expected.length - 1, 1)).loaded).to.be.below(4);
  });

  it("switches to the other access when matches are further away than expected", async () => {
    // All matches are at the far end.
    const refs = arraySequence([...thirds, ...numberSequence(total).slice(0, total).filter((number) => !isThird(number))]);
    const { page, loaded } = await ask(["ordered", "counted"], 0, 100, { refs });
    expect(page).to.deep.equal({ rows: expected.slice(0, 100), total: expected.length });
    expect(loaded).to.be.below(2 * thirds.length + 200);
  });

  it("refuses at once a query that would load more rows than allowed", async () => {
    expect(await codeOf(ask(["ordered"], 0, 100, { rows: total - 1 }))).to.equal("SEARCH_TOO_WIDE");
    expect(await codeOf(ask(["unordered"], 0, 100, { rows: total - 1 }))).to.equal("SEARCH_TOO_WIDE");
    expect(await codeOf(ask(["ordered"], 0, 100, { rows: total }))).to.equal("no error");
    expect(await codeOf(ask(["ordered", "counted"], 0, 100, { rows: 1_000 }))).to.equal("no error");
    expect(await codeOf(ask(["ordered", "counted"], 8_000, 100, { rows: 1_000 }))).to.equal("SEARCH_TOO_WIDE");
  });
});
