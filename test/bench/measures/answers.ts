import type { SizeName } from "../chain/sizes.js";
import { listKinds } from "../questions/filters.js";
import type { QuestionGroup } from "../questions/questions.js";
import type { QuestionFigure } from "../questions/timing.js";
import type { Goal, Row } from "../table/row.js";
import type { Measure, Run } from "./measure.js";
import { openPortico } from "./servers.js";

/** Microseconds. What took longer than this on a smaller chain is not asked of a larger one. */
const tooLong = 2_000_000;

/**
 * Independent of size, except for the depth of the trees and the noise of measurement. Compared with the most that the same took on any
 * smaller chain, since the smallest may have so few rows that reading all of them costs next to nothing.
 */
const independent: Goal = { atMost: 2 };

/** Milliseconds: `searchRows` rows at some microseconds each. */
const longestSearch = 1_000;

type BySize = Map<SizeName, Map<string, QuestionFigure>>;

const askAll = async (run: Run): Promise<BySize> => {
  const bySize: BySize = new Map();
  const without: string[] = [];
  for (const { name } of run.sizes) {
    run.say(`totals and searches: ${name}`);
    const portico = await openPortico({ size: name, cacheSize: 0 });
    await portico.process.ask("touch", name);
    const figures = await portico.process.ask("questions", { size: name, rounds: run.quick ? 9 : 41, without });
    await portico.close();
    bySize.set(name, new Map(figures.map((figure) => [figure.id, figure])));
    without.push(...figures.filter(({ spent }) => spent > tooLong).map(({ id }) => id));
  }
  return bySize;
};

/** A note on the answer on the largest chain that was asked. */
const noteOf = (asked: readonly QuestionFigure[], { sizes }: Run): string => {
  const last = asked.at(-1);
  if (last === undefined || asked.length < sizes.length) return `not asked: ${((last?.spent ?? 0) / 1e6).toFixed(1)} s at ${sizes[asked.length - 1]?.name ?? ""}`;
  return last.total === undefined ? "refused: too many rows to look at" : `${last.total.toLocaleString("en")} found`;
};

/** The smaller size on which it took longest. */
const longestBelow = (id: string, bySize: BySize, run: Run): { name: SizeName; spent: number } => {
  const below = run.sizes.slice(0, Math.max(1, run.sizes.length - 1));
  const all = below.map(({ name }) => ({ name, spent: bySize.get(name)?.get(id)?.spent ?? 0 }));
  return all.reduce((longest, one) => (one.spent > longest.spent ? one : longest));
};

/** A question's answer on the largest chain, compared with the smaller ones. A total has to be answered; a search may be refused. */
const rowOf = (id: string, bySize: BySize, run: Run): Row => {
  const asked = run.sizes.flatMap(({ name }) => bySize.get(name)?.get(id) ?? []);
  const last = asked.at(-1);
  if (last === undefined) throw new Error(`nobody asked for ${id}`);
  const below = longestBelow(id, bySize, run);
  const told = asked.length === run.sizes.length && (last.total !== undefined || last.group !== "totals");
  return {
    group: last.group,
    what: `${last.of}, ${last.name}`,
    figure: told ? last.spent : Infinity,
    unit: "µs",
    against: `at ${below.name}`,
    peer: below.spent,
    ratio: told ? last.spent / below.spent : Infinity,
    goal: independent,
    note: noteOf(asked, run),
  };
};

/** A search is compared with what any may take: the ratio of two searches that find different things says little. */
const boundedRow = (row: Row): Row => ({
  ...row,
  group: "searches",
  figure: row.figure / 1_000,
  unit: "ms",
  against: "limit",
  peer: longestSearch,
  ratio: row.figure / 1_000 / longestSearch,
  goal: { atMost: 1 },
  note: `${row.note ?? ""}; ${row.against} ${(row.peer / 1_000).toFixed(2)} ms`,
});

/** Of the rows of one resource, the one furthest from its goal, with the names of all that do not meet theirs. */
const worstOf = (kind: string, what: string, rows: readonly Row[]): Row[] => {
  const nameOf = (row: Row): string => row.what.slice(`${kind}, `.length);
  const all = rows.filter((row) => row.what.startsWith(`${kind}, `)).sort((a, b) => b.ratio - a.ratio);
  const [worst] = all;
  if (worst === undefined) return [];
  const above = all.filter(({ ratio, goal }) => goal !== undefined && "atMost" in goal && ratio > goal.atMost).map(nameOf);
  const note = [worst.note, above.length > 0 && `above the goal: ${above.join(", ")}`].filter(Boolean).join("; ");
  return [{ ...worst, what: `${kind} ${what}, the worst of ${all.length}: ${nameOf(worst)}`, note }];
};

/** Totals without rows, and pages of a hundred rows by one filter and by searches: within the process, on every size. */
export const measureAnswers: Measure = async (run) => {
  const bySize = await askAll(run);
  const ids = [...(bySize.get(run.sizes[0]?.name ?? "10k")?.values() ?? [])];
  const rows = (group: QuestionGroup): Row[] => ids.filter((one) => one.group === group).map(({ id }) => rowOf(id, bySize, run));
  const [totals, pages] = [rows("totals"), rows("filters").map(boundedRow)];
  return [
    ...totals.filter(({ what }) => what.startsWith("lists, ")).map((row) => ({ ...row, what: row.what.slice("lists, ".length) })),
    ...listKinds.flatMap((kind) => worstOf(kind, "by one filter", totals)),
    ...listKinds.flatMap((kind) => worstOf(kind, "by one filter", pages)),
    ...rows("searches").map(boundedRow),
  ];
};
