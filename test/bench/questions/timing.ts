import type { ChainAdapter } from "../../../types/chain-adapter.js";
import { sizes, type SizeName } from "../chain/sizes.js";
import { undisturbed } from "../load/statistics.js";
import { timeOnce } from "./asking.js";
import { type QuestionGroup, questionsOf } from "./questions.js";

export interface QuestionsInput {
  size: SizeName;
  rounds: number;
  /** Ids of questions that are not to be asked (`QuestionFigure.id`). */
  without: string[];
}

export interface QuestionFigure {
  id: string;
  group: QuestionGroup;
  of: string;
  name: string;
  /** Microseconds. */
  spent: number;
  /** Undefined where the question was refused: too many rows would have to be looked at. */
  total: number | undefined;
}

/** Milliseconds after which a question has been asked often enough. */
const enough = 500;

/** How long the answers take, within the process that gives them. */
export const measureQuestions = async (chain: ChainAdapter, { size, rounds, without }: QuestionsInput): Promise<QuestionFigure[]> => {
  const figures: QuestionFigure[] = [];
  for (const { group, of, name, ask } of questionsOf(sizes[size])) {
    const id = `${group}, ${of}: ${name}`;
    if (without.includes(id)) continue;
    const all: number[] = [];
    let total: number | undefined;
    for (const begun = performance.now(); all.length < rounds && (all.length < 1 || performance.now() - begun < enough); ) {
      const { spent, answer } = await timeOnce(chain, ask);
      all.push(spent);
      total = answer?.total;
    }
    figures.push({ id, group, of, name, spent: undisturbed(all), total });
  }
  return figures;
};
