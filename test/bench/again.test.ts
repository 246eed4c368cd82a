import { expect } from "chai";
import { sizes } from "./chain/sizes.js";
import { againIfFarOff } from "./measure.js";
import { type Goal, isFarOff, type Row } from "./table.js";

const row = (what: string, ratio: number, goal?: Goal): Row => ({
  ...{ group: "hot", what, figure: ratio, unit: "req/s", against: "bare Koa", peer: 1, ratio },
  ...(goal === undefined ? {} : { goal }),
});

describe("what is far off its goal", () => {
  it("misses it by more than a fifth", () => {
    expect([0.69, 0.67].map((ratio) => isFarOff(row("blocks", ratio, { atLeast: 0.85 })))).to.deep.equal([false, true]);
    expect([2.39, 2.41].map((ratio) => isFarOff(row("blocks", ratio, { atMost: 2 })))).to.deep.equal([false, true]);
    expect([NaN, 0, Infinity].map((ratio) => isFarOff(row("blocks", ratio)))).to.deep.equal([false, false, false]);
    expect([isFarOff(row("blocks", NaN, { atLeast: 0.85 })), isFarOff(row("blocks", NaN, { atMost: 2 }))], "no figure at all").to.deep.equal([true, true]);
  });

  /** Runs a measure whose results are given, and returns what counts in the end, and with how many rounds it was measured. */
  const measured = async (...results: Row[][]): Promise<{ rows: Row[]; rounds: number[] }> => {
    const rounds: number[] = [];
    const rows = await againIfFarOff((run) => {
      rounds.push(run.rounds);
      return Promise.resolve(results[rounds.length - 1] ?? []);
    })({ size: sizes["10k"], smallest: sizes["10k"], quick: true, rounds: 3, slice: 300, row: "", say: () => undefined });
    return { rows, rounds };
  };

  const goal = { atLeast: 0.85 };

  it("is measured once where nothing is", async () => {
    const rows = [row("blocks", 0.7, goal), row("votes", 0.1)];
    expect(await measured(rows)).to.deep.equal({ rows, rounds: [3] });
  });

  it("is measured again, for longer, and only of that the second result counts", async () => {
    const first = [row("blocks", 0.5, goal), row("votes", 0.9, goal)];
    const again = [row("blocks", 0.6, goal), row("votes", 0.4, goal)];
    expect(await measured(first, again)).to.deep.equal({ rows: [again[0], first[1]], rounds: [3, 6] });
  });
});
